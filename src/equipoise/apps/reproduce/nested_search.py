# SPDX-License-Identifier: Apache-2.0
"""Study `nested-search`: replies to a bet that the blueprint does not know, Table 5.4 on Leduc."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_bet
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.games.leduc import Leduc, Sizing
from equipoise.search.gadgets import Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.nested import NestedSearch
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import cut_subtree, find_children, trace_back

__all__ = ["NESTED_SEARCH", "NestedConfiguration", "ThreeSizes"]

TABLE: Final = "Table 5.4"
TRANSLATION: Final = "pseudo-harmonic translation"
SIZES: Final = (0.5, 0.75, 1.0)
FIRST_RAISE: Final = 2  # actions of Leduc's rules
MIDDLE, ALL_IN = FIRST_RAISE + 1, FIRST_RAISE + len(SIZES)
METHODS: Final[dict[str, tuple[Method, bool]]] = {  # and whether from before the action on
    "resolve": (Resolve(), False),
    "reach-maxmargin, expensive": (Maxmargin(reach=Reach()), True),
    "unsafe, expensive": (Unsafe(), True),
    "maxmargin": (Maxmargin(), False),
    "reach-maxmargin": (Maxmargin(reach=Reach()), False),
}
PRINTED: Final = {
    TRANSLATION: 1465.0,
    "resolve": 150.2,
    "reach-maxmargin, expensive": 149.2,
    "unsafe, expensive": 148.3,
    "maxmargin": 122.0,
    "reach-maxmargin": 119.1,
}
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NestedConfiguration:
    """Games, by how often a round may be raised, and iterations."""

    max_raises: tuple[int, ...] = (1,)
    blueprint_iterations: int = 2000
    search_iterations: int = 500


class ThreeSizes:
    """Leduc with bets of half, three quarters of and the whole pot, and an equilibrium that lacks the middle one."""

    def __init__(self, max_raises: int, iterations: int) -> None:
        """Builds the tree, without all-in bets, and solves the part without the middle size."""
        game = derive_public_game(
            Leduc(
                first_sizes=SIZES,
                second_sizes=SIZES,
                sizing=Sizing.POT,
                stack=10.0 * 4.0 ** (2 * max_raises),  # deep enough for every line
                max_raises=max_raises,
                merge_suits=True,
            )
        )
        everything = build_public_tree(game)
        action = np.full(everything.actor.size, -1)
        for node in range(1, everything.actor.size):
            above = int(everything.parent[node])
            actor = int(everything.actor[above])
            if actor >= 0:
                action[node] = game.legal_actions(above)[trace_back(everything, node, actor)[1][0]]
        kept = cut_subtree(everything, 0, without=np.flatnonzero(action == ALL_IN))
        self.tree = kept.tree
        self.action = action[kept.nodes]
        self.off_tree = np.flatnonzero(self.action == MIDDLE)
        part = cut_subtree(self.tree, 0, without=self.off_tree)
        solver = CFRSolver(part.tree, CFRPlus())
        solver.iterate(iterations)
        self.strategy: FloatArray = self.tree.legal_share.copy()
        part.insert(solver.average_strategy(), self.strategy)
        self.known_exploitability = solver.evaluate().exploitability
        whole = CFRSolver(self.tree, CFRPlus())
        whole.iterate(iterations)
        self.game_value = whole.evaluate().values[0]

    def images(self, node: int) -> dict[int, float]:
        """Returns what a bet of the middle size is taken for."""
        beside = {
            int(self.action[child]): int(child) for child in find_children(self.tree, int(self.tree.parent[node]))
        }
        shares = translate_bet(SIZES[1], (SIZES[0], SIZES[2]))
        return {beside[FIRST_RAISE + SIZES.index(size)]: share for size, share in shares.items()}

    def price(self, strategy: FloatArray, searcher: int) -> float:
        """Returns how much more than the value of the game the other player can get against a strategy."""
        value = self.game_value if searcher == 1 else -self.game_value
        return evaluate(self.tree, strategy).best_response_values[1 - searcher] - value


def measure(configuration: NestedConfiguration) -> Iterator[Step]:
    """Yields what each way to reply costs; x is how often a round may be raised, runs are the searching players."""
    total = len(configuration.max_raises) * 2 * (1 + len(METHODS))
    done = 0
    for max_raises in configuration.max_raises:
        yield Step(fraction=done / total, text=f"trees and equilibria with {max_raises} raises")
        three = ThreeSizes(max_raises, configuration.blueprint_iterations)
        for searcher in (0, 1):
            translated = translate_strategy(three.tree, three.off_tree, searcher, three.strategy, three.images)
            found = {TRANSLATION: three.price(translated, searcher)}
            for name, (method, is_expensive) in METHODS.items():
                search = NestedSearch(
                    three.tree,
                    three.off_tree,
                    searcher,
                    method,
                    iterations=configuration.search_iterations,
                    is_expensive=is_expensive,
                )
                found[name] = three.price(search.everywhere(three.strategy).flatten(), searcher)
                done += 1
                yield Step(fraction=done / total, text=f"player {searcher}: {name}")
            points = tuple(
                Point(panel=_panel(searcher), curve=name, x=max_raises, y=1000 * value) for name, value in found.items()
            )
            done += 1
            yield Step(fraction=done / total, text=f"player {searcher}: done", points=points)


def _panel(searcher: int) -> str:
    return f"player {searcher} replies"


def conclude(configuration: NestedConfiguration, measured: Measured) -> Conclusion:
    """Returns the table, and a verdict on each of its orderings."""
    rows, claims = [], []
    for max_raises in configuration.max_raises:
        for name in (TRANSLATION, *METHODS):
            values = [measured.at(_panel(searcher), name, max_raises) for searcher in (0, 1)]
            known = [value for value in values if value is not None]
            ours = float(f"{sum(known) / 2:.4g}") if len(known) == 2 else None
            rows.append({"raises": max_raises, "method": name, "ours (mchips)": ours, "paper (mbb)": PRINTED[name]})
        means = {row["method"]: row["ours (mchips)"] for row in rows if row["raises"] == max_raises}
        claims += list(_claims(max_raises, {str(name): value for name, value in means.items()}))
    notes = (
        "What the other player gains over the value of the game by best responses with all sizes, mean of both "
        "searching players, in thousandths of a chip (the ante).",
        "Leduc with suits merged and without all-in bets; either round may be raised as often as 'raises' says.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _claims(max_raises: int, means: dict[str, object]) -> Iterator[Claim]:
    values = {name: float(value) for name, value in means.items() if isinstance(value, float)}
    is_whole = len(values) == len(PRINTED)
    for name in METHODS:
        ratio = values[TRANSLATION] / values[name] if is_whole and values[name] > 0 else None
        yield Claim(
            statement=f"{name} costs at most a third of translation ({max_raises} raises)",
            source=f"{TABLE}: about a tenth",
            verdict=judge(None if ratio is None else ratio >= 3),
            ours="nothing" if ratio is None else f"translation / {name} = {ratio:.3g}",
        )
    best = min(METHODS, key=lambda name: values[name]) if is_whole else None
    yield Claim(
        statement=f"reach-maxmargin, inexpensive, costs least ({max_raises} raises; 5 % is a tie)",
        source=TABLE,
        verdict=judge(None if best is None else values["reach-maxmargin"] <= 1.05 * values[best]),
        ours="nothing" if best is None else f"least: {best}, {values[best]:.4g}",
    )


NESTED_SEARCH: Final = Study(
    name="nested-search",
    title="Replies to a bet that is not in the tree",
    source="Brown 2020, thesis section 5.1.8, Table 5.4",
    x_label="raises in a round",
    y_label="thousandths of a chip",
    sizes={
        Size.QUICK: NestedConfiguration(),
        Size.FULL: NestedConfiguration(max_raises=(1, 2), blueprint_iterations=10_000, search_iterations=3000),
    },
    measure=measure,
    conclude=conclude,
)
