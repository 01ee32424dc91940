# SPDX-License-Identifier: Apache-2.0
"""Bad input from Python: the messages of the shell, as exceptions of one tree."""

import ast
import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest

import equipoise as library
from equipoise import games, runs
from equipoise.core import errors
from equipoise.games import holdem

SPOT = "board = 'Ks7h2d5c9h'\npot = 20\nstacks = 30\nranges = {oop = 'AA', ip = 'KK'}\n"


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        (["solve", "leduk"], lambda: library.solve("leduk")),
        (["solve", "kuhn(decks=2)"], lambda: library.solve("kuhn(decks=2)")),
        (["solve", "kuhn", "--rule", "cfr++"], lambda: library.solve("kuhn", "cfr++")),
        (["solve", "kuhn", "--method", "magic"], lambda: library.solve("kuhn", method="magic")),
        (["solve", "kuhn", "--target", "-1"], lambda: library.solve("kuhn", target=-1)),
        (["solve", "goofspiel(cards=13)"], lambda: library.solve("goofspiel(cards=13)")),
        (["solve", "nowhere.toml"], lambda: library.solve("nowhere.toml")),
        (["solve", "broken.toml"], lambda: library.solve("broken.toml")),
        (["solve", "spot.toml", "--target", "5 bb"], lambda: library.solve("spot.toml", target="5 bb")),
        (["solve", "kuhn", "--against", "bst"], lambda: library.solve("kuhn", against="bst")),
        (["evaluate", "nowhere.eq"], lambda: library.evaluate("nowhere.eq")),
        (["evaluate", "ismcts:x", "--game", "kuhn"], lambda: library.evaluate("ismcts:x", game="kuhn")),
        (["match", "cal", "fold", "-g", "kuhn"], lambda: library.match("cal", "fold", game="kuhn")),
        (["reproduce", "coin"], lambda: library.reproduce("coin")),
        (["solve", "kuhn("], lambda: library.solve("kuhn(")),
        (["solve", "kuhn", "--target", "abc"], lambda: library.solve("kuhn", target="abc")),
        (["solve", "kuhn", "--precision", "float32"], lambda: library.solve("kuhn", precision="float32")),
        (["solve", "spot.toml", "--target", "x"], lambda: library.solve("spot.toml", target="x")),
        (["solve", "kuhn", "--rule", "none.py:Mine"], lambda: library.solve("kuhn", "none.py:Mine")),
        (["search", "river.eq", "--state", "fly"], lambda: library.load("river.eq").search("fly")),
        (
            ["search", "river.eq", "--state", "check", "--method", "magic"],
            lambda: load_river().search("check", "magic"),
        ),
        (["show", "river.eq", "--node", "fly"], lambda: load_river().view("fly")),
        (["show", "kuhn.eq", "--node", "zz"], lambda: library.load("kuhn.eq").describe_place("zz")),
        (["show", "spot.toml"], lambda: library.load("spot.toml")),
        (["match", "search:nowhere.eq", "call"], lambda: library.match("search:nowhere.eq", "call")),
        (["match", "none.py:Bot", "call", "-g", "kuhn"], lambda: library.agents.make("none.py:Bot", "kuhn")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_python_says_what_the_shell_says(equipoise, words, ask):
    Path("spot.toml").write_text(SPOT)
    Path("broken.toml").write_text("board = 7")
    if "river.eq" in words:
        library.solve(library.load_spot(SPOT), iterations=1).save("river.eq")
    if "kuhn.eq" in words:
        library.solve("kuhn", iterations=1).save("kuhn.eq")
    outcome = equipoise(*words)
    with pytest.raises(library.EquipoiseError) as caught:
        ask()
    assert outcome.code == 2
    assert plain(str(caught.value)) in plain(outcome.err)


def plain(text):
    """Returns a message in one line, what is told named the same whether Python or the shell is told it."""
    named = re.sub(r"`(\w+)`", lambda found: f"--{found[1].replace('_', '-')}", text)
    return " ".join(named.split())


@pytest.mark.parametrize(
    ("words", "ask", "typed", "called"),
    [
        (
            ["solve", "kuhn", "--prune", "partial", "--form", "vector"],
            lambda: library.solve("kuhn", prune="partial", form="vector"),
            "--prune partial walks single histories, got --form vector",
            "`prune` partial walks single histories, got `form` vector",
        ),
        (
            ["solve", "spot.toml", "--max-histories", 9],
            lambda: library.solve("spot.toml", max_histories=9),
            "--max-histories is for games",
            "`max_histories` is for games",
        ),
        (
            ["evaluate", "uniform", "-p", "players=3"],
            lambda: runs.matches.find_game([], None, ["players=3"]),
            "a parameter changes a game that --game or",
            "a parameter changes a game that `game` or",
        ),
    ],
)
def test_options_have_dashes_in_the_shell_alone(equipoise, words, ask, typed, called):
    Path("spot.toml").write_text(SPOT)
    with pytest.raises(library.ConfigError, match=re.escape(called)):
        ask()
    assert typed in plain(equipoise(*words).err)


def test_nothing_below_the_shell_speaks_of_its_options():
    """Messages of the rooms that Python meets; what they may name is git's, an engine's, or in the notes of studies."""
    source = Path(library.__file__).parent
    found = [
        (str(path.relative_to(source)), text)
        for path in sorted(source.rglob("*.py"))
        if "apps" not in path.relative_to(source).parts
        for text in list_texts(ast.parse(path.read_text()))
        if re.search(r"(?<![\w-])(--[a-z]|-p )", text)
    ]
    assert {path for path, _ in found} == {
        "agents/notation.py",  # gtp:gnugo --mode gtp
        "core/provenance.py",  # git
        "studies/values/supremus_match.py",  # notes of a stored result
        "studies/values/value_net_losses.py",
    }
    assert len(found) == 7, found


def list_texts(module):
    """Returns all texts of a module but docstrings."""
    alone = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    ]


def load_river():
    return library.load("river.eq")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: library.solve(None), "game must be a Game such as Kuhn(), a spot, or the name of one, got None"),
        (lambda: library.solve("kuhn", 5), "rule must be a rule such as DCFR(), or its name, got 5"),
        (lambda: library.solve("kuhn", iterations=1.5), "iterations must be a whole number, got 1.5"),
        (lambda: library.solve("kuhn", seconds="x"), "seconds must be a number, got 'x'"),
        (lambda: library.solve("kuhn", target=[]), "target of a game must be a number such as 1e-4, got []"),
        (lambda: library.solve("kuhn", num_threads="2"), "num_threads must be a whole number, got '2'"),
        (lambda: library.solve("kuhn", method="external", seed=-1), "seed must be at least 0, got -1"),
        (lambda: library.solve("kuhn", method=3), "method must be a text, got 3"),
        (lambda: library.solve("kuhn", iteration=5), "unknown option of solve 'iteration'; did you mean iterations"),
        (lambda: library.solve("kuhn", iterations=1).view(5), "line must be a text, got 5"),
        (
            lambda: library.solve("kuhn", iterations=1).view("zzzz"),
            "no information state matches 'zzzz'; they look like",
        ),
        (lambda: library.solve("mine.py"), "a game of your own is written mine.py:Class, got 'mine.py'"),
        (lambda: library.solve("kuhn", iterations=1).to_frame("zzzz"), "no information state matches 'zzzz'"),
        (lambda: library.solve("kuhn", iterations=1).search(None), "line must be a text, got None"),
        (lambda: library.match("call", "fold", game="kuhn", hands="x"), "hands must be a whole number, got 'x'"),
        (lambda: library.match(3, 4, game="kuhn"), "an agent is a text such as 'uniform', a solution, a strategy, or"),
        (lambda: library.evaluate(None), "evaluated are solutions, files, strategies, agents, and trees with a table"),
        (lambda: library.agents.make(None), "agent must be a text, got None"),
        (lambda: library.make_game(None), "game must be a text, got None"),
        (lambda: library.reproduce(None), "study must be a text, got None"),
        (lambda: library.load(5), "a file is given by its path, got 5"),
        (lambda: library.load("a\0b"), "cannot read 'a\\x00b': embedded null byte"),
        (lambda: library.load_spot(5), "a file is given by its path, got 5"),
        (lambda: library.TabularStrategy.load(None), "a file is given by its path, got None"),
        (lambda: library.solve("kuhn", iterations=1).save(5), "a file is given by its path, got 5"),
        (lambda: library.solve("kuhn", iterations=1).plot(5), "a file is given by its path, got 5"),
        (lambda: library.solve("kuhn", iterations=1).to_frame(5), "line must be a text, got 5"),
        (lambda: library.solve("kuhn", updates="x"), "updates must be alternating or simultaneous, got 'x'"),
        (lambda: library.solve("kuhn", max_histories="x"), "max_histories must be a whole number, got 'x'"),
        (lambda: library.solve("kuhn", on_progress=5), "on_progress must be a function, got 5"),
        (lambda: library.solve("kuhn", make_solver=5), "make_solver must be a function, got 5"),
        (lambda: library.prepare_run("kuhn", 5), "request must be a RunRequest such as RunRequest(iterations=100)"),
        (lambda: library.solve("kuhn", iterations=True), "iterations must be a whole number, got True"),
        (
            lambda: library.solve("kuhn", library.CFRPlus),
            "rule must be a rule such as DCFR(), or its name, got <function",
        ),
        (lambda: library.solve("kuhn", method="outcome", baseline="zz"), "unknown baseline 'zz'; "),
        (lambda: library.solve("kuhn", make_solver=lambda tree: None), "make_solver must return a solver such as"),
        (lambda: library.RunRequest(form="zz"), "form must be history, vector, game, got 'zz'"),
        (lambda: library.solve("kuhn", iterations=1).to_frame(library=5), "library must be a text, got 5"),
        (lambda: library.solve(library.load_spot(SPOT), iterations=1).list_lines(5), "street must be a text, got 5"),
        (lambda: library.check_game(library.make_game("kuhn"), rng=5), "rng must be a generator such as np.random"),
        (lambda: library.TabularStrategy.from_frame(5, "kuhn"), "a frame has the columns player, infostate, action"),
        (lambda: library.solve_against("kuhn", 5), "response must be a response such as BestResponse, or its name"),
        (lambda: library.games.save_efg(5, "x.efg"), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.DCFR(alpha="x"), "alpha must be a number, got 'x'"),
        (lambda: library.DCFR(beta=None), "beta must be a number, got None"),
        (lambda: library.DCFR(gamma="2"), "gamma must be a number, got '2'"),
        (lambda: library.Optimistic(5), "base must be a rule such as DCFR(), got 5"),
        (lambda: library.NormalHedge(base="cfr"), "base must be a rule such as DCFR(), got 'cfr'"),
        (lambda: library.match("call", "fold", game=5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.agents.make("call", 5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.evaluate("call", game=5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.solve_against(5, "best"), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.build_history_tree("kuhn"), "game must be a Game such as make_game('kuhn'), got 'kuhn'"),
        (lambda: library.evaluate(kuhn_tree(), 5), "strategy must be a NumPy array, got int"),
        (lambda: library.evaluate(kuhn_tree(), np.zeros(3)), "strategy must have shape (26,), got (3,)"),
        (lambda: library.BestResponse(5), "a response is over the tree of a game, such as build_history_tree(game)"),
        (lambda: library.plot_convergence({"a": 5}), "drawn are solutions and their records of progress, got 5"),
        (lambda: library.solve("kuhn", iterations=int), "iterations must be a whole number, got <class 'int'>"),
        (lambda: library.solve("kuhn", seed=np.zeros(3)), "seed must be a whole number, got array([0., 0., 0.])"),
        (lambda: library.solve("kuhn", target=True), "target must be a number or a text such as '0.5%', got True"),
        (lambda: library.solve("kuhn", seconds=True), "seconds must be a number, got True"),
        (lambda: library.solve("kuhn", progress="yes"), "progress must be True or False, got 'yes'"),
        (lambda: library.solve("kuhn", prune=""), "prune must say something, got ''"),
        (
            lambda: library.solve("kuhn", against="best", updates_per_response=0),
            "updates_per_response must be at least 1",
        ),
        (lambda: library.RunRequest(iterations="x"), "iterations must be a whole number, got 'x'"),
        (lambda: library.RunRequest(seat="x"), "seat must be a whole number, got 'x'"),
        (lambda: library.Hedge(horizon=0), "horizon must be at least 1, got 0"),
        (lambda: library.solve("kuhn", "hedge(0)"), "horizon must be at least 1, got 0"),
        (lambda: library.DCFRPlus(delay=True), "delay must be a whole number of at least 0, got True"),
        (lambda: library.solve("kuhn", iterations=1).search("p", method=None), "method must be a text, got None"),
        (lambda: library.solve("kuhn", iterations=1).search("p", rule=None), "rule must be a text, got None"),
        (
            lambda: library.solve("kuhn", iterations=1).search("p", expensive=""),
            "expensive must be True or False, got ''",
        ),
        (lambda: library.solve("kuhn", iterations=1).resume(progress=1), "progress must be True or False, got 1"),
        (lambda: library.match("call", "call", game="kuhn", on_progress=5), "on_progress must be a function, got 5"),
        (
            lambda: library.match("call", "call", game="kuhn", num_workers=None),
            "num_workers must be a whole number, got None",
        ),
        (lambda: library.match("call", "call", game="kuhn", aivat=5), "a file is given by its path, got 5"),
        (lambda: library.match("call", "call", game="kuhn", runner=np.zeros(3)), "unknown runner '[0. 0. 0.]'"),
        (lambda: library.match("call", "call", game="kuhn", resume=True), "resume goes on with the match in out"),
        (lambda: library.reproduce("coin-toss", out=5), "a file is given by its path, got 5"),
        (lambda: library.reproduce("coin-toss", on_progress=5), "on_progress must be a function, got 5"),
        (lambda: library.plot_convergence((), target="x"), "target must be a number, got 'x'"),
        (
            lambda: library.solve_against("kuhn", "best", rule=5),
            "rule must be a rule such as DCFR(), or its name, got 5",
        ),
        (lambda: library.TabularStrategy.from_csv(5, "kuhn"), "a file is given by its path, got 5"),
        (lambda: library.TabularStrategy.from_dict({}, 5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.TabularStrategy.from_dict({math.inf: {}}, "kuhn"), "the strategy does not fit"),
        (lambda: library.solve("kuhn", iterations=1).strategy.probabilities([], "K:"), "player must be a whole number"),
        (lambda: library.solve("kuhn", iterations=1).strategy.to_tree(5), "tree must be a tree such as"),
        (lambda: library.TabularStrategy.from_dict(5, "kuhn"), "a strategy is written {player: {infostate: {action:"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_only_python_can_say_is_refused_alike(ask, said):
    with pytest.raises(library.EquipoiseError, match=re.escape(said)):
        ask()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: library.solve(library.games.Kuhn), "got the class Kuhn: make a game of it, Kuhn()"),
        (lambda: library.solve(type("Half", (), {"spec": 5})()), "game must be a Game such as Kuhn(), a spot, or the"),
        (lambda: library.solve(Nothing()), "kuhn is not a game: it lacks initial_state, actor, legal_actions,"),
        (lambda: library.check_game(library.games.Kuhn), "got the class Kuhn: make a game of it, Kuhn()"),
        (lambda: library.load_spot(""), "a file is given by its path, got ''"),
        (lambda: library.solve(small_spot(), precision="float128"), "precision must be float32 or float64 or int16"),
        (lambda: library.solve("kuhn", library.Minimizer), "rule must be a rule such as DCFR(), or its name, got"),
        (lambda: library.evaluate(kuhn_tree(), np.ones(26)), "probabilities at 'J:' must sum to 1, got 2.0"),
        (lambda: library.evaluate(kuhn_tree(), -np.ones(26)), "probabilities must be finite and at least 0"),
        (lambda: evaluate_river(math.nan), "what hands play in proportion to must be finite and at least 0"),
        (lambda: evaluate_river(-1), "what hands play in proportion to must be finite and at least 0"),
        (lambda: library.evaluate(np.ones(26), kuhn_tree()), "a table is evaluated on a tree such as"),
        (lambda: library.solve("kuhn", seed=np.zeros(300)), "seed must be a whole number, got array([0., 0., 0.,"),
        (lambda: library.solve("kuhn", iterations=1).strategy.row(99), "index must be between 0 and 11, got 99"),
        (lambda: library.solve("kuhn", iterations=1).strategy.row("K:"), "index must be a whole number, got 'K:'"),
        (lambda: library.StaticResponse(kuhn_tree(), 5), "a static strategy must be an array such as"),
        (
            lambda: library.match(library.solve("kuhn", iterations=1), library.solve("leduc", iterations=1)),
            "a solution is a strategy for leduc(",
        ),
        (lambda: library.solvers.CFRSolver("kuhn"), "tree must be a tree such as build_history_tree(game), got 'kuhn'"),
        (lambda: library.solvers.CFRSolver(kuhn_tree(), "cfr"), "rule must be a rule such as DCFR(), got 'cfr'"),
        (lambda: library.solvers.EGTSolver("kuhn"), "tree must be a tree such as build_history_tree(game), got 'kuhn'"),
        (lambda: library.solvers.solve_sequence_lp("kuhn"), "tree must be a tree such as build_history_tree(game)"),
        (lambda: library.solvers.parse_rule(5), "rule must be a text, got 5"),
        (lambda: library.solvers.format_rule(5), "rule must be a rule such as DCFR(), got 5"),
        (lambda: library.search.parse_method(5), "method must be a text, got 5"),
        (lambda: library.search.SearchSettings(iterations="x"), "iterations must be a whole number, got 'x'"),
        (lambda: library.search.PublicProfile(kuhn_tree(), 5), "tree must be a tree such as"),
        (lambda: library.trees.build_public_tree(library.games.Kuhn()), "kuhn(players=2) does not say its public form"),
        (lambda: library.trees.build_holdem_tree(library.games.Kuhn()), "spot must be a HoldemSpot such as"),
        (lambda: library.trees.load_or_build_public_tree(5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.trees.derive_public_game(5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.trees.merge_infosets("kuhn", [1]), "tree must be a tree such as build_history_tree(game)"),
        (lambda: library.games.format_game(5), "game must be a Game such as make_game('kuhn'), got 5"),
        (lambda: library.games.holdem.parse_card(5), "card must be a text, got 5"),
        (lambda: library.games.holdem.parse_range(5), "range must be a text, got 5"),
        (lambda: library.games.holdem.parse_menu(5), "menu must be a text, got 5"),
        (lambda: library.agents.load_agent(5), "a file is given by its path, got 5"),
        (lambda: library.agents.StrategyAgent(5), "strategy must be one such as solve('kuhn').strategy, got 5"),
        (lambda: library.agents.SearchAgent(5), "blueprint must be a profile such as PublicProfile, got 5"),
        (lambda: library.evaluation.estimate_mean("x"), "samples must be numbers, got 'x'"),
        (lambda: library.core.LocalPool("2"), "a pool needs at least one worker, got '2'"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_given_in_the_wrong_place_is_refused_in_a_line(ask, said):
    with pytest.raises(library.EquipoiseError, match=re.escape(said)) as caught:
        ask()
    assert "\n" not in str(caught.value)


class Nothing:
    spec = library.games.Kuhn().spec


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: library.solve(str(Path(__file__).parent / "signature.txt")), "but files of spots end in .toml"),
        (lambda: library.match("call", "call", game="kuhn", precision=""), "precision must be a number, got ''"),
        (lambda: library.match("call", "call", game="kuhn", confidence=None), "confidence must be a number, got None"),
        (lambda: library.evaluate("uniform", game="kuhn", seed=-1), "seed must be at least 0, got -1"),
        (lambda: library.evaluate("uniform", game="kuhn", max_histories=None), "max_histories must be a whole number"),
        (lambda: library.TabularStrategy.from_csv("a\0b", "kuhn"), "cannot read 'a\\x00b': embedded null byte"),
        (
            lambda: library.TabularStrategy.from_dict({}, "kuhn", is_partial=1),
            "is_partial must be True or False, got 1",
        ),
        (lambda: library.mix_strategies(kuhn_tree(), 5, 5, weight=0.5), "mixed are strategies such as TabularStrategy"),
        (lambda: library.mix_strategies(kuhn_tree(), 5, 5, weight=None), "weight must be a number, got None"),
        (lambda: library.UCTResponse(kuhn_tree(), "9"), "iterations of UCT must be a whole number, got '9'"),
        (lambda: library.UCTResponse(kuhn_tree(), 9, exploration="x"), "exploration of UCT must be a number, got 'x'"),
        (lambda: library.LibraryResponse(kuhn_tree(), 5), "a library is a list of strategies, got 5"),
        (
            lambda: library.MixedResponse(kuhn_tree(), 5, 5, 0.5),
            "mixed are responses such as BestResponse(tree), got 5",
        ),
        (
            lambda: library.MixedResponse(kuhn_tree(), 5, 5, "x"),
            "the probability of the first response must be a number",
        ),
        (lambda: library.solve_against("kuhn", "best", seat=0.5), "seat must be a whole number, got 0.5"),
        (lambda: library.plot_convergence(library.solve("kuhn", iterations=1), bands=5), "bands are repeated runs by"),
        (lambda: holdem.parse_range("AA", "short"), "deck must be a Deck as parse_deck('short') gives it, got 'short'"),
        (lambda: holdem.parse_deck(5), "deck must be a text, got 5"),
        (lambda: holdem.compute_equity("AA", 5), "a range is a text such as 'AA, KQs', or parse_range of one, got 5"),
        (
            lambda: holdem.compute_equity("AA", "KK", 5),
            "board must be cards as parse_board('Ks7h2d') gives them, got 5",
        ),
        (lambda: holdem.evaluate_hand([1.5] * 5), "a hand is cards, or a text such as 'AhKh Qh', got [1.5"),
        (lambda: holdem.evaluate_boards("Ks7h2d"), "boards must be rows of cards as parse_board('Ks7h2d') gives them"),
        (lambda: holdem.evaluate_boards([1, 2, 3]), "boards must be rows of cards, got [1, 2, 3]"),
        (lambda: holdem.strength_category("x"), "a strength must be a whole number, got 'x'"),
        (lambda: games.describe_parameters(None), "game must be a text, got None"),
        (
            lambda: games.format_playthrough("kuhn", rng=None),
            "game must be a Game such as make_game('kuhn'), got 'kuhn'",
        ),
        (lambda: library.abstraction.open_subject(None), "a file is given by its path, got None"),
        (lambda: library.evaluation.rank_by_bankroll("zz"), "a table of winnings is rows of numbers, got 'zz'"),
        (lambda: make_spot(pot="20"), "pot must be a whole number of chips, got '20'"),
        (lambda: make_spot(big_blind=2.5), "big_blind must be a whole number of chips, got 2.5"),
        (lambda: make_spot(stacks=("30", "30")), "stacks must be two numbers of chips, got ('30', '30')"),
        (lambda: make_spot(menu="50%, a"), "menu must be a Menu as parse_menu('50%, a') gives it, got '50%, a'"),
        (lambda: make_spot(max_raises=3), "max_raises must be a tuple of whole numbers, got 3"),
        (lambda: make_spot(last_street="turn"), "last_street must be a Street such as Street.RIVER, got 'turn'"),
        (lambda: make_spot(rake_rate=None), "rake_rate must be a number, got None"),
        (lambda: make_spot(deck="short"), "deck must be a Deck as parse_deck('short') gives it"),
    ],
)
def test_things_of_another_kind_are_refused_by_their_names(ask, said):
    with pytest.raises(library.EquipoiseError, match=re.escape(said)):
        ask()


def make_spot(**changes):
    fields = {"board": holdem.parse_board("Ks7h2d5c9h"), "pot": 20, "stacks": (30, 30)}
    ranges = (holdem.parse_range("AA"), holdem.parse_range("KK"))
    return library.HoldemSpot(**{**fields, "ranges": ranges, **changes})


def small_spot():
    return library.load_spot(SPOT)


def evaluate_river(number):
    tree = library.trees.build_holdem_tree(small_spot().spot)
    return library.evaluate(tree, np.full(tree.arrays.num_cells, number, np.float32))


def kuhn_tree():
    return library.build_history_tree(library.make_game("kuhn"))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda river: river.list_lines(min_reach="x"), "min_reach must be a number, got 'x'"),
        (lambda river: river.list_lines(min_reach=float("nan")), "min_reach must be from 0 to 1, got nan"),
        (lambda river: river.list_lines(depth=-1), "depth must be at least 0, got -1"),
        (lambda river: river.describe_runouts(5), "line must be a text, got 5"),
        (lambda river: river.describe_gain(5), "line must be a text, got 5"),
        (lambda river: river.to_frame(None), "line must be a text, got None"),
        (lambda river: river.search("check", menu=5), "menu must be a text, got 5"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_questions_about_a_spot_are_refused_alike(ask, said):
    river = library.solve(library.load_spot(SPOT), iterations=1)
    with pytest.raises(library.EquipoiseError, match=re.escape(said)):
        ask(river)


def test_the_tree_of_a_giant_is_refused_soon_and_as_in_solve(monkeypatch):
    monkeypatch.setattr("equipoise.trees.history.DOUBTED_HISTORIES", 1000)
    giant = library.make_game("goofspiel", cards=13)
    with pytest.raises(library.GameTooLargeError) as built:
        library.build_history_tree(giant)
    with pytest.raises(library.GameTooLargeError) as solved:
        library.solve(giant)
    assert "is too large: sampling suggests about" in str(built.value)
    assert str(built.value).partition("is too large")[2].partition(". What fits")[0] in str(solved.value)


def test_a_spot_that_does_not_fit_is_refused_with_both_figures(monkeypatch):
    monkeypatch.setattr("equipoise.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(library.GameTooLargeError, match=r"solving the spot with .* needs .* of memory, 1.0 kB are"):
        library.solve(library.load_spot(SPOT), iterations=1)


def test_every_exception_hangs_on_the_tree_that_is_drawn():
    drawn = dict(re.findall(r"(\b[A-Z]\w+Error)\b(?: +\((\w+)\))?", errors.__doc__))
    found = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and name.endswith("Error")}
    assert set(drawn) == set(found) == {name for name in library.core.__all__ if name.endswith("Error")}
    for name, kind in found.items():
        assert issubclass(kind, library.EquipoiseError)
        assert not drawn[name] or drawn[name] in [base.__name__ for base in kind.__mro__]
