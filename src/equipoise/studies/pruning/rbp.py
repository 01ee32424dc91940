# SPDX-License-Identifier: Apache-2.0
"""Study `rbp`: regret-based pruning beside partial pruning, and its threshold, Figures 3.14 and 3.15."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.solvers.pruning import Pruning, PruningKind, ZeroReach
from equipoise.solvers.rules import CFR, DCFR, CFRPlus, Rule
from equipoise.studies.curves import crossing
from equipoise.studies.pruning.pruned_curves import (
    AT_NODES,
    CONVENTIONS,
    COST,
    LEDUC,
    LEDUC_5,
    SIMULTANEOUS,
    PrunedConfiguration,
    Variant,
    label_pruned_axes,
    last_point,
    measure_pruned_curves,
    panel_name,
    tabulate_curves,
)
from equipoise.studies.pruning.pruned_statements import Quantity, Statement, judge_statements, measure_quantity
from equipoise.studies.study import Claim, Conclusion, Measured, Size, Step, Study, judge

__all__ = ["RBP", "RBPConfiguration"]

SOURCE: Final = "Brown 2020, thesis section 3.3, Figs. 3.14 and 3.15"
SECTION: Final = "section 3.3.5"
THRESHOLD: Final = 25.0  # of all experiments but Fig. 3.15
WHOLE: Final = "cfr, no pruning"
RULES: Final[dict[str, Rule]] = {"cfr": CFR(), "cfr+": CFRPlus(gamma=1.0), "dcfr(1.5,0.5,2)": DCFR(beta=0.5)}
MARKS: Final = (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LONG_ENOUGH: Final = {LEDUC: 1_000_000, LEDUC_5: 100_000}  # iterations; gains grow with them, the thesis prints none


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RBPConfiguration(PrunedConfiguration):
    """Pruned runs, and the thresholds that are compared in Leduc-5."""

    long_iterations: tuple[int, ...] = (1_000_000, 100_000)  # of each game, of pruning as the thesis has it
    thresholds: tuple[float, ...] = (1.0, 5.0, 10.0, 50.0)  # beside the one of all other curves

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Returns all curves: every rule without and with pruning, then the thresholds, then what else might help."""
        whole = Variant(name=WHOLE, rule=CFR(), pruning=Pruning(kind=PruningKind.NONE))
        pairs = [
            variant
            for rule in RULES
            for variant in (_variant(rule, PruningKind.PARTIAL), _variant(rule, PruningKind.REGRET, beside=True))
        ]
        thresholds = [
            dataclasses.replace(_variant(rule, PruningKind.REGRET, threshold=threshold), games=(LEDUC_5,))
            for rule in ("cfr", "cfr+")
            for threshold in self.thresholds
        ]
        responding = Variant(
            name=RESPONDING,
            beside=partial("cfr"),
            rule=CFR(),
            pruning=Pruning(kind=PruningKind.REGRET, zero_reach=ZeroReach.ALL),
        )
        return whole, *pairs, *thresholds, responding, *_printed_variants()

    def horizon_of(self, game: str, variant: Variant) -> int:
        """Returns the iterations of a variant in a game, by its title."""
        if not variant.pruning.walks_once:
            return self.horizons[game]
        return dict(zip(self.horizons, self.long_iterations, strict=True))[game]

    def __post_init__(self) -> None:
        super(RBPConfiguration, self).__post_init__()
        if len(self.long_iterations) != len(self.games):
            raise ConfigError(f"long_iterations must be given for each game, got {self.long_iterations}")


def partial(rule: str) -> str:
    """Returns the name of a rule's curve under partial pruning."""
    return f"{rule}, partial pruning"


def pruned(rule: str, threshold: float = THRESHOLD) -> str:
    """Returns the name of a rule's curve under regret-based pruning."""
    return f"{rule}, RBP" if threshold == THRESHOLD else f"{rule}, RBP from {threshold:g} iterations"


def partial_once(rule: str) -> str:
    """Returns the name of a rule's curve under partial pruning with one walk an iteration."""
    return f"{rule}, partial pruning, one walk"


def as_printed(rule: str) -> str:
    """Returns the name of a rule's curve under pruning as the thesis has it."""
    return f"{rule}, RBP as printed"


RESPONDING: Final = "cfr, RBP and best responses where not played"


def _printed_variants() -> Iterator[Variant]:
    """Yields partial pruning and pruning as printed: once an iteration, best responses wherever nothing is played."""
    for rule in ("cfr", "cfr+"):
        plain = dataclasses.replace(_variant(rule, PruningKind.PARTIAL), updates=(SIMULTANEOUS,))
        yield dataclasses.replace(
            plain, name=partial_once(rule), pruning=Pruning(kind=PruningKind.PARTIAL, walks_once=True)
        )
        yield dataclasses.replace(
            plain,
            name=as_printed(rule),
            beside=partial_once(rule),
            pruning=Pruning(
                kind=PruningKind.REGRET,
                threshold=THRESHOLD,
                zero_reach=ZeroReach.ALL,
                needs_positive=False,
                walks_once=True,
            ),
        )


def _variant(rule: str, kind: PruningKind, *, beside: bool = False, threshold: float = THRESHOLD) -> Variant:
    return Variant(
        name=pruned(rule, threshold) if kind is PruningKind.REGRET else partial(rule),
        beside=partial(rule) if beside else "",
        rule=RULES[rule],
        pruning=Pruning(kind=kind, threshold=threshold),
        is_best_so_far=rule == "cfr+",
    )


def _faster(game: str, rule: str, least: float, text: str) -> Iterator[Statement]:
    """Yields a statement on convergence, of all nodes and of those of walks alone: both ways of counting are shown."""
    for quantity in (Quantity.NODES, Quantity.WALKED):
        yield _judged(game, rule, least, text, quantity)


def _judged(game: str, rule: str, least: float, text: str, quantity: Quantity = Quantity.COST) -> Statement:
    return Statement(
        text=text,
        source=SECTION,
        game=game,
        quantity=quantity,
        above=partial_once(rule),
        below=as_printed(rule),
        least=least,
        updates=(SIMULTANEOUS,),
        least_iterations=LONG_ENOUGH[game],
    )


STATEMENTS: Final = (
    Statement(
        text="partial pruning can easily skip more than 90 % of the tree",
        source="section 3.3",
        game=LEDUC_5,
        quantity=Quantity.COST,
        above=WHOLE,
        below=partial("cfr"),
        least=10.0,
    ),
    *_faster(LEDUC, "cfr", 8.0, "RBP speeds up convergence of CFR by more than a factor of 8"),
    _judged(LEDUC, "cfr", 1.5, "the tree is traversed twice as fast"),
    _judged(
        LEDUC,
        "cfr",
        3.0,
        "the rest of that is from best responses in what is pruned: about 4 times fewer iterations",
        Quantity.ITERATIONS,
    ),
    *_faster(LEDUC, "cfr+", 1.5, "RBP speeds up convergence of CFR+ by about a factor of 2"),
    *_faster(LEDUC_5, "cfr", 9.0, "RBP speeds up convergence of CFR by a factor of 12"),
    _judged(LEDUC_5, "cfr", 5.0, "RBP reduces the nodes of an iteration of CFR by about a factor of 7"),
    *_faster(LEDUC_5, "cfr+", 7.0, "RBP improves CFR+ by about an order of magnitude"),
    _judged(LEDUC_5, "cfr+", 30.0, "RBP reduces the nodes of an iteration of CFR+ by about a factor of 40"),
    *(
        Statement(
            text="regret-based pruning keeps the convergence of CFR in iterations",
            source="section 3.3.2",
            game=game,
            quantity=Quantity.LEVEL,
            above=pruned("cfr"),
            below=partial("cfr"),
            most=1.5,
        )
        for game in (LEDUC, LEDUC_5)
    ),
    *(
        Statement(
            text="DCFR(1.5,0.5,2) is a better option than CFR+ under RBP",
            source="section 3.3.4",
            game=game,
            quantity=Quantity.NODES,
            above=pruned("cfr+"),
            below=pruned("dcfr(1.5,0.5,2)"),
            least=1.0,
        )
        for game in (LEDUC, LEDUC_5)
    ),
)


def measure(configuration: RBPConfiguration) -> Iterator[Step]:
    """Yields every rule under no, partial and regret-based pruning, and several thresholds."""
    return measure_pruned_curves(configuration, configuration.variants, marks=MARKS)


def conclude(configuration: RBPConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves at the marks, and a verdict on each statement of the text."""
    notes = (
        *CONVENTIONS,
        "Curves of CFR+ show the lowest exploitability so far, as in the thesis, and average linearly. There, only "
        "actions with own decisions below are pruned: pruning the others too made CFR+ far worse.",
        "A factor that the text calls 'about n' is confirmed from three quarters of n on.",
        "'RBP as printed' walks once an iteration for both players, prunes wherever an action is not played and its "
        "regret is negative, and responds best wherever nothing is played. Its gains grow with the iterations, of "
        f"which the thesis prints none: judged from {LONG_ENOUGH[LEDUC]:,} on in Leduc, {LONG_ENOUGH[LEDUC_5]:,} in "
        "Leduc-5. 'Nodes of walks alone' leaves out what windows cost to begin and to end.",
        "What is left of the printed factors, 12 and 40 in Leduc-5 above all, is not explained: lengths of runs, "
        "updates and how nodes are counted are not printed.",
        f"{RESPONDING!r} is ours: best responses also where actions are not played but not pruned either.",
    )
    claims = (
        *judge_statements(STATEMENTS, configuration, measured),
        *_game_claims(configuration, measured),
        *_square_claims(configuration, measured),
        *_threshold_claims(configuration, measured),
    )
    return Conclusion(
        rows=tuple(tabulate_curves(configuration, configuration.variants, measured, MARKS)), claims=claims, notes=notes
    )


def _game_claims(configuration: RBPConfiguration, measured: Measured) -> Iterator[Claim]:
    for updates in configuration.updates:
        ratios = [
            measure_quantity(measured, game, updates, Quantity.NODES, partial("cfr"), pruned("cfr"))
            for game in (LEDUC, LEDUC_5)
        ]
        known = [ratio for ratio in ratios if ratio is not None]
        yield Claim(
            statement="larger games benefit more from RBP: Leduc-5 more than Leduc "
            f"({Quantity.NODES}; {updates} updates)",
            source=SECTION,
            verdict=judge(known[1] > known[0] if len(known) == len(ratios) else None),
            ours=", then ".join(f"{ratio:.3g}" for ratio in known) or "nothing",
        )


def _square_claims(configuration: RBPConfiguration, measured: Measured) -> Iterator[Claim]:
    """Yields whether the share of nodes that RBP visits is about the square of partial pruning's."""
    for updates in configuration.updates:
        panel = panel_name(LEDUC_5, updates, COST)
        ends = [last_point(measured, panel, name) for name in (WHOLE, partial("cfr"), pruned("cfr"))]
        costs = [end[1] for end in ends if end is not None]
        exponent = math.log(costs[2] / costs[0]) / math.log(costs[1] / costs[0]) if len(costs) == len(ends) else None
        yield Claim(
            statement="asymptotically RBP roughly squares the gain of partial pruning (Leduc-5: its share of the nodes "
            f"is partial pruning's to a power of at least 1.5; {updates} updates)",
            source="section 3.3",
            verdict=judge(None if exponent is None else exponent >= 1.5),
            ours="nothing" if exponent is None else f"power {exponent:.2f}",
        )


def _threshold_claims(configuration: RBPConfiguration, measured: Measured) -> Iterator[Claim]:
    """Yields the statements about Fig. 3.15, on nodes to an early and to the last common level."""
    thresholds = sorted({THRESHOLD, *configuration.thresholds})
    for updates in configuration.updates:
        curves = measured.panels().get(panel_name(LEDUC_5, updates, AT_NODES), {})
        names = [pruned("cfr", threshold) for threshold in thresholds]
        is_complete = all(name in curves for name in names)
        early, late = (_nodes_to(curves, names, share) if is_complete else [] for share in (0.5, 1.0))
        where = f"(Leduc-5, cfr; {updates} updates)"
        listed = {when: _list_nodes(thresholds, nodes) for when, nodes in (("early", early), ("late", late))}
        yield Claim(
            statement=f"thresholds from 1 to 50 perform similarly: most / fewest nodes at most 1.5 {where}",
            source="section 3.3.6",
            verdict=judge(max(late) / min(late) <= 1.5 if late else None),
            ours=listed["late"],
        )
        yield Claim(
            statement="a low threshold is preferable early on: half way down, the lowest needs the fewest "
            f"nodes {where}",
            source="section 3.3.6",
            verdict=judge(early[0] == min(early) if early else None),
            ours=listed["early"],
        )
        yield Claim(
            statement=f"a higher threshold is better later: at the end, the lowest needs more nodes than 25 {where}",
            source="section 3.3.6",
            verdict=judge(late[0] > late[thresholds.index(THRESHOLD)] if late else None),
            ours=listed["late"],
        )


def _nodes_to(curves: dict[str, list[tuple[int, float]]], names: Sequence[str], share: float) -> list[float]:
    """Returns the nodes to a level: that share of the way, in logarithms, to the lowest one that all reach."""
    start = min(curves[name][0][1] for name in names)
    lowest = max(min(y for _, y in curves[name]) for name in names)
    level = start * (lowest / start) ** share
    reached = [crossing(curves[name], level) for name in names]
    return [nodes for nodes in reached if nodes is not None]


def _list_nodes(thresholds: Sequence[float], nodes: Sequence[float]) -> str:
    pairs = zip(thresholds, nodes, strict=False)
    return ", ".join(f"{threshold:g}: {count:.3g}" for threshold, count in pairs) or "nothing"


RBP: Final = Study(
    name="rbp",
    title="Regret-based pruning beside partial pruning",
    source=SOURCE,
    x_label="iterations",
    y_label="total exploitability",
    sizes={
        Size.QUICK: RBPConfiguration(iterations=(10_000, 1000), long_iterations=(30_000, 1000), thresholds=(1.0, 50.0)),
        Size.FULL: RBPConfiguration(iterations=(100_000, 30_000)),
    },
    measure=measure,
    conclude=conclude,
    own_labels=label_pruned_axes,
)
