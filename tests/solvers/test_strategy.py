# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.core.errors import CheckpointError, ConfigError, InvalidStateError
from equipoise.games.registry import make_game
from equipoise.solvers.best_response import bind_history_kernel, evaluate, expected_values
from equipoise.solvers.strategy import TabularStrategy, mix_strategies
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import build_history_tree
from equipoise.trees.public import build_public_tree


def random_strategy(tree, seed):
    rng = np.random.default_rng(seed)
    return bind_history_kernel(tree).normalize(rng.random(int(tree.sequence_start[-1])))


@pytest.fixture(scope="module")
def kuhn():
    return build_history_tree(make_game("kuhn"))


@pytest.fixture(scope="module", params=["kuhn", "leduc", "goofspiel"])
def tree(request):
    parameters = {"leduc": {"merge_suits": True}, "goofspiel": {"cards": 3}}.get(request.param, {})
    return build_history_tree(make_game(request.param, **parameters))


def test_tree_to_table_and_back(tree):
    strategy = random_strategy(tree, 1)
    np.testing.assert_array_equal(TabularStrategy.from_tree(tree, strategy).to_tree(tree), strategy)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "liars_dice"])
def test_public_tree_to_table(game):
    game = make_game(game, **({"faces": 3} if game == "liars_dice" else {}))
    history, public = build_history_tree(game), build_public_tree(derive_public_game(game))
    strategy = public.strategy_from_history(history, random_strategy(history, 1))
    table = TabularStrategy.from_tree(public, strategy)
    np.testing.assert_array_equal(table.to_tree(history), random_strategy(history, 1))
    with pytest.raises(ConfigError, match="must have shape"):
        TabularStrategy.from_tree(public, strategy[1:])


def test_file_and_back(tree, tmp_path):
    strategy = random_strategy(tree, 2)
    TabularStrategy.from_tree(tree, strategy).save(tmp_path / "s.eq", {"note": "x"})
    loaded = TabularStrategy.load(tmp_path / "s.eq")
    assert loaded.game_label == tree.game_label
    np.testing.assert_array_equal(loaded.to_tree(tree), strategy)


def test_order_of_the_table_does_not_matter(kuhn):
    strategy = random_strategy(kuhn, 3)
    table = TabularStrategy.from_tree(kuhn, strategy)
    # information states and the two actions at each, both backwards
    backwards = TabularStrategy(
        game_label=table.game_label,
        player=table.player[::-1].copy(),
        infostates=table.infostates[::-1],
        first_action=table.first_action,
        actions=table.actions[::-1],
        probability=table.probability[::-1].copy(),
    )
    np.testing.assert_array_equal(backwards.to_tree(kuhn), strategy)


def test_probabilities_by_name(kuhn):
    table = TabularStrategy.from_tree(kuhn, random_strategy(kuhn, 4))
    infostate = table.infostates[0]
    assert table.action_names(0, infostate) == ("check", "bet")
    assert table.probabilities(0, infostate).sum() == pytest.approx(1)
    assert list(table.row(0).values()) == table.probabilities(0, infostate).tolist()


def test_unknown_information_state_is_named(kuhn):
    table = TabularStrategy.from_tree(kuhn, random_strategy(kuhn, 4))
    with pytest.raises(InvalidStateError, match="nothing at 'no such' of player 1"):
        table.probabilities(1, "no such")


def test_missing_information_state_is_named(kuhn):
    three = build_history_tree(make_game("kuhn", players=3))
    table = TabularStrategy.from_tree(kuhn, random_strategy(kuhn, 5))
    with pytest.raises(ConfigError, match=r"kuhn\(players=2\) has nothing at .* \(kuhn\(players=3\) asks for it\)"):
        table.to_tree(three)


def test_differing_actions_are_named(kuhn):
    table = TabularStrategy.from_tree(kuhn, random_strategy(kuhn, 6))
    renamed = dataclasses.replace(table, actions=tuple("raise" if a == "bet" else a for a in table.actions))
    with pytest.raises(ConfigError, match=r"has actions check, raise at .* expected check, bet"):
        renamed.to_tree(kuhn)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("probability", np.array([0.5, 0.4]), "must sum to 1, got 0.9"),
        ("probability", np.array([1.5, -0.5]), "at least 0"),
        ("probability", np.array([np.nan, 1.0]), "finite"),
        ("probability", np.ones(3), "must have shape"),
        ("first_action", np.array([0, 1], np.int32), "must ascend from 0 to 2"),
        ("player", np.zeros(2, np.int32), "player and first_action"),
    ],
)
def test_broken_tables_are_refused(field, value, message):
    good = {
        "game_label": "game",
        "player": np.zeros(1, np.int32),
        "infostates": ("here",),
        "first_action": np.array([0, 2], np.int32),
        "actions": ("left", "right"),
        "probability": np.array([0.25, 0.75]),
    }
    assert TabularStrategy(**good).row(0) == {"left": 0.25, "right": 0.75}
    with pytest.raises(ConfigError, match=message):
        TabularStrategy(**{**good, field: value})


def test_wrong_length_is_refused(kuhn):
    with pytest.raises(ConfigError, match="must have shape"):
        TabularStrategy.from_tree(kuhn, np.ones(3))


def test_a_file_without_a_strategy_is_refused(tmp_path):
    checkpoint.save(tmp_path / "x", Kind.STRATEGY, {"game_label": "x"}, {})
    with pytest.raises(CheckpointError, match="holds no strategy"):
        TabularStrategy.load(tmp_path / "x")


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_mixture_earns_the_mixture_of_values(tree, weight):
    first, second = random_strategy(tree, 7), random_strategy(tree, 8)
    mixed = mix_strategies(
        tree,
        TabularStrategy.from_tree(tree, first),
        TabularStrategy.from_tree(tree, second),
        weight=weight,
    ).to_tree(tree)
    kernel = bind_history_kernel(tree)
    own = slice(tree.sequence_start[0], tree.sequence_start[1])

    def value_for_player_0(strategy):
        faced = first.copy()
        faced[own] = strategy[own]
        return expected_values(tree, kernel.realize(faced))[0]

    expected = weight * value_for_player_0(first) + (1 - weight) * value_for_player_0(second)
    assert value_for_player_0(mixed) == pytest.approx(expected, abs=1e-12)


def test_mixture_where_neither_goes_is_the_average(kuhn):
    # both always pass: the information state after an own bet is never reached, and yet must sum to one
    first = bind_history_kernel(kuhn).normalize(
        np.array([n in ("", "check", "fold") for n in kuhn.sequence_labels]) * 1.0
    )
    table = TabularStrategy.from_tree(kuhn, first)
    mixed = mix_strategies(kuhn, table, table, weight=0.5)
    np.testing.assert_allclose(mixed.to_tree(kuhn), first)
    assert evaluate(kuhn, mixed.to_tree(kuhn)).nash_conv >= 0


def test_mixture_where_neither_goes_is_weighted(kuhn):
    # both always bet: a player 0 that checked and faces a bet is never met, and answers as the shares say
    plans = [
        TabularStrategy.from_tree(kuhn, np.array([float(name in words) for name in kuhn.sequence_labels]))
        for words in (("", "bet", "call"), ("", "bet", "fold"))
    ]
    mixed = mix_strategies(kuhn, *plans, weight=0.25).to_tree(kuhn)
    expected = {"": 1.0, "check": 0.0, "bet": 1.0, "call": 0.25, "fold": 0.75}
    np.testing.assert_allclose(mixed, [expected[name] for name in kuhn.sequence_labels])


def test_weight_must_be_a_share(kuhn):
    table = TabularStrategy.from_tree(kuhn, random_strategy(kuhn, 9))
    with pytest.raises(ConfigError, match=r"between 0 and 1, got 1\.5"):
        mix_strategies(kuhn, table, table, weight=1.5)
