# SPDX-License-Identifier: Apache-2.0
"""Two solutions of Leduc meet: seats swapped on the same deals, scored by chips and by AIVAT."""

import numpy as np

import equipoise
from equipoise.agents import ClassAgent, StrategyAgent
from equipoise.evaluation.aivat import Aivat
from equipoise.evaluation.aivat_histories import HistoryForm
from equipoise.evaluation.lbr import measure_lbr
from equipoise.evaluation.matches import GivenAgent, HandByHand, MatchConfig, run_match
from equipoise.evaluation.play import play_game
from equipoise.games.base import ActionClass

game = equipoise.make_game("leduc")
strategy = equipoise.solve(game, iterations=200).strategy
solved, caller = StrategyAgent(strategy, name="solved"), ClassAgent(ActionClass.CALL)

config = MatchConfig(num_deals=300, seed=1)
match = HandByHand(game=game, makers=(GivenAgent(solved), GivenAgent(caller)), names=("solved", "call"), config=config)
estimate = run_match(match, config).estimate()
print(f"solved wins {estimate.mean:+.2f} ± {estimate.half_width:.2f} chips a game")
assert estimate.interval[0] > 0

# the same game without most of its luck: nobody's strategy is needed but our own
aivat = Aivat(HistoryForm.of(game, strategy), [solved, None])
chips, estimates = [], []
for deal in range(200):
    chance, rng = np.random.default_rng([0, deal]), np.random.default_rng([1, deal])
    chips.append(play_game(game, [solved, caller], chance=chance, rng=rng, on_state=aivat.hear)[0])
    estimates.append(aivat.estimate()[0])
print(f"deviation of a game: {np.std(chips):.2f} chips, {np.std(estimates):.2f} by AIVAT")
assert np.std(estimates) < np.std(chips)

local = measure_lbr(caller, game, rng=np.random.default_rng(0))
best = sum(local.best_response_values) / 2
print(f"a local best response wins {local.mean:.2f} against calling, a best response {best:.2f}")
assert 0 < local.mean <= best + 1e-9
