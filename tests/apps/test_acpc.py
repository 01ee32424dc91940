# SPDX-License-Identifier: Apache-2.0
"""The competition's protocol: published transcripts word for word, and matches over sockets that go wrong or well."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.agents.base import Observation
from equipoise.agents.notation import make
from equipoise.apps.acpc.dealer import DealerOptions, DealerTable, dealer, greet
from equipoise.apps.acpc.lines import LineSocket, LostConnectionError, parse_address
from equipoise.apps.acpc.seat import Seat, SeatOptions, seat
from equipoise.apps.cli import app
from equipoise.core.errors import AgentFailedError, ConfigError, ParseError
from equipoise.games.holdem.acpc import (
    VERSION,
    format_match_state,
    parse_definition,
    parse_log_line,
    parse_match_state,
    read_log,
    replay_match_state,
)
from equipoise.games.holdem.betting import BettingRules
from equipoise.games.holdem.rules import Holdem
from equipoise.games.registry import parse_game

LIMIT = """GAMEDEF
limit
numPlayers = {players}
numRounds = 4
blind = {blind}
raiseSize = 10 10 20 20
firstPlayer = {first} 1 1 1
maxRaises = 3 4 4 4
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
TWO_LIMIT = LIMIT.format(players=2, blind="10 5", first=2)
THREE_LIMIT = LIMIT.format(players=3, blind="5 10 0", first=3)
NO_LIMIT = "GAMEDEF\nnolimit\nnumPlayers = 2\nstack = 20000 20000\nblind = 100 50\nfirstPlayer = 2 1 1 1\nEND GAMEDEF\n"

# examples of the protocol's specification, version 2.0.0: what the server says, and behind > what the client answers
TRANSCRIPTS = {
    "limit": (
        TWO_LIMIT,
        """0:0::TdAs|
0:0:r:TdAs| > r
0:0:rr:TdAs|
0:0:rrc/:TdAs|/2c8c3h > r
0:0:rrc/r:TdAs|/2c8c3h
0:0:rrc/rc/:TdAs|/2c8c3h/9c > c
0:0:rrc/rc/c:TdAs|/2c8c3h/9c
0:0:rrc/rc/cr:TdAs|/2c8c3h/9c > c
0:0:rrc/rc/crc/:TdAs|/2c8c3h/9c/Kh > c
0:0:rrc/rc/crc/c:TdAs|/2c8c3h/9c/Kh
0:0:rrc/rc/crc/cr:TdAs|/2c8c3h/9c/Kh > c
0:0:rrc/rc/crc/crc:TdAs|8hTc/2c8c3h/9c/Kh
1:1::|Qd7c > r
1:1:r:|Qd7c
1:1:rr:|Qd7c > c
1:1:rrc/:|Qd7c/2h8h5c
1:1:rrc/r:|Qd7c/2h8h5c > c
1:1:rrc/rc/:|Qd7c/2h8h5c/Th
1:1:rrc/rc/r:|Qd7c/2h8h5c/Th > f
1:1:rrc/rc/rf:|Qd7c/2h8h5c/Th""",
    ),
    "no-limit": (
        NO_LIMIT,
        """0:30::9s8h|
0:30:c:9s8h| > c
0:30:cc/:9s8h|/8c8d5c > r250
0:30:cc/r250:9s8h|/8c8d5c
0:30:cc/r250c/:9s8h|/8c8d5c/6s > r500
0:30:cc/r250c/r500:9s8h|/8c8d5c/6s
0:30:cc/r250c/r500c/:9s8h|/8c8d5c/6s/2d > r1250
0:30:cc/r250c/r500c/r1250:9s8h|/8c8d5c/6s/2d
0:30:cc/r250c/r500c/r1250c:9s8h|9c6h/8c8d5c/6s/2d
1:31::|JdTc > r300
1:31:r300:|JdTc
1:31:r300r900:|JdTc > c
1:31:r300r900c/:|JdTc/6dJc9c
1:31:r300r900c/r1800:|JdTc/6dJc9c > r3600
1:31:r300r900c/r1800r3600:|JdTc/6dJc9c
1:31:r300r900c/r1800r3600r9000:|JdTc/6dJc9c > c
1:31:r300r900c/r1800r3600r9000c/:|JdTc/6dJc9c/Kh
1:31:r300r900c/r1800r3600r9000c/r20000:|JdTc/6dJc9c/Kh > c
1:31:r300r900c/r1800r3600r9000c/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc""",
    ),
    "three players": (
        THREE_LIMIT,
        """2:55::||AsTs > r
2:55:r:||AsTs
2:55:rc:||AsTs
2:55:rcc/:||AsTs/4cJh8h
2:55:rcc/r:||AsTs/4cJh8h
2:55:rcc/rf:||AsTs/4cJh8h > c
2:55:rcc/rfc/:||AsTs/4cJh8h/Kd
2:55:rcc/rfc/r:||AsTs/4cJh8h/Kd > c
2:55:rcc/rfc/rc/:||AsTs/4cJh8h/Kd/8c
2:55:rcc/rfc/rc/r:||AsTs/4cJh8h/Kd/8c > f
2:55:rcc/rfc/rc/rf:||AsTs/4cJh8h/Kd/8c
0:90::Ad6h||
0:90:c:Ad6h|| > r
0:90:cr:Ad6h||
0:90:crf:Ad6h||
0:90:crfc/:Ad6h||/TsKd7h > r
0:90:crfc/r:Ad6h||/TsKd7h
0:90:crfc/rc/:Ad6h||/TsKd7h/Kh > r
0:90:crfc/rc/r:Ad6h||/TsKd7h/Kh
0:90:crfc/rc/rc/:Ad6h||/TsKd7h/Kh/6d > r
0:90:crfc/rc/rc/r:Ad6h||/TsKd7h/Kh/6d
0:90:crfc/rc/rc/rc:Ad6h||Td2h/TsKd7h/Kh/6d""",
    ),
}
WON = {"limit": [-80.0, -40.0], "no-limit": [1250.0, 20000.0], "three players": [-50.0, -70.0]}  # by hand


def read_transcript(text: str) -> Iterator[tuple[str, str | None]]:
    for line in text.splitlines():
        told, _, action = line.partition(" > ")
        yield f"MATCHSTATE:{told}", action or None


class Scripted:
    """Answers what a transcript says, and remembers what it saw."""

    name = "scripted"

    def __init__(self, actions: Sequence[str]) -> None:
        self.actions, self.seen = list(actions), 0
        self.won: list[float] = []

    def begin_game(self, seat: int) -> None:
        self.seat = seat

    def observe(self, observation: Observation) -> None:
        assert observation.seat == self.seat
        self.seen += 1

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        text = self.actions.pop(0)
        raises = [action for action in observation.actions if action > 1]
        return {"f": 0, "c": 1}.get(text, int(text[1:] or raises[0] if text[0] == "r" else 0))

    def end_game(self, won: float) -> None:
        self.won.append(won)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_seat_answers_as_the_published_transcripts_do(name: str) -> None:
    definition, text = TRANSCRIPTS[name]
    lines = list(read_transcript(text))
    agent = Scripted([action for _, action in lines if action])
    player = Seat(parse_definition(definition), agent, np.random.default_rng(0))
    assert player.answer("# a comment") is None
    for told, action in lines:
        assert player.answer(told) == (None if action is None else f"{told}:{action}")
    assert not agent.actions
    assert agent.won == WON[name]
    assert agent.seen > len(lines)  # deals among them


def sort_cards(line: str) -> str:
    """Returns a line with the cards of each hand and of the flop in one order."""
    return re.sub(r"(?:[2-9TJQKA][cdhs]){2,3}", lambda match: "".join(sorted(re.findall("..", match[0]))), line)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_the_dealer_says_what_the_published_transcripts_say(name: str) -> None:
    definition, text = TRANSCRIPTS[name]
    game = parse_definition(definition)
    for line, _ in read_transcript(text):
        told = parse_match_state(line)
        state = replay_match_state(game, told)[-1]
        assert sort_cards(format_match_state(game, state, told.position, told.number)) == sort_cards(line)


Connect = Callable[[int], tuple[list[LineSocket], list[LineSocket]]]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Yields what makes both ends of connections over loopback: the dealer's to the players, and the players'."""
    links: list[LineSocket] = []

    def make_pairs(size: int) -> tuple[list[LineSocket], list[LineSocket]]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            for number in range(1, size + 1):
                links.append(LineSocket(socket.create_connection(server.getsockname()), "dealer"))
                links.append(LineSocket(server.accept()[0], f"player{number}"))
        return links[1::2], links[::2]

    yield make_pairs
    for link in links:
        link.close()


def play_seats(game: Holdem, links: Sequence[LineSocket], agents: Sequence[str]) -> list[threading.Thread]:
    def run(link: LineSocket, text: str) -> None:
        player = Seat(game, make(text, game), np.random.default_rng(1))
        try:
            while (line := link.read(10.0)) is not None:
                if (answer := player.answer(line)) is not None:
                    link.send(answer)
        except LostConnectionError:
            pass

    threads = [threading.Thread(target=run, args=pair) for pair in zip(links, agents, strict=True)]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("holdem(menu=all,stacks=1500,1500)", ("uniform", "raise")),
        ("holdem_limit", ("uniform", "uniform")),
        ("holdem_six(menu=all,stacks=700,1000,1000,1000,1000,1000)", ("uniform", "raise", *["call"] * 4)),
    ],
)
def test_whole_matches_are_played_and_logged(
    tmp_path: Path, text: str, agents: tuple[str, ...], connect: Connect
) -> None:
    game = parse_game(text)
    assert isinstance(game, Holdem)
    size = game.spec.num_players
    dealer_links, seat_links = connect(size)
    names = [f"p{i}" for i in range(size)]
    path = tmp_path / "match.log"
    table = DealerTable(game, dealer_links, names, seed=3, seconds=20.0, log=path.open("w"))
    threads = play_seats(game, seat_links, agents)
    for _ in range(12):
        table.play_hand()
    table.end()
    for link in dealer_links:
        link.close()
    for thread in threads:
        thread.join(20.0)
    hands = list(read_log(path, game.betting_rules))
    assert [hand.number for hand in hands] == list(range(12))
    for hand, won in zip(hands, table.won, strict=True):
        assert hand.won is not None
        assert sum(hand.won) == 0
        by_name = dict(zip(hand.names, hand.won, strict=True))
        assert [by_name[name] for name in names] == won
        assert hand.names[0] == names[-hand.number % size]
        assert len(list(hand.moments())) == len(hand.actions)
    assert path.read_text().splitlines()[-1].startswith("SCORE:")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda told: "hello", "answered 'hello', expected MATCHSTATE"),
        (lambda told: f"{told}:r99999", "r99999 is not allowed there, only f, c and raises from"),
        (lambda told: f"{told}:x", "an action is f, c or r300"),
        (lambda told: "x" * 5000, "a line of more than"),
        (lambda told: None, "gave no answer"),
        (lambda told: b"", "has gone"),
    ],
    ids=["malformed", "too much", "no action", "too long", "late", "gone"],
)
def test_a_player_that_fails_ends_the_match(
    answer: Callable[[str], str | bytes | None], message: str, connect: Connect
) -> None:
    game = parse_game("holdem(menu=all)")
    assert isinstance(game, Holdem)
    dealer_links, seat_links = connect(2)
    table = DealerTable(game, dealer_links, ["a", "b"], seed=0, seconds=0.2)
    given = answer(format_match_state(game, table._deal(game.initial_state(), np.random.default_rng([0, 0, 0])), 1, 0))
    if given == b"":
        seat_links[1].close()
    elif isinstance(given, str):
        seat_links[1].send(given)
    with pytest.raises(AgentFailedError, match=message):
        table.play_hand()
    assert table.won == []


def test_who_does_not_speak_the_protocol_is_sent_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        stranger, guest = socket.create_connection(address), socket.create_connection(address)
        stranger.sendall(b"GET / HTTP/1.1\r\n")
        guest.sendall(VERSION.encode() + b"\r\n")
        links: list[LineSocket] = []
        greet(server, links, ["a"], 10.0, lambda: False)
        assert len(links) == 1
        assert stranger.recv(10) == b""
        with pytest.raises(LostConnectionError, match=r"1 of 2 players came within 0\.3 seconds"):
            greet(server, links, ["a", "b"], 0.3, lambda: False)
        for link in (stranger, guest, *links):
            link.close()


def test_the_commands_play_over_a_socket(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    game = "holdem(stacks=1000,1000)"  # both sides take every bet, whatever the game's own menu is
    guest = SeatOptions(agent="call", dealer=f"127.0.0.1:{port}", game=game, quiet=True)
    threads = [threading.Thread(target=seat, args=(guest,)) for _ in (0, 1)]
    for thread in threads:
        thread.start()
    log = tmp_path / "match.log"
    dealer(DealerOptions(port=port, hands=20, log=log, game=game, json=True))
    for thread in threads:
        thread.join(30.0)
    found = json.loads(capsys.readouterr().out)
    assert found["num_hands"] == len(list(read_log(log, BettingRules(stacks=(1000, 1000))))) == 20
    assert sum(agent["mean"] for agent in found["agents"]) == 0
    with pytest.raises(ConfigError, match="--overwrite"):
        dealer(DealerOptions(port=0, log=log, quiet=True))


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    runner = CliRunner()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = runner.invoke(app, ["dealer", "--port", port])
        assert refused.exit_code == 2
    assert runner.invoke(
        app, ["seat", "call", "--dealer", f"127.0.0.1:{port}", "-g", "holdem", "--wait", "0"]
    ).exit_code
    assert runner.invoke(app, ["dealer", "-g", "kuhn"]).exit_code == 2
    assert runner.invoke(app, ["dealer", "--names", "a,a"]).exit_code == 2
    (tmp_path / "own.game").write_text("GAMEDEF\nnolimit\n")
    assert runner.invoke(app, ["dealer", "--definition", str(tmp_path / "own.game")]).exit_code == 2
    with pytest.raises(ConfigError, match="HOST:PORT"):
        parse_address("somewhere")


def test_a_dealer_that_goes_away_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def leave() -> None:
            connection, _ = server.accept()
            connection.recv(100)
            connection.sendall(b"MATCHSTATE:0:0::TdAs|\r\n")
            connection.close()

        thread = threading.Thread(target=leave)
        thread.start()
        result = CliRunner().invoke(app, ["seat", "call", "--dealer", str(port), "-g", "holdem(menu=all)"])
        thread.join()
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MATCHSTATE:0:0", "a match state looks like"),
        ("MATCHSTATE:0:0::|", "does not show the cards of position 0"),
        ("MATCHSTATE:0:0::TdAs|Td", "as in 9s8h"),
        ("MATCHSTATE:0:0::TdTd|", "dealt twice"),
        ("MATCHSTATE:0:0:r90:TdAs|", "r90 is not allowed"),
        ("MATCHSTATE:0:0:cc/c:TdAs|/2c8c", "a board is a flop"),
        ("MATCHSTATE:0:0:ccc:TdAs|/2c8c3h", "a round ends with /"),
        ("MATCHSTATE:0:0:rcr:TdAs|", "an action is f, c or r300"),
    ],
)
def test_lines_that_make_no_sense_are_refused(line: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        replay_match_state(parse_definition(NO_LIMIT), parse_match_state(line))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("nolimit", "potlimit"), "no line 'potlimit'"),
        (("blind = 100 50", "blind = 50 100"), "blind must name the big blind and the small blind"),
        (("stack = 20000 20000\n", ""), "stack must name"),
        (("numPlayers = 2", "numPlayers = 9"), "2 to 6 players"),
        (("firstPlayer = 2 1 1 1", "firstPlayer = 1 1 1 1"), "firstplayer must be"),
        (("20000 20000", "many"), "whole numbers"),
    ],
)
def test_definitions_that_are_not_played_here_are_refused(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_definition(NO_LIMIT.replace(*change))


def test_a_log_of_the_competition_is_read() -> None:
    rules = parse_definition(TWO_LIMIT).betting_rules
    hand = parse_log_line("STATE:0:rrc/rc/rrc/cc:5d5c|9hQd/8dAs8s/4h/6d:80|-80:P1|P2", rules)
    assert (hand.names, hand.won, len(hand.board)) == (("P1", "P2"), (80, -80), 5)
    assert list(hand.moments())[-1].betting.committed == (80, 80)
    assert json.dumps(hand.actions) == "[20, 30, 1, 40, 1, 60, 80, 1, 1, 1]"
    with pytest.raises(ParseError, match="a hand of a log looks like"):
        parse_log_line("STATE:0", rules)
