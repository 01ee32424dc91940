# SPDX-License-Identifier: Apache-2.0
"""The library as a user types it: at most five lines each, for a game and for a spot, strings as in the shell."""

import dataclasses
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import equipoise
from equipoise.abstraction.solutions import open_solution
from equipoise.core.errors import ConfigError
from equipoise.runs.search_request import SearchRequest
from equipoise.runs.solution import SearchOptions
from equipoise.search.resolving import SubgameSolver
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.description import describe_node
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.lines import list_lines
from equipoise.solvers.holdem.runouts import describe_runouts

TURN = """
board = "Ks7s2d5d"
pot = 20
stacks = 20
menu = "a / a"

[ranges]
oop = "AA, KK, QJs, 76s"
ip = "QQ, 77, AQ, T9s"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.toml").write_text(TURN)


def test_solve_and_save_a_spot():
    solution = equipoise.solve(equipoise.load_spot("turn.toml"), rule="dcfr", target="0.5%")
    solution.save("turn.eq")
    assert solution.stopped_by == "target"
    assert solution.exploitability <= 0.1


def test_solve_and_save_leduc():
    solution = equipoise.solve("leduc", rule="cfr+", iterations=100)
    solution.save("leduc.eq")
    assert solution.game_value == pytest.approx(-0.0856, abs=0.01)


@pytest.mark.parametrize(("name", "iterations"), [("turn.toml", 30), ("leduc", 30)])
def test_resume(name, iterations):
    equipoise.solve(name, iterations=10).save("half.eq")
    resumed = equipoise.load("half.eq").resume(iterations=iterations)
    straight = equipoise.solve(name, iterations=iterations)
    for key, table in straight.run.solver.state().items():
        np.testing.assert_array_equal(resumed.run.solver.state()[key], table, err_msg=key)


@pytest.fixture
def large_file(monkeypatch):
    """The file of a spot, taken for one too large to be read unasked, and what it was saved from."""
    monkeypatch.setattr("equipoise.solvers.holdem.solved_spot.LARGEST_READ_BYTES", 0)
    solution = equipoise.solve("turn.toml", iterations=10)
    solution.save("large.eq")
    return "large.eq", solution


def test_a_large_file_stays_on_disk_until_its_tables_are_asked_for(large_file, monkeypatch):
    path, solution = large_file
    monkeypatch.setattr(CFRSolver, "restore", None)  # nothing of the run is made
    loaded = equipoise.load(path)
    assert repr(loaded) == repr(solution)
    assert (loaded.config, loaded.stopped_by, loaded.progress) == (
        solution.config,
        solution.stopped_by,
        solution.progress,
    )
    assert loaded._repr_html_() == solution._repr_html_()
    unvalued = loaded.view("check", has_values=False)
    assert np.isnan(unvalued.players[0].values).all()
    np.testing.assert_array_equal(unvalued.strategy, solution.view("check").strategy)
    assert loaded.children("check") == solution.children("check")
    place = loaded.strategy.tree.root_place
    np.testing.assert_array_equal(loaded.strategy.probabilities(place), solution.strategy.probabilities(place))
    assert loaded.to_frame("check", library="pandas").equals(solution.to_frame("check", library="pandas"))  # values too
    assert loaded.describe_place("check") == solution.describe_place("check")
    assert len(loaded.plot().axes) == 1
    assert loaded.search("check", "maxmargin", iterations=5).iterations == 5


def test_a_large_file_goes_on_and_is_written_over_itself(large_file):
    path, solution = large_file
    loaded = equipoise.load(path)
    assert loaded.exploitability == solution.exploitability
    loaded.resume(iterations=20).save(path)
    straight = equipoise.solve("turn.toml", iterations=20)
    assert equipoise.load(path).progress[-1].iteration == 20
    for key, table in straight.run.solver.state().items():
        np.testing.assert_array_equal(equipoise.load(path).run.solver.state()[key], table, err_msg=key)


def test_a_damaged_large_file_is_refused_where_it_is_read(large_file):
    path, _ = large_file
    data = bytearray(Path(path).read_bytes())
    data[-100] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(equipoise.CheckpointError, match="corrupt"):
        equipoise.load(path).resume(iterations=20)


def test_a_strategy_alone_is_no_solution():
    strategy = equipoise.solve("kuhn", iterations=5).strategy
    strategy.save("alone.eq")
    with pytest.raises(equipoise.CheckpointError, match=r"alone\.eq holds a strategy alone, .* TabularStrategy\.load"):
        equipoise.load("alone.eq")
    assert equipoise.TabularStrategy.load("alone.eq").row(0) == strategy.row(0)


def test_search_a_spot():
    solution = equipoise.solve("turn.toml", target="0.5%")
    found = solution.search("check", "maxmargin", iterations=50)
    assert found.as_json()["least_margin"] is not None
    assert found.searcher == 1


def test_options_of_a_search_are_the_fields_of_its_request():
    fields = {field.name: field.type for field in dataclasses.fields(SearchRequest)}
    assert SearchOptions.__annotations__.keys() == fields.keys() - {"state", "method"}
    with pytest.raises(equipoise.ConfigError, match="unknown option of a search 'state'"):
        equipoise.solve("kuhn", iterations=5).search("root", state="p")


def test_search_leduc():
    found = equipoise.solve("leduc", iterations=50).search("root", "reach-maxmargin", player=0, iterations=1000)
    before, after = found.responses()
    assert after <= before + 1e-3


@pytest.mark.parametrize("name", ["turn.toml", "leduc"])
def test_match(name):
    solution = equipoise.solve(name, iterations=50)
    solution.save("solved.eq")
    result = equipoise.match(solution, "uniform", hands=2000)
    assert result.estimate().mean > 0
    by_text = equipoise.match("file:solved.eq", "uniform", hands=2000)
    np.testing.assert_array_equal(result.utility, by_text.utility)


def test_a_searching_agent_by_name():
    equipoise.solve("turn.toml", iterations=50).save("turn.eq")
    agent = equipoise.agents.make("search:turn.eq")
    assert equipoise.match(agent, "file:turn.eq", game=equipoise.load("turn.eq").game, hands=4).num_hands == 4
    with pytest.raises(ConfigError, match="say which"):
        equipoise.agents.make("call")


def test_what_is_done_at_a_line():
    view = equipoise.solve("turn.toml", iterations=50).view("check")
    assert view.actor == 1
    assert view.frequencies.sum() == pytest.approx(1)
    rows = equipoise.solve("kuhn", iterations=50).view("K:")
    assert len(rows) == 4
    assert all(sum(row.values()) == pytest.approx(1) for row in rows.values())


def test_spots_from_text_files_and_objects_are_the_same():
    spots = [equipoise.load_spot(TURN), equipoise.load_spot("turn.toml")]
    solutions = [equipoise.solve(spot, iterations=5) for spot in (*spots, spots[0].spot, "turn.toml")]
    assert len({solution.exploitability for solution in solutions}) == 1


def test_strings_stand_for_values_and_sampling_has_its_options():
    by_name = equipoise.solve("leduc(ranks=4)", "dcfr", iterations=20, form="vector")
    by_value = equipoise.solve(
        equipoise.make_game("leduc", ranks=4), equipoise.DCFR(), iterations=20, form=equipoise.Form.VECTOR
    )
    assert by_name.exploitability == by_value.exploitability
    sampled = equipoise.solve("turn.toml", method="external", iterations=500, seed=3)
    assert sampled.config.rule.startswith("lcfr(")
    assert sampled.config.seed == 3


def test_a_spot_is_solved_against_a_response():
    villain = equipoise.solve("turn.toml", iterations=2)
    villain.save("villain.eq")
    counter = equipoise.solve("turn.toml", against="rnr:0.8,villain.eq", iterations=20)
    assert counter.config.against == "rnr:0.8,villain.eq"
    assert counter.config.rule == "cfr"
    assert counter.exploitability > 0


def test_a_solution_is_short_to_look_at():
    assert len(repr(equipoise.solve("leduc", iterations=5))) < 200
    text = repr(equipoise.solve("turn.toml", iterations=5))
    assert "turn Ks7s2d5d" in text
    assert "% of the pot" in text


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: equipoise.solve("leduk"), "unknown game 'leduk'; did you mean leduc"),
        (lambda: equipoise.solve("kuhn", "cfr++"), "unknown rule 'cfr\\+\\+'"),
        (lambda: equipoise.solve(3), "game must be a Game such as Kuhn\\(\\), a spot, or the name of one, got 3"),
        (lambda: equipoise.solve("kuhn", 3), "rule must be a rule such as DCFR\\(\\), or its name, got 3"),
        (lambda: equipoise.solve("kuhn", colour="red"), "unknown option of solve 'colour'"),
        (lambda: equipoise.solve("kuhn", threads=2), "unknown option of solve 'threads'; did you mean num_threads"),
        (lambda: equipoise.solve("kuhn", iterations="ten"), "iterations must be a whole number, got 'ten'"),
        (lambda: equipoise.solve("kuhn", iterations=10.5), "iterations must be a whole number, got 10.5"),
        (lambda: equipoise.solve("kuhn", seconds="3"), "seconds must be a number, got '3'"),
        (lambda: equipoise.solve("run.eq"), "run.eq is a file with a result: name the game or the spot"),
        (lambda: equipoise.Solution(equipoise.prepare_run("kuhn")).describe(), "nothing is computed yet"),
        (lambda: equipoise.solve("turn.toml", against="uct:9", iterations=2), "which a spot has too many of"),
        (lambda: equipoise.solve("turn.toml", target="5 bb"), "a target is written"),
        (lambda: equipoise.match("call", "fold", game="kuhn", colour="red"), "a match has .*, got colour"),
        (lambda: equipoise.match("call", game="kuhn"), "kuhn is played by 2 agents, got 1"),
    ],
)
def test_bad_input_is_said_as_in_the_shell(ask, message):
    with pytest.raises(ConfigError if "target" not in message else ValueError, match=message):
        ask()


@pytest.mark.parametrize(
    ("options", "asked", "message"),
    [
        ({}, {"iterations": 0}, "iterations must be at least 1, got 0"),
        ({}, {"player": 2}, "player must be between 0 and 1, got 2"),
        ({}, {"is_expensive": True}, "unknown option of a search 'is_expensive'; did you mean expensive"),
        ({"against": "best"}, {"method": "estimate"}, "method cfr against a response keeps no table of regrets"),
    ],
)
@pytest.mark.parametrize(("name", "line"), [("kuhn", "p"), ("turn.toml", "check")])
def test_bad_searches_are_refused(name, line, options, asked, message):
    solution = equipoise.solve(name, iterations=2, **options)
    with pytest.raises(ConfigError, match=message):
        solution.search(line, **asked)


def test_a_run_without_a_tree_has_no_last_iterate_to_estimate_by():
    solution = equipoise.solve("kuhn", form="game", method="external", iterations=20)
    with pytest.raises(ConfigError, match="the run has no tree"):
        solution.search("p", "estimate")


def test_a_search_is_short_to_look_at():
    text = repr(equipoise.solve("turn.toml", iterations=5).search("check", "resolve", iterations=3))
    assert text.startswith("<Search of 'check' by resolve: 3 iterations in ")
    assert "least margin" in text
    unsafe = repr(equipoise.solve("kuhn", iterations=5).search("root", "unsafe", iterations=3))
    assert unsafe.startswith("<Search of 'root' by unsafe: 3 iterations in ")
    assert "margin" not in unsafe


def test_results_are_short_to_look_at():
    game, spot = equipoise.solve("leduc", iterations=5), equipoise.solve("turn.toml", iterations=5)
    played = equipoise.match("call", "uniform", game="kuhn", hands=200)
    file = spot.run.file
    assert (
        repr(game.strategy)
        == f"<TabularStrategy of {game.game.spec.label}: {len(game.strategy.infostates)} information states>"
    )
    assert repr(played).startswith("<MatchResult of call and uniform: 200 games, call wins ")
    assert repr(spot.view("check")).startswith("<NodeView of player 1 on ")
    assert repr(file).startswith(f"<SpotFile of HoldemSpot {file.spot.name}: pot {file.spot.pot}, ")
    assert max(len(repr(one)) for one in (game.strategy, played, spot.view("check"), file, file.spot)) < 200


def test_a_solution_is_walked_by_its_children():
    spot = equipoise.solve("turn.toml", iterations=20)
    assert spot.children() == ("check", "all-in")
    cards = spot.children("check, check")
    assert len(cards) == 48
    assert cards[0] == "check, check, [2c]"
    assert spot.view(cards[0]).board[-1] == spot.run.file.spot.deck.cards[0]
    assert spot.children("all-in, fold") == ()
    game = equipoise.solve("leduc", iterations=20)
    assert game.children() == ("c", "r")
    assert game.children("r") == ("rf", "rc/", "rr")
    assert game.search(game.children()[0], iterations=5).searcher == 1
    with pytest.raises(ConfigError, match="unknown public state 'x'"):
        game.children("x")


def test_a_place_is_described_as_show_describes_it():
    spot, game = equipoise.solve("turn.toml", iterations=20), equipoise.solve("kuhn", iterations=100)
    spot.save("turn.eq")
    game.save("kuhn.eq")
    for solution, path, line in ((spot, "turn.eq", "check"), (game, "kuhn.eq", "p")):
        with open_solution(path) as file:
            assert solution.describe_place(line) == describe_node(file, line)
    with open_solution("turn.eq") as file:
        assert spot.describe_runouts("check, check") == describe_runouts(file, "check, check")
        assert spot.describe_gain("check") == describe_gain(file, "check")
        assert spot.list_lines() == list_lines(file)
    for ask in (game.describe_gain, game.list_lines, lambda: game.describe_runouts("p")):
        with pytest.raises(equipoise.ConfigError, match="is a game"):
            ask()
    with pytest.raises(equipoise.ConfigError, match="unknown street 'fifth'"):
        spot.list_lines("fifth")
    before = game.describe_place("p")
    assert game.resume(iterations=200).describe_place("p") != before


def test_frames_have_what_csv_has():
    pandas = pytest.importorskip("pandas")
    game, spot = equipoise.solve("kuhn", iterations=20), equipoise.solve("turn.toml", iterations=20)
    table = game.to_frame("K:", library="pandas")
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["player", "infostate", "action", "probability"]
    assert len(table) == 8
    assert table.groupby("infostate")["probability"].sum().tolist() == pytest.approx([1, 1, 1, 1])
    hands = spot.to_frame("check", library="pandas")
    named = ["check", "all-in", "ev check", "ev all-in", "class", "draw"]
    assert list(hands.columns) == ["hand", "weight", "equity", "value", *named]
    assert (hands["check"] + hands["all-in"]).tolist() == pytest.approx([1] * len(hands))


def test_figures_are_returned_and_written():
    solution = equipoise.solve("kuhn", iterations=20)
    figure = solution.plot("curve.svg")
    assert Path("curve.svg").read_text().startswith("<?xml")
    assert figure._repr_png_().startswith(b"\x89PNG")
    (line,) = figure.axes[0].lines[:1]
    assert line.get_xdata()[-1] == 20
    assert len(equipoise.plot_convergence({"a": solution, "b": solution.progress}).axes) == 2
    with pytest.raises(ConfigError, match=r"a plot must end in .png, .svg, .pdf, got 'curve.gif'"):
        solution.plot("curve.gif")
    with pytest.raises(ConfigError, match="nothing is computed yet"):
        equipoise.plot_convergence(())


@pytest.mark.parametrize("iterations", [3, 100])
def test_a_curve_of_few_decades_has_ordinates_to_read(iterations):
    axes = equipoise.solve("leduc", "cfr", iterations=iterations).plot().axes[0]
    low, high = axes.get_ylim()
    places = [place for place in axes.yaxis.get_majorticklocs() if low <= place <= high]
    labels = axes.yaxis.get_major_formatter().format_ticks(places)
    assert len(set(labels)) == len(places) >= 3
    assert [float(label) for label in labels] == pytest.approx(places)


def test_scores_of_a_match_replace_no_other_file():
    equipoise.solve("kuhn", iterations=10).save("kuhn.eq")
    with pytest.raises(equipoise.CheckpointError, match=r"kuhn\.eq holds a game's run, expected a match"):
        equipoise.match("call", "uniform", game="kuhn", hands=10, out="kuhn.eq")
    assert equipoise.load("kuhn.eq").progress[-1].iteration == 10
    for _ in range(2):
        equipoise.match("call", "uniform", game="kuhn", hands=10, out="scores.eq")


def test_notebooks_show_results():
    game, spot = equipoise.solve("leduc", iterations=5), equipoise.solve("turn.toml", iterations=5)
    assert "<polyline" in game._repr_html_()
    assert "% of the pot" in spot._repr_html_()
    assert "and 916 more" in game.strategy._repr_html_()
    assert "information state" in game.view("K")._repr_html_()
    assert spot.view("check")._repr_html_().count("<title>") >= 4
    assert spot.strategy.tree._repr_html_().count("all-in") == 4
    assert equipoise.build_history_tree(equipoise.make_game("kuhn"))._repr_html_().count("fold") == 12
    assert "<svg" not in equipoise.build_history_tree(equipoise.make_game("leduc"))._repr_html_()
    assert "wins a game" in equipoise.match("call", "uniform", game="kuhn", hands=20)._repr_html_()
    assert "→" in spot.search("check", "resolve", iterations=3)._repr_html_()
    assert "confirmed" in equipoise.reproduce("coin-toss")._repr_html_()
    file = equipoise.load_spot("turn.toml")
    assert "KK+" in file.spot.ranges[0]._repr_html_()
    assert file._repr_html_().count("<svg") == file.spot._repr_html_().count("<svg") == 2
    assert "value of a best response" in equipoise.evaluate(game)._repr_html_()


@pytest.mark.parametrize("given", ["solution", "strategy", "file", "agent", "made agent", "tree"])
def test_anything_is_evaluated(given):
    solution = equipoise.solve("kuhn", iterations=50)
    solution.save("kuhn.eq")
    tree = equipoise.build_history_tree(solution.game)
    evaluations = {
        "solution": lambda: equipoise.evaluate(solution),
        "strategy": lambda: equipoise.evaluate(solution.strategy),
        "file": lambda: equipoise.evaluate("kuhn.eq"),
        "agent": lambda: equipoise.evaluate("file:kuhn.eq"),
        "made agent": lambda: equipoise.evaluate(equipoise.agents.make("file:kuhn.eq"), game="kuhn"),
        "tree": lambda: equipoise.evaluate(tree, solution.strategy.to_tree(tree)),
    }
    assert evaluations[given]().exploitability == pytest.approx(solution.exploitability, rel=1e-9)


def test_a_spot_in_a_file_is_evaluated():
    solution = equipoise.solve("turn.toml", iterations=20)
    solution.save("turn.eq")
    assert equipoise.evaluate("turn.eq").exploitability == pytest.approx(solution.exploitability, rel=1e-9)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda tree: equipoise.evaluate("uniform"), "agent 'uniform' plays any game: say which"),
        (lambda tree: equipoise.evaluate(3), "evaluated are solutions, files, strategies, agents, and trees"),
        (equipoise.evaluate, "a tree is evaluated with a table over it"),
        (lambda tree: equipoise.evaluate("uniform", np.zeros(3)), "a table is evaluated on a tree"),
        (lambda tree: equipoise.evaluate(equipoise.agents.UniformAgent()), "game is needed, such as game='kuhn'"),
    ],
)
def test_what_cannot_be_evaluated_is_said(ask, message):
    with pytest.raises(ConfigError, match=message):
        ask(equipoise.build_history_tree(equipoise.make_game("kuhn")))


def test_a_study_is_reproduced_by_name():
    steps = []
    result = equipoise.reproduce("coin-toss", iterations=50, out=".", on_progress=lambda share, _: steps.append(share))
    assert result.configuration["iterations"] == 50
    assert steps[-1] == 1
    assert Path("coin-toss.json").exists()
    assert repr(result).startswith("<StudyResult of coin-toss: ")
    with pytest.raises(ConfigError, match="study coin-toss has no setting 'colour', only iterations"):
        equipoise.reproduce("coin-toss", colour="red")


def test_training_against_a_response_takes_texts():
    by_text = equipoise.solve_against("kuhn", "best", rule="cfr", iterations=20)
    by_value = equipoise.solve_against(equipoise.make_game("kuhn"), equipoise.BestResponse, iterations=20)
    np.testing.assert_array_equal(by_text.table, by_value.table)
    assert len(repr(by_text)) < 500


def test_what_is_played_must_be_known():
    with pytest.raises(ConfigError, match="game is needed, such as game='kuhn'"):
        equipoise.match("uniform", "call")


@pytest.mark.parametrize(
    ("name", "options"), [("leduc", {}), ("turn.toml", {}), ("kuhn", {"form": "game", "method": "external"})]
)
def test_ctrl_c_returns_what_was_computed(name, options):
    def interrupt(record):
        if record.iteration >= 8:
            os.kill(os.getpid(), signal.SIGINT)

    solution = equipoise.solve(name, iterations=10**9, on_progress=interrupt, **options)
    assert solution.stopped_by == "interrupted"
    assert 8 <= solution.progress[-1].iteration < 10**6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    solution.save("part.eq")
    assert equipoise.load("part.eq").progress == solution.progress


@pytest.mark.parametrize("name", ["leduc", "turn.toml"])
def test_ctrl_c_within_a_long_call_waits_for_its_end(monkeypatch, name):
    """Native code hears no signals: the handler runs when the call is over, and nothing of it is lost."""
    calls = []

    def interrupt(solver, num_iterations, iterate=CFRSolver.iterate):
        begun = solver.iteration
        if begun >= 4:
            os.kill(os.getpid(), signal.SIGINT)  # heard while the call goes on
        iterate(solver, num_iterations)
        calls.append((begun, solver.iteration))

    monkeypatch.setattr(CFRSolver, "iterate", interrupt)
    solution = equipoise.solve(name, iterations=10**9)
    assert solution.stopped_by == "interrupted"
    assert len([begun for begun, _ in calls if begun >= 4]) == 1
    assert solution.progress[-1].iteration == calls[-1][1]
    assert solution.strategy is not None


def test_ctrl_c_returns_the_games_that_were_played():
    told = []

    def interrupt(share, _estimate):
        told.append(share)
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    result = equipoise.match("call", "uniform", game="kuhn", hands=10**6, runner="hands", on_progress=interrupt)
    assert result.stopped_by == "interrupted"
    assert 0 < result.num_hands < 10**6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_returns_what_a_study_has_measured():
    told = []

    def interrupt(share, _step):
        told.append(share)
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    result = equipoise.reproduce("dcfr-toy", on_progress=interrupt)
    assert result.is_partial
    assert "partial" in repr(result)


@pytest.mark.parametrize(("name", "line"), [("leduc", "root"), ("turn.toml", "check")])
def test_ctrl_c_keeps_what_a_search_has_found(monkeypatch, name, line):
    solution = equipoise.solve(name, iterations=5)

    def interrupt(solver, num_iterations, iterate=SubgameSolver.iterate):
        iterate(solver, num_iterations)
        if solver.iteration >= 8 and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SubgameSolver, "iterate", interrupt)
    found = solution.search(line, "resolve", iterations=10**9)
    assert 8 <= found.iterations < 10**3
    assert found.result.possible.any()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("name", "options"), [("leduc", {}), ("leduc", {"method": "external"}), ("turn.toml", {"method": "external"})]
)
def test_a_stopped_run_goes_on_to_the_bit(name, options):
    request = equipoise.RunRequest(iterations=60, **options)
    straight, halted = equipoise.prepare_run(name, request), equipoise.prepare_run(name, request)
    list(straight.advance())
    for record in halted.advance():
        if record.iteration >= 20:
            halted.stop()
    assert halted.stopped_by == "interrupted"
    halted.save("halted.eq")
    resumed = equipoise.load("halted.eq").resume(iterations=60).run
    for key, table in straight.solver.state().items():
        np.testing.assert_array_equal(resumed.solver.state()[key], table, err_msg=key)


@pytest.mark.parametrize("name", ["turn.toml", "leduc"])
def test_four_readers_look_at_a_run_that_one_thread_advances(name, tmp_path):
    """A server's pattern: every reader sees whole strategies, nobody waits for the end."""
    run = equipoise.prepare_run(name, equipoise.RunRequest(iterations=10**9))
    solution = equipoise.Solution(run)
    seen, failures, has_begun = [[] for _ in range(4)], [], threading.Event()

    def advance():
        for _ in run.advance():
            has_begun.set()

    def read(number):
        try:
            has_begun.wait(30)
            for _ in range(5):
                shares = solution.view("").strategy if name == "turn.toml" else list(solution.view("").values())
                sums = [sum(row.values()) if isinstance(row, dict) else row.sum() for row in shares]
                np.testing.assert_allclose(sums, 1.0, atol=1e-6)
                seen[number].append((run.solver.iteration, solution.exploitability))
            run.save(tmp_path / f"{number}.eq")
        except Exception as error:
            failures.append(error)

    writer = threading.Thread(target=advance)
    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in (writer, *readers):
        thread.start()
    for reader in readers:
        reader.join(60)
    is_going_on = writer.is_alive()
    run.stop()
    writer.join(60)
    assert not failures
    assert is_going_on
    assert [len(looks) for looks in seen] == [5] * 4
    assert run.stopped_by == "interrupted"
    assert equipoise.load(tmp_path / "0.eq").exploitability > 0
    assert equipoise.prepare_run(name, equipoise.RunRequest(iterations=run.solver.iteration))


@pytest.mark.parametrize("method", ["estimate", "reach-estimate+distribution"])
def test_searches_from_python_estimate_by_the_run_s_last_iterate(method):
    spot = equipoise.solve("turn.toml", iterations=20).search("check", method, iterations=50)
    game = equipoise.solve("leduc", iterations=50).search("root", method, player=0, iterations=50)
    assert spot.result.possible.any()
    assert game.result.alternative.any()
