# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.responses.domination import DominationResponse
from equipoise.responses.on_tree import OnTree
from equipoise.trees.history import build_history_tree

KUHN = build_history_tree(make_game("kuhn"))
ON_KUHN = OnTree(KUHN)
RESPONSE = DominationResponse(KUHN)


def random_strategy(seed):
    return ON_KUHN.kernel.normalize(np.random.default_rng(seed).exponential(size=ON_KUHN.kernel.num_cells))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_answers_are_equilibrium_strategies(seat, seed):
    answer = RESPONSE.respond(random_strategy(seed), seat, np.random.default_rng(0))
    worst, _ = ON_KUHN.kernel.best_response(1 - seat, ON_KUHN.kernel.realize(answer))
    assert -worst == pytest.approx((-1 if seat == 0 else 1) / 18, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_kuhns_equilibria_are_a_segment_whose_better_end_is_taken(seed):
    # player 0's equilibria: bet the jack with a in [0, 1/3], the king with 3a, call the queen with a + 1/3
    strategy = random_strategy(seed)
    values = []
    for bluff in (0.0, 1 / 6, 1 / 3):
        equilibrium = strategy.copy()
        bets = {"J:": bluff, "Q:": 0.0, "K:": 3 * bluff, "J:pb": 0.0, "Q:pb": bluff + 1 / 3, "K:pb": 1.0}
        for label, bet in bets.items():
            first = int(KUHN.first_sequence[KUHN.infoset_labels.index(label)])
            equilibrium[first : first + 2] = 1 - bet, bet
        values.append(ON_KUHN.value(equilibrium, 0))
    answer = RESPONSE.respond(strategy, 0, np.random.default_rng(0))
    assert ON_KUHN.value(answer, 0) == pytest.approx(max(values), abs=1e-6)
    assert max(values) > min(values) + 1e-4


@pytest.mark.parametrize("seat", [0, 1])
def test_answering_the_truth_never_hurts(seat):
    # P1
    strategies = [random_strategy(seed) for seed in range(6)]
    answers = [RESPONSE.respond(strategy, seat, np.random.default_rng(0)) for strategy in strategies]
    for truth, right in zip(strategies, answers, strict=True):
        values = [ON_KUHN.value(ON_KUHN.combine(truth, answer, seat), seat) for answer in answers]
        assert ON_KUHN.value(right, seat) >= max(values) - 1e-6
