# SPDX-License-Identifier: Apache-2.0
"""Study `nested-search`: replies to a bet that the blueprint does not know, Table 5.4 on Leduc and flop hold'em."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_bet
from equipoise.apps.reproduce.orderings import Ordering, judge_ordering
from equipoise.apps.reproduce.search_games import (
    ALL_IN,
    MIDDLE,
    find_sizes,
    holdem_with_three_bets,
    leduc_with_three_bets,
    make_public_game,
)
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.search.gadgets import Maxmargin, Method, Reach, Resolve, Unsafe
from equipoise.search.nested import NestedSearch
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import cut_subtree, find_children

__all__ = ["NESTED_SEARCH", "NestedConfiguration", "ThreeSizes"]

TABLE: Final = "Table 5.4"
TRANSLATION: Final = "pseudo-harmonic translation"
SIZES: Final = (0.5, 0.75, 1.0)
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
ORDERED: Final = (("resolve", "maxmargin"), ("maxmargin", "reach-maxmargin"), ("resolve", "reach-maxmargin"))
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NestedConfiguration:
    """Games and iterations."""

    leduc_raises: tuple[int, ...] = (1,)  # Leduc games, by how often a round may be raised; 0: none
    decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games, one a deck and number of raises
    flop_raises: tuple[int, ...] = (1,)  # on the flop; before it there is one
    blueprint_iterations: int = 2000
    search_iterations: int = 500

    @property
    def leduc_games(self) -> dict[str, str]:
        """Returns Leduc games by the names of their panels."""
        return {
            f"leduc, {raises} raise{'s'[: raises != 1]}": leduc_with_three_bets(3, raises)
            for raises in self.leduc_raises
            if raises
        }

    @property
    def flop_games(self) -> dict[str, str]:
        """Returns hold'em games by the names of their panels."""
        return {
            f"flop {deck}, {raises} raise{'s'[: raises != 1]}": holdem_with_three_bets(deck, 1, raises)
            for deck in self.decks
            for raises in self.flop_raises
        }


class ThreeSizes:
    """A game with bets of half, three quarters of and the whole pot, and an equilibrium that lacks the middle one."""

    def __init__(self, text: str, iterations: int) -> None:
        """Builds the tree, without all-in bets, and solves the part without the middle size."""
        game = make_public_game(text)
        everything = build_public_tree(game)
        size = find_sizes(game, everything)
        kept = cut_subtree(everything, 0, without=np.flatnonzero(size == ALL_IN))
        self.unit = float(game.spec.parameters.get("big_blind", 1.0))  # chips; Leduc's is the ante
        self.tree = kept.tree
        self.size = size[kept.nodes]
        self.off_tree = np.flatnonzero(self.size == MIDDLE)
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
        beside = {int(self.size[child]): int(child) for child in find_children(self.tree, int(self.tree.parent[node]))}
        shares = translate_bet(SIZES[MIDDLE], (SIZES[0], SIZES[-1]))
        return {beside[SIZES.index(size)]: share for size, share in shares.items()}

    def price(self, strategy: FloatArray, searcher: int) -> float:
        """Returns how much more than the value of the game the other player can get, in thousandths of the unit."""
        value = self.game_value if searcher == 1 else -self.game_value
        gain = evaluate(self.tree, strategy).best_response_values[1 - searcher] - value
        return 1000 * gain / self.unit


def measure(configuration: NestedConfiguration) -> Iterator[Step]:
    """Yields what each way to reply costs; panels are games, runs are the searching players."""
    games = configuration.leduc_games | configuration.flop_games
    total = len(games) * 2 * (1 + len(METHODS))
    done = 0
    for panel, text in games.items():
        yield Step(fraction=done / total, text=f"{panel}: trees and equilibria")
        three = ThreeSizes(text, configuration.blueprint_iterations)
        for searcher in (0, 1):
            translated = translate_strategy(three.tree, three.off_tree, searcher, three.strategy, three.images)
            done += 1
            point = Point(panel=panel, curve=TRANSLATION, x=1, y=three.price(translated, searcher), run=searcher)
            yield Step(fraction=done / total, text=f"{panel}, player {searcher}: translation", points=(point,))
            for name, (method, is_expensive) in METHODS.items():
                search = NestedSearch(
                    three.tree,
                    three.off_tree,
                    searcher,
                    method,
                    iterations=configuration.search_iterations,
                    is_expensive=is_expensive,
                )
                price = three.price(search.everywhere(three.strategy).flatten(), searcher)
                done += 1
                point = Point(panel=panel, curve=name, x=1, y=price, run=searcher)
                yield Step(fraction=done / total, text=f"{panel}, player {searcher}: {name}", points=(point,))


def conclude(configuration: NestedConfiguration, measured: Measured) -> Conclusion:
    """Returns the table, and a verdict on each of its orderings."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for panel in configuration.leduc_games | configuration.flop_games:
        means: dict[str, float] = {}
        for name in (TRANSLATION, *METHODS):
            known = measured.runs(panel, name, 1)
            if len(known) == 2:
                means[name] = sum(known) / 2
            ours = float(f"{means[name]:.4g}") if name in means else None
            rows.append({"game": panel, "method": name, "ours (thousandths)": ours, "paper (mbb)": PRINTED[name]})
        claims += _claims(panel, means)
    claims += [
        judge_ordering(
            Ordering(above=above, below=below, source=TABLE, statement=f"flop hold'em: {above} > {below}"),
            measured,
            panel_names=list(configuration.flop_games),
            what="games and players",
        )
        for above, below in (*((TRANSLATION, name) for name in METHODS), *ORDERED)
    ]
    notes = (
        "What the other player gains over the value of the game by best responses with all sizes, mean of both "
        "searching players, in thousandths of a chip (Leduc's ante) or of hold'em's big blind.",
        "Suits merged and no all-in bets. Leduc may be raised as often as said in either round, hold'em on the flop; "
        "before it there is one bet.",
        "Sign tests count every game of hold'em twice, once for each searching player.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _claims(panel: str, values: Mapping[str, float]) -> Iterator[Claim]:
    """Yields the verdicts on one game, none on what is not measured whole."""
    is_whole = len(values) == len(PRINTED)
    for name in METHODS:
        ratio = values[TRANSLATION] / values[name] if is_whole and values[name] > 0 else None
        yield Claim(
            statement=f"{panel}: {name} costs at most a third of translation",
            source=f"{TABLE}: about a tenth",
            verdict=judge(None if ratio is None else ratio >= 3),
            ours="nothing" if ratio is None else f"translation / {name} = {ratio:.3g}",
        )
    best = min(METHODS, key=lambda name: values[name]) if is_whole else None
    yield Claim(
        statement=f"{panel}: reach-maxmargin, inexpensive, costs least (5 % is a tie)",
        source=TABLE,
        verdict=judge(None if best is None else values["reach-maxmargin"] <= 1.05 * values[best]),
        ours="nothing" if best is None else f"least: {best}, {values[best]:.4g}",
    )


NESTED_SEARCH: Final = Study(
    name="nested-search",
    title="Replies to a bet that is not in the tree",
    source="Brown 2020, thesis section 5.1.8, Table 5.4",
    x_label="",
    y_label="thousandths of the ante or big blind",
    sizes={
        Size.QUICK: NestedConfiguration(),
        Size.FULL: NestedConfiguration(
            leduc_raises=(1, 2),
            decks=("QKA/cdh", "QKA/cdhs", "JQKA/cdh", "JQKA/cdhs", "TJQKA/cd"),
            blueprint_iterations=10_000,
            search_iterations=3000,
        ),
    },
    measure=measure,
    conclude=conclude,
)
