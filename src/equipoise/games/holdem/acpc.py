# SPDX-License-Identifier: Apache-2.0
"""Hold'em as the Annual Computer Poker Competition writes it: match states, game definitions and logs.

Protocol 2.0.0 (October 2010): positions count from the button, the small blind (heads-up the big blind) is 0, which is
the order of our seats; a raise names the chips that the player will have put in over the whole hand, as ours do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.core.files import StrPath, describe_os_error
from equipoise.games.base import CHANCE, TERMINAL
from equipoise.games.holdem.betting import (
    CALL,
    FOLD,
    BettingRules,
    Stage,
    apply_action,
    initial_betting,
    is_legal,
    legal_raises,
    next_street,
    to_call,
)
from equipoise.games.holdem.cards import FULL_DECK, format_board, parse_card
from equipoise.games.holdem.dealing import HAND_SIZE
from equipoise.games.holdem.public_text import CARDS_PATTERN
from equipoise.games.holdem.records import RecordedHand
from equipoise.games.holdem.rules import ALL_RAISES, Holdem, HoldemState

__all__ = [
    "VERSION",
    "MatchState",
    "format_action",
    "format_log_line",
    "format_match_state",
    "load_definition",
    "parse_action",
    "parse_definition",
    "parse_log_line",
    "parse_match_state",
    "read_log",
    "replay_match_state",
]

VERSION: Final = "VERSION:2.0.0"
STATE_PATTERN: Final = re.compile(r"MATCHSTATE:(\d{1,2}):(\d{1,18}):([fcr0-9/]*):([2-9TJQKAshdc|/]*)")
LOG_PATTERN: Final = re.compile(r"STATE:(\d{1,18}):([fcr0-9/]*):([2-9TJQKAshdc|/]*):([-0-9.|]*):([^:]*)")
STEP_PATTERN: Final = re.compile(r"[fc/]|r(\d*)")
ACTION_PATTERN: Final = re.compile(r"[fc]|r(\d{0,9})")
SHOWN: Final = 80
LIMIT_STACK: Final = 100  # big bets of a limit game whose definition names no stacks: more than can be bet


class MatchState(NamedTuple):
    """What a player is told of a hand."""

    position: int
    number: int
    betting: str
    cards: str

    def __str__(self) -> str:
        return f"MATCHSTATE:{self.position}:{self.number}:{self.betting}:{self.cards}"


def parse_match_state(line: str) -> MatchState:
    """Returns the match state of a line; raises `ParseError` for anything else.

    >>> parse_match_state("MATCHSTATE:0:30:cc/r250:9s8h|/8c8d5c").betting
    'cc/r250'
    """
    match = STATE_PATTERN.fullmatch(line.strip())
    if match is None:
        raise ParseError(f"a match state looks like MATCHSTATE:0:30:cc/:9s8h|/8c8d5c, got {line.strip()[:SHOWN]!r}")
    return MatchState(int(match[1]), int(match[2]), match[3], match[4])


def format_match_state(game: Holdem, state: HoldemState, position: int, number: int) -> str:
    """Returns what a position is told: its own cards, and at a showdown those of all who are in."""
    is_shown = state.betting.stage is Stage.SHOWDOWN and game.actor(state) == TERMINAL
    seats = range(game.betting_rules.num_players)
    known = [seat == position or (is_shown and not state.betting.is_folded[seat]) for seat in seats]
    return str(MatchState(position, number, _format_betting(game, state), _format_cards(state, known)))


def _format_betting(game: Holdem, state: HoldemState) -> str:
    text = CARDS_PATTERN.sub("", state.public)
    return re.sub(r"\d", "", text) if game.betting_rules.is_limit else text


def _format_cards(state: HoldemState, known: Sequence[bool]) -> str:
    hands = [_hand_of(state, seat) if is_known else "" for seat, is_known in enumerate(known)]
    board = state.board
    rounds = [board[:3], board[3:4], board[4:5]]
    return "|".join(hands) + "".join(f"/{format_board(cards)}" for cards in rounds if cards)


def _hand_of(state: HoldemState, seat: int) -> str:
    return format_board(reversed(state.hole[HAND_SIZE * seat : HAND_SIZE * (seat + 1)]))


def format_action(game: Holdem, action: int) -> str:
    """Returns an action: f, c, or r with the total that is raised to, without it where bets are fixed."""
    if action in (FOLD, CALL):
        return "fc"[action]
    return "r" if game.betting_rules.is_limit else f"r{action}"


def parse_action(game: Holdem, state: HoldemState, text: str) -> int:
    """Returns the action of a text such as r250; raises `ParseError` unless the rules allow it there."""
    match = ACTION_PATTERN.fullmatch(text)
    if match is None or (text[0] == "r" and bool(match[1]) == game.betting_rules.is_limit):
        example = "r" if game.betting_rules.is_limit else "r300"
        raise ParseError(f"an action is f, c or {example}, got {text[:SHOWN]!r}")
    raises = legal_raises(game.betting_rules, state.betting)  # a range: listing every total takes long
    action = {"f": FOLD, "c": CALL}.get(text, int(match[1] or 0) or (raises[0] if raises else -1))
    if not is_legal(game.betting_rules, state.betting, action):
        offered = f"raises from {raises[0]} to {raises[-1]}" if raises else "no raise"
        raise ParseError(f"{text} is not allowed there, only {'f, ' if to_call(state.betting) else ''}c and {offered}")
    return action


def replay_match_state(game: Holdem, told: MatchState) -> list[HoldemState]:
    """Returns the states of the game from the deal to what a match state tells; hidden cards are any that are left.

    >>> game = Holdem(menu="all")
    >>> states = replay_match_state(game, parse_match_state("MATCHSTATE:0:30:cc/r250:9s8h|/8c8d5c"))
    >>> game.public_state(states[-1]), game.actor(states[-1])
    ('cc/5c8c8d:r250', 1)
    """
    num_players = game.betting_rules.num_players
    hands, board = _parse_cards(told.cards, num_players)
    if not 0 <= told.position < num_players or not hands[told.position]:
        raise ParseError(f"{told} does not show the cards of position {told.position} among {num_players} players")
    _fill_hidden(hands, board)
    states = [game.initial_state()]
    try:
        for hand in hands:
            for card in hand:
                states.append(game.apply(states[-1], card))
        for match in _steps(told.betting):
            _deal_to(game, states, board, match.group() == "/")
            if match.group() != "/":
                states.append(game.apply(states[-1], parse_action(game, states[-1], match.group())))
        _deal_to(game, states, board, is_marked=True)
    except EquipoiseError as error:
        raise ParseError(f"{str(told)[:SHOWN]}: {error}") from None
    return states


def _steps(betting: str) -> Iterator[re.Match[str]]:
    place = 0
    for match in STEP_PATTERN.finditer(betting):
        yield match
        place = match.end()
    if place != len(betting):
        raise ParseError(f"betting is written like cc/r250c/, got {betting[:SHOWN]!r}")


def _deal_to(game: Holdem, states: list[HoldemState], board: Sequence[int], is_marked: bool) -> None:
    """Deals what comes before the next action, as far as the board is known."""
    while game.actor(states[-1]) == CHANCE and len(states[-1].board) < len(board):
        if not is_marked:
            raise ParseError("a round ends with /")
        states.append(game.apply(states[-1], board[len(states[-1].board)]))


def _parse_cards(text: str, num_players: int) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Returns the hands, empty where they are hidden, and the board, the flop ascending."""
    hole, *rounds = text.split("/")
    hands = [tuple(sorted(_read_cards(part))) for part in hole.split("|")]
    if len(hands) != num_players or any(len(hand) not in (0, HAND_SIZE) for hand in hands):
        raise ParseError(
            f"cards are those of {num_players} players and the board, as in 9s8h|/8c8d5c, got {text[:SHOWN]!r}"
        )
    parts = [_read_cards(part) for part in rounds]
    if [len(part) for part in parts] != [3, 1, 1][: len(parts)]:
        raise ParseError(f"a board is a flop, a turn and a river, as in /8c8d5c/6s, got {text[:SHOWN]!r}")
    board = [card for place, part in enumerate(parts) for card in (sorted(part) if place == 0 else part)]
    known = [*board, *(card for hand in hands for card in hand)]
    if len(set(known)) != len(known):
        raise ParseError(f"a card is dealt twice in {text[:SHOWN]!r}")
    return hands, tuple(board)


def _read_cards(text: str) -> list[int]:
    if len(text) % 2:
        raise ParseError(f"cards have two letters each, got {text[:SHOWN]!r}")
    return [parse_card(text[i : i + 2]) for i in range(0, len(text), 2)]


def _fill_hidden(hands: list[tuple[int, ...]], board: Sequence[int]) -> None:
    known = {*board, *(card for hand in hands for card in hand)}
    left = (card for card in FULL_DECK.cards if card not in known)
    for seat, hand in enumerate(hands):
        if not hand:
            hands[seat] = (next(left), next(left))


def format_log_line(game: Holdem, state: HoldemState, number: int, names: Sequence[str]) -> str:
    """Returns the line of a log about a hand that is over; names are those of positions."""
    known = [True] * game.betting_rules.num_players
    values = "|".join(f"{chips:g}" for chips in game.returns(state))
    return f"STATE:{number}:{_format_betting(game, state)}:{_format_cards(state, known)}:{values}:{'|'.join(names)}"


def parse_log_line(line: str, rules: BettingRules) -> RecordedHand:
    """Returns the hand of a line of a log.

    >>> line = "STATE:9:cc/cc/r265c/cc:4cKh|Kd7d/Ah9h9c/6s/Ks:0|0:p1|p2"
    >>> parse_log_line(line, BettingRules()).actions
    (1, 1, 1, 1, 265, 1, 1, 1)
    """
    match = LOG_PATTERN.fullmatch(line.strip())
    if match is None:
        raise ParseError(f"a hand of a log looks like STATE:0:cc/...:9s8h|9c6h/...:-50|50:a|b, got {line[:SHOWN]!r}")
    hands, board = _parse_cards(match[3], rules.num_players)
    names = match[5].split("|")
    try:
        won = tuple(int(float(value)) for value in match[4].split("|"))
    except ValueError:
        raise ParseError(f"chips that were won are numbers, got {match[4][:SHOWN]!r}") from None
    if len(won) != rules.num_players:
        raise ParseError(f"{rules.num_players} players win or lose, got {match[4][:SHOWN]!r}")
    return RecordedHand(
        rules=rules,
        hole=tuple(hands),
        board=board,
        actions=_read_actions(match[2], rules),
        names=tuple(names),
        number=int(match[1]),
        won=won,
    )


def _read_actions(betting: str, rules: BettingRules) -> tuple[int, ...]:
    state = initial_betting(rules)
    actions = []
    for match in _steps(betting):
        if match.group() == "/":
            state = next_street(rules, state)
            continue
        action = {"f": FOLD, "c": CALL}.get(match.group(), int(match[1] or 0) or state.price + state.raise_size)
        state = apply_action(rules, state, action)
        actions.append(action)
    return tuple(actions)


def read_log(path: StrPath, rules: BettingRules) -> Iterator[RecordedHand]:
    """Yields the hands of a log; its lines of comments and scores are passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise ParseError(f"{path} is no text in UTF-8") from None
    for number, line in enumerate(lines, 1):
        if not line.startswith("STATE:"):
            continue
        try:
            yield parse_log_line(line, rules)
        except EquipoiseError as error:
            raise ParseError(f"{path}, line {number}: {error}") from None


def load_definition(path: StrPath) -> Holdem:
    """Returns the game that a file such as holdem.nolimit.2p.reverse_blinds.game defines."""
    try:
        return parse_definition(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {describe_os_error(error)}") from None
    except (UnicodeDecodeError, EquipoiseError) as error:
        raise ParseError(f"{path}: {error}") from None


def parse_definition(text: str) -> Holdem:
    r"""Returns the game of a definition between GAMEDEF and END GAMEDEF.

    >>> game = parse_definition("GAMEDEF\nnolimit\nnumPlayers = 2\nstack = 20000 20000\nblind = 100 50\nEND GAMEDEF")
    >>> game.stacks, game.small_blind, game.menu
    ((20000, 20000), 50, 'all')
    """
    values: dict[str, list[int]] = {}
    kinds = set()
    for line in text.splitlines():
        cleaned = line.partition("#")[0].strip()
        key, is_field, value = (part.strip() for part in cleaned.partition("="))
        if is_field:
            if not all(word.isdecimal() and len(word) < 10 for word in value.split()):
                raise ParseError(f"{key} of a game definition is a row of whole numbers, got {value[:SHOWN]!r}")
            values[key.lower()] = [int(word) for word in value.split()]
        elif cleaned.lower() in ("limit", "nolimit"):
            kinds.add(cleaned.lower())
        elif cleaned and cleaned.upper() not in ("GAMEDEF", "END GAMEDEF"):
            raise ParseError(f"a game definition has no line {cleaned[:SHOWN]!r}")
    if len(kinds) != 1:
        raise ParseError("a game definition says limit or nolimit, once")
    return _make_game(values, is_limit=kinds == {"limit"})


def _make_game(values: Mapping[str, list[int]], *, is_limit: bool) -> Holdem:
    num_players = (values.get("numplayers") or [0])[0]
    if not 2 <= num_players <= 6:
        raise ParseError(f"hold'em is played here by 2 to 6 players, got numPlayers = {num_players}")
    usual = {"numrounds": [4], "numsuits": [4], "numranks": [13], "numholecards": [2], "numboardcards": [0, 3, 1, 1]}
    first = [2, 1, 1, 1] if num_players == 2 else [3, 1, 1, 1]
    for key, expected in {**usual, "firstplayer": first}.items():
        if values.get(key, expected) != expected:
            raise ParseError(f"{key} must be {expected} for hold'em of {num_players} players, got {values[key]}")
    blinds = values.get("blind", [])
    small, big = (blinds[1::-1] if num_players == 2 else blinds[:2]) if len(blinds) >= 2 else (0, 0)
    if len(blinds) != num_players or any(blinds[2:]) or not 0 < small <= big:
        where = "the big blind and the small blind" if num_players == 2 else "the small blind, the big blind and zeros"
        raise ParseError(f"blind must name {where}, got {blinds}")
    bets = tuple(values.get("raisesize", ())) if is_limit else ()
    if is_limit and len(bets) != 4:
        raise ParseError(f"raiseSize must name four bets, got {list(bets)}")
    stacks = tuple(values.get("stack", [LIMIT_STACK * max(bets)] * num_players if is_limit else []))
    if len(stacks) != num_players:
        raise ParseError(f"stack must name the chips of {num_players} players, got {list(stacks)}")
    return Holdem(
        stacks=stacks,
        small_blind=small,
        big_blind=big,
        bet_sizes=bets,
        max_raises=tuple(values.get("maxraises", ())),
        menu="limit" if is_limit else ALL_RAISES,
    )
