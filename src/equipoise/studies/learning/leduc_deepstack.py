# SPDX-License-Identifier: Apache-2.0
"""Study `leduc-deepstack`: continual re-solving of Leduc with a value network, as exploitable as it exactly is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.assembly import measure_seeds
from equipoise.games.leduc import Leduc
from equipoise.learning.values.bucket_states import find_pair_inputs, see_shards
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.leduc import LeducSource, find_leduc
from equipoise.learning.values.leduc_search import leduc_leaves, leduc_settings
from equipoise.learning.values.presets import HELD_OUT_SEED, LIMIT_LEDUC, NO_LIMIT_CARDS, NO_LIMIT_LEDUC
from equipoise.learning.values.settings import TrainingSettings
from equipoise.learning.values.shards import Arrays
from equipoise.learning.values.shipped import load_leduc
from equipoise.learning.values.small_games import SmallGameValues
from equipoise.learning.values.weights import StoredNet
from equipoise.search.leaves import LeafEvaluator
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFR
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

__all__ = ["LEDUC_DEEPSTACK", "LeducDeepStackConfiguration", "printed_huber"]

SOURCE: Final = "DeepStack-Leduc (the authors' public code and network), https://github.com/lifrordi/DeepStack-Leduc"
OURS: Final = "ours"
LIMIT, NO_LIMIT = "limit, mbb/h", "no-limit, chips"
GAMES: Final[Mapping[str, str]] = {LIMIT: LIMIT_LEDUC, NO_LIMIT: NO_LIMIT_LEDUC}
UNITS: Final = {LIMIT: 1000.0, NO_LIMIT: 1.0}  # of exploitability, in chips; limit Leduc's big blind is an ante of 1
NETS: Final = {LIMIT: "limit", NO_LIMIT: "nolimit"}  # that are shipped
LOSS: Final = "Huber loss, as DeepStack-Leduc prints it"
FULL_SOLVE, TO_THE_END, SHIPPED = "the game solved whole", "search to the end, no network", "the shipped network"
PRINTED_CHIPS, PRINTED_LOSS, MOST_MBB = 1.37, 3.5e-4, 30.0
TRAINED, CARDS = "trained here", "nolimit-cards"
NUM_POTS, SHARD = 24, 1000
NUM_BUCKETS: Final = 36  # DeepStack-Leduc's: public card and private card


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeducDeepStackConfiguration:
    """Networks that are trained here, by their data, and searches with them, by iterations."""

    games: tuple[str, ...] = (LIMIT, NO_LIMIT)
    samples: tuple[int, ...] = (50, 8000)  # situations that networks learn from
    steps: int = 1500
    hidden: int = 64
    marks: tuple[int, ...] = (30, 300)  # iterations of every search
    solve_iterations: int = 3000  # of the whole game
    held_out: int = 4000


def printed_huber(found: npt.NDArray[Any], value: npt.NDArray[Any]) -> float:
    """Returns the loss of values `[B, 2, n]` in pots as DeepStack-Leduc's code prints it.

    Its values are in units of what each player has paid, half a pot. It adds up the errors of possible buckets and
    divides by the number of the others: by 72 - 10 in place of 10.
    """
    error = 2.0 * np.abs(np.asarray(found, np.float64) - value)
    total = np.where(error < 1.0, 0.5 * error**2, error - 0.5).sum(axis=(1, 2))
    num_others = 2 * NUM_BUCKETS - value.shape[1] * value.shape[2]
    return float(total.mean() / num_others)


def measure(configuration: LeducDeepStackConfiguration) -> Iterator[Step]:
    """Yields exploitabilities of composed agents, by network and iterations, and losses of networks by data."""
    if unknown := [name for name in configuration.games if name not in GAMES]:
        raise ConfigError(f"the games are {', '.join(GAMES)}, got {unknown[0]!r}")
    total = len(configuration.games) * (len(configuration.samples) + 3) + len(configuration.samples) + 1
    done = 0
    for panel in configuration.games:
        for text, points in _measure_game(panel, configuration):
            done += 1
            yield Step(fraction=done / total, text=f"{panel}: {text}", points=points)
    for text, point in _measure_losses(configuration):
        done += 1
        yield Step(fraction=done / total, text=text, points=(point,))


def _measure_game(panel: str, configuration: LeducDeepStackConfiguration) -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Yields what was measured on one game."""
    game = find_leduc(GAMES[panel])
    tree = build_public_tree(derive_public_game(game))
    solver = CFRSolver(tree, DCFR())
    solver.iterate(configuration.solve_iterations)
    floor = evaluate(tree, solver.average_strategy()).exploitability * UNITS[panel]
    yield FULL_SOLVE, (Point(panel=panel, curve=FULL_SOLVE, x=configuration.solve_iterations, y=floor),)
    yield TO_THE_END, tuple(_measure_marks(panel, TO_THE_END, game, None, configuration))
    for samples in configuration.samples:
        net = _train(GAMES[panel], samples, configuration)
        curve = _name(samples)
        yield curve, tuple(_measure_marks(panel, curve, game, leduc_leaves(net, game), configuration))
    shipped = leduc_leaves(load_leduc(NETS[panel]), game)
    yield SHIPPED, tuple(_measure_marks(panel, SHIPPED, game, shipped, configuration))


def _measure_marks(
    panel: str, curve: str, game: Leduc, leaves: LeafEvaluator | None, configuration: LeducDeepStackConfiguration
) -> Iterator[Point]:
    """Yields how exploitable an agent is that searches every public state, at each number of iterations."""
    public = derive_public_game(game)
    for mark in configuration.marks:
        settings = leduc_settings(leaves, iterations=mark)
        agent = ContinualAgent(public, search=settings)
        found = measure_seeds(agent, game, seeds=(0,), is_public=True)
        yield Point(panel=panel, curve=curve, x=mark, y=found.mean * UNITS[panel])


def _measure_losses(configuration: LeducDeepStackConfiguration) -> Iterator[tuple[str, Point]]:
    """Yields losses on random situations with six cards and pots from the ante to the stack."""
    held_out = _source(NO_LIMIT_CARDS, HELD_OUT_SEED)
    shard = dataclasses.replace(held_out, per_shard=configuration.held_out).make(0)
    for samples in configuration.samples:
        net = _train(NO_LIMIT_CARDS, samples, configuration)
        point = Point(panel=LOSS, curve=TRAINED, x=samples, y=_loss(net, held_out, shard))
        yield f"{LOSS}, {_name(samples)}", point
    shipped = load_leduc(CARDS)
    count = int(shipped.card["data"][CARDS]["situations"])
    yield f"{LOSS}, {SHIPPED}", Point(panel=LOSS, curve=SHIPPED, x=count, y=_loss(shipped, held_out, shard))


def _source(game: str, seed: int) -> LeducSource:
    """Returns random situations: of a game with suits merged at the pots that it reaches, else at any."""
    return LeducSource(game=find_leduc(game), num_pots=NUM_POTS if game == NO_LIMIT_CARDS else 0, seed=seed)


def _loss(net: StoredNet, source: LeducSource, shard: Arrays) -> float:
    inputs = find_pair_inputs(net.config, source.states().take(shard["part"]), shard["range"].astype(np.float64))
    return printed_huber(SmallGameValues(net).values(inputs), shard["value"])


def _train(game: str, samples: int, configuration: LeducDeepStackConfiguration) -> StoredNet:
    """Returns a network that has learnt from so many random situations."""
    from equipoise.learning.values.training import SituationSet, ValueTrainer  # noqa: PLC0415 - needs torch

    source = dataclasses.replace(_source(game, seed=1), per_shard=min(samples, SHARD))
    shards = [source.make(number) for number in range(max(samples // SHARD, 1))]
    net = ValueNetConfig(
        kind=NetKind.BUCKET,
        game=game,
        buckets=source.states().orbits.size,
        hidden=configuration.hidden,
        layers=3,
    )
    settings = TrainingSettings(
        steps=configuration.steps, batch=256, rate=3e-3, validate_every=configuration.steps, average_decay=0.99
    )
    trainer = ValueTrainer(net, settings, SituationSet(*see_shards(net, source.states(), shards)))
    for _ in trainer.run():
        pass
    stored: StoredNet = trainer.kept.store()
    return stored


def _name(samples: int) -> str:
    return f"{samples:,} situations"


def conclude(configuration: LeducDeepStackConfiguration, measured: Measured) -> Conclusion:
    """Returns the table by data and iterations, and a verdict on the figures of DeepStack-Leduc."""
    marks = sorted(configuration.marks)
    nets = [_name(samples) for samples in sorted(configuration.samples)]
    rows: list[dict[str, Any]] = [
        {
            "game": panel,
            "leaves": curve,
            **{f"{mark:,} iterations": _round(measured.at(panel, curve, mark)) for mark in marks},
            "solved whole": _round(measured.at(panel, FULL_SOLVE, configuration.solve_iterations)),
            "loss": None,
        }
        for panel in configuration.games
        for curve in (*nets, SHIPPED, TO_THE_END)
    ]
    claims = []
    for panel, most, source in ((NO_LIMIT, PRINTED_CHIPS, SOURCE), (LIMIT, MOST_MBB, OURS)):
        best = measured.at(panel, SHIPPED, marks[-1])
        claims.append(_judge_most(f"{panel}: the agent is exploitable for at most {most:g}", best, most, source))
    losses = measured.panels().get(LOSS, {})
    for curve, points in losses.items():
        rows += [
            {**dict.fromkeys(rows[0]), "game": LOSS, "leaves": f"{curve}, {_name(x)}", "loss": _round(y)}
            for x, y in points
        ]
    loss = losses[SHIPPED][-1][1] if SHIPPED in losses else None
    claims.append(
        _judge_most(f"the loss on situations held out is at most {PRINTED_LOSS:g}", loss, PRINTED_LOSS, SOURCE)
    )
    for panel in configuration.games:
        claims += [
            _judge_falls(f"{panel}: falls with data", [measured.at(panel, curve, marks[-1]) for curve in nets]),
            _judge_falls(f"{panel}: falls with iterations", [measured.at(panel, SHIPPED, mark) for mark in marks]),
        ]
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=NOTES)


def _judge_most(statement: str, ours: float | None, most: float, source: str) -> Claim:
    is_true = None if ours is None else ours <= most
    return Claim(
        statement=statement, source=source, verdict=judge(is_true), ours="nothing" if ours is None else f"{ours:.3g}"
    )


def _judge_falls(statement: str, values: list[float | None]) -> Claim:
    """Returns whether the last of some values is below the first."""
    known = [value for value in values if value is not None]
    is_true = known[-1] < known[0] if len(known) == len(values) > 1 else None
    ours = ", ".join(f"{value:.3g}" for value in known) or "nothing"
    return Claim(statement=statement, source=OURS, verdict=judge(is_true), ours=ours)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


NOTES: Final = (
    "Exploitability is exact: the agent searches every public state, its answers together are a strategy, and a best "
    "response to it is found in the whole game; the mean of both players' gains, as DeepStack-Leduc's code has it.",
    "Networks say what the second round is worth once its card lies there; the second round is searched to its end.",
    "Suits are merged where the game is played, which changes no value. The loss is on situations with six cards and "
    "pots drawn from the ante to the stack, as DeepStack-Leduc draws them.",
    "DeepStack-Leduc prints the sum of the errors of ten possible buckets divided by the 62 others; a mean over the "
    "possible ones is 6.2 times that.",
    "The shipped networks have also learnt from situations that searches with an earlier network met; those trained "
    "here from random ones alone.",
)

LEDUC_DEEPSTACK: Final = Study(
    name="leduc-deepstack",
    title="Continual re-solving of Leduc with a value network",
    source=SOURCE,
    x_label="iterations of each search",
    y_label="exploitability",
    sizes={
        Size.QUICK: LeducDeepStackConfiguration(),
        Size.FULL: LeducDeepStackConfiguration(
            samples=(1000, 4000, 16_000, 40_000),
            steps=6000,
            hidden=128,
            marks=(30, 100, 300, 1000),
            solve_iterations=20_000,
            held_out=10_000,
        ),
    },
    measure=measure,
    conclude=conclude,
    panels=(NO_LIMIT, LIMIT),
    seed=1,
)
