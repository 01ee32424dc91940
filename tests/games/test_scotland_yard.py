# SPDX-License-Identifier: Apache-2.0
"""Scotland Yard: its boards, its rules by example, and its two forms against each other."""

import collections

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games import CHANCE, TERMINAL, make_game, parse_game
from equipoise.games.base import Game
from equipoise.games.playthrough import sample_action
from equipoise.games.scotland_yard import ScotlandYardPublicGame, Transport, load_board, parse_board
from equipoise.games.scotland_yard.situation import DETECTIVES, FUGITIVE, Move
from equipoise.solvers import CFR, CFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

HEADER = "station_a,station_b,transport\n"
# Mr. X at 63, detectives at 65, 67, 79, 82, 111, as in Figure 16 of the paper, but before his first move
FIGURE_16 = "scotland_yard(starts=63,65,67,79,82,111)"


def play(game: Game, words: str):
    """Returns the state after actions by name, a comma between them."""
    state = game.initial_state()
    for word in words.split(", ") if words else ():
        names = {game.action_name(state, action): action for action in game.legal_actions(state)}
        state = game.apply(state, names[word])
    return state


def names(game: Game, state) -> list[str]:
    return [game.action_name(state, action) for action in game.legal_actions(state)]


def test_london_has_the_lines_of_the_board():
    board = load_board("london")
    lines = collections.Counter(
        transport
        for station in range(1, board.num_stations + 1)
        for transport in Transport
        for _ in board.next_stations(station, transport)
    )

    assert board.num_stations == 199
    assert [lines[transport] // 2 for transport in Transport] == [346, 99, 20, 3]
    assert board.next_stations(79, Transport.UNDERGROUND) == (46, 67, 93, 111)
    assert board.next_stations(115, Transport.FERRY) == (108, 157)


def test_position_of_the_paper_has_its_moves():
    game = make_game("scotland_yard", starts=(63, 65, 67, 79, 82, 111), double_moves=0, fugitive_tickets=(4, 3, 3, 0))

    assert names(game, game.initial_state()) == ["taxi 48", "taxi 64", "taxi 80", "bus 34", "bus 100"]


def test_black_ticket_goes_anywhere_and_a_double_is_two_moves():
    game = parse_game(FIGURE_16)
    first = names(game, game.initial_state())

    assert "black 34" in first
    assert "double black 34" in first
    halfway = play(game, "double taxi 64")
    assert game.actor(halfway) == FUGITIVE
    assert not any(name.startswith("double") for name in names(game, halfway))
    after = game.apply(halfway, game.legal_actions(halfway)[0])
    assert game.actor(after) == DETECTIVES
    assert after.situation.doubles == 1
    assert after.situation.num_moves == 2


def test_ferry_needs_a_black_ticket():
    game = make_game("scotland_yard", detectives=1, starts=(108, 1), double_moves=0)

    assert [name for name in names(game, game.initial_state()) if name.endswith(" 115")] == ["black 115"]


def test_tickets_of_detectives_become_those_of_the_fugitive():
    game = make_game("glasses")
    state = play(game, "taxi 4, taxi 3")

    assert state.situation.tickets == ((4, 0, 0), (5, 0, 0))
    assert state.situation.fugitive_tickets == (5, 0, 0, 0)


def test_detective_who_steps_on_him_wins():
    game = make_game("glasses", starts=(6, 2, 11))
    state = play(game, "taxi 4, taxi 4")

    assert game.actor(state) == TERMINAL
    assert game.returns(state) == (-1.0, 1.0)
    assert game.public_state(state).endswith("t4!")


def test_fugitive_who_cannot_move_gives_up():
    game = make_game("glasses", starts=(1, 2, 3))
    state = game.initial_state()

    assert names(game, state) == ["give up"]
    assert game.returns(game.apply(state, 0)) == (-1.0, 1.0)


def test_fugitive_wins_when_no_detective_can_move():
    game = make_game("glasses", detective_tickets=(0, 0, 0))
    state = play(game, "taxi 4, stay, stay")

    assert game.actor(state) == TERMINAL
    assert game.returns(state) == (1.0, -1.0)


def test_detective_who_cannot_move_stays_while_others_go_on():
    game = make_game("glasses", board="glasses-b", starts=(8, 1, 2), rounds=2, detective_tickets=(1, 0, 0))
    state = play(game, "taxi 10, taxi 3, taxi 4, taxi 8")

    assert names(game, state) == ["stay"]


def test_fugitive_shows_himself_when_the_rules_say_so():
    game = make_game("glasses", reveals=(1,))
    hidden = make_game("glasses")

    assert game.public_state(play(game, "taxi 4")).endswith("t@4")
    assert hidden.public_state(play(hidden, "taxi 4")) == hidden.public_state(play(hidden, "taxi 5"))


def test_start_cards_are_drawn_once_each():
    game = make_game("scotland_yard_town")
    state = game.initial_state()
    for _ in range(4):
        assert game.actor(state) == CHANCE
        state = game.apply(state, game.chance_outcomes(state)[0][0])

    assert (*state.situation.detectives, state.station) == (1, 4, 6, 10)
    assert "10" not in game.infostate(state, DETECTIVES)


@pytest.mark.parametrize(
    ("board", "decisions", "uniform"), [("glasses-a", 393 + 1203, 0.617), ("glasses-b", 444 + 1425, 0.938)]
)
def test_stand_ins_for_the_glasses_map_have_the_known_size_and_value(board, decisions, uniform):
    tree = build_public_tree(ScotlandYardPublicGame(make_game("glasses", board=board)))
    solver = CFRSolver(tree, CFR())

    assert int(np.count_nonzero(tree.actor >= 0)) == decisions
    assert solver.evaluate().exploitability == pytest.approx(uniform, abs=5e-4)
    solver.iterate(400)
    assert abs(solver.evaluate().values[0]) < 0.03


def test_merged_form_loses_nothing():
    game = make_game("glasses", board="glasses-b")
    merged, full = (
        CFRSolver(build_public_tree(form), CFR()) for form in (ScotlandYardPublicGame(game), derive_public_game(game))
    )

    assert merged.evaluate().values == pytest.approx(full.evaluate().values, abs=1e-12)
    for solver in (merged, full):
        solver.iterate(300)
    bounds = [
        (run.values[0] - 2 * run.exploitability, run.values[0] + 2 * run.exploitability)
        for run in (merged.evaluate(), full.evaluate())
    ]
    assert max(low for low, _ in bounds) < min(high for _, high in bounds)
    assert merged.evaluate().exploitability < 0.1


@pytest.mark.parametrize("name", ["scotland_yard", "scotland_yard_town", "glasses"])
def test_public_form_follows_the_game(name):
    game, rng = make_game(name), np.random.default_rng(3)
    form = ScotlandYardPublicGame(game)
    state, public = game.initial_state(), form.initial_state()
    while game.actor(state) != TERMINAL:
        assert form.actor(public) == game.actor(state)
        assert form.public_state(public) == game.public_state(state)
        if game.actor(state) >= 0:
            private = form.find_private(public, state, game.actor(state))
            told = form.merge_infostate(game.actor(state), game.infostate(state, game.actor(state)))
            assert told == form.infostate(public, game.actor(state), private)
            columns = form.legal_actions(public)
            assert [columns[k] for k in np.flatnonzero(form.legality(public)[private])] == list(
                game.legal_actions(state)
            )
        check_mass(form, public)
        state = game.apply(state, sample_action(game, state, rng=rng))
        public = next(
            edge.child for edge in form.edges(public) if edge.child.situation.public == state.situation.public
        )
        assert state.station in public.possible
    assert form.payoffs(public)[0, 0, 0] / public.chance == pytest.approx(game.returns(state)[0])


def check_mass(form, public):
    """Every private state goes to one place with each of its actions, whatever the other player's is."""
    actor, edges = form.actor(public), form.edges(public)
    if actor == FUGITIVE:
        taken = collections.Counter(
            (private, action)
            for edge in edges
            for private, action in zip(
                edge.relations[0].private.tolist(), edge.relations[0].action.tolist(), strict=True
            )
        )
        assert set(taken.values()) == {1}
        assert len(taken) == form.legality(public).sum()
    if actor == DETECTIVES:
        for column in range(len(form.legal_actions(public))):
            kept = [edge.relations[0].private.tolist() for edge in edges if edge.relations[1].action[0] == column]
            assert sorted(private for part in kept for private in part) == list(range(len(public.possible)))


def test_moves_and_actions_are_the_same_thing():
    yard = make_game("scotland_yard").yard
    for move in (Move(1, 0), Move(199, 3, True), Move(63, 2)):
        assert yard.move_of(yard.action_of(move)) == move


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first line must be station_a,station_b,transport, got 'nothing'"),
        (HEADER, "has no lines"),
        (HEADER + "1,2\n", "line 2: expected two stations and one of taxi"),
        (HEADER + "1,2,tram\n", "got '1,2,tram'"),
        (HEADER + "0,2,taxi\n", "stations are numbers from 1 to 9999, got '0'"),
        (HEADER + "1,x,taxi\n", "got 'x'"),
        (HEADER + "1,1,taxi\n", "a line must lead to another station, got 1 twice"),
        (HEADER + "1,2,taxi\n2,1,taxi\n", "1,2,taxi is there twice"),
        (HEADER + "1,2,taxi\n3,4,taxi\n", "station 3 cannot be reached from station 1"),
        (HEADER + "1,3,taxi\n", "station 2 cannot be reached"),
    ],
)
def test_board_that_is_no_graph_is_refused(text, message):
    with pytest.raises(ParseError, match=message):
        parse_board(text)


def test_own_board_is_played(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text(HEADER + "1,2,taxi\n2,3,bus\n", encoding="utf-8")
    game = make_game("scotland_yard", board=str(path), detectives=1, starts=(2, 1), rounds=1, reveals=())

    assert names(game, game.initial_state()) == ["bus 3", "black 3"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"board": "paris"}, "board must be one of london, town"),
        ({"board": "missing.csv"}, "cannot read the board missing.csv"),
        ({"starts": (1, 2)}, "starts must be 6 different stations"),
        ({"starts": (1, 2, 3, 4, 5, 5)}, "different stations"),
        ({"starts": (1, 2, 3, 4, 5, 200)}, "stations from 1 to 199"),
        ({"reveals": (25,)}, "moves from 1 to 24"),
        ({"fugitive_tickets": (1, 2, 3)}, "fugitive_tickets must be 4 numbers"),
        ({"detective_tickets": (1, 2, -3)}, "detective_tickets must be 3 numbers of at least 0"),
        ({"board": "glasses-a", "detectives": 3}, "start cards for 3 pieces, got 4"),
    ],
)
def test_bad_variant_is_refused(parameters, message):
    with pytest.raises(ConfigError, match=message):
        make_game("scotland_yard", **parameters)
