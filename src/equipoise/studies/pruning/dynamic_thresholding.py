# SPDX-License-Identifier: Apache-2.0
"""Study `dynamic-thresholding`: Hedge, regret matching and EGT without improbable branches, on Leduc and Leduc-5."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from equipoise.games.base import Game
from equipoise.games.leduc import Leduc, Leduc5
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.egt import EGTConfig, EGTSolver
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind
from equipoise.solvers.rules import CFR, CFRPlus, Hedge, Rule, Thresholded
from equipoise.studies.node_curves import CountingSolver, NodePanel, measure_node_curves, typical_speedup
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, judge
from equipoise.trees.cache import load_or_build_history_tree
from equipoise.trees.history import HistoryTree

__all__ = ["DYNAMIC_THRESHOLDING", "ThresholdingConfiguration"]

SOURCE: Final = "Brown 2020, thesis section 3.4, Figs. 3.16 and 3.17"
TEXT: Final = "section 3.4.3"
CAPTION: Final = "Fig. 3.16, caption"
GAMES: Final[Mapping[str, Game[Any]]] = {"leduc": Leduc(merge_suits=True), "leduc5": Leduc5()}
SMALL, LARGE = GAMES

EGT: Final = "egt"
HEDGE: Final = "hedge"
HEDGE_RBP: Final = "hedge, thresholds, rbp"
RM: Final = "rm, partial"
RM_CUT: Final = "rm, thresholds"
RM_RBP: Final = "rm, rbp"
CFR_PLUS: Final = "cfr+, partial"
METHODS_PANEL, HEDGE_PANEL, EGT_PANEL = "methods", "hedge by d", "egt by c"

Tree = HistoryTree
Maker = Callable[[Tree], CountingSolver]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdingConfiguration:
    """What is cut, and how many nodes are touched."""

    games: tuple[str, ...] = tuple(GAMES)
    nodes: tuple[int, ...] = (10**9, 10**10)  # by game
    first_nodes: tuple[int, ...] = (10**5, 10**7)  # where the curves begin
    d: tuple[float, ...] = (0.1, 0.5, 1.0, 2.0)  # C - 1 of the thresholds for Hedge; the legend of Fig. 3.17 is lost
    c: tuple[float, ...] = (0.001, 0.005, 0.01, 0.05)  # of the thresholds c/T for EGT
    shown_d: float = 1.0  # in Fig. 3.16, where the text does not say which; and for regret matching
    shown_c: float = 0.005

    def marks(self, game: str) -> list[int]:
        """Returns the nodes touched at which a game's curves are measured: 1, 2 and 5 of every power of ten."""
        place = self.games.index(game)
        first, last = self.first_nodes[place], self.nodes[place]
        exponents = range(int(math.log10(first)), int(math.log10(last)) + 1)
        inner = [step * 10**exponent for exponent in exponents for step in (1, 2, 5)]
        return [mark for mark in inner if first <= mark < last] + [last]

    @property
    def hedges(self) -> dict[str, Thresholded]:
        """Returns the thresholded rules of Fig. 3.17 by the name of their curve."""
        return {f"hedge, d = {d:g}": Thresholded(Hedge(), 1.0 + d) for d in sorted({*self.d, self.shown_d})}

    @property
    def egts(self) -> dict[str, EGTConfig]:
        """Returns the thresholded gradients of Fig. 3.17 by the name of their curve."""
        return {f"egt, c = {c:g}": EGTConfig(threshold=c) for c in sorted({*self.c, self.shown_c})}

    @property
    def hedge_cut(self) -> str:
        """Returns the curve of thresholded Hedge in Fig. 3.16."""
        return f"hedge, d = {self.shown_d:g}"

    @property
    def egt_cut(self) -> str:
        """Returns the curve of thresholded EGT in Fig. 3.16."""
        return f"egt, c = {self.shown_c:g}"

    @property
    def panels(self) -> dict[str, tuple[str, ...]]:
        """Returns which curves a panel of each game shows."""
        methods = EGT, self.egt_cut, HEDGE, self.hedge_cut, HEDGE_RBP, RM, RM_CUT, RM_RBP, CFR_PLUS
        return {METHODS_PANEL: methods, HEDGE_PANEL: (HEDGE, *self.hedges), EGT_PANEL: (EGT, *self.egts)}

    def makers(self) -> dict[str, Maker]:
        """Returns how every curve's solver is made."""
        factor = 1.0 + self.shown_d
        return {
            HEDGE: lambda tree: CFRSolver(tree, Hedge()),
            **{name: _prune(rule, PruningKind.PARTIAL) for name, rule in self.hedges.items()},
            HEDGE_RBP: _prune(Thresholded(Hedge(), factor), PruningKind.REGRET),
            RM: _prune(CFR(), PruningKind.PARTIAL),
            RM_CUT: _prune(Thresholded(CFR(), factor), PruningKind.PARTIAL),
            RM_RBP: _prune(CFR(), PruningKind.REGRET),
            CFR_PLUS: _prune(CFRPlus(gamma=1.0), PruningKind.PARTIAL),
            EGT: EGTSolver,
            **{name: _cut_gradients(config) for name, config in self.egts.items()},
        }


def _prune(rule: Rule, kind: PruningKind) -> Maker:
    return lambda tree: PrunedSolver(tree, rule, pruning=Pruning(kind=kind))


def _cut_gradients(config: EGTConfig) -> Maker:
    return lambda tree: EGTSolver(tree, config)


def name_panel(game: str, panel: str) -> str:
    """Returns the title of a game's panel."""
    return f"{game}: {panel}"


def measure(configuration: ThresholdingConfiguration) -> Iterator[Step]:
    """Yields the curves of all methods, each point in every panel that shows its curve."""
    trees = [
        NodePanel(game, load_or_build_history_tree(GAMES[game]), configuration.marks(game))
        for game in configuration.games
    ]
    for step in measure_node_curves(trees, configuration.makers()):
        points = tuple(
            dataclasses.replace(point, panel=name_panel(point.panel, panel))
            for point in step.points
            for panel, curves in configuration.panels.items()
            if point.curve in curves
        )
        yield dataclasses.replace(step, points=points)


def conclude(configuration: ThresholdingConfiguration, measured: Measured) -> Conclusion:
    """Returns every curve's last value and a verdict on each statement of the text."""
    rows = tuple(
        {
            "game": game,
            "method": curve,
            "nodes": mark,
            "ours": measured.at(name_panel(game, panel), curve, mark),
            "paper": None,  # the figures' values are not in the text
            "fewer nodes than plain": _speedup(measured, game, panel, _plain(curve), curve),
        }
        for game in configuration.games
        for panel, curves in configuration.panels.items()
        for curve in curves
        for mark in configuration.marks(game)[-1:]
    )
    notes = (
        "The thesis prints curves, not numbers, and neither the d of Fig. 3.16 nor those of Fig. 3.17 are in its text. "
        f"Here Fig. 3.16 has d = {configuration.shown_d:g} and c = {configuration.shown_c:g}.",
        "Values are total exploitability, what both best responses gain together. 'Fewer nodes' is how many times more "
        "nodes plain Hedge, EGT or regret matching (which is partially pruned, as in the figure) takes for the same "
        "value: the median over the lower half of the values that both curves pass.",
        "Every pass over the tree of one player counts; updates alternate. Hedge and EGT without thresholds are not "
        "pruned; thresholded Hedge is, partially. An information set that no walk meets keeps its strategy.",
        "EGT is ours: weights and steps differ from those of Kroer et al. 2017, which the thesis ran.",
        "Numerical tests of words such as 'similar' are ours, and stand with the claim.",
    )
    return Conclusion(rows=rows, claims=tuple(_claims(configuration, measured)), notes=notes)


def _plain(curve: str) -> str:
    """Returns the curve without thresholds and with the least pruning that belongs to another."""
    return next((plain for plain in (HEDGE, EGT, RM) if curve.startswith(plain.partition(",")[0])), curve)


def _speedup(measured: Measured, game: str, panel: str, slow: str, fast: str) -> float | None:
    return typical_speedup(measured, name_panel(game, panel), slow, fast)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Faster:
    """A statement that a curve takes so many times fewer nodes than another, in a game."""

    statement: str
    slow: str
    fast: str
    least: float = 1.0
    most: float = math.inf
    panel: str = METHODS_PANEL
    source: str = TEXT

    def judge(self, game: str, measured: Measured) -> Claim:
        """Returns the verdict on a game's curves."""
        found = _speedup(measured, game, self.panel, self.slow, self.fast)
        limits = f"{self.least:g} to {self.most:g}" if self.most < math.inf else f"at least {self.least:g}"
        return Claim(
            statement=f"{game}: {self.statement} ({limits} times fewer nodes for the same quality)",
            source=self.source,
            verdict=judge(None if found is None else self.least <= found <= self.most),
            ours=f"{self.slow} / {self.fast}: {'nothing' if found is None else f'{found:.2f}'}",
        )


def _statements(configuration: ThresholdingConfiguration) -> dict[str, tuple[Faster, ...]]:
    """Returns by game what the text states about pairs of curves."""
    hedge_cut, egt_cut = configuration.hedge_cut, configuration.egt_cut
    both = (
        Faster(statement="thresholds benefit Hedge", slow=HEDGE, fast=hedge_cut),
        Faster(statement="thresholds benefit EGT", slow=EGT, fast=egt_cut),
        Faster(
            statement="thresholds do nothing for regret matching",
            slow=RM,
            fast=RM_CUT,
            least=0.95,
            most=1.05,
            source=CAPTION,
        ),
        *(
            Faster(statement=f"thresholds only help Hedge, d = {d:g}", slow=HEDGE, fast=f"hedge, d = {d:g}")
            for d in configuration.d
        ),
        *(
            Faster(statement=f"c = {c:g} is beneficial", slow=EGT, fast=f"egt, c = {c:g}")
            for c in configuration.c
            if c <= 0.01
        ),
        Faster(
            statement="c = 0.05 is too aggressive and hurts slightly",
            slow=EGT,
            fast="egt, c = 0.05",
            least=0.5,
            most=1.0,
        ),
    )
    both = tuple(dataclasses.replace(one, panel=_panel_of(configuration, one)) for one in both)
    small = (
        Faster(statement="with thresholds and RBP, Hedge outperforms regret matching", slow=RM_RBP, fast=HEDGE_RBP),
    )
    large = (
        Faster(statement="thresholds improve EGT by a factor of 2", slow=EGT, fast=egt_cut, least=1.5, most=3.0),
        Faster(statement="thresholds and RBP improve Hedge by a factor of 7", slow=HEDGE, fast=HEDGE_RBP, least=5.0),
        Faster(statement="with RBP, regret matching outperforms Hedge with thresholds", slow=HEDGE_RBP, fast=RM_RBP),
        Faster(statement="CFR+ exceeds Hedge", slow=HEDGE_RBP, fast=CFR_PLUS),
        Faster(statement="CFR+ exceeds regret matching", slow=RM_RBP, fast=CFR_PLUS),
    )
    return {SMALL: (*both, *small), LARGE: (*both, *large)}


def _panel_of(configuration: ThresholdingConfiguration, statement: Faster) -> str:
    """Returns a panel that shows both curves."""
    pair = {statement.slow, statement.fast}
    return next((panel for panel, curves in configuration.panels.items() if pair <= {*curves}), METHODS_PANEL)


def _claims(configuration: ThresholdingConfiguration, measured: Measured) -> Iterator[Claim]:
    statements = _statements(configuration)
    for game in configuration.games:
        for statement in statements[game]:
            yield statement.judge(game, measured)
        yield _spread_claim(
            measured, game, HEDGE_PANEL, tuple(configuration.hedges), "performance is not sensitive to d", 1.5
        )
        near = tuple(f"egt, c = {c:g}" for c in configuration.c if c <= 0.01)
        yield _spread_claim(measured, game, EGT_PANEL, near, "c = 0.001, 0.005 and 0.01 are similar", 1.5)
    for name, slow, fast in (
        ("EGT", EGT, configuration.egt_cut),
        ("Hedge", HEDGE, configuration.hedge_cut),
        ("Hedge, with RBP", HEDGE, HEDGE_RBP),
    ):
        yield _growth_claim(measured, name, slow, fast)


def _spread_claim(
    measured: Measured, game: str, panel: str, curves: Sequence[str], statement: str, most: float
) -> Claim:
    """Returns the verdict on curves being alike: the nodes of the slowest over those of the fastest."""
    factors = [_speedup(measured, game, panel, curve, curves[0]) for curve in curves]
    known = [factor for factor in factors if factor is not None]
    spread = max(known) / min(known) if len(known) == len(curves) > 0 else None
    return Claim(
        statement=f"{game}: {statement} (at most {most:g} times more nodes for the same quality)",
        source=TEXT,
        verdict=judge(None if spread is None else spread <= most),
        ours="nothing" if spread is None else f"slowest / fastest {spread:.2f}",
    )


def _growth_claim(measured: Measured, name: str, slow: str, fast: str) -> Claim:
    """Returns the verdict on thresholds bringing more in the larger game."""
    gains = [_speedup(measured, game, METHODS_PANEL, slow, fast) for game in (SMALL, LARGE)]
    known = [gain for gain in gains if gain is not None]
    return Claim(
        statement=f"the relative benefit of thresholds increases with the size of the game: {name}",
        source=TEXT,
        verdict=judge(known[1] > known[0] if len(known) == len(gains) else None),
        ours=", ".join(f"{game} {gain:.2f}" for game, gain in zip((SMALL, LARGE), gains, strict=True) if gain)
        or "nothing",
    )


DYNAMIC_THRESHOLDING: Final = Study(
    name="dynamic-thresholding",
    title="Dynamic thresholding for Hedge, regret matching and EGT on Leduc and Leduc-5",
    source=SOURCE,
    x_label="nodes touched",
    y_label="total exploitability (chips per hand)",
    sizes={
        Size.QUICK: ThresholdingConfiguration(nodes=(10**7, 2 * 10**8)),
        Size.FULL: ThresholdingConfiguration(),
    },
    measure=measure,
    conclude=conclude,
)
