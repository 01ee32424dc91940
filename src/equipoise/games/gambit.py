# SPDX-License-Identifier: Apache-2.0
"""Extensive games of Gambit: any `.efg` file as a game, and any small game as a file.

What is taken from a file: players, chance, information sets, outcomes at any node, whose payoffs are added up along a
path as Gambit does. Files do not say what is public, so these games have no public states. Perfect recall is checked.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidGameError, InvalidStateError, ParseError
from equipoise.core.files import StrPath, describe_os_error, write_text
from equipoise.games.base import (
    CHANCE,
    TERMINAL,
    ActionClass,
    Game,
    GameSpec,
    check_given_game,
    derived,
    illegal_action,
    no_returns,
    parameter,
)
from equipoise.games.efg_notation import EfgFile, EfgNode, format_efg_number, parse_efg, quote

__all__ = ["EFG_SUFFIX", "EfgGame", "format_efg", "load_efg", "save_efg"]

EFG_SUFFIX: Final = ".efg"
PROBABILITY_TOLERANCE: Final = 1e-5  # by which probabilities of chance may miss 1, written as 0.333333; they are scaled
MOST_WRITTEN: Final = 100_000  # histories of a game that is written
VERSION_BYTES: Final = 6  # of a hash of the file: a whole number that JSON keeps


class _Place(NamedTuple):
    """A node as the game asks for it."""

    actor: int
    actions: tuple[str, ...]  # names, also of chance's outcomes
    children: tuple[int, ...]
    probabilities: tuple[float, ...]
    infostates: tuple[str, ...]  # of every player
    returns: tuple[float, ...]
    path: str  # from the root, in words


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EfgGame:
    """A game in a file of Gambit; made by `load_efg`. A state is the number of a node, in the order of the file.

    >>> import tempfile
    >>> from equipoise.games import Kuhn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_efg(Kuhn(), f"{folder}/kuhn.efg")
    ...     print(EfgGame(path=f"{folder}/kuhn.efg").spec.num_players)
    2
    """

    path: str = parameter("", "file of an extensive game")
    spec: GameSpec = derived()
    title: str = derived()
    player_names: tuple[str, ...] = derived()
    _places: tuple[_Place, ...] = derived()

    def __post_init__(self) -> None:
        try:
            content = Path(self.path).read_bytes()
            file = parse_efg(content.decode("utf-8-sig"))
        except OSError as error:
            raise ConfigError(f"cannot read {self.path}: {describe_os_error(error)}") from None
        except UnicodeDecodeError:
            raise ParseError(f"{self.path} is not text") from None
        except ParseError as error:
            raise ParseError(f"{self.path}, {error}") from None
        built = _Builder(self.path, file)
        spec = GameSpec(
            name=self.path,
            version=int.from_bytes(hashlib.blake2b(content, digest_size=VERSION_BYTES).digest(), "big"),
            num_players=len(file.players),
            parameters={},
            is_zero_sum=not any(map(sum, built.ends)),
            min_utility=float(min(map(min, built.ends))),
            max_utility=float(max(map(max, built.ends))),
            max_length=built.longest,
        )
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "title", file.title)
        object.__setattr__(self, "player_names", file.players)
        object.__setattr__(self, "_places", tuple(built.places))

    def initial_state(self) -> int:
        """Returns the root."""
        return 0

    def actor(self, state: int) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        return self._places[state].actor

    def legal_actions(self, state: int) -> tuple[int, ...]:
        """Returns the actions of the file, numbered from 0."""
        place = self._places[state]
        return tuple(range(len(place.actions))) if place.actor >= 0 else ()

    def chance_outcomes(self, state: int) -> tuple[tuple[int, float], ...]:
        """Returns the outcomes that the file gives a positive probability."""
        probabilities = self._places[state].probabilities
        return tuple((outcome, share) for outcome, share in enumerate(probabilities) if share > 0)

    def apply(self, state: int, action: int) -> int:
        """Returns the node behind an action or outcome."""
        place = self._places[state]
        is_possible = 0 <= action < len(place.children)
        if not is_possible or (place.actor == CHANCE and not place.probabilities[action] > 0):
            raise illegal_action(self, state, action)
        return place.children[action]

    def returns(self, state: int) -> tuple[float, ...]:
        """Returns the payoffs of all outcomes on the path."""
        if self._places[state].actor != TERMINAL:
            raise no_returns(self, state)
        return self._places[state].returns

    def infostate(self, state: int, player: int) -> str:
        """Returns the information set of the player to move; of others, their own last move."""
        return self._places[state].infostates[player]

    def public_state(self, state: int) -> str:
        """Raises `InvalidStateError`: files do not say what everybody sees."""
        raise InvalidStateError(f"{self.path} has no public states: files of Gambit do not say what everybody sees")

    def action_name(self, state: int, action: int) -> str:
        """Returns the file's name of an action or outcome."""
        return self._places[state].actions[action]

    def action_class(self, state: int, action: int) -> ActionClass:
        """Returns `OTHER`."""
        return ActionClass.OTHER

    def describe(self, state: int) -> str:
        """Returns the moves from the root."""
        return self._places[state].path or "the root"


def load_efg(path: StrPath) -> EfgGame:
    """Returns the game in a `.efg` file; raises `ParseError` with the line of what is wrong.

    Raises:
        InvalidGameError: a player forgets what it did or knew; solvers need perfect recall.

    >>> import tempfile
    >>> import equipoise
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_efg(equipoise.games.Kuhn(), f"{folder}/kuhn.efg")
    ...     game = load_efg(f"{folder}/kuhn.efg")
    >>> round(equipoise.solve(game, method="lp").game_value, 4)
    -0.0556
    """
    return EfgGame(path=str(path))


class _Builder:
    """Turns the entries of a file into places; remembers where players came from to check perfect recall."""

    def __init__(self, path: str, file: EfgFile) -> None:
        if not file.players:
            raise ParseError(f"{path} has no players")
        self.path, self.file = path, file
        self.places: list[_Place] = []
        self.ends: list[tuple[Fraction, ...]] = []  # payoffs where the game may end
        self.longest = 0
        self._children = _find_children(path, file.nodes)
        self._labels = _name_infosets(file)
        self._last: dict[tuple[int, str], str] = {}  # by player and information set: its last move before
        self._walk()

    def _walk(self) -> None:
        nodes, num_players = self.file.nodes, len(self.file.players)
        nothing = ("",) * num_players
        # depth (None: chance never goes there), last own moves, payoffs so far, words
        above: list[tuple[int | None, tuple[str, ...], tuple[Fraction, ...], str]] = [
            (0, nothing, (Fraction(0),) * num_players, "")
        ] * len(nodes)
        for index, node in enumerate(nodes):  # parents come first
            depth, moves, payoffs, words = above[index]
            if node.payoffs is not None:
                payoffs = tuple(so_far + more for so_far, more in zip(payoffs, node.payoffs, strict=True))
            names = _name_actions(node.actions)
            self.longest = max(self.longest, depth or 0)
            if node.kind == "t" and depth is not None:
                self.ends.append(payoffs)
            place = self._place(index, node, names, moves, payoffs, words)
            self.places.append(place)
            for number, (name, child) in enumerate(zip(names, place.children, strict=True)):
                is_open = node.kind == "p" or place.probabilities[number] > 0
                after = list(moves)
                if node.kind == "p":
                    after[node.player - 1] = f"{self._labels[node.player, node.infoset]}: {name}"
                below = depth + 1 if depth is not None and is_open else None
                above[child] = below, tuple(after), payoffs, f"{words}, {name}" if words else name

    def _place(
        self,
        index: int,
        node: EfgNode,
        names: tuple[str, ...],
        moves: tuple[str, ...],
        payoffs: tuple[Fraction, ...],
        words: str,
    ) -> _Place:
        infostates = [f"after {move}" if move else "before any move" for move in moves]
        if node.kind == "p":
            infostates[node.player - 1] = self._check_recall(node, moves[node.player - 1])
        actor = {"c": CHANCE, "t": TERMINAL}.get(node.kind, node.player - 1)
        return _Place(
            actor=actor,
            actions=names,
            children=tuple(self._children[index]),
            probabilities=self._find_probabilities(node),
            infostates=tuple(infostates),
            returns=tuple(map(float, payoffs)) if node.kind == "t" else (),
            path=words,
        )

    def _check_recall(self, node: EfgNode, move: str) -> str:
        """Returns the name of an information set, once it is known that its player remembers how it came there."""
        label = self._labels[node.player, node.infoset]
        known = self._last.setdefault((node.player, label), move)
        if known != move:
            ways = " and ".join(f"after {way!r}" if way else "before any move" for way in (known, move))
            raise InvalidGameError(
                f"{self.path}, line {node.line}: player {node.player} ({self.file.players[node.player - 1]}) has no "
                f"perfect recall, which solving needs: it comes to information set {label!r} {ways}"
            )
        return label

    def _find_probabilities(self, node: EfgNode) -> tuple[float, ...]:
        if node.kind != "c":
            return ()
        total = sum(node.probabilities, Fraction(0))
        if min(node.probabilities) < 0 or abs(total - 1) > PROBABILITY_TOLERANCE:
            shares = ", ".join(map(str, node.probabilities))
            raise ParseError(
                f"{self.path}, line {node.line}: probabilities must be at least 0 and sum to 1, got {shares}"
            )
        return tuple(float(share / total) for share in node.probabilities)


def _find_children(path: str, nodes: Sequence[EfgNode]) -> list[list[int]]:
    """Returns the children of every node of a tree in pre-order."""
    children: list[list[int]] = [[] for _ in nodes]
    waiting: list[int] = []  # nodes that lack children, the last one next
    for index, node in enumerate(nodes):
        if waiting:
            children[waiting[-1]].append(index)
            if len(children[waiting[-1]]) == len(nodes[waiting[-1]].actions):
                waiting.pop()
        elif index:
            raise ParseError(f"{path}, line {node.line}: the tree is complete, and another node follows")
        if node.kind != "t":
            waiting.append(index)
    if waiting or not nodes:
        where = f" of the node in line {nodes[waiting[-1]].line}" if waiting else ""
        raise ParseError(f"{path} ends before all nodes are there: one is missing{where}")
    return children


def _name_infosets(file: EfgFile) -> dict[tuple[int, int], str]:
    """Returns a name for each information set, by player and number: the file's where that tells them apart."""
    given = {(node.player, node.infoset): _on_one_line(node.infoset_name) for node in file.nodes if node.player}
    labels: dict[tuple[int, int], str] = {}
    for player in range(1, len(file.players) + 1):
        own = {number: name for (owner, number), name in given.items() if owner == player}
        is_distinct = len(set(own.values())) == len(own) and any(own.values())
        labels |= {
            (player, number): name if is_distinct else f"{number} {name}".strip() for number, name in own.items()
        }
    return labels


def _name_actions(given: Iterable[str]) -> tuple[str, ...]:
    """Returns different names of actions that are not empty."""
    names = [_on_one_line(name) for name in given]
    if all(names) and len(set(names)) == len(names):
        return tuple(names)
    return tuple(f"{number} {name}".strip() for number, name in enumerate(names, 1))


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def save_efg(game: Game[Any], path: StrPath, *, max_histories: int = MOST_WRITTEN) -> None:
    """Writes a game as a `.efg` file, which Gambit and `load_efg` read.

    Args:
        game: what is written, every history of it.
        path: of the file.
        max_histories: a larger game is refused with `GameTooLargeError`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from equipoise.games import Kuhn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_efg(Kuhn(), f"{folder}/kuhn.efg")
    ...     print(Path(f"{folder}/kuhn.efg").read_text()[:25])
    EFG 2 R "kuhn(players=2)"
    """
    check_given_game(game)
    write_text(path, format_efg(game, max_histories=max_histories))


def format_efg(game: Game[Any], *, max_histories: int = MOST_WRITTEN) -> str:
    """Returns a game as the text of a `.efg` file; information sets have the names of our information states.

    >>> from equipoise.games.matrix import Matrix
    >>> print(format_efg(Matrix(payoffs=((1.0, -0.5),))).splitlines()[-1])
    t "" 2 "Outcome 2" { -1/2, 1/2 }
    """
    spec = game.spec
    players = " ".join(quote(f"Player {player + 1}") for player in range(spec.num_players))
    lines = [f"EFG 2 R {quote(spec.label)} {{ {players} }}", quote("")]
    writer = _Writer(game)
    stack = [game.initial_state()]
    while stack:
        if len(lines) - 2 >= max_histories:
            raise GameTooLargeError(f"{spec.label} has more than {max_histories:,} histories, too many for a file")
        state = stack.pop()
        line, actions = writer.format_node(state)
        lines.append(line)
        stack.extend(game.apply(state, action) for action in reversed(actions))
    return "\n".join(lines) + "\n"


class _Writer:
    """Writes nodes, numbering information sets, chance events and outcomes as they come up."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.infosets: list[dict[str, int]] = [{} for _ in range(game.spec.num_players)]
        self.outcomes: dict[tuple[float, ...], int] = {}
        self.num_events = 0

    def format_node(self, state: Any) -> tuple[str, Sequence[int]]:
        """Returns the entry of a state and the actions that lead on from it."""
        game, actor = self.game, self.game.actor(state)
        if actor == TERMINAL:
            return self._format_end(game.returns(state)), ()
        if actor == CHANCE:
            self.num_events += 1
            outcomes = game.chance_outcomes(state)
            listed = " ".join(
                f"{quote(game.action_name(state, outcome))} {format_efg_number(share)}" for outcome, share in outcomes
            )
            return f'c "" {self.num_events} "" {{ {listed} }} 0', [outcome for outcome, _ in outcomes]
        infostate, actions = game.infostate(state, actor), game.legal_actions(state)
        number = self.infosets[actor].setdefault(infostate, len(self.infosets[actor]) + 1)
        listed = " ".join(quote(game.action_name(state, action)) for action in actions)
        return f'p "" {actor + 1} {number} {quote(infostate)} {{ {listed} }} 0', actions

    def _format_end(self, returns: tuple[float, ...]) -> str:
        if not all(map(math.isfinite, returns)):
            raise InvalidGameError(f"payoffs must be finite to be written, got {returns}")
        number = self.outcomes.setdefault(returns, len(self.outcomes) + 1)
        payoffs = ", ".join(map(format_efg_number, returns))
        return f't "" {number} {quote(f"Outcome {number}")} {{ {payoffs} }}'
