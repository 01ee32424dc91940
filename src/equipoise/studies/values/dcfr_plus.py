# SPDX-License-Identifier: Apache-2.0
"""Study `dcfr-plus`: how fast rules of CFR converge with values at the leaves of the first round, and without.

What is left to gain on the round, leaves worth what they are for the ranges that the average brings there, is the
exploitability of the average with the continuation behind the values. On rivers, which have no leaves, it is exact.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from equipoise.agents.resolving import HYBRID, LeafKind
from equipoise.agents.value_nets import NetFolder
from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.evaluation.plots import PanelLabels
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import parse_deck
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.learning.values.labels import spot_of
from equipoise.learning.values.situations import RatioBands, draw_situation
from equipoise.search.holdem.equity_leaves import equity_leaves
from equipoise.search.holdem.leaves import bind_lines
from equipoise.search.leaves import LeafEvaluator, NoisyLeaves
from equipoise.solvers.best_response import bind_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule
from equipoise.studies.orderings import Ordering, judge_ratios
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree, plan_first_street

__all__ = ["DCFR_PLUS", "DcfrPlusConfiguration"]

VALUED: Final = "first round, values at its end"  # panels
RIVERS: Final = "rivers, no values"
SECONDS: Final = ", processor seconds"  # behind a panel
LABELS: Final = {
    VALUED: PanelLabels("iterations", "left to gain, both players (mbb/g)"),
    RIVERS: PanelLabels("iterations", "left to gain, both players (% of the pot)"),
}
DEEPSTACK: Final = "deepstack"  # its own rule, as typed and as shown
OURS: Final = "dcfr+"
SECTION: Final = "section 4.1 and Figure 3"
NOISY: Final = "noisy"  # equity leaves with noise, beside the kinds that agents have
NETS, EQUITY = str(LeafKind.NETS), str(LeafKind.EQUITY)
LEAVES: Final = (NETS, EQUITY, NOISY)
RATIOS: Final = RatioBands(((1.0, 8.0),), (1.0,))
TARGET_MBB: Final = 3.0  # of the paper's comparison, sum over both players
SEED: Final = 16


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DcfrPlusConfiguration:
    """What is solved, by which rules, and how long."""

    rules: tuple[str, ...] = ("cfr", "cfr+", "lcfr", "dcfr", OURS, DEEPSTACK)
    marks: tuple[int, ...] = (100, 200, 400)  # iterations at which runs are measured
    least_mark: int = 101  # claims go by marks from here on: before, DCFR+ has no average
    leaves: str = EQUITY  # nets, equity, or noisy: equity with noise that is drawn anew for every question
    nets: str = ""  # a folder of networks; none: those that are shipped
    noise: float = 20.0  # chips, deviation of noisy leaves
    deck: str = "9TJQKA/cdhs"
    stacks: tuple[int, ...] = (2_000,)  # chips with blinds of 50 and 100: one game of the first round each
    menu: str = "100%, a"  # of the first round
    rivers: int = 1
    river_menu: str = "100%, a"

    def __post_init__(self) -> None:
        if self.leaves not in LEAVES:
            raise UnknownNameError("kind of leaves", self.leaves, LEAVES)
        if list(self.marks) != sorted(set(self.marks)) or not self.marks or self.marks[0] < 1:
            raise ConfigError(f"marks must ascend from 1, got {self.marks}")
        if self.rivers < 0 or not self.noise >= 0:
            raise ConfigError(f"rivers and noise must not be negative, got {self.rivers} and {self.noise}")
        for name in self.rules:
            find_rule(name)


class Task(NamedTuple):
    """A tree that is solved by every rule."""

    panel: str
    run: int
    tree: HoldemTree
    unit: float  # chips
    solved_with: LeafEvaluator | None = None
    measured_with: LeafEvaluator | None = None


def find_rule(name: str) -> Rule:
    """Returns a rule by name; DeepStack's is CFR's regrets, none of them negative, and a late average."""
    return HYBRID if name == DEEPSTACK else parse_rule(name)


def name_curve(rule: str, *, is_alternating: bool) -> str:
    """Returns what a rule's curve is called."""
    return f"{rule}, {'alternating' if is_alternating else 'simultaneous'}"


def measure(configuration: DcfrPlusConfiguration) -> Iterator[Step]:
    """Yields what is left to gain at every mark, run after run."""
    makers = _list_tasks(configuration)
    total, done = len(makers) * len(configuration.rules) * 2, 0
    for make in makers:
        task = make()
        for rule in configuration.rules:
            for is_alternating in (False, True):
                curve = name_curve(rule, is_alternating=is_alternating)
                yield Step(fraction=done / total, text=f"{task.panel}, {task.run + 1}: {curve}")
                points = tuple(_run(task, find_rule(rule), curve, configuration.marks, is_alternating=is_alternating))
                done += 1
                yield Step(fraction=done / total, text=f"{task.panel}, {task.run + 1}: {curve}", points=points)


def _list_tasks(configuration: DcfrPlusConfiguration) -> list[Callable[[], Task]]:
    """Returns what makes the trees, one when its turn comes."""
    valued = [functools.partial(_begin_round, configuration, run) for run in range(len(configuration.stacks))]
    rivers = [functools.partial(_begin_river, configuration, run) for run in range(configuration.rivers)]
    return [*valued, *rivers]


def _begin_round(configuration: DcfrPlusConfiguration, run: int) -> Task:
    stack = configuration.stacks[run]
    spot = spot_of_game(Holdem(deck=configuration.deck, stacks=(stack, stack), menu=configuration.menu))
    exact = _find_leaves(configuration, spot)
    used = exact
    if configuration.leaves == NOISY:
        used = NoisyLeaves(exact, configuration.noise, rng=np.random.default_rng([SEED, run]))
    return Task(VALUED, run, plan_first_street(spot, is_one_round=True).build(), spot.big_blind / 1000, used, exact)


def _find_leaves(configuration: DcfrPlusConfiguration, spot: HoldemSpot) -> LeafEvaluator:
    if configuration.leaves == NETS:
        return NetFolder(DCFR_PLUS.name, spot, configuration.nets).find_end(Street.PREFLOP)
    return equity_leaves(spot)


def _begin_river(configuration: DcfrPlusConfiguration, run: int) -> Task:
    deck, rng = parse_deck(configuration.deck), np.random.default_rng([SEED, Street.RIVER, run])
    situation = draw_situation(Street.RIVER, RATIOS, rng, deck=deck)
    spot = spot_of(situation, parse_menu(configuration.river_menu), deck)
    return Task(RIVERS, run, build_holdem_tree(spot), spot.pot / 100)


def _run(task: Task, rule: Rule, curve: str, marks: Sequence[int], *, is_alternating: bool) -> Iterator[Point]:
    """Yields what is left to gain at marks, and processor seconds of all iterations at the last one."""
    used, exact = (
        None if leaves is None else bind_lines(task.tree, (), leaves)
        for leaves in (task.solved_with, task.measured_with)
    )
    solver = CFRSolver(task.tree, rule, is_alternating=is_alternating, frontier=used, dtype=np.float64)
    judge = bind_kernel(task.tree, frontier=exact)  # without noise
    seconds = 0.0
    for mark in marks:
        began = time.process_time()
        solver.iterate(mark - solver.iteration)
        seconds += time.process_time() - began
        found = evaluate(task.tree, solver.average_sums, kernel=judge)
        left = sum(found.best_response_values) - sum(found.values)
        yield Point(panel=task.panel, curve=curve, x=mark, y=left / task.unit, run=task.run)
    yield Point(panel=task.panel + SECONDS, curve=curve, x=marks[-1], y=seconds, run=task.run)


def conclude(configuration: DcfrPlusConfiguration, measured: Measured) -> Conclusion:
    """Returns what is left at every mark, and verdicts on the order of rules and of the two ways to update."""
    claims = [
        _order(configuration, measured, VALUED, (_of(rule), _of(OURS)), f"with values at leaves {rule} > {OURS}")
        for rule in configuration.rules
        if rule != OURS
    ]
    pairs = [(name_curve(rule, is_alternating=True), _of(rule)) for rule in configuration.rules]
    best = (name_curve(OURS, is_alternating=True), _of(OURS))
    claims += [
        _order(configuration, measured, VALUED, best, f"with values at leaves {OURS} alternating > simultaneous"),
        _compare(configuration, measured, VALUED, pairs, "with values at leaves alternating > simultaneous, all rules"),
        _compare(
            configuration,
            measured,
            RIVERS,
            [(above, below) for below, above in pairs],
            "without values simultaneous > alternating, all rules",
        ),
    ]
    claims.append(_reach_target(configuration, measured))
    notes = (
        "Left to gain: what best responses on the round win, sum over both players, leaves worth what they are for the "
        "ranges of the average. The larger, the slower: a > b says that b converges faster. Only marks from "
        f"{configuration.least_mark} on count.",
        f"Values at leaves: {configuration.leaves}. {DEEPSTACK}: regrets floored at 0, uniform average after 100 "
        "iterations. Alternating iterations ask about leaves twice, simultaneous ones once.",
    )
    return Conclusion(rows=tuple(_rows(configuration, measured)), claims=tuple(claims), notes=notes)


def _of(rule: str) -> str:
    return name_curve(rule, is_alternating=False)


def _rows(configuration: DcfrPlusConfiguration, measured: Measured) -> Iterator[dict[str, object]]:
    for panel in LABELS:
        for rule in configuration.rules:
            for is_alternating in (False, True):
                curve = name_curve(rule, is_alternating=is_alternating)
                left = {f"left at {mark}": measured.at(panel, curve, mark) for mark in configuration.marks}
                seconds = measured.at(panel + SECONDS, curve, configuration.marks[-1])
                yield {"what": panel, "rule": curve, **left, "processor seconds": seconds, "paper": None}


def _order(
    configuration: DcfrPlusConfiguration, measured: Measured, panel: str, pair: tuple[str, str], statement: str
) -> Claim:
    return _compare(configuration, measured, panel, [pair], statement)


def _compare(
    configuration: DcfrPlusConfiguration,
    measured: Measured,
    panel: str,
    pairs: Sequence[tuple[str, str]],
    statement: str,
) -> Claim:
    """Returns the verdict on the first of each pair being larger, over games and marks."""
    marks = [mark for mark in configuration.marks if mark >= configuration.least_mark]
    ratios = [
        ratio for above, below in pairs for mark in marks for ratio in measured.run_ratios(panel, above, below, mark)
    ]
    ordering = Ordering(above="", below="", source=SECTION, statement=statement)
    claim = judge_ratios(ordering, ratios, what="games and marks")
    if panel == VALUED and configuration.leaves != NETS and ratios:
        # the paper speaks of networks: leaves that do not depend on ranges make an ordinary game
        return dataclasses.replace(claim, verdict=Verdict.NOT_STATED)
    return claim


def _reach_target(configuration: DcfrPlusConfiguration, measured: Measured) -> Claim:
    """Returns after how many iterations both systems' rules are within the paper's target, of which it says seconds."""
    found = []
    for rule in (OURS, DEEPSTACK):
        values = ((mark, measured.at(VALUED, _of(rule), mark)) for mark in configuration.marks)
        first = next((mark for mark, left in values if left is not None and left <= TARGET_MBB), None)
        found.append(f"{rule} {'not reached' if first is None else f'by iteration {first:,}'}")
    is_measured = any(measured.at(VALUED, _of(OURS), mark) is not None for mark in configuration.marks)
    return Claim(
        statement=f"Supremus reaches {TARGET_MBB:g} mbb/g 5,000 times sooner than DeepStack: other machines, another "
        "program; here iterations of either's rule",
        source="section 4.2",
        verdict=Verdict.NOT_STATED if is_measured else Verdict.NOT_MEASURED,
        ours="; ".join(found) if is_measured else "nothing",
    )


DCFR_PLUS: Final = Study(
    name="dcfr-plus",
    title="DCFR+ beside other rules of CFR, with and without values at leaves",
    source="Zarick et al. 2020, Figure 3 (no numbers are printed)",
    x_label="iterations",
    y_label="left to gain",
    sizes={
        Size.QUICK: DcfrPlusConfiguration(),
        Size.FULL: DcfrPlusConfiguration(
            marks=(100, 200, 400, 700, 1000, 2000, 4000),
            leaves=NETS,
            deck="full",
            stacks=(20_000, 10_000, 5_000),
            menu="supremus",
            rivers=20,
        ),
    },
    measure=measure,
    conclude=conclude,
    panels=tuple(LABELS),
    own_labels=LABELS.__getitem__,
    seed=SEED,
)
