# SPDX-License-Identifier: Apache-2.0
"""Study `deep-cfr`: Deep CFR, its single-network variant, NFSP and sampled CFR by the histories that they touch."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from equipoise.games.base import Game
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.learning.deep_cfr.settings import DeepCFRSettings, Learner, find_preset
from equipoise.solvers.mccfr import Discounting, DiscountKind, MCCFRConfig, MCCFRSolver
from equipoise.studies.orderings import Ordering, judge_ordering
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.cache import load_or_build_history_tree

if TYPE_CHECKING:
    from equipoise.learning.deep_cfr.training import DeepCFR

__all__ = ["DEEP_CFR", "DeepCFRConfiguration", "describe_seeds", "measure_training"]

SOURCE: Final = "Brown 2020, PhD thesis, section 4.1.3 and Figure 4.2"
SECTION: Final = "section 4.1.3"
STEINBERGER: Final = "Steinberger 2019, Single Deep CFR, section 5"
KUHN, LEDUC = "kuhn", "leduc"
GAMES: Final[Mapping[str, Game[Any]]] = {KUHN: Kuhn(), LEDUC: Leduc()}
POLICY, VALUES, NFSP, TABLE = "Deep CFR", "single-network Deep CFR", "NFSP", "K-external linear MCCFR"
CURVES: Final = (POLICY, VALUES, NFSP, TABLE)
NFSP_LEDUC: Final = 37.0  # mbb/h, a footnote of the thesis
MBB: Final = 1000.0  # mbb/h in a chip
SECONDS: Final = {KUHN: 0.6, LEDUC: 1.2}  # of an iteration, to say how much time is left


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeepCFRConfiguration:
    """What is trained, how long and how often."""

    games: tuple[str, ...] = (KUHN, LEDUC)
    seeds: int = 5
    kuhn_iterations: int = 60
    leduc_iterations: int = 150
    traversals: int = 5_000
    steps: int = 100
    policy_steps: int = 600
    batch: int = 4_096
    marks: int = 5  # evaluations of each curve
    nfsp_games: int = 3  # games of NFSP for each traversal of Deep CFR: about as many histories

    def settings(self, game: str, seed: int) -> DeepCFRSettings:
        """Returns how a game is learnt."""
        return dataclasses.replace(
            find_preset("cpu"),
            iterations=self.kuhn_iterations if game == KUHN else self.leduc_iterations,
            traversals=self.traversals,
            steps=self.steps,
            policy_steps=self.policy_steps,
            batch=self.batch,
            seed=seed,
        )

    def find_marks(self, game: str) -> list[int]:
        """Returns the iterations after which curves have a point, the last among them."""
        last = self.kuhn_iterations if game == KUHN else self.leduc_iterations
        return sorted({max(1, round(last * share)) for share in np.linspace(0.0, 1.0, self.marks + 1)[1:].tolist()})


def measure(configuration: DeepCFRConfiguration) -> Iterator[Step]:
    """Yields the points of every training, seed by seed."""
    total = sum(SECONDS[game] for game in configuration.games) * configuration.seeds
    done = 0.0
    for seed in range(configuration.seeds):
        for game in configuration.games:
            marks = configuration.find_marks(game)
            share = SECONDS[game] / total
            for place, points in enumerate(_measure_seed(configuration, game, seed, marks)):
                part = min((place + 1) / (2 * len(marks) + 1), 1.0)
                text = f"{game}, seed {seed + 1} of {configuration.seeds}"
                yield Step(fraction=min(done + share * part, 0.999), text=text, points=tuple(points))
            done += share
    yield Step(fraction=1.0, text="done")


def _measure_seed(
    configuration: DeepCFRConfiguration, game: str, seed: int, marks: Sequence[int]
) -> Iterator[list[Point]]:
    from equipoise.learning.deep_cfr.making import make_training, make_walks  # noqa: PLC0415 - torch is an extra
    from equipoise.learning.deep_cfr.nfsp import NFSPTraining  # noqa: PLC0415 - beside it

    settings = configuration.settings(game, seed)
    tree = load_or_build_history_tree(GAMES[game])
    run = make_training(make_walks(GAMES[game], settings), settings)
    nodes = []
    for found in measure_training(run, marks):
        nodes.append(run.nodes_touched)
        yield [_point(game, curve, nodes[-1], value, seed) for curve, value in found.items()]
    table = MCCFRSolver(
        tree,
        MCCFRConfig(traversals=settings.traversals, discounting=Discounting(kind=DiscountKind.ITERATIONS)),
        rng=np.random.default_rng([seed, 43]),
    )
    points = []
    for mark, count in zip(marks, nodes, strict=True):
        table.iterate(mark - table.iteration)
        points.append(_point(game, TABLE, count, table.evaluate().exploitability, seed))
    yield points
    games = settings.traversals * configuration.nfsp_games
    rival = NFSPTraining(tree, dataclasses.replace(settings, learner=Learner.NFSP, traversals=games))
    for mark, count in zip(marks, nodes, strict=True):
        rival.iterate(mark - rival.iteration)
        yield [_point(game, NFSP, count, rival.evaluate().exploitability, seed)]


def measure_training(run: DeepCFR, marks: Sequence[int]) -> Iterator[dict[str, float]]:
    """Yields after some iterations how exploitable the network of the average is, and the average of all networks."""
    from equipoise.learning.deep_cfr.making import fit_policy, tabulate_policy  # noqa: PLC0415 - torch is an extra
    from equipoise.learning.deep_cfr.walks import TreeWalks  # noqa: PLC0415 - beside it

    assert isinstance(run.walks, TreeWalks)
    for mark in marks:
        run.iterate(mark - run.iteration)
        strategy = tabulate_policy(fit_policy(run), run.walks)
        yield {POLICY: run.evaluate(strategy).exploitability, VALUES: run.evaluate().exploitability}


def describe_seeds(values: Sequence[float]) -> dict[str, Any]:
    """Returns the columns of a table of ends that say what several seeds gave."""
    return {
        "mean": round(statistics.fmean(values), 1),
        "deviation": round(statistics.stdev(values), 1) if len(values) > 1 else None,
        "seeds": len(values),
    }


def _point(game: str, curve: str, nodes: int, exploitability: float, seed: int) -> Point:
    # seeds touch a few histories more or less: what is compared must stand at one abscissa
    return Point(panel=game, curve=curve, x=int(float(f"{nodes:.1g}")), y=MBB * exploitability, run=seed)


def conclude(configuration: DeepCFRConfiguration, measured: Measured) -> Conclusion:
    """Returns the ends of all curves, and verdicts on their order."""
    rows = []
    ends: dict[tuple[str, str], list[float]] = {}
    for game in configuration.games:
        for curve in CURVES:
            points = measured.panels().get(game, {}).get(curve, [])
            if not points:
                continue
            last = points[-1][0]
            values = ends[game, curve] = measured.runs(game, curve, last)
            rows.append(
                {
                    "game": game,
                    "curve": curve,
                    "histories": last,
                    **describe_seeds(values),
                    "paper": NFSP_LEDUC if (game, curve) == (LEDUC, NFSP) else None,
                }
            )
    notes = (
        "mbb/h, a thousandth of an ante; exploitability is half of NashConv. Histories touched, rounded to one figure, "
        "so that seeds share their marks; a curve's figures stand at Deep CFR's histories of the same iteration.",
        f"NFSP plays {configuration.nfsp_games} games for each traversal of a player, about as many histories.",
        "The paper measures flop hold'em with full decks, 10,000 traversals an iteration and 4,000 steps a fit; Kuhn "
        "and Leduc, the sizes here and a residual network are ours.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(_claims(measured, ends)), notes=notes)


def _claims(measured: Measured, ends: Mapping[tuple[str, str], list[float]]) -> Iterator[Claim]:
    yield judge_ordering(
        Ordering(above=NFSP, below=POLICY, source=SECTION, statement="Deep CFR is less exploitable than NFSP"),
        measured,
        what="marks of seeds",
    )
    yield judge_ordering(
        Ordering(
            above=POLICY,
            below=VALUES,
            source=STEINBERGER,
            statement="without the error of a network of the average, play is less exploitable",
        ),
        measured,
        what="marks of seeds",
    )
    found = ends.get((LEDUC, NFSP))
    mean = statistics.fmean(found) if found else None
    yield Claim(
        statement=f"leduc: NFSP reaches {NFSP_LEDUC:g} mbb/g (within a factor 1.5)",
        source=f"{SECTION}, footnote 2",
        verdict=judge(None if mean is None else mean <= 1.5 * NFSP_LEDUC),
        ours="nothing" if mean is None else f"{mean:,.0f}, after far fewer games",
    )
    yield Claim(
        statement="flop hold'em: Deep CFR reaches 37 mbb/g, NFSP 47",
        source=f"{SECTION}, Figure 4.2",
        verdict=judge(None),
        ours="the preset fhp-paper runs; nothing was measured",
    )


DEEP_CFR: Final = Study(
    name="deep-cfr",
    title="Deep CFR, one network in place of two, NFSP and sampled CFR in Kuhn and Leduc",
    source=SOURCE,
    x_label="histories touched",
    y_label="exploitability, mbb/h",
    sizes={
        Size.QUICK: DeepCFRConfiguration(
            seeds=2,
            kuhn_iterations=16,
            leduc_iterations=24,
            traversals=400,
            steps=100,
            policy_steps=400,
            batch=2_048,
            marks=3,
        ),
        Size.FULL: DeepCFRConfiguration(),
    },
    measure=measure,
    conclude=conclude,
    printed={LEDUC: {NFSP: [(None, NFSP_LEDUC)]}},
)
