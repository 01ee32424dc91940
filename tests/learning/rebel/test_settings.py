# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.self_play import SelfPlay
from equipoise.learning.rebel.settings import BeliefMethod, BeliefSource, RebelSettings, SearchRecipe, change_settings
from equipoise.search.belief_games import BeliefGame, parse_horizon


def test_settings_are_changed_by_name():
    changed = change_settings(
        RebelSettings(),
        {
            "test.method": "fp",
            "test.rule": "optimistic-lcfr",
            "average_decay": "0",
            "beliefs": "random",
            "hidden": "32",
        },
    )
    assert changed == RebelSettings(
        test=SearchRecipe(method=BeliefMethod.FP, rule="optimistic-lcfr", iterations=512),
        average_decay=0.0,
        beliefs=BeliefSource.RANDOM,
        hidden=32,
    )
    assert RebelSettings.from_dict(changed.as_dict()) == changed


@pytest.mark.parametrize("name", ["speed", "test", "test.speed", "other.rule", ""])
def test_unknown_settings_are_refused(name):
    with pytest.raises(UnknownNameError, match="setting"):
        change_settings(RebelSettings(), {name: "1"})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("reuse", "often", "reuse must be"),
        ("exploration", "2", "exploration must lie between 0 and 1, got 2"),
        ("test.rule", "hedge", "regret matching"),
        ("beliefs", "mine", "beliefs must be"),
    ],
)
def test_values_that_cannot_be_are_refused(name, text, message):
    with pytest.raises(ConfigError, match=message):
        change_settings(RebelSettings(), {name: text})


def test_random_beliefs_are_of_all_kinds_and_of_states_that_there_are():
    game = BeliefGame.of(parse_game("kuhn"), parse_horizon("1"))
    assert game.num_kinds > 2
    settings = RebelSettings(horizon="1", training=SearchRecipe(iterations=4), beliefs=BeliefSource.RANDOM)
    play = SelfPlay(game, settings)
    play.searcher.search = lambda kind, belief: dataclasses.make_dataclass("Found", ["value"])(np.ones_like(belief))
    examples = play.generate(400, rng=np.random.default_rng(0))
    assert set(examples.kind.tolist()) == set(range(1, game.num_kinds))
    np.testing.assert_allclose(examples.belief.sum(axis=2), 1.0, atol=1e-5)
    assert not examples.belief[~game.is_live[examples.kind]].any()
    assert not any(map(len, play.pools))
