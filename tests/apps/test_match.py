# SPDX-License-Identifier: Apache-2.0
"""`equipoise match`, `lbr`, `blueprint`, `bench matches` and `evaluate` of agents, as users meet them."""

import pytest

from equipoise.apps.bench import matches
from equipoise.games.registry import make_game
from equipoise.runs.solution import solve
from equipoise.solvers.rules import CFR
from tests.agents.games import small_spot

TINY = ("-p", "deck=tiny", "-p", "stacks=30,30", "-p", "small_blind=5", "-p", "big_blind=10", "-p", "last_street=flop")
SPOT = """
deck = "tiny"
stacks = 30
big_blind = 10
small_blind = 5
last_street = "flop"
menu = "100%, a"
"""
TURN_SPOT = """
deck = "9TJQKA/dhs"
board = "ThJhKsAd"
pot = 20
stacks = 40
big_blind = 2
menu = "100%, a"
[ranges]
oop = "AA, KQ, JT, Q9"
ip = "AK, QJ, TT, 99"
"""


def test_a_match_says_who_wins_and_how_surely(equipoise):
    outcome = equipoise("match", "raise", "fold", "--game", "leduc", "-n", 2000)
    assert outcome.code == 0
    assert "+1,000 ± 0 mbb/h" in outcome.out
    found = equipoise("match", "uniform", "fold", "--game", "leduc", "-n", 4000, "--json").json
    first, second = found["agents"]
    assert first["mean"] == pytest.approx(-second["mean"])
    assert first["interval_mbb"][0] < 752 < first["interval_mbb"][1]
    assert found["num_hands"] == 4000
    assert found["stopped_by"] == "deals"
    assert sum(first["results"]) == 4000
    assert found["elo"] is None  # chips say it better


def test_six_players_are_told_with_one_tailed_tests(equipoise):
    six = ("match", "call", *["fold"] * 5, "--game", "holdem_six", "-n", 60)
    found = equipoise(*six, "--json").json
    assert [agent["p_value"] < 0.5 for agent in found["agents"]] == [agent["mean"] > 0 for agent in found["agents"]]
    assert sum(agent["mean"] for agent in found["agents"]) == pytest.approx(0)
    for agent in found["agents"]:  # the lower end of an interval of 95 % is above 0 where the test says 2.5 %
        assert (agent["p_value"] < 0.025) == (agent["interval_mbb"][0] > 0)
    told = equipoise(*six).out
    assert "one-tailed" in told
    assert "standard error" in told


def test_elo_is_for_games_without_chips(equipoise):
    found = equipoise("match", "uniform", "uniform", "--game", "tic_tac_toe", "-n", 400, "--json").json
    assert found["elo"]["half_width"] > 0
    assert "Elo" in equipoise("match", "uniform", "uniform", "--game", "tic_tac_toe", "-n", 400).out
    assert "Elo" not in equipoise("match", "uniform", "call", "--game", "leduc", "-n", 400).out


def test_a_match_without_a_number_ends_in_time(equipoise, monkeypatch):
    monkeypatch.setattr("equipoise.apps.match.DEFAULT_SECONDS", 0.05)
    stopped = equipoise("match", "uniform", "call", "--game", "leduc", "--runner", "hands", "--json")
    assert stopped.code == 0
    assert stopped.json["stopped_by"] == "time"
    assert 0 < stopped.json["num_hands"] < 10_000
    assert "--hands or --precision ask for more" in stopped.err
    asked = equipoise("match", "uniform", "call", "--game", "leduc", "--runner", "hands", "-n", 600, "--json").json
    assert (asked["stopped_by"], asked["num_hands"]) == ("deals", 600)


@pytest.mark.parametrize("runner", ["hands", "batched"])
def test_a_match_is_kept_and_goes_on(equipoise, runner):
    arguments = ("match", "uniform", "call", "--game", "kuhn", "--runner", runner, "--out", "m.eq", "--json")
    whole = equipoise(*arguments[:-3], "-n", 400, "--json").json
    assert equipoise(*arguments, "-n", 200).code == 0
    refused = equipoise(*arguments, "-n", 400)
    assert refused.code == 2
    assert "--resume goes on with it" in refused.err
    again = equipoise(*arguments, "-n", 400, "--resume").json
    assert again["agents"] == whole["agents"]
    other = equipoise("match", "uniform", "fold", "--game", "kuhn", "--runner", runner, "--out", "m.eq", "--resume")
    assert other.code == 2
    assert "another match" in other.err
    reseeded = equipoise(*arguments, "-n", 400, "--resume", "--seed", 3)
    assert "another match: seed is 0, asked for 3" in reseeded.err


def test_a_match_knows_files_by_what_is_in_them(equipoise, tmp_path):
    def write(name, iterations):
        solve(make_game("kuhn"), rule=CFR(), iterations=iterations).strategy.save(tmp_path / name)

    write("a.eq", 3)
    write("guess.eq", 5)
    plain = ("match", "file:a.eq", "call", "--out", "m.eq", "--runner", "hands", "-n", 20)
    scored = (*plain[:4], "scored.eq", "--aivat", "guess.eq", "-n", 20)
    for command in (plain, scored):
        assert equipoise(*command).code == 0
    write("a.eq", 3)  # the same again
    assert equipoise(*plain, "--resume").code == 0
    write("guess.eq", 6)
    assert "another match: guesses_content is" in equipoise(*scored, "--resume").err
    write("a.eq", 4)
    refused = equipoise(*plain, "--resume")
    assert refused.code == 2
    assert "another match: contents is" in refused.err


def test_aivat_refuses_to_know_what_is_searched_for_anew(equipoise, tmp_path):
    solve(make_game("kuhn"), rule=CFR(), iterations=5).strategy.save(tmp_path / "guess.eq")
    match = ("match", "ismcts:5", "call", "--game", "kuhn", "-n", 20, "--aivat", "guess.eq")
    refused = equipoise(*match, "--known", "both")
    assert refused.code == 2
    assert "ismcts:5 searches anew at every decision: AIVAT cannot know what it plays" in refused.err
    assert equipoise(*match, "--known", "second").code == 0
    assert equipoise(*match, "--json").json["aivat"]["known"] == ["call"]  # who can say what it plays


def test_precision_ends_a_match_or_is_missed(equipoise):
    reached = equipoise(
        "match", "uniform", "fold", "--game", "leduc", "--precision", 100, "--runner", "hands", "--json"
    )
    assert reached.json["stopped_by"] == "precision"
    assert reached.json["agents"][0]["standard_error_mbb"] * 1.96 <= 100.1
    missed = equipoise("match", "uniform", "fold", "--game", "leduc", "--precision", 1, "-n", 200)
    assert missed.code == 3
    assert "precision 1 not reached: stopped by the number of hands\n" in missed.err
    few = equipoise("match", "call", "call", "--game", "leduc", "--precision", 1, "-n", 20)
    assert "(it takes 100 deals, 30 of them unlike the most frequent result)" in few.err


def test_three_agents_make_a_table(equipoise):
    found = equipoise("match", "raise", "uniform", "fold", "--game", "leduc", "-n", 2000, "--json").json
    assert len(found["pairs"]) == 6
    assert [row["name"] for row in found["bankroll"]] == ["raise", "uniform", "fold"]
    assert found["runoff"] == ["raise", "uniform", "fold"]
    assert found["elo"] is None
    rated = equipoise("match", "uniform", "call", "fold", "--game", "tic_tac_toe", "-n", 100, "--json").json
    assert rated["elo"][0]["elo"] == 0
    assert "total bankroll: raise" in equipoise("match", "raise", "uniform", "fold", "--game", "kuhn", "-n", 500).out


def test_files_say_what_they_play_and_guess_values(equipoise, tmp_path):
    for name, iterations in (("good", 50), ("bad", 2), ("guess", 10)):
        solve(make_game("kuhn"), rule=CFR(), iterations=iterations).strategy.save(tmp_path / f"{name}.eq")
    plain = equipoise("match", "file:good.eq", "file:bad.eq", "-n", 2000, "--json").json
    assert plain["game"] == "kuhn"
    scored = equipoise("match", "file:good.eq", "file:bad.eq", "-n", 600, "--aivat", "guess.eq", "--json").json
    first, second = plain["agents"][0], scored["agents"][0]
    assert second["standard_error"] < first["standard_error"] / 2
    assert abs(first["mean"] - second["mean"]) < 4 * (first["standard_error"] + second["standard_error"])
    assert scored["elo"] is None
    assert scored["aivat"]["known"] == ["file:good.eq", "file:bad.eq"]
    assert scored["aivat"]["times_less"] > 2
    raw = scored["aivat"]["won"]
    assert raw["standard_error"] == pytest.approx(scored["aivat"]["times_less"] * second["standard_error"])
    assert plain["aivat"] is None


def test_blueprints_are_trained_and_meet(equipoise, tmp_path):
    (tmp_path / "spot.toml").write_text(SPOT)
    for name, buckets in (("fine", 4), ("coarse", 2)):
        made = equipoise("blueprint", "spot.toml", "--out", f"{name}.eq", "--buckets", buckets, "-n", 30, "--json")
        assert made.json["iterations"] == 30
    assert equipoise("blueprint", "spot.toml", "--out", "fine.eq").code == 2
    plain = equipoise("match", "file:fine.eq", "call", "-n", 2000, "--json").json
    assert plain["label"].startswith("holdem(deck=tiny")
    pair = ("match", "file:fine.eq", "file:coarse.eq", "--single", "--json")
    raw = equipoise(*pair, "-n", 3000).json["agents"][0]
    known = equipoise(*pair, "-n", 100, "--aivat", "coarse.eq", "--known", "first").json["agents"][0]
    stranger = equipoise(
        "match", "file:fine.eq", "uniform", "--single", "-n", 60, "--aivat", "coarse.eq", "--known", "first"
    )
    assert stranger.code == 0
    both = equipoise("match", "file:fine.eq", "uniform", "--aivat", "coarse.eq", "-n", 10)
    assert "AIVAT, knowing file:fine.eq and uniform" in both.out
    refused = equipoise("match", "file:fine.eq", "translate:fine.eq", "--aivat", "coarse.eq", "--known", "both")
    assert refused.code == 2
    assert "translate:fine.eq has no strategy for whole public states" in refused.err
    deviations = [row["standard_error"] * row["num_samples"] ** 0.5 for row in (raw, known)]
    assert deviations[1] < deviations[0] / 1.2


def test_lbr_is_exact_on_small_games(equipoise):
    found = equipoise("lbr", "uniform", "--game", "leduc", "--menu", "fc", "--json").json
    assert found["is_exact"]
    assert all(a <= b for a, b in zip(found["values"], found["best_response_values"], strict=True))
    assert "of 2,373.6 mbb/h" in equipoise("lbr", "uniform", "--game", "leduc").out


def test_lbr_plays_hands_of_holdem(equipoise):
    exact = equipoise("lbr", "call", "--game", "holdem", *TINY, "--exact", "--json").json
    played = equipoise("lbr", "call", "--game", "holdem", *TINY, "-n", 120, "--json").json
    assert exact["mean_mbb"] > 100
    assert abs(exact["mean"] - played["mean"]) < 4 * played["standard_error"]
    assert "a lower bound" in equipoise("lbr", "fold", "--game", "holdem", *TINY, "-n", 4).out
    assert played["menu"] == "all"
    deep = ("-p", "deck=tiny", "-p", "last_street=flop", "-p", "menu=all")  # each of thousands of raises would be tried
    assert equipoise("lbr", "call", "--game", "holdem", *deep, "-n", 4, "--json").json["menu"] == "fcpa"


def test_agents_are_evaluated_over_seeds(equipoise):
    found = equipoise("evaluate", "uniform", "--game", "leduc", "--seeds", 2, "--json").json
    assert found["exploitability_mbb"] == pytest.approx(2373.6, abs=0.1)
    assert found["exploitability_min"] == found["exploitability_max"]
    whole = equipoise("evaluate", "call", "--game", "kuhn", "--whole-states")
    assert "mbb/h" in whole.out


def test_bench_matches_counts_hands(equipoise, monkeypatch):
    monkeypatch.setattr(matches, "_limit", lambda deck: small_spot(deck, stacks=(30, 30)))
    outcome = equipoise("bench", "matches", "--deck", "tiny", "--workers", 1, "--seconds", 0.05, "--json")
    rows = {row["runner"]: row for row in outcome.json["rows"]}
    assert rows["batched"]["hands_per_cpu_second"] > rows["hands"]["hands_per_cpu_second"] > 0
    assert "hands/CPU s" in equipoise("bench", "matches", "--deck", "tiny", "--workers", 1, "--seconds", 0.01).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("match", "uniform", "--game", "leduc"), "at least two agents, got 1"),
        (("match", "uniform", "call"), "--game NAME is needed"),
        (("match", "uniform", "call", "-p", "ranks=4"), "a parameter changes a game"),
        (("match", "uniform", "calls", "--game", "leduc"), "did you mean call"),
        (("match", "uniform", "call", "raise", "--game", "holdem_six"), "played by 6 agents, got 3"),
        (("match", "uniform", "file:none.eq", "--game", "leduc"), "cannot read none.eq"),
        (("match", "uniform", "call", "--game", "leduc", "--resume"), "--resume goes on with the match in --out"),
        (
            ("match", "uniform", "call", "--game", "holdem", "-p", "menu=all", "--runner", "batched"),
            "the --runner hands takes everybody",
        ),
        (("match", "uniform", "call", "--game", "leduc", "--confidence", 2), "confidence must be between 0 and 1"),
        (("lbr", "uniform", "--game", "leduc", "--menu", "fcpa"), "menu fcpa is of hold'em"),
        (("lbr", "uniform", "--game", "leduc", "--passive-streets", 1), "--passive-streets is of hold'em"),
        (
            ("lbr", "call", "--game", "holdem", "-p", "menu=all", "--menu", "all"),
            "would try each of 19,801 raises",
        ),
        (("lbr", "uniform", "--game", "kuhn", "-p", "players=3"), "for two players, kuhn has 3"),
        (("lbr", "uniform", "--game", "leduc", "-n", 10, "--out", "l.eq"), "--hands, --out is for hands of hold'em"),
        (("lbr", "uniform", "--game", "holdem", *TINY, "--exact", "--precision", 3), "with --exact nothing is sampled"),
        (("lbr", "uniform", "--game", "holdem", *TINY, "--rollout", "call"), "--rollout is of other games"),
        (("lbr", "uniform", "--game", "bucketed_limit_holdem"), "is too large: sampling suggests about"),
        (("evaluate", "uniform"), "--game NAME is needed"),
        (("evaluate", "uniform", "--game", "holdem"), "is too large: sampling suggests about"),
        (("evaluate", "uniform", "--game", "leduc", "--max-histories", 5), "is too large"),
        (("evaluate", "uniform.eq", "--whole-states"), "is of agents (uniform, "),
        (("match", "uniform", "call", "--game", "leduc", "--precision", -1), "must be positive and finite, got -1"),
        (("match", "uniform", "call", "--game", "leduc", "--precision", "inf"), "must be positive and finite, got inf"),
        (("bench", "matches", "--deck", "tarot"), "deck must be one of"),
    ],
)
def test_bad_input_is_said_in_one_line(equipoise, arguments, said):
    outcome = equipoise(*arguments)
    assert outcome.code == 2
    assert said in outcome.err


RIVER = """
deck = "9TJQKA/cdhs"
board = "9cThJsQhKs"
pot = 20
stacks = 40
big_blind = 2
menu = "50%, a / a"
[ranges]
oop = "random"
ip = "random"
"""


def test_agents_that_search_play_a_spot_with_every_bet(equipoise, tmp_path):
    (tmp_path / "river.toml").write_text(RIVER)
    file = tmp_path / "river.eq"
    assert equipoise("solve", tmp_path / "river.toml", "--iterations", 20, "--out", file, "-q").code == 0
    for other in (f"translate:{file}", "raise"):
        arguments = ("match", f"search:{file},maxmargin,30,decisions", other, "-p", "menu=all", "-n", 12, "--json")
        found = equipoise(*arguments).json
        assert found["num_hands"] == 12
        assert found["label"].endswith("menu=all)")
    agent = f"search:{file},unsafe,30,from=river,early=5,expensive"
    assert equipoise("match", agent, "raise", "-p", "menu=all", "-n", 4, "--json").json["num_hands"] == 4
    missing = equipoise("match", f"search:{file}", "raise", "-p", "menu=50%", "-n", 2)
    assert missing.code == 2
    assert "must offer every bet of the strategy's menu" in " ".join(missing.err.split())


def test_agents_that_search_play_small_games(equipoise, tmp_path):
    file = tmp_path / "kuhn.eq"
    assert equipoise("solve", "kuhn", "--iterations", 5, "--out", file, "-q").code == 0
    found = equipoise("match", f"search:{file},maxmargin,20,decisions", "continual:20", "-n", 20, "--json").json
    assert found["num_hands"] == 20
    assert equipoise("match", "continual", "uniform", "--game", "kuhn", "-n", 4, "--json").json["num_hands"] == 4


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("search:{file},maxmargi", "unknown search method 'maxmargi'; did you mean maxmargin"),
        ("search:{file},resolve," + "9" * 5000, "whole number of at least 1, got '999999999999999999' in"),
        ("search:{file},resolve,many", "iterations of a search must be a whole number of at least 1, got 'many'"),
        ("search:{file},resolve,5,always", "unknown time to search 'always'; known: decisions, replies, rounds"),
        ("search:{file},resolve,5,rounds,6", "search takes a file, a method, iterations and when, got 5 settings"),
        ("search:{file},resolve,5,replies", "search it by rounds or decisions"),
        ("search:{file},from=turm", "unknown street 'turm'; did you mean turn"),
        ("search:{file},fro=turn", "unknown option of a search 'fro'; did you mean from"),
        ("search:{file},early=0", "iterations of a search must be a whole number of at least 1, got '0'"),
        ("search:{file},from=turn", "a first street is for searches of hold'em"),
        ("search:{file},early=9", "a number of early iterations is for searches of hold'em"),
        ("search:{file},expensive", "the expensive form is for searches of hold'em"),
        ("search:none.eq", "no such file"),
        ("translate:{file}", "has no strategy by hands"),
        ("continual:0", "iterations of a search must be a whole number of at least 1, got '0'"),
        ("continual:", "nothing stands behind the colon"),
    ],
)
def test_agents_that_search_are_refused_in_a_line(equipoise, tmp_path, agent, message):
    file = tmp_path / "kuhn.eq"
    assert equipoise("solve", "kuhn", "--iterations", 5, "--out", file, "-q").code == 0
    refused = equipoise("match", agent.format(file=file), "uniform", "--game", "kuhn", "-n", 2)
    assert refused.code == 2
    assert message in " ".join(refused.err.split())
    assert "Traceback" not in refused.err


def test_continual_re_solving_is_for_two_players_and_games_that_can_be_listed(equipoise):
    three = equipoise("match", "continual", "uniform", "uniform", "--game", "kuhn", "-p", "players=3", "-n", 3)
    assert "continual re-solving is for 2 players" in " ".join(three.err.split())
    large = equipoise("match", "continual", "uniform", "--game", "holdem", "-n", 2)
    assert large.code == 2
    assert "histories are too many to find it" in " ".join(large.err.split())


def test_searching_agents_are_scored_by_aivat_on_any_menu(equipoise, tmp_path):
    (tmp_path / "turn.toml").write_text(TURN_SPOT)
    (tmp_path / "few.toml").write_text(TURN_SPOT.replace("100%, a", "100%"))
    assert equipoise("blueprint", "turn.toml", "--out", "turn.eq", "--buckets", 4, "-n", 30).code == 0
    assert equipoise("blueprint", "few.toml", "--out", "few.eq", "--buckets", 3, "-n", 30).code == 0
    wide = ("-p", "menu=50%, 100%, a")
    match = ("match", "search:turn.eq,resolve,5", "call", *wide, "--aivat", "few.eq", "-n")
    shown = equipoise(*match, 40)
    assert "AIVAT, knowing search:turn.eq,resolve,5 and call: deals scatter" in shown.out
    found = equipoise(*match, 40, "--json", "--out", "m.eq").json
    assert found["aivat"]["times_less"] > 1.2
    whole = equipoise(*match, 60, "--json").json
    again = equipoise(*match, 60, "--json", "--out", "m.eq", "--resume").json
    assert again["agents"] == whole["agents"]
    assert again["aivat"] == whole["aivat"]
    cards = equipoise(*match, 40, "--all-in-cards", "--known", "first", "--json").json
    assert cards["aivat"]["known"] == ["search:turn.eq,resolve,5"]
    every = ("match", "search:turn.eq,resolve,5", "uniform", "-p", "menu=all", "-n", 10, "--aivat", "few.eq")
    assert equipoise(*every, "--json").json["aivat"]["known"] == ["search:turn.eq,resolve,5", "uniform"]


@pytest.mark.parametrize("name", ["supremus", "deepstack"])
def test_agents_that_search_whole_hands_are_scored_by_aivat(equipoise, tmp_path, name):
    (tmp_path / "few.toml").write_text(TURN_SPOT.replace("100%, a", "100%"))
    assert equipoise("blueprint", "few.toml", "--out", "few.eq", "--buckets", 3, "-n", 30).code == 0
    agent = f"{name}:leaves=equity,iterations=5,early=3,updates=alternating,menu=50%,a"
    match = ("match", agent, "translate:few.eq", "-p", "menu=all", "-n", 60, "--known", "first", "--json")
    plain, scored = (equipoise(*match, *more).json for more in ((), ("--aivat", "few.eq")))
    assert scored["aivat"]["known"] == [agent]
    assert scored["aivat"]["won"]["mean"] == pytest.approx(plain["agents"][0]["mean"])  # the same hands
    assert scored["aivat"]["times_less"] > 1.1
