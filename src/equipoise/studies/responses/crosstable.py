# SPDX-License-Identifier: Apache-2.0
"""Study `crosstable`: what foretells how abstract equilibria of Leduc fare against each other."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError
from equipoise.games.leduc import Leduc
from equipoise.responses.against import AgainstSolver
from equipoise.responses.domination import DominationResponse
from equipoise.responses.exact import BestResponse
from equipoise.responses.on_tree import OnTree
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.merging import group_infosets, merge_infosets

__all__ = ["CROSSTABLE", "CrosstableConfiguration", "rank_by_bankroll", "rank_by_runoff"]

FloatArray = npt.NDArray[np.float64]

SOURCE: Final = "Davis 2015, MSc thesis, sections 2.4.1 and 3.1 to 3.2, of Waugh 2009 and Johanson et al. 2011"
CARDS: Final = "JQK"
# of the private card before the flop, which the flop refines: perfect recall
BEFORE: Final[Mapping[str, str]] = {"J.Q.K": "012", "JQ.K": "001", "J.QK": "011", "JQK": "000"}
AFTER: Final = ("pair", "board", "pair and board", "card and board")  # what is seen on the flop beside
MEASURES: Final = ("exploitability", "domination value", "exploitability of CFR-BR")
RANKINGS: Final = ("total bankroll", "instant runoff")
PRINTED: Final[Mapping[tuple[str, str], float]] = {
    ("exploitability", "total bankroll"): 0.15,
    ("exploitability", "instant runoff"): 0.30,
    ("domination value", "total bankroll"): 0.84,
    ("domination value", "instant runoff"): 0.87,
}
CLOSE: Final = 0.1  # correlations of 16 strategies that differ by less are not told apart
LOW: Final = 0.5
EARNED: Final = "earned of the others"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CrosstableConfiguration:
    """How well the abstract games are solved."""

    iterations: int = 20_000  # of CFR+ in each abstract game
    responding_iterations: int = 3000  # of CFR-BR with the learner in each

    def __post_init__(self) -> None:
        if min(self.iterations, self.responding_iterations) < 1:
            least = min(self.iterations, self.responding_iterations)
            raise ConfigError(f"iterations and responding_iterations must be at least 1, got {least}")


def abstractions() -> dict[str, tuple[str, str]]:
    """Returns what is seen before and after the flop in each abstraction, by its name."""
    return {f"{before}, then {after}": (before, after) for before, after in itertools.product(BEFORE, AFTER)}


def see(label: str, before: str, after: str) -> tuple[object, ...]:
    """Returns what somebody sees at an information set: the betting, and of the cards what an abstraction shows.

    >>> see("J|cc/Q:cr", "JQ.K", "pair"), see("J|cc/Q:cr", "JQK", "card and board")
    (('cc', 'cr', '0', False), ('cc', 'cr', '0', 'J', 'Q'))
    """
    card, _, line = label.partition("|")
    first, slash, later = line.partition("/")
    group = BEFORE[before][CARDS.index(card)]
    if not slash:
        return first, group
    board, _, second = later.partition(":")
    seen: dict[str, tuple[object, ...]] = {
        "pair": (card == board,),
        "board": (board,),
        "pair and board": (card == board, board),
        "card and board": (card, board),
    }
    return first, second, group, *seen[after]


def _group(tree: HistoryTree, before: str, after: str) -> npt.NDArray[np.int32]:
    """Returns `[I]` the groups of information sets at which the same is seen."""
    return group_infosets(tree, lambda _, label: see(label, before, after))


def measure(configuration: CrosstableConfiguration) -> Iterator[Step]:
    """Yields what foretells and what came out, of each abstraction's equilibrium: its number is the abscissa."""
    tree = build_history_tree(Leduc(merge_suits=True))
    on_tree, domination = OnTree(tree), DominationResponse(tree)
    names, strategies, total = list(abstractions()), [], len(abstractions())
    for number, (before, after) in enumerate(abstractions().values()):
        groups = _group(tree, before, after)
        merged = merge_infosets(tree, groups)
        solver = CFRSolver(merged.tree, CFRPlus())
        solver.iterate(configuration.iterations)
        strategy = merged.lift(solver.average_strategy())
        strategies.append(strategy)
        learner = AgainstSolver(tree, BestResponse(tree), groups=groups)
        learner.iterate(configuration.responding_iterations)
        values = (
            on_tree.evaluate(strategy).exploitability,
            _lost_to_equilibria(on_tree, domination, strategy),
            on_tree.evaluate(learner.average_strategy()).exploitability,
        )
        yield Step(
            fraction=0.9 * (number + 1) / total,
            text=names[number],
            points=tuple(
                Point(panel=name, curve="leduc", x=number, y=y) for name, y in zip(MEASURES, values, strict=True)
            ),
        )
    earned = play_all(tree, strategies)
    rankings = {RANKINGS[0]: rank_by_bankroll(earned), RANKINGS[1]: rank_by_runoff(earned)}
    points = [
        Point(panel=name, curve="leduc", x=number, y=float(place))
        for name, places in rankings.items()
        for number, place in enumerate(places)
    ]
    mean = earned.sum(axis=1) / (total - 1)
    points += [Point(panel=EARNED, curve="leduc", x=number, y=float(value)) for number, value in enumerate(mean)]
    yield Step(fraction=1.0, text="everybody against everybody", points=tuple(points))


def _lost_to_equilibria(on_tree: OnTree, response: DominationResponse, strategy: FloatArray) -> float:
    """Returns the domination value: what is lost to the worst equilibrium strategies, in the mean of the seats."""
    rng = np.random.default_rng(0)  # of which nothing is drawn
    earned = [on_tree.value(response.respond(strategy, 1 - seat, rng), seat) for seat in (0, 1)]
    return -sum(earned) / len(earned)


def play_all(tree: HistoryTree, strategies: Sequence[FloatArray]) -> FloatArray:
    """Returns `[S, S]` what each strategy earns of each other, in the mean of the seats."""
    on_tree = OnTree(tree)
    earned = np.zeros((len(strategies), len(strategies)))
    for one, other in itertools.permutations(range(len(strategies)), 2):
        value = on_tree.value(on_tree.combine(strategies[one], strategies[other], 1), 0)
        earned[one, other] += value / 2
        earned[other, one] -= value / 2
    return earned


def rank_by_bankroll(earned: FloatArray) -> list[int]:
    """Returns the place of each strategy, 0 the best: by what it earns of all others.

    >>> rank_by_bankroll(np.array([[0.0, -1.0, 5.0], [1.0, 0.0, 0.0], [-5.0, 0.0, 0.0]]))
    [0, 1, 2]
    """
    return _places(np.argsort(earned.sum(axis=1), kind="stable")[::-1])


def rank_by_runoff(earned: FloatArray) -> list[int]:
    """Returns the place of each strategy, 0 the best: the worst leaves, and the others are compared again.

    >>> rank_by_runoff(np.array([[0.0, -1.0, 5.0], [1.0, 0.0, 0.0], [-5.0, 0.0, 0.0]]))
    [1, 0, 2]
    """
    left, order = list(range(len(earned))), []
    while left:
        order.append(left.pop(int(np.argmin(earned[np.ix_(left, left)].sum(axis=1)))))
    return _places(np.array(order[::-1]))


def _places(order: npt.NDArray[np.intp]) -> list[int]:
    places = np.empty(order.size, int)
    places[order] = np.arange(order.size)
    return [int(place) for place in places]


def conclude(configuration: CrosstableConfiguration, measured: Measured) -> Conclusion:
    """Returns a row an abstraction, and the verdicts on correlations and on pathologies."""
    columns = (*MEASURES, EARNED, *RANKINGS)
    rows = tuple(
        {"abstraction": name, **{column: measured.at(column, "leduc", number) for column in columns}, "paper": None}
        for number, name in enumerate(abstractions())
    )
    notes = (
        "Waugh's strategies are equilibria of abstractions of Leduc, ours as well, but his abstractions are not all in "
        "the text: these group cards alone, the same for both players, with perfect recall. So correlations are of "
        "other strategies, and it is their order that is judged.",
        "Correlations are of a measure with places, 1 if those who lose more by it come last. Chips per game.",
        "Bankroll: by what is earned of all others; runoff: the worst leaves, then the others are compared again.",
    )
    return Conclusion(rows=rows, claims=(*_correlation_claims(measured), *_other_claims(measured)), notes=notes)


def _read(measured: Measured, panel: str) -> FloatArray | None:
    values = [measured.at(panel, "leduc", number) for number in range(len(abstractions()))]
    known = [value for value in values if value is not None]
    return np.array(known) if len(known) == len(values) else None


def _correlate(measured: Measured, measure_name: str, ranking: str) -> float | None:
    first, second = _read(measured, measure_name), _read(measured, ranking)
    return None if first is None or second is None else float(np.corrcoef(first, second)[0, 1])


def _correlation_claims(measured: Measured) -> Iterator[Claim]:
    for ranking in RANKINGS:
        found = {name: _correlate(measured, name, ranking) for name in MEASURES}
        ours = ", ".join(f"{name} {value:.2f}" for name, value in found.items() if value is not None) or "nothing"
        low, high = (PRINTED[name, ranking] for name in MEASURES[:2])
        pairs = (
            (
                f"domination value foretells {ranking} results better than exploitability ({high} and {low})",
                MEASURES[1],
                "section 3.2, of Waugh 2009",
            ),
            (
                f"CFR-BR's exploitability foretells {ranking} results better than the equilibrium's own",
                MEASURES[2],
                "section 3.2, of Johanson et al. 2011",
            ),
        )
        for statement, better, source in pairs:
            first, second = found[better], found[MEASURES[0]]
            verdict = judge(None if first is None or second is None else first > second)
            if first is not None and second is not None and abs(first - second) < CLOSE:
                verdict = Verdict.UNDECIDED
            yield Claim(statement=f"{statement} (by {CLOSE:g} or more)", source=source, verdict=verdict, ours=ours)
        hardly = found[MEASURES[0]]
        is_low = None if hardly is None else hardly <= LOW
        yield Claim(
            statement=f"exploitability hardly foretells {ranking} results (correlation {low}; at most {LOW:g}): other "
            "strategies than ours, so that a higher one denies nothing",
            source="section 3.1, of Waugh 2009",
            verdict=Verdict.UNDECIDED if is_low is False else judge(is_low),
            ours="nothing" if hardly is None else f"{hardly:.2f}",
        )


def _is_finer(fine: tuple[str, str], coarse: tuple[str, str]) -> bool:
    """Returns whether one abstraction shows all that another shows, and more.

    >>> _is_finer(("J.Q.K", "pair"), ("JQ.K", "pair")), _is_finer(("JQ.K", "pair"), ("J.QK", "pair"))
    (True, False)
    """
    groups = [BEFORE[name[0]] for name in (fine, coarse)]
    before = all(
        groups[1][i] == groups[1][j] or groups[0][i] != groups[0][j] for i, j in itertools.combinations(range(3), 2)
    )
    shown = {"pair": {"pair"}, "board": {"board"}, "pair and board": {"pair", "board"}}
    shown["card and board"] = {"pair", "board", "card"}
    return fine != coarse and before and shown[fine[1]] >= shown[coarse[1]]


def _other_claims(measured: Measured) -> Iterator[Claim]:
    kinds = list(abstractions().values())
    pairs = [(i, j) for i, j in itertools.permutations(range(len(kinds)), 2) if _is_finer(kinds[i], kinds[j])]
    for name, statement, wants_worse in (
        (MEASURES[0], "a finer abstraction may have a more exploitable equilibrium (some pair of them does)", True),
        (MEASURES[2], "CFR-BR is free of that: no finer abstraction is more exploitable (by 5 % or more)", False),
    ):
        values = _read(measured, name)
        if values is None:
            yield Claim(statement=statement, source="section 2.4.1", verdict=judge(None), ours="nothing")
            continue
        worse = [
            (values[i] / values[j], i, j) for i, j in pairs if values[i] > (1.0 if wants_worse else 1.05) * values[j]
        ]
        names = list(abstractions())
        most = max(worse, default=None)
        said = f"; most in {names[most[1]]!r} beside {names[most[2]]!r}: {most[0]:.2f} times" if most else ""
        yield Claim(
            statement=statement,
            source="section 2.4.1",
            verdict=judge(bool(worse) is wants_worse),
            ours=f"{len(worse)} of {len(pairs)} pairs{said}",
        )


CROSSTABLE: Final = Study(
    name="crosstable",
    title="What foretells how abstract equilibria of Leduc fare against each other",
    source=SOURCE,
    x_label="number of the abstraction",
    y_label="chips per game, or place",
    sizes={
        Size.QUICK: CrosstableConfiguration(iterations=1000, responding_iterations=300),
        Size.FULL: CrosstableConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    is_log_y=False,
)
