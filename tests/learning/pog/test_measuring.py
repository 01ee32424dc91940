# SPDX-License-Identifier: Apache-2.0
"""Strategies composed of a search at every decision: against the agent's own, and under several seeds."""

import itertools

import pytest

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.assembly import measure_seeds
from equipoise.games import make_game
from equipoise.learning.pog.games import SelfPlayGame
from equipoise.learning.pog.measuring import compose, measure_composed
from equipoise.learning.pog.runs import PogRun, find_run, play_settings
from equipoise.learning.pog.settings import PogSettings
from equipoise.search.growing_tree import Growth
from equipoise.trees.public import build_public_tree
from tests.reference.public_nets import random_leaves

KUHN = SelfPlayGame(make_game("kuhn"))
TREE = build_public_tree(KUHN.form)


def settings_of(game=KUHN, **changes):
    return play_settings(PogSettings(**({"simulations": 12} | changes)), random_leaves(game.features))


def test_what_is_composed_is_what_the_agent_plays():
    settings = settings_of()
    found = measure_composed(KUHN.form, TREE, settings, [0])
    agent = ContinualAgent(KUHN.form, search=settings)
    played = measure_seeds(agent, KUHN.game, seeds=[0], is_public=True)

    assert found[0].exploitability == pytest.approx(played.mean, abs=1e-12)


def test_seeds_of_walks_give_other_strategies_and_the_same_ones_again():
    game = SelfPlayGame(make_game("leduc", merge_suits=True))
    tree = build_public_tree(game.form)
    settings = settings_of(game, simulations=4)
    first, second, again = (measure_composed(game.form, tree, settings, [seed])[0] for seed in (0, 1, 0))

    assert first.exploitability == again.exploitability
    assert first.exploitability != second.exploitability


def test_more_search_is_less_exploitable_whatever_the_network_says():
    little, much = (
        measure_composed(KUHN.form, TREE, settings_of(simulations=s, is_alternating=True), [0])[0] for s in (4, 400)
    )

    assert much.exploitability < 0.5 * little.exploitability


def test_an_interrupted_measurement_gives_the_seeds_so_far():
    asked = itertools.count()
    decisions = int((TREE.actor >= 0).sum())
    found = measure_composed(
        KUHN.form, TREE, settings_of(), range(5), is_interrupted=lambda: next(asked) >= decisions + 1
    )

    assert len(found) == 1
    assert compose(KUHN.form, TREE, settings_of(), is_interrupted=lambda: True) is None


def test_no_seed_is_refused():
    with pytest.raises(ConfigError, match="at least one seed, got none"):
        measure_composed(KUHN.form, TREE, settings_of(), [])


def test_the_run_that_comes_along_plays_better_than_it_did_untrained():
    run = PogRun.open(find_run("leduc"))
    tree = build_public_tree(run.game.form)
    growth = Growth(simulations=60, first_children=0)
    trained = measure_composed(run.game.form, tree, run.play(growth), [0])[0]
    new = measure_composed(run.game.form, tree, settings_of(run.game, simulations=60), [0])[0]

    assert trained.exploitability < 0.2 < new.exploitability


def test_runs_that_are_not_there_are_named():
    with pytest.raises(ConfigError, match=r"there is no run 'nowhere'.*leduc"):
        find_run("nowhere")
