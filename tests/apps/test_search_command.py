# SPDX-License-Identifier: Apache-2.0
"""`equipoise search`: what it shows, its JSON, and what it refuses."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.files import load_policy
from equipoise.apps.cli import app
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.hands import format_hand
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.search.gadgets import Resolve
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Reply
from equipoise.search.settings import SearchSettings
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.holdem.places import HoldemPlace

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "leduc.eq"
    solved = RUNNER.invoke(app, ["solve", "leduc", "--iterations", "20", "--out", str(path), "--quiet"])
    assert solved.exit_code == 0
    return path


SPOT = """
board = "Ks7h2d5c9h"
pot = 100
stacks = 200
big_blind = 10
menu = "50%, a / a"
[ranges]
oop = "22+, AT+"
ip = "QQ+, AK, KQ, 98s"
"""


def solve_spot(folder, name, text, iterations):
    """Returns the file of a spot that is roughly solved; its description lies beside it."""
    description, path = folder / f"{name}.toml", folder / f"{name}.eq"
    description.write_text(text)
    arguments = ["solve", description, "--iterations", iterations, "--out", path, "--quiet"]
    assert RUNNER.invoke(app, [str(argument) for argument in arguments]).exit_code == 0
    return path


@pytest.fixture(scope="module")
def river(tmp_path_factory):
    return solve_spot(tmp_path_factory.mktemp("search"), "river", SPOT, 10)


def run(*arguments):
    return RUNNER.invoke(app, ["search", *map(str, arguments)])


def test_it_shows_strategy_margins_and_price(leduc):
    result = run(leduc, "--state", "cc/Qs:", "--iterations", 200, "--limit", 2)
    assert result.exit_code == 0
    assert "player 0 at 'cc/Qs:', blueprint > now" in result.stdout
    assert "least margin" in result.stdout
    assert result.stdout.count("|cc/Qs:") == 4  # two private states of each side


@pytest.mark.parametrize(
    "method", ["unsafe", "resolve", "mixed-resolve", "reach-resolve", "maxmargin", "reach-maxmargin"]
)
def test_json_has_every_private_state(leduc, method):
    result = run(leduc, "--state", "cc/Qs:", "--method", method, "--iterations", 300, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["search_method"] == method
    assert found["player"] == 0
    assert len(found["strategy"]) == len(found["margins"]) == 5
    for row in found["strategy"]:
        assert sum(row["after"].values()) == pytest.approx(1.0)
    if method == "unsafe":
        assert found["least_margin"] is None
    else:
        assert found["least_margin"] > -0.05
        assert found["best_response_after"] < found["best_response_before"] + 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--state", "cc/Qs:x"), "unknown public state 'cc/Qs:x'; did you mean"),
        (("--state", "cc/"), "chance moves at 'cc/': say who searches with --player 0 or 1"),
        (("--state", "cc/Qs:cc"), "the game is over at 'cc/Qs:cc'"),
        (("--state", "cc/Qs:", "--method", "maxmargi"), "unknown search method 'maxmargi'; did you mean maxmargin"),
    ],
)
def test_bad_input_is_one_line(leduc, arguments, message):
    result = run(leduc, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_chance_states_are_searched_for_a_player(leduc):
    result = run(leduc, "--state", "cc/", "--player", 1, "--iterations", 50, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["strategy"] == []  # nobody moves there
    assert len(found["margins"]) == 6


def test_the_root_has_a_name(leduc):
    texts = ("root", "")
    named, plain = (json.loads(run(leduc, "-s", text, "--iterations", 2, "--json", "-q").stdout) for text in texts)
    assert named["margins"] == plain["margins"]


def test_states_far_from_all_others_are_answered_with_a_few(leduc):
    result = run(leduc, "--state", "zzz")
    assert "unknown public state 'zzz'; they look like 'c', 'cc/', 'cc/Qs:'" in result.stderr


def test_a_spot_shows_strategy_margins_and_price(river):
    result = run(river, "--state", "check", "--iterations", 100, "--limit", 1)
    assert result.exit_code == 0
    assert "river Ks7h2d5c9h, check: 100 in the pot, 200 behind, ip searches" in result.stdout
    assert "ip, strategy so far > now" in result.stdout
    assert "reach-maxmargin, 100 iterations in" in result.stdout
    assert "oop's best response takes" in result.stdout


@pytest.mark.parametrize("method", ["unsafe", "resolve", "maxmargin", "reach-maxmargin"])
def test_json_of_a_spot_has_every_hand(river, method):
    result = run(river, "--state", "Ks7h2d5c9h:r100", "--method", method, "--iterations", 300, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["player"] == 1
    assert found["search_iterations"] == 300
    assert found["pot"] == 150
    for row in found["strategy"]:
        assert sum(row["after"].values()) == pytest.approx(1.0)
        assert row["before"].keys() == row["after"].keys()
    assert sum(row["weight"] for row in found["margins"]) == pytest.approx(1.0)
    if method == "unsafe":
        assert found["least_margin"] is None
        assert found["best_response_before"] is None
    else:
        assert found["least_margin"] == min(row["margin"] for row in found["margins"]) > -0.5
        assert found["best_response_after"] < found["best_response_before"] + 0.5
        assert 0 < found["best_response_after"] < 100


def test_replies_to_unknown_bets_of_a_spot(river):
    result = run(river, "--state", "Ks7h2d5c9h:r125", "--iterations", 50, "--json", "--quiet")
    found = json.loads(result.stdout)
    assert found["player"] == 1
    assert found["pot"] == 175
    assert all(row["before"] is None for row in found["strategy"])
    assert "then an unknown raise to 125" in run(river, "--state", "Ks7h2d5c9h:r125", "--iterations", 5).stdout


def test_replies_may_be_solved_from_before_the_bet_on(river):
    arguments = (river, "--state", "Ks7h2d5c9h:r125", "--iterations", 300)
    plain, expensive, unsafe = (
        json.loads(run(*arguments, *more, "--json", "--quiet").stdout)
        for more in ((), ("--expensive",), ("--method", "unsafe"))
    )
    assert [found["is_expensive"] for found in (plain, expensive, unsafe)] == [False, True, True]
    for found in (plain, expensive, unsafe):
        assert found["player"] == 1
        assert found["pot"] == 175
        assert sum(found["frequencies"]["after"].values()) == pytest.approx(1.0)
        assert found["strategy"][0]["after"].keys() == plain["strategy"][0]["after"].keys()
    assert [row["alternative"] for row in sorted(plain["margins"], key=lambda row: row["hand"])] == pytest.approx(
        [row["alternative"] for row in sorted(expensive["margins"], key=lambda row: row["hand"])]
    )
    # from before the bet on, the opponent may also do what it could before
    assert expensive["best_response_after"] > plain["best_response_after"]
    shown = run(river, "--state", "bet 75%", "--iterations", 5, "--expensive").stdout
    assert "then an unknown raise to 125, solved from before it on: 175 in the pot" in " ".join(shown.split())


def read_search(*arguments):
    return json.loads(run(*arguments, "--json", "--quiet").stdout)


@pytest.mark.parametrize(("state", "pot", "open_bet"), [("check", 100, 0), ("bet 50%", 150, 0), ("bet 75%", 100, 75)])
def test_the_opponents_share_is_the_mean_over_its_hands(river, state, pot, open_bet):
    found = read_search(river, "--state", state, "--method", "resolve", "--iterations", 20)
    rows = found["margins"]
    for mean, key in (("best_response_before", "alternative"), ("best_response_after", "value")):
        assert found[mean] == pytest.approx(sum(row["weight"] * row[key] for row in rows))
    # of the pot: nobody loses more than the bet that is not in it yet, and the nuts win it at least
    assert min(row["value"] for row in rows) >= -open_bet - 1e-3
    assert max(row["value"] for row in rows) >= pot - 1e-3


def test_best_responses_before_leave_gifts_out(river):
    state = "check, bet 50%, all-in"  # who raises has not folded
    plain, reach = (
        read_search(river, "--state", state, "--method", method, "--iterations", 5)
        for method in ("maxmargin", "reach-maxmargin")
    )
    before, raised = (sum(row["alternative"] for row in found["margins"]) for found in (plain, reach))
    assert raised > before + 1
    assert reach["best_response_before"] == pytest.approx(plain["best_response_before"])


def test_frequencies_count_the_cards_that_the_other_holds(river):
    found = read_search(river, "--state", "root", "--iterations", 20)
    spot = load_policy(river).tree.spot
    others = {format_hand(hand, spot.deck): weight for hand, weight in enumerate(spot.live_weights(1)) if weight}

    def odds(row):
        cards = {row["hand"][:2], row["hand"][2:]}
        return row["weight"] * sum(share for other, share in others.items() if not cards & {other[:2], other[2:]})

    total = sum(map(odds, found["strategy"]))
    for name, share in found["frequencies"]["after"].items():
        assert share == pytest.approx(sum(odds(row) * row["after"][name] for row in found["strategy"]) / total)


@pytest.mark.parametrize("line", ["bet 75%", "bet 75"])
def test_unknown_bets_may_be_written_as_lines(river, line):
    texts = (line, "Ks7h2d5c9h:r125")
    lines, states = (json.loads(run(river, "-s", text, "--iterations", 5, "--json", "-q").stdout) for text in texts)
    for key in ("pot", "player", "strategy", "margins", "best_response_after"):
        assert lines[key] == states[key]


def test_the_player_who_waits_may_search_too(river):
    result = run(river, "--state", "root", "--player", 1, "--iterations", 5, "--json", "--quiet", "--menu", "33%, a")
    found = json.loads(result.stdout)
    assert found["player"] == 1
    assert found["strategy"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--state", "check, check"), "nobody acts after 'check, check', it is a showdown"),
        (("--state", "bet 5%"), "'bet 5%' at the root is not legal: it must be from 10 to 200 chips, got 5"),
        (("--state", "raise 75%"), "line step 'raise 75%' is none of the actions at the root: check, bet 50%, all-in"),
        (("--state", "bet 75%, call"), "nobody acts after 'call', it is a showdown"),
        (("--state", "bet 75%, check"), "none of the actions at the root: fold, call, all-in (behind 'bet 75%')"),
        (("--state", "all-in, raise 300"), "after 'all-in' is not legal: raise to 350"),
        (("--state", "check, "), "line step '' is none of the actions after 'check'"),
        (("--state", "Ks7h2d5c9h:cc"), "nobody acts at 'Ks7h2d5c9h:cc': the hand is over by showdown"),
        (("--state", "Ks7h2d5c9h:r51"), "the smallest raise is to 60"),
        (("--state", "Ks7h2d5c9h:r125r201"), "both players make bets in 'Ks7h2d5c9h:r125r201' that the strategy"),
        (("--state", "Ks7h2d5c9h:r125r130"), "the smallest raise is to 200"),
        (("--state", "Ks7h2d5c9h:r125", "--player", "0"), "replies to it are searched for player 1"),
        (("--state", "Ks7h2d5c:c"), "is not on the board of the spot, Ks7h2d5c9h"),
        (("--state", "KsKs2d5c9h:c"), "got Ks twice"),
        (("--state", "Ks7h2d5c9h:x"), "is no public state of hold'em"),
        (("--state", "root", "--menu", "bogus"), "unknown menu 'bogus'"),
    ],
)
def test_bad_places_of_a_spot_are_one_line(river, arguments, message):
    result = run(river, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_files_that_cannot_be_searched_are_one_line(river, leduc, tmp_path):
    spot = river.with_suffix(".toml")
    for arguments, message in (
        ((spot, "--state", "root"), "describes a spot that is not solved: `equipoise solve"),
        ((tmp_path / "none.eq", "--state", "root"), "no such file"),
        ((leduc, "--state", "c", "--menu", "50%"), "--menu is for spots of hold'em"),
        ((leduc, "--state", "c", "--expensive"), "--expensive is for spots of hold'em"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


def test_an_interrupted_search_says_what_it_has(leduc, monkeypatch):
    monkeypatch.setattr("equipoise.apps.search.SignalFlag.__call__", lambda self: True)
    monkeypatch.setattr("equipoise.apps.search.SignalFlag.exit_code", 130)
    result = run(leduc, "--state", "cc/Qs:", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["search_iterations"] == 1
    assert "interrupted: this is what the iterations so far have found" in result.stderr


TURN = """
deck = "royal"
board = "ThJhQsKc"
pot = 20
stacks = 47
big_blind = 2
menu = "100%, a; turn cap: 2; river cap: 1"
[ranges]
oop = "random"
ip = "AK, TT, AJ:0.37"
"""


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    return solve_spot(tmp_path_factory.mktemp("search"), "turn", TURN, 5)


@pytest.mark.parametrize("leaves", ["opponent", "both"])
def test_turns_may_be_searched_without_their_rivers(turn, leaves):
    result = run(turn, "--state", "check", "--leaves", leaves, "--method", "resolve", "--limit", 1)
    assert result.exit_code == 0
    assert "a table of leaves first, at most" in result.stderr
    assert "resolve, 300 iterations in" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--state", "check", "--leaves", "opponents"), "unknown player at leaves 'opponents'; did you mean opponent"),
        (("--state", "ThJhQsKc:cc/As:", "--leaves", "both"), "and 'ThJhQsKc:cc/As:' is on the river"),
        (
            ("--state", "ThJhQsKc:r25", "--leaves", "both"),
            "the strategy lacks a bet, so that nothing is known behind it",
        ),
        (("--state", "check", "--leaves", "both", "--menu", "50%"), "leave menu out"),
        (("--state", "ThJhQsKcAs:r15"), "'ThJhQsKcAs:r15' has 5 cards on the turn"),
    ],
)
def test_places_that_a_turn_lacks_are_one_line(turn, arguments, message):
    result = run(turn, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("more", [(), ("--expensive",), ("--menu", "60%, a")])
def test_bets_on_the_way_may_be_unknown_too(turn, more):
    """A turn bet that the strategy lacks, called; then a bet on the river that the reply's search lacks as well."""
    for text, pot, line in (
        ("ThJhQsKc:r25c/As:", 50, "root, then an unknown raise to 25, then call, [As]"),
        ("bet 75%, call, [As], bet 20%", 60, "then call, [As], then an unknown raise to 35"),
    ):
        found = json.loads(run(turn, "--state", text, "--iterations", 20, *more, "--json", "--quiet").stdout)
        assert found["player"] == 1
        assert found["pot"] == pot
        assert found["board"] == "ThJhQsKcAs"
        assert found["is_expensive"] == ("--expensive" in more)
        assert line in " ".join(run(turn, "--state", text, "--iterations", 2, *more).stdout.split())


def test_searches_on_the_way_are_those_of_an_agent(turn):
    state = "ThJhQsKc:r25c/As:r35"
    shown = json.loads(run(turn, "--state", state, "-m", "resolve", "--iterations", 30, "--json", "--quiet").stdout)
    settings = SearchSettings(method=Resolve(), iterations=30, early_iterations=30)
    policy = load_policy(turn)
    search = NestedSearch(HoldemProfile(policy), 1, settings)
    first = search.search(search.begin(), HoldemPlace(0, policy.tree.spot.board), Reply(25))
    call = first.stage.profile.betting.root.children[1]
    river = first.stage.profile.betting.nodes[call].children[0]
    second = search.search(first.stage, HoldemPlace(river, parse_board("ThJhQsKcAs", policy.tree.spot.deck)), Reply(35))
    assert min(row["margin"] for row in shown["margins"]) == pytest.approx(second.least_margin)


def test_leaves_are_for_holdem(leduc):
    assert "--leaves is for spots of hold'em" in run(leduc, "--state", "c", "--leaves", "both").stderr


ESTIMATES = ["estimate", "estimate+distribution", "reach-estimate+distribution"]


@pytest.mark.parametrize("method", ESTIMATES)
def test_estimates_go_by_the_last_iterate(leduc, river, method):
    for path, state in ((leduc, "cc/Qs:"), (river, "check, bet 50%")):
        safe, found = (
            json.loads(run(path, "--state", state, "-m", each, "--iterations", 50, "--json", "--quiet").stdout)
            for each in ("reach-resolve" if "reach" in method else "resolve", method)
        )
        name = "private" if path == leduc else "hand"
        exact, estimated = ({row[name]: row["alternative"] for row in each["margins"]} for each in (safe, found))
        # some strategy of the opponent earns at most what its best response does; gifts are estimated as well
        gap = np.array([exact[key] - estimated[key] for key in exact])
        assert gap.max() > 1e-3
        assert gap.min() > -1e-4 or "reach" in method


def test_estimates_need_regrets(tmp_path):
    solve(make_game("leduc"), rule=CFRPlus(), iterations=3).strategy.save(tmp_path / "alone.eq")
    result = run(tmp_path / "alone.eq", "--state", "cc/Qs:", "-m", "estimate")
    assert "has no regrets: estimates go by the last iterate of a run" in " ".join(result.stderr.split())
