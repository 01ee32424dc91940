# SPDX-License-Identifier: Apache-2.0
"""Strategies assembled from agents: what a table holds, and how exploitable agents are under several seeds."""

import numpy as np
import pytest

from equipoise.agents import StrategyAgent, UniformAgent
from equipoise.agents.base import PolicyAgent
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.evaluation.assembly import assemble_public_strategy, assemble_strategy, measure_seeds
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.solvers.rules import CFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree


class Whim(PolicyAgent):
    """Plays one action, chosen anew wherever it is asked."""

    name = "whim"

    def probabilities(self, observation, *, rng):
        shares = np.zeros(len(observation.actions))
        shares[rng.integers(shares.size)] = 1.0
        return shares.tolist()


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice"])
def test_a_table_assembles_to_itself_in_both_ways(name):
    game = make_game(name, faces=3) if name == "liars_dice" else make_game(name)
    tree = build_history_tree(game)
    strategy = solve(game, rule=CFR(), iterations=4).strategy
    agent = StrategyAgent(strategy)
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(assemble_strategy(agent, game, tree, rng=rng), strategy.to_tree(tree))
    whole = assemble_public_strategy(agent, derive_public_game(game), rng=rng)
    np.testing.assert_allclose(whole.to_tree(tree), strategy.to_tree(tree))


def test_uniform_play_is_as_exploitable_as_the_papers_say():
    found = measure_seeds(UniformAgent(), make_game("leduc"), seeds=range(2))
    assert found.mean == pytest.approx(2.3736, abs=1e-4)  # [M] of specs: 2373.6 mbb/h
    assert found.minimum == found.maximum
    assert measure_seeds(UniformAgent(), make_game("kuhn"), seeds=[0], is_public=True).mean == pytest.approx(
        0.4583, abs=1e-4
    )


def test_seeds_decide_what_a_searching_agent_is():
    game = make_game("kuhn")
    first, again = (measure_seeds(Whim(), game, seeds=range(5)) for _ in range(2))
    assert first == again
    assert first.minimum < first.mean < first.maximum
    public = measure_seeds(Whim(), game, seeds=range(5), is_public=True)
    assert public.minimum >= 0


def test_agents_that_are_no_strategy_are_refused():
    class Broken(Whim):
        def probabilities(self, observation, *, rng):
            return [self.share] * len(observation.actions)

    for share in (0.7, np.nan, -0.5):
        Broken.share = share
        with pytest.raises(InvalidStateError, match="2 probabilities in sum 1"):
            measure_seeds(Broken(), make_game("kuhn"), seeds=[0])
    with pytest.raises(ConfigError, match="at least one seed"):
        measure_seeds(Whim(), make_game("kuhn"), seeds=[])
