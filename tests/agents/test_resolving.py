# SPDX-License-Identifier: Apache-2.0
"""DeepStack and Supremus by name: whole hands of hold'em with values at the ends of streets."""

import dataclasses
import math
import time

import numpy as np
import pytest

from equipoise.agents.holdem.hands import describe_holdem_decision
from equipoise.agents.notation import AgentText, parse_agent
from equipoise.agents.resolving import PRESETS, LeafKind, Turn, Updates, make_resolving_agent, parse_resolving
from equipoise.agents.simple import UniformAgent
from equipoise.agents.value_nets import NetFolder, name_net
from equipoise.core.errors import CheckpointError, ConfigError, ParseError, UnknownNameError
from equipoise.evaluation.matches import play_game
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.cards import parse_board, parse_deck
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import make_game
from equipoise.learning.values.bucketed_rivers import BucketedRivers
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.shipped import LEDUC_NETS, SHIPPED
from equipoise.learning.values.weights import StoredNet
from equipoise.search.holdem.leaves import AfterDeal
from equipoise.search.leaves import HeldLeaves, ZeroLeaves
from equipoise.solvers.rules import DCFRPlus
from tests.learning.test_value_leaves import make_net

DECK = "9TJQKA/cds"
CHIPS = {"deck": DECK, "stacks": (2000, 2000)}
GAME = Holdem(menu="all", **CHIPS)
QUICK = "leaves=equity,iterations=12,early=3,seconds=0"
FLOP, TURN_CARD = parse_board("9cTdJs", parse_deck(DECK)), (51,)


def stage_at(agent, seat, line):
    return agent._play.walk_of(seat).stage_at(line, "")


@pytest.mark.parametrize("name", PRESETS)
def test_hands_are_played_to_the_end_whatever_is_bet(name):
    agent = parse_agent(f"{name}:{QUICK},menu=100%,a", GAME)
    rng = np.random.default_rng(2)
    for deal in range(6):
        seats = [agent, UniformAgent()] if deal % 2 else [UniformAgent(), agent]
        assert abs(sum(play_game(GAME, seats, chance=rng, rng=rng))) < 1e-9


def test_antes_are_part_of_the_pot_after_the_flop():
    game = Holdem(menu="100%, a", ante=10, **CHIPS)
    stage, place = stage_at(make_resolving_agent("supremus", game, QUICK), 0, (CALL, CALL, FLOP))
    assert stage.profile.betting.nodes[place.node].state.committed == (110, 110)
    assert stage.profile.betting.nodes[place.node].actions == (CALL, 330, 2000)


def test_menus_of_the_game_are_searched_unless_it_offers_everything():
    pot = make_resolving_agent("supremus", Holdem(menu="100%, a", **CHIPS), QUICK)
    assert stage_at(pot, 1, ())[0].profile.betting.root.actions == (0, 1, 300, 2000)
    free = make_resolving_agent("supremus", GAME, QUICK)
    assert stage_at(free, 1, ())[0].profile.betting.root.actions == (0, 1, 200, 250, 300, 350, 500, 2000)
    own = make_resolving_agent("supremus", GAME, f"menu=100%,a,{QUICK}")
    assert stage_at(own, 1, ())[0].profile.betting.root.actions == (0, 1, 300, 2000)
    with pytest.raises(ConfigError, match="menu=all"):
        make_resolving_agent("supremus", Holdem(menu="supremus", **CHIPS), QUICK)


@pytest.mark.parametrize(("turn", "num_streets"), [("values", 1), ("solved", 2)])
def test_the_turn_ends_with_values_or_is_solved(turn, num_streets):
    agent = make_resolving_agent("deepstack", GAME, f"{QUICK},menu=100%,a,turn={turn}")
    profile = stage_at(agent, 0, (CALL, CALL, FLOP, CALL, CALL, TURN_CARD))[0].profile
    assert len({node.state.street for node in profile.betting.nodes}) == num_streets
    assert profile.streets.starts[Street.TURN].iterations == (3 if num_streets == 1 else 1)  # a quarter of 12, or of 3


def test_deepstack_looks_from_the_turn_to_the_end_with_rivers_in_buckets():
    agent = make_resolving_agent("deepstack", GAME, f"{QUICK},menu=100%,a")
    streets = stage_at(agent, 0, (CALL, CALL, FLOP, CALL, CALL, TURN_CARD))[0].profile.streets
    assert isinstance(streets.starts[Street.RIVER], BucketedRivers)
    asked = streets.ends[Street.TURN].first.inner
    assert asked.inner is streets.starts[Street.RIVER]
    assert asked.num_cards == 2
    assert streets.ends[Street.TURN].last.num_cards == 0


def test_every_hand_has_a_strategy():
    agent = make_resolving_agent("supremus", GAME, QUICK)
    state = GAME.initial_state()
    for card in (parse_board("9cTdJsQcKd", parse_deck(DECK)))[:4]:
        state = GAME.apply(state, card)
    rows = agent.public_strategy(describe_holdem_decision(GAME, state), rng=np.random.default_rng(0))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)


def test_a_decision_keeps_to_its_seconds():
    agent = make_resolving_agent("supremus", GAME, "leaves=equity,iterations=100000,seconds=0.4")
    agent._play.walk_of(1)  # its first search is another decision's
    begin = time.perf_counter()
    stage_at(agent, 1, (CALL, CALL, FLOP, CALL))
    assert time.perf_counter() - begin < 10.0  # all iterations would take minutes


def test_the_flop_may_be_asked_about_in_the_last_iterations(monkeypatch):
    monkeypatch.setattr(NetFolder, "find_end", lambda *_, **__: ZeroLeaves())
    monkeypatch.setattr(NetFolder, "find_start", lambda *_: ZeroLeaves())
    agent = make_resolving_agent("deepstack", GAME, "iterations=3,flops=1,menu=a")
    streets = agent._play.walk_of(1).search.profile.streets
    assert streets.ends[Street.PREFLOP].num_last == 1
    assert set(streets.ends) == {Street.PREFLOP, Street.FLOP, Street.TURN}
    with pytest.raises(ConfigError, match="there is none"):
        make_resolving_agent("deepstack", GAME, f"{QUICK},flops=1")


@pytest.mark.parametrize(("updates", "asked"), [("once", 1), ("alternating", 2), ("simultaneous", 1)])
def test_how_often_leaves_are_asked_about(monkeypatch, updates, asked):
    """In every iteration but the last so often; players are updated in turn unless they are at once."""

    class Counted(ZeroLeaves):
        count = 0

        def evaluate(self, batch):
            self.count += 1
            return super().evaluate(batch)

    leaves = Counted()
    monkeypatch.setattr(NetFolder, "find_end", lambda *_, **__: leaves)
    monkeypatch.setattr(NetFolder, "find_start", lambda *_: ZeroLeaves())
    counts = []
    for iterations in (11, 31):
        agent = make_resolving_agent("supremus", GAME, f"iterations={iterations},updates={updates},menu=a,seconds=0")
        leaves.count = 0
        assert agent._play.walk_of(1).search.settings.is_alternating is (updates != "simultaneous")
        stage_at(agent, 1, ())
        counts.append(leaves.count)
    assert counts[1] - counts[0] == 20 * asked


def test_options_are_read():
    how = parse_resolving("supremus", "menu=50%, 100%, a,seconds=1.5 , leaves=zero,turn=solved")
    assert (how.menu, how.seconds, how.leaves, how.turn) == ("50%, 100%, a", 1.5, LeafKind.ZERO, Turn.SOLVED)
    assert parse_resolving("deepstack", "").turn is Turn.BUCKETS
    assert parse_resolving("supremus", "updates=simultaneous").updates is Updates.SIMULTANEOUS
    assert parse_resolving("deepstack", "").rule == DCFRPlus(
        alpha=math.inf, beta=-math.inf, delay=100, average_exponent=0.0
    )
    assert AgentText("supremus").game.menu == "all"
    assert AgentText("supremus").game.stacks == (20_000, 20_000)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("bets=3", UnknownNameError, "option of supremus"),
        ("leaves=oracle", UnknownNameError, "nets"),
        ("iterations", ParseError, "key=value"),
        ("iterations=many", ConfigError, "iterations"),
        ("iterations=0", ConfigError, "at least 1"),
        ("seconds=-1", ConfigError, "seconds"),
        ("flops=-1", ConfigError, "flops"),
        ("share=2", ConfigError, "share"),
        ("nets=/nowhere", ConfigError, "preflop-end.safetensors.*leaves=equity"),
        ("menu=7q", ParseError, "7q"),
    ],
)
def test_bad_options_are_refused(text, error, words):
    with pytest.raises(error, match=words):
        make_resolving_agent("supremus", GAME, text if "s=/" in text or "leaves" in text else f"{text},leaves=equity")


def test_other_games_are_refused():
    for game in (make_game("kuhn"), make_game("holdem_six")):
        with pytest.raises(ConfigError, match="heads-up"):
            parse_agent("supremus:leaves=equity", game)


BOARD = {"board": "9cTdJs", "pot": 200}
NETS = (
    (Street.FLOP, NetStage.END),
    (Street.TURN, NetStage.END),
    (Street.TURN, NetStage.START),
    (Street.RIVER, NetStage.START),
)


def write_nets(folder, wanted=NETS, deck=DECK):
    """Writes networks with drawn weights."""
    for street, stage in wanted:
        config = ValueNetConfig(street=street, stage=stage, deck=deck, cells=6, hidden=16, layers=2)
        make_net(config, scale=0.1).save(folder / f"{name_net(street, stage)}.safetensors")


@pytest.mark.parametrize("wanted", [NETS, NETS[2:]])
@pytest.mark.parametrize("cards", ["before", "after", "some"])
def test_networks_of_a_folder_are_played(tmp_path, wanted, cards):
    write_nets(tmp_path, wanted)
    game = Holdem(menu="all", **CHIPS, **BOARD)
    agent = parse_agent(f"supremus:nets={tmp_path},cards={cards},iterations=4,menu=100%,a", game)
    streets = agent._play.walk_of(0).search.profile.streets
    kind = NetworkLeaves if cards == "before" and wanted == NETS else AfterDeal
    assert isinstance(streets.ends[Street.TURN].first.inner, kind)  # asked once an iteration
    assert isinstance(
        streets.ends[Street.TURN].last, AfterDeal if cards == "after" or wanted != NETS else NetworkLeaves
    )
    assert isinstance(streets.starts[Street.RIVER], NetworkLeaves)
    rng = np.random.default_rng(3)
    assert abs(sum(play_game(game, [agent, UniformAgent()], chance=rng, rng=rng))) < 1e-9


@pytest.mark.parametrize("name", PRESETS)
def test_the_networks_that_come_along_play_every_street(name):
    game = Holdem(menu="all")
    agent = parse_agent(f"{name}:iterations=2,early=2,menu=100%,a,seconds=0", game)
    streets = agent._play.walk_of(0).search.profile.streets
    assert set(streets.ends) >= {Street.PREFLOP, Street.FLOP}
    assert all(isinstance(leaves.first, HeldLeaves) for leaves in streets.ends.values())
    assert set(streets.starts) == {Street.FLOP, Street.TURN, Street.RIVER}
    rng = np.random.default_rng(4)
    won = play_game(game, [agent, parse_agent("call", game)], chance=rng, rng=rng)
    assert abs(sum(won)) < 1e-9


@pytest.mark.parametrize("path", sorted([*SHIPPED.iterdir(), *LEDUC_NETS.iterdir()]), ids=lambda path: path.stem)
def test_networks_that_come_along_say_where_they_come_from(path):
    card = StoredNet.load(path).card
    assert card["command"].startswith("equipoise train values --preset")
    assert len(card["commit"].removesuffix("-dirty")) == 12
    assert card["training"]["steps"] >= card["steps"] > 0
    assert sum(each["situations"] for name, each in card["data"].items() if not name.endswith("-held-out")) > 0


def test_agents_are_known_by_their_weights(tmp_path):
    write_nets(tmp_path)
    agent = AgentText(f"supremus:nets={tmp_path}")
    before = agent.digest()
    assert agent.digest() == before
    write_nets(tmp_path, NETS[:1], deck="full")
    assert len({before, agent.digest(), AgentText("supremus").digest()}) == 3
    assert AgentText("supremus:leaves=equity").digest() is None
    for path in tmp_path.iterdir():  # what a card says changes nothing
        stored = StoredNet.load(path)
        changed = agent.digest()
        dataclasses.replace(stored, card={"what": "another"}).save(path)
        assert agent.digest() == changed


def test_weights_that_do_not_fit_are_refused_in_a_line(tmp_path):
    game = Holdem(menu="all", **CHIPS, **BOARD)
    folders = [tmp_path / name for name in ("none", "other", "swapped", "broken", "leduc")]
    for folder in folders:
        folder.mkdir()
    write_nets(folders[1], deck="full")
    write_nets(folders[2])
    (folders[2] / "turn-end.safetensors").rename(folders[2] / "flop-end.safetensors")
    (folders[3] / "flop-end.safetensors").write_bytes(b"nothing of the kind")
    write_nets(folders[4])
    leduc = ValueNetConfig(kind=NetKind.BUCKET, game="leduc", buckets=6, hidden=8, layers=1)
    make_net(leduc).save(folders[4] / "river.safetensors")
    words = (
        r"flop-end\.safetensors in",
        "made for the deck full",
        "holds the network turn-end",
        "flop-end",
        "a network for leduc, expected one for hold'em",
    )
    for folder, reason in zip(folders, words, strict=True):
        with pytest.raises((ConfigError, CheckpointError), match=reason):
            make_resolving_agent("supremus", game, f"nets={folder}")


def test_stacks_far_beyond_those_of_training_are_refused_in_a_line():
    make_resolving_agent("supremus", Holdem(menu="all", stacks=(40_000, 40_000)), "")  # 199 pots: taken for 100
    deep = Holdem(menu="all", stacks=(5_000_000, 5_000_000))
    with pytest.raises(ConfigError, match=r"25,000 pots deep: .*safetensors has learnt 100 at most; leaves=equity"):
        make_resolving_agent("supremus", deep, "")
    make_resolving_agent("supremus", deep, "leaves=equity")
    short = Holdem(menu="all", stacks=(300, 300))
    make_resolving_agent("deepstack", short, "")
