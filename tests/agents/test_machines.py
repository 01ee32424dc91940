# SPDX-License-Identifier: Apache-2.0
"""Machines put together from blueprints and searches, on a deck that is small enough to be played by the dozen."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.abstraction.blueprints import POTENTIAL, BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.abstraction.potential import MAX_CLUSTERS
from equipoise.agents.base import PublicDecision
from equipoise.agents.bots import MACHINES
from equipoise.agents.bots.playing import SeatsAgent, digest_machine, make_machine_agent
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.holdem.endgame import LEAST_REACH, EndgameAgent, EndgameSearch, scale_menu
from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.holdem.rounds import RoundAgent, RoundSearch
from equipoise.apps.cli import app
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.evaluation.holdem.lbr import HoldemLbr, LbrMenu, play_lbr_hand
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.rules import Holdem
from equipoise.runs.matches import match
from equipoise.search.holdem.rounds import RoundSettings, SolvedStreet
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from tests.agents.games import assert_plays_as_it_says

SPEC = BlueprintSpec(
    stacks=(1000, 1000), deck="royal", menu="100%, a; cap: 2", abstraction="percentile", buckets=(10, 10, 10)
)
SEARCH = EndgameSearch(menu="100%, a", iterations=20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a machine with one blueprint for each seat."""
    folder = tmp_path_factory.mktemp("machine")
    deals = make_deals(SPEC)
    for seat in (0, 1):
        config = BlueprintConfig(period=1000, snapshot_every=1000, seed=seat)
        trainer = BlueprintTrainer(SPEC.betting, deals, SPEC.num_buckets, config)
        trainer.train(8_000)
        (folder / str(seat)).mkdir()
        save_blueprint(folder / str(seat) / "blueprint.eq", SPEC, trainer, {})
    return folder


def make_agent(path: Path, search: EndgameSearch = SEARCH) -> EndgameAgent:
    early = BlueprintAgent(StoredBlueprint(path / "0" / "blueprint.eq"), Sharpening())
    return EndgameAgent(early, search, name="libratus")


@pytest.fixture(scope="module")
def game(path: Path) -> Holdem:
    return game_of_blueprint(str(path / "0" / "blueprint.eq"))


@pytest.mark.parametrize(
    "search", [SEARCH, dataclasses.replace(SEARCH, nested=None)], ids=["nested", "first solve alone"]
)
@pytest.mark.parametrize("opponent", ["raise", "call"])
def test_whole_hands_are_played(path: Path, game: Holdem, search: EndgameSearch, opponent: str) -> None:
    """Against whoever raises by any amount, and whoever always calls."""
    agent = make_agent(path, search)
    result = match(agent, opponent, game=game, hands=16, seed=2)
    assert result.num_hands == 16
    assert result.failure is None


def test_the_river_alone_may_be_searched(path: Path, game: Holdem) -> None:
    agent = make_agent(path, dataclasses.replace(SEARCH, first_street=Street.RIVER))
    assert match(agent, "call", game=game, hands=10, seed=2).num_hands == 10


def decide(game: Holdem, *actions: int) -> PublicDecision:
    """Returns the decision after actions, cards dealt in the order of the deck."""
    state = game.initial_state()
    left = list(actions)
    while game.actor(state) < 0 or left:
        state = game.apply(state, game.chance_outcomes(state)[0][0] if game.actor(state) < 0 else left.pop(0))
    return describe_holdem_decision(game, state)


def test_the_first_solve_believes_the_blueprints_ranges(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    decision = decide(game, 300, 1, 1, 1)  # a raise and a call, checks on the flop, the turn comes
    rng = np.random.default_rng(0)
    rows = agent.public_strategy(decision, rng=rng)
    live = decision.legality.any(axis=1)
    np.testing.assert_allclose(rows[live].sum(axis=1), 1.0)
    (ground, text), *others = agent._solved.values()
    assert not others
    image = agent.early.images.at((300, 1, -1, 1, 1, -1), rng)
    board = ground.spot.board
    for player, held in enumerate(ground.spot.ranges):
        reach = np.maximum(agent.early.reach(image, player, board), LEAST_REACH)
        reach *= ~hands_of(ground.spot.deck).blocked(board)
        np.testing.assert_allclose(held.weights, reach / reach.max())
    assert (ground.spot.pot, ground.spot.stacks) == (600, (700, 700))
    assert text.endswith(":")


def test_a_hand_is_played_as_the_strategy_of_all_hands_says(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(0)
    decision = decide(game, 300, 1, 1, 1)
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    assert_plays_as_it_says(agent, decision, rows)


def test_a_bet_that_is_not_on_the_menu_is_solved_for(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    agent.begin_game(1)
    decision = decide(game, 300, 1, 1, 1, 437)  # an odd bet on the turn
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    live = decision.legality.any(axis=1)
    assert decision.seat == 1
    np.testing.assert_allclose(rows[live].sum(axis=1), 1.0)
    (ground, _), *_ = agent._solved.values()
    assert len(ground.walk_of(1).found) == 1  # the nested search behind the bet


def test_sizes_are_scaled_once_a_hand(path: Path, game: Holdem) -> None:
    agent = make_agent(path)
    menus = set()
    for number in range(4):
        agent.begin_game(0)
        agent.public_strategy(decide(game, 300, 1, 1, 1), rng=np.random.default_rng(number))
        (ground, _), *_ = agent._solved.values()
        amount = ground.spot.menu.rounds[Street.TURN][0].sizes[0][0].amount
        assert 92 <= amount <= 108
        menus.add(amount)
    assert len(menus) == 4
    assert scale_menu(parse_menu("50%, 250c, a / e"), 1.0) == parse_menu("50%, 250c, a / e")


def test_each_seat_has_its_own_blueprint(path: Path, game: Holdem) -> None:
    machine = MACHINES["baby-tartanian8"]
    agent = make_machine_agent(machine, game, str(path))
    assert isinstance(agent, SeatsAgent)
    paths = [part.blueprint.path for part in agent.agents if isinstance(part, BlueprintAgent)]
    assert [Path(place).parent.name for place in paths] == ["0", "1"]
    assert match(agent, "uniform", game=game, hands=20).num_hands == 20
    rows = agent.public_strategy(decide(game, 300, 1, 1), rng=np.random.default_rng(0))
    assert set(np.unique(rows)) <= {0.0, 1.0}  # pure from the flop on
    assert digest_machine(machine, str(path)) == digest_machine(machine, str(path))
    with pytest.raises(ConfigError, match="no options"):
        make_machine_agent(machine, game, f"{path},seconds=3")


def test_options_change_a_machine(path: Path, game: Holdem) -> None:
    machine, file = MACHINES["libratus"], path / "0"
    agent = make_machine_agent(machine, game, f"{file},iterations=7,menu=50%,a,nested=false,perturbation=0,seconds=2")
    assert isinstance(agent, EndgameAgent)
    expected = EndgameSearch(iterations=7, menu="50%,a", nested=None, perturbation=0.0, seconds=2.0)
    assert agent.search == expected
    for wrong in ("speed=3", "iterations=many", "iterations=0", "menu=nothing"):
        with pytest.raises(ConfigError):
            make_machine_agent(machine, game, f"{file},{wrong}")


def test_a_local_best_response_plays_them(path: Path, game: Holdem) -> None:
    agent = make_agent(path, dataclasses.replace(SEARCH, first_street=Street.RIVER))
    lbr = HoldemLbr(dataclasses.replace(game, menu="all"), agent, menu=LbrMenu.FOLD_CALL)
    won = [play_lbr_hand(lbr, number % 2, rng=np.random.default_rng(number)) for number in range(12)]
    assert len(agent._solved) <= 1  # what was solved for a hand is forgotten with the next
    assert np.isfinite(won).all()


def test_machines_say_what_they_train() -> None:
    machine = MACHINES["baby-tartanian8"]
    few, many = machine.find_spec("cpu", 0).menu, machine.find_spec("cpu", 1).menu
    assert few.split("; ")[0].removeprefix("oop: ") == many.split("; ")[1].removeprefix("ip: ")
    with pytest.raises(ConfigError, match="`seat` 0 or `seat` 1"):
        machine.find_spec("cpu")
    with pytest.raises(ConfigError, match="one for all seats"):
        MACHINES["libratus"].find_spec("cpu", 1)
    with pytest.raises(UnknownNameError, match="size of libratus"):
        MACHINES["libratus"].find_spec("hours")
    runner = CliRunner()
    command = ["train", "blueprint", "baby-tartanian8", "-o", "nowhere", "--estimate"]
    assert runner.invoke(app, command).exit_code == 2
    assert runner.invoke(app, [*command, "--seat", "1"]).exit_code == 0
    assert (
        runner.invoke(app, ["train", "blueprint", "six", "-o", "nowhere", "--estimate", "--seat", "1"]).exit_code == 2
    )


SHALLOW = RoundSearch(
    first_street=Street.PREFLOP,
    menu="100%, a; cap: 2",
    crowded={},
    rounds=RoundSettings(deals=300, periods=3, num_rollouts=2, bias=10.0),
    searcher_chooses=False,
    fixes_own=False,
)


def make_modicum(path: Path) -> EndgameAgent:
    early = BlueprintAgent(StoredBlueprint(path / "0" / "blueprint.eq"), Sharpening())
    rule = MACHINES["modicum"].search.rule
    search = dataclasses.replace(SEARCH, perturbation=0.0, rule=rule)
    return EndgameAgent(RoundAgent(early, SHALLOW, name="modicum"), search, name="modicum")


@pytest.mark.parametrize("opponent", ["raise", "call"])
def test_modicum_plays_whole_hands(path: Path, game: Holdem, opponent: str) -> None:
    result = match(make_modicum(path), opponent, game=game, hands=12, seed=2)
    assert result.num_hands == 12
    assert result.failure is None


def test_the_turn_is_solved_for_the_ranges_that_rounds_found(path: Path, game: Holdem) -> None:
    agent = make_modicum(path)
    agent.begin_game(0)
    decision = decide(game, 300, 1, 1, 1)
    rows = agent.public_strategy(decision, rng=np.random.default_rng(0))
    live = decision.legality.any(axis=1)
    np.testing.assert_allclose(rows[live].sum(axis=1), 1.0)
    (ground, _), *_ = agent._solved.values()
    steps, board = (300, 1, -1, 1, 1, -1), ground.spot.board
    for player, held in enumerate(ground.spot.ranges):
        weights = agent.early.weights_at(0, steps, board, player, np.random.default_rng(0))
        reach = np.maximum(weights, LEAST_REACH) * ~hands_of(ground.spot.deck).blocked(board)
        np.testing.assert_allclose(held.weights, reach / reach.max())
        assert not np.allclose(held.weights, agent.early.early.reach(agent.early.images.at(steps, None), player, board))


def test_answers_before_the_flop_are_kept_from_hand_to_hand(path: Path, game: Holdem) -> None:
    agent = make_modicum(path)
    decision = decide(game, 260)  # a raise that no menu has
    agent.begin_game(0)
    first = agent.public_strategy(decision, rng=np.random.default_rng(0))
    kept = dict(agent.early._openings)
    agent.begin_game(0)
    again = agent.public_strategy(decision, rng=np.random.default_rng(5))
    assert np.array_equal(first, again)
    assert list(kept.values()) == list(agent.early._openings.values())
    (solved,) = kept.values()
    assert (solved.tree.arrays.leaf_offset[:, 0] == -1).all()  # it goes on as the blueprint is, the other one chooses
    assert (solved.tree.arrays.leaf_offset[:, 1] >= 0).all()


def test_options_of_two_searches_reach_both(path: Path, game: Holdem) -> None:
    agent = make_machine_agent(
        MACHINES["modicum"], game, f"{path / '0'},seconds=2,iterations=9,deals=50,nested=false,menu=50%,a"
    )
    assert isinstance(agent, EndgameAgent)
    assert isinstance(agent.early, RoundAgent)
    assert (agent.search.seconds, agent.search.iterations, agent.search.nested) == (2.0, 9, None)
    assert (agent.early.search.seconds, agent.early.search.rounds.deals) == (2.0, 50)
    assert agent.early.search.menu == agent.search.menu == "50%,a"
    with pytest.raises(ConfigError, match="speed"):
        make_machine_agent(MACHINES["modicum"], game, f"{path / '0'},speed=3")


ONCE = dataclasses.replace(MACHINES["claudico"].rounds, menu="100%, a; cap: 2", iterations=20)
RIVER = (300, 1, 1, 1, 1, 1)  # a raise and a call, checks to the river


def make_claudico(path: Path) -> RoundAgent:
    return RoundAgent(BlueprintAgent(StoredBlueprint(path / "0" / "blueprint.eq"), Sharpening()), ONCE, name="claudico")


@pytest.mark.parametrize("opponent", ["raise", "call"])
def test_claudico_plays_whole_hands(path: Path, game: Holdem, opponent: str) -> None:
    result = match(make_claudico(path), opponent, game=game, hands=20, seed=2)
    assert result.num_hands == 20
    assert result.failure is None


def test_the_river_is_solved_once_in_buckets_and_odd_bets_are_translated(path: Path, game: Holdem) -> None:
    agent = make_claudico(path)
    agent.begin_game(1)
    odd = decide(game, *RIVER, 500)  # a third of the pot, between a check and the pot
    rows = agent.public_strategy(odd, rng=np.random.default_rng(0))
    live = odd.legality.any(axis=1)
    np.testing.assert_allclose(rows[live].sum(axis=1), 1.0)
    ((place, solution),) = [item for item in agent._solved.items() if item[1] is not None]
    assert place.path == ()
    assert isinstance(solution, SolvedStreet)
    assert 500 not in solution.actions(())
    taken = set(agent._taken_for.values())
    assert taken <= {1, 900}
    buckets = agent.blueprint.buckets.assign(place.board)
    whole = solution.rows((900,))
    for bucket in np.unique(buckets[buckets >= 0]):
        same = whole[buckets == bucket]
        np.testing.assert_allclose(same, np.broadcast_to(same[0], same.shape))
    again = agent.public_strategy(odd, rng=np.random.default_rng(9))  # drawn once a hand
    assert np.array_equal(rows, again)
    draws = set()
    for seed in range(12):
        agent.begin_game(1)
        agent.public_strategy(odd, rng=np.random.default_rng(seed))
        draws |= set(agent._taken_for.values())
    assert draws == {1, 900}


@pytest.mark.parametrize("name", MACHINES)
def test_every_size_of_a_machine_can_be_trained(name: str) -> None:
    machine = MACHINES[name]
    assert set(machine.sizes) == {"minutes", "cpu", "paper"}
    for specs in machine.sizes.values():
        assert len(specs) == (2 if machine.is_by_seat else 1)
    for size in ("minutes", "cpu"):
        for spec in machine.sizes[size]:
            assert spec.betting.counts.nodes < 10_000_000
            assert spec.num_buckets.max() < 1 << 16
            assert spec.abstraction != POTENTIAL or max(spec.buckets[:2]) <= MAX_CLUSTERS
            assert BlueprintSpec.from_json(spec.as_json()) == spec
