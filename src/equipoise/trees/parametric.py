# SPDX-License-Identifier: Apache-2.0
"""Games whose payoffs depend on parameters, such as bet sizes: one tree, payoffs as polynomials.

A game of the catalogue becomes one by being built at a few points of its parameters: its trees must have one structure,
and the payoffs of all of them fix the polynomials. Further points are predicted and compared, so what is no polynomial
is refused rather than fitted.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.base import CHANCE, Game
from equipoise.games.parameters import format_value
from equipoise.games.registry import make_game, take_game
from equipoise.kernels.parametric import ChanceArrays
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = ["ParametricTree", "build_parametric_tree", "expand_parameters", "group_by_chance"]

FloatArray = npt.NDArray[np.float64]

MOST_DEGREE: Final = 6
ALL_SIZES: Final = "raise_sizes"  # stands for every bet size of a game
SHAPE: Final = ("actor", "parent", "infoset", "chance_probability", "terminal_sequence", "first_sequence")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParametricTree:
    """A two-player zero-sum tree whose payoffs are polynomials of parameters.

    >>> game = build_parametric_tree("leduc", ["second_sizes"])
    >>> game.names, game.base, game.num_terms
    (('second_sizes',), (4.0,), 2)
    >>> float(abs(game.at((9.75,)).utility).max())
    24.5
    """

    tree: HistoryTree  # at the base
    names: tuple[str, ...]  # [parameters]
    base: tuple[float, ...]  # [parameters] terms are products of distances from here
    exponents: npt.NDArray[np.int64]  # [terms, parameters]; the first is the constant
    payoff: FloatArray  # [Z, terms] player 0's utility as coefficients of the terms

    def __repr__(self) -> str:
        return f"<ParametricTree of {self.tree.game_label} by {', '.join(self.names)}>"

    @property
    def num_terms(self) -> int:
        """Returns how many terms the polynomials have."""
        return int(self.exponents.shape[0])

    def terms(self, point: Sequence[float]) -> FloatArray:
        """Returns `[terms]` the values of the terms at a point of the parameters."""
        offset = np.array(self.check_point(point)) - np.array(self.base)
        found = np.ones(self.num_terms)
        for dimension, distance in enumerate(offset):
            found *= distance ** self.exponents[:, dimension]
        return found

    def check_point(self, point: Sequence[float]) -> tuple[float, ...]:
        """Returns a point as a tuple; raises `ConfigError` unless it has a finite number for every parameter."""
        values = tuple(float(value) for value in point)
        if len(values) != len(self.names) or not all(map(math.isfinite, values)):
            raise ConfigError(f"a point needs a number for each of {', '.join(self.names)}, got {format_value(values)}")
        return values

    def utility(self, point: Sequence[float]) -> FloatArray:
        """Returns `[Z]` player 0's utility at a point."""
        term = self.terms(point)
        found = np.zeros(self.payoff.shape[0])
        for k in range(self.num_terms):  # in a fixed order, whatever the processor
            found += self.payoff[:, k] * term[k]
        return found

    def at(self, point: Sequence[float]) -> HistoryTree:
        """Returns the tree with the payoffs that it has at a point."""
        row = self.utility(point)
        values = ",".join(f"{name}={value:g}" for name, value in zip(self.names, self.check_point(point), strict=True))
        return dataclasses.replace(
            self.tree,
            game_label=f"{self.tree.game_label} at {values}",
            utility=np.stack([row, -row]),
            utility_range=float(row.max() - row.min()),
        )


def expand_parameters(game: Game[Any], names: Sequence[str]) -> tuple[str, ...]:
    """Returns the numbers that names stand for: `raise_sizes` for every bet size, a list for each of its entries.

    >>> from equipoise.games import make_game
    >>> expand_parameters(make_game("leduc"), ["raise_sizes"])
    ('first_sizes', 'second_sizes')
    >>> expand_parameters(make_game("leduc", first_sizes=(1, 2)), ["first_sizes"])
    ('first_sizes[0]', 'first_sizes[1]')
    """
    values = game.spec.parameters
    is_number = {key: _list_numbers(value) is not None for key, value in values.items()}
    found: list[str] = []
    for name in names:
        wanted = [key for key in values if key.endswith("_sizes")] if name == ALL_SIZES else [name]
        for key in wanted or [name]:
            head, bracket, _ = key.partition("[")
            if head not in values or not is_number[head]:
                able = [other for other in values if is_number[other]]
                what = f"it has {', '.join(able)}" if able else "it has none that is a number"
                raise ConfigError(f"{game.spec.name} has no parameter {key!r} to vary; {what}")
            numbers = _list_numbers(values[head]) or ()
            entries = [f"{head}[{k}]" for k in range(len(numbers))]
            if bracket and key not in entries:
                raise ConfigError(f"{head} has {len(numbers)} entries, got {key!r}")
            found += [key] if bracket and len(numbers) > 1 else [head] if len(numbers) == 1 else entries
    if not found:
        raise ConfigError("at least one parameter must be named")
    if len(set(found)) < len(found):
        raise ConfigError(f"a parameter is named twice: {', '.join(found)}")
    return tuple(found)


def _list_numbers(value: Any) -> tuple[float, ...] | None:
    """Returns the finite numbers of a parameter, None if it is none; whole numbers shape a game, and are not varied."""
    items = value if isinstance(value, tuple) else (value,)
    is_able = items and all(isinstance(item, float) and math.isfinite(item) for item in items)
    return tuple(items) if is_able else None


def build_parametric_tree(game: Game[Any] | str, names: Sequence[str], *, step: float = 1.0) -> ParametricTree:
    """Returns the tree of a game with payoffs as polynomials of some of its parameters.

    Args:
        game: a two-player zero-sum game of the catalogue, or its label; its own parameters are the base point.
        names: parameters, see `expand_parameters`.
        step: distance between the points at which the game is built.

    Raises:
        ConfigError: no such parameter; trees that differ in their structure; payoffs that are no polynomials.

    >>> build_parametric_tree("leduc(merge_suits=true)", ["raise_sizes"]).exponents.tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    given = take_game(game)
    spec = given.spec
    if spec.num_players != 2 or not spec.is_zero_sum:
        raise ConfigError(f"payoffs depend on parameters in two-player zero-sum games, and {spec.label} is none")
    expanded = expand_parameters(given, names)
    base = tuple(_read_parameter(spec.parameters, name) for name in expanded)

    def build(offset: tuple[float, ...]) -> HistoryTree:
        point = [start + step * distance for start, distance in zip(base, offset, strict=True)]
        changed = _change_parameters(spec.parameters, expanded, point)
        return build_history_tree(make_game(spec.name, **changed))

    return _fit(build, expanded, base, step)


def _fit(
    build: Callable[[tuple[float, ...]], HistoryTree], names: tuple[str, ...], base: tuple[float, ...], step: float
) -> ParametricTree:
    """Returns polynomials of the least degree that predict the payoffs at points that did not fix them."""
    num_parameters = len(names)
    tree = build((0.0,) * num_parameters)
    known: dict[tuple[float, ...], FloatArray] = {}

    def payoffs(offset: tuple[float, ...]) -> FloatArray:
        if offset not in known:
            other = build(offset)
            if any(not np.array_equal(getattr(tree, name), getattr(other, name)) for name in SHAPE):
                raise ConfigError(f"{tree.game_label} changes its tree with {', '.join(names)}: no payoffs to transfer")
            known[offset] = other.utility[0]
        return known[offset]

    for degree in range(1, MOST_DEGREE + 1):
        powers = [e for e in itertools.product(range(degree + 1), repeat=num_parameters) if sum(e) <= degree]
        powers.sort(key=lambda e: (sum(e), e))
        exponents = np.array(powers, np.int64).reshape(len(powers), num_parameters)
        points = exponents.astype(np.float64)
        matrix = np.prod(points[:, None, :] ** exponents[None, :, :], axis=2)
        values = np.stack([payoffs(tuple(point)) for point in points.tolist()])
        unscaled = np.linalg.solve(matrix, values).T
        beyond = tuple(float(degree + 1) for _ in names), tuple(degree + 0.5 for _ in names)
        scale = max(1.0, float(np.abs(values).max()))
        if all(
            np.allclose(unscaled @ np.prod(np.array(point) ** exponents, axis=1), payoffs(point), atol=1e-9 * scale)
            for point in beyond
        ):
            payoff = np.ascontiguousarray(unscaled / step ** exponents.sum(axis=1))
            return ParametricTree(tree=tree, names=names, base=base, exponents=exponents, payoff=payoff)
    raise ConfigError(
        f"payoffs of {tree.game_label} are no polynomials of degree {MOST_DEGREE} or less in {', '.join(names)}"
    )


def _read_parameter(values: Mapping[str, Any], name: str) -> float:
    head, bracket, rest = name.partition("[")
    numbers = _list_numbers(values[head]) or ()
    return numbers[int(rest[:-1]) if bracket else 0]


def _change_parameters(values: Mapping[str, Any], names: Sequence[str], point: Sequence[float]) -> dict[str, Any]:
    """Returns a game's parameters with some numbers replaced."""
    changed = dict(values)
    for name, number in zip(names, point, strict=True):
        head, bracket, rest = name.partition("[")
        present = changed[head]
        if isinstance(present, tuple):
            place = int(rest[:-1]) if bracket else 0
            changed[head] = (*present[:place], number, *present[place + 1 :])
        else:
            changed[head] = number
    return changed


def group_by_chance(tree: HistoryTree) -> ChanceArrays:
    """Returns a tree's terminals by what chance did on the way, from which chance can be drawn before players act.

    Raises:
        ConfigError: chance depends on what players did.
    """
    ways: list[tuple[int, ...]] = [()] * tree.num_nodes
    shares: dict[tuple[int, ...], tuple[float, ...]] = {}
    for node in range(tree.num_nodes):
        if tree.actor[node] < 0 and tree.actor[node] != CHANCE:
            continue
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]]
        is_chance = tree.actor[node] == CHANCE
        for place, child in enumerate(children.tolist()):
            ways[child] = (*ways[node], place) if is_chance else ways[node]
        if is_chance:
            found = tuple(tree.chance_probability[children].tolist())
            if shares.setdefault(ways[node], found) != found:
                raise ConfigError(f"chance of {tree.game_label} depends on what players do: it cannot be drawn first")
    names = sorted(
        {way[:k] for node in tree.terminal_node.tolist() for way in [ways[node]] for k in range(len(way) + 1)},
        key=lambda way: (len(way), way),
    )
    number = {way: k for k, way in enumerate(names)}
    below: list[list[int]] = [[] for _ in names]
    for way in names[1:]:
        below[number[way[:-1]]].append(number[way])
    held: list[list[int]] = [[] for _ in names]
    for terminal, node in enumerate(tree.terminal_node.tolist()):
        held[number[ways[node]]].append(terminal)
    return ChanceArrays(
        first_child=_starts(below),
        child=np.array([child for children in below for child in children], np.int32),
        probability=np.array([shares[way[:-1]][way[-1]] for way in names[1:]], np.float64),
        first_terminal=_starts(held),
        terminal=np.array([terminal for group in held for terminal in group], np.int32),
    )


def _starts(groups: list[list[int]]) -> npt.NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int32)
