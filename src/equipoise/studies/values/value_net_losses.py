# SPDX-License-Identifier: Apache-2.0
"""Study `value-net-losses`: how far value networks are off, against how many situations they learnt from.

Networks of a chain in a folder are trained anew on the first so many of its situations and measured on those held out.
Training needs torch, the extra `[learn]`; what is trained is kept in the folder, so that a study goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.checkpoint import Kind, load, save
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.cards import Deck
from equipoise.games.holdem.hands import hands_of
from equipoise.learning.values.boards import find_quantiles, live_hands
from equipoise.learning.values.chain import ValueChain
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.measures import BANDS, ErrorReport, Errors
from equipoise.learning.values.presets import NetRecipe, Preset, find_preset
from equipoise.learning.values.settings import TrainingSettings
from equipoise.learning.values.situations import find_strengths
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

if TYPE_CHECKING:
    from equipoise.learning.values.training import SituationSet, ValueTrainer

__all__ = ["VALUE_NET_LOSSES", "ValueNetLossesConfiguration", "find_bucket_huber"]

CARDS: Final = "Huber over cards"  # panels
BUCKETS: Final = "Huber over buckets of strength"
RMS: Final = "RMS, % of the pot"
WEIGHTED: Final = "RMS by range, % of the pot"
MEDIAN: Final = "median situation's RMS, % of the pot"
MEASURES: Final = (CARDS, BUCKETS, RMS, WEIGHTED, MEDIAN)
COLUMNS: Final = ("cards", "buckets", "RMS %", "by range %", "median %")  # of the table, for these
BAND: Final = "RMS with {} pots behind, %"
# [Zarick et al. 2020] Table 1, Huber on validation data: Supremus, then its re-implementation of DeepStack
TABLE: Final = {
    "river": (0.015, None),
    "turn": (0.010, 0.016),
    "flop": (0.011, 0.028),
    "preflop-end": (0.000070, 0.000099),
}
BARS: Final = {"river": (6.5, 3.8), "turn": (11.0, 6.5)}  # RMS, and by range
SAVE_SECONDS: Final = 45.0
SEED: Final = 1

SMALL: Final = Preset(
    "small",
    "rivers of a deck of 18 cards, made for this study alone",
    (
        NetRecipe(
            config=ValueNetConfig(deck="9TJQKA/cdh", cells=8, segments=8, hidden=16, layers=2),
            samples=320,
            labels=Labels(iterations=30),
            per_shard=40,
            held_out=80,
            held_out_per_shard=40,
            settings=TrainingSettings(steps=150, batch=16, hands=100, validate_every=150, warm_up=5, rate=3e-3),
        ),
    ),
)

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ValueNetLossesConfiguration:
    """Which networks are trained, and on how much."""

    data: str = ""  # the folder of a chain, as `train values --out` fills it; none: a small river network is made
    preset: str = "holdem-cpu"  # of the folder
    nets: tuple[str, ...] = ("",)  # by name, such as river; `` for all that have situations
    shares: tuple[float, ...] = (0.1, 0.3, 1.0)  # of the situations, the first ones
    steps: int = 0  # of each training; 0: the preset's
    buckets: int = 1000

    def __post_init__(self) -> None:
        if list(self.shares) != sorted(set(self.shares)) or not 0 < self.shares[0] <= self.shares[-1] <= 1:
            raise ConfigError(f"shares must ascend above 0 and up to 1, got {self.shares}")
        if self.steps < 0 or self.buckets < 1:
            raise ConfigError(f"steps must not be negative and buckets positive, got {self.steps} and {self.buckets}")
        if any(recipe.config.game for recipe in self.chosen.recipes):
            raise ConfigError(f"networks of {self.preset} are not of hold'em: reproduce leduc-deepstack measures them")
        for name in self.nets:
            if name:
                self.chosen.find(name)
        if self.data and not Path(self.data).is_dir():
            raise ConfigError(f"{self.data} is no folder of networks and their situations")

    @property
    def chosen(self) -> Preset:
        """The networks."""
        return find_preset(self.preset) if self.data else SMALL

    def find_recipes(self, chain: ValueChain) -> list[NetRecipe]:
        """Returns the networks that are asked for, of which there are situations unless they are named."""
        if any(self.nets):
            return [self.chosen.find(name) for name in self.nets]
        return [recipe for recipe in self.chosen.recipes if _has_situations(chain, recipe)]


def _has_situations(chain: ValueChain, recipe: NetRecipe) -> bool:
    if recipe.labels is None or recipe.leaves:
        needed = recipe.source or recipe.leaves
        if not chain.weights_of(needed).exists():
            return False
    return all(chain.shards(filling).numbers() for filling in chain.fillings(recipe))


def measure(configuration: ValueNetLossesConfiguration) -> Iterator[Step]:
    """Yields errors training by training."""
    with contextlib.ExitStack() as stack:
        folder = Path(configuration.data or stack.enter_context(tempfile.TemporaryDirectory()))
        chain = ValueChain(folder, configuration.chosen, seed=SEED)
        if not configuration.data:
            yield Step(fraction=0.0, text="situations")
            _fill(chain, SMALL.recipes[0])
        recipes = configuration.find_recipes(chain)
        if not recipes:
            raise ConfigError(f"{folder} has no situations of any network of {configuration.preset}")
        total, done = len(recipes) * len(configuration.shares), 0
        for recipe in recipes:
            for share in configuration.shares:
                for told in _train(chain, configuration, recipe, share):
                    if isinstance(told, str):
                        yield Step(fraction=done / total, text=told)
                    else:
                        done += 1
                        yield Step(fraction=done / total, text=f"{recipe.name}, {share:g} of the data", points=told)


def _fill(chain: ValueChain, recipe: NetRecipe) -> None:
    for filling in chain.fillings(recipe):
        folder = chain.shards(filling)
        for number in range(filling.num_shards):
            folder.write(number, filling.source.make(number))


def _train(
    chain: ValueChain, configuration: ValueNetLossesConfiguration, recipe: NetRecipe, share: float
) -> Iterator[str | tuple[Point, ...]]:
    """Yields how a training goes, at last its points; it goes on where it was left."""
    steps = configuration.steps or recipe.settings.steps
    settings = dataclasses.replace(recipe.settings, steps=steps, patience=0, validate_every=steps)
    trainer = chain.trainer(dataclasses.replace(recipe, settings=settings), is_resumed=False, share=share)
    if trainer.held_out is None:
        raise ConfigError(f"nothing of the {recipe.name} is held out in {chain.folder}")
    size = len(trainer.situations)
    place = chain.folder / "losses" / f"{recipe.name}-{size}-{steps}.eq"
    place.parent.mkdir(exist_ok=True)
    if place.exists():
        trainer.restore(load(place, Kind.RUN).arrays)
    saved = time.monotonic()
    for record in trainer.run():
        if trainer.is_done or time.monotonic() - saved > SAVE_SECONDS:
            save(place, Kind.RUN, {"network": recipe.name}, trainer.state())
            saved = time.monotonic()
        yield f"{recipe.name}, {size:,} situations: step {record.step:,} of {steps:,}, loss {record.loss:.5f}"
    yield tuple(_points(chain, configuration, recipe, trainer, trainer.held_out))


def _points(
    chain: ValueChain,
    configuration: ValueNetLossesConfiguration,
    recipe: NetRecipe,
    trainer: ValueTrainer,
    held_out: SituationSet,
) -> Iterator[Point]:
    shards, prefix = chain.read_held_out(recipe)
    boards = np.concatenate([shard[f"{prefix}board"] for shard in shards if f"{prefix}board" in shard])
    (found, ranges), known = trainer.predict(held_out), held_out.value.astype(np.float64)
    errors, size = Errors.of(found, known, ranges, held_out.ratio.astype(np.float64)), len(trainer.situations)
    huber = find_bucket_huber(found - known, boards, recipe.config.cards, configuration.buckets)
    for panel, y in zip(MEASURES, _list_measures(errors.report(), huber), strict=True):
        yield Point(panel=panel, curve=recipe.name, x=size, y=y)
    for (low, high), report in errors.bands().items():
        if report.count:
            yield Point(panel=_name_band(low, high), curve=recipe.name, x=size, y=report.rms)


def _list_measures(report: ErrorReport, bucket_huber: float) -> tuple[float, ...]:
    """Returns one number for each of `MEASURES`."""
    return report.huber, bucket_huber, report.rms, report.weighted_rms, report.median


def find_bucket_huber(error: FloatArray, boards: npt.NDArray[np.uint8], deck: Deck, num_buckets: int) -> float:
    """Returns the mean Huber loss of errors in buckets: as many of equal size as wanted, by strength on each board.

    Before the flop buckets are the classes of hands. A bucket's error is the mean of its hands'; buckets without hands
    count for nothing.

    Args:
        error: `[B, 2, n]` in pots, over live hands.
        boards: `[B, cards]`.
        deck: the cards in play.
        num_buckets: on every board.
    """
    losses = []
    for board, own in zip(boards.tolist(), error, strict=True):
        bucket = _find_buckets(tuple(board), deck, num_buckets)
        counts = np.bincount(bucket)
        for values in own:
            mean = np.bincount(bucket, values)[counts > 0] / counts[counts > 0]
            losses.append(np.where(np.abs(mean) < 1.0, 0.5 * mean**2, np.abs(mean) - 0.5).mean())
    return float(np.mean(losses))


def _find_buckets(board: tuple[int, ...], deck: Deck, num_buckets: int) -> npt.NDArray[np.int64]:
    """Returns `[n]` the bucket of each live hand."""
    if not board:
        return hands_of(deck).classes.astype(np.int64)
    quantiles = find_quantiles(find_strengths(board, deck)[live_hands(board, deck)])
    return np.minimum((quantiles * num_buckets).astype(np.int64), num_buckets - 1)


def _name_band(low: float, high: float) -> str:
    return BAND.format(f"{low:g} to {high:g}" if high < float("inf") else f"more than {low:g}")


def conclude(configuration: ValueNetLossesConfiguration, measured: Measured) -> Conclusion:
    """Returns all measures of every training beside the papers' figures."""
    panels = measured.panels()
    names = [recipe.name for recipe in configuration.chosen.recipes if recipe.name in panels.get(CARDS, {})]
    bands = [_name_band(low, high) for low, high in itertools.pairwise(BANDS)]
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for name in names:
        supremus, deepstack = TABLE.get(name, (None, None)) if configuration.data else (None, None)
        for size, _ in panels[CARDS][name]:
            rows.append(
                {
                    "network": name,
                    "situations": size,
                    **{
                        short: _round(measured.at(panel, name, size))
                        for short, panel in zip(COLUMNS, MEASURES, strict=True)
                    },
                    "% by band": " / ".join(_format(measured.at(band, name, size)) for band in bands),
                    "paper": supremus,
                    "paper's DeepStack": deepstack,
                }
            )
        claims += _judge(name, panels, supremus)
    if not names:
        claims.append(
            Claim(statement="losses fall with data", source="Table 1", verdict=Verdict.NOT_MEASURED, ours="nothing")
        )
    notes = (
        "Columns: Huber over cards and over buckets; RMS, RMS by range and the median situation's in % of the pot; "
        f"RMS by band of chips behind, in pots: {', '.join(f'{low:g}' for low in BANDS[:-1])} and more.",
        "Measured on situations that were held out, averaged weights; nested subsets, the first ones of the folder; "
        "toy games, where a network has them, all used.",
        f"Buckets: {configuration.buckets:,} of equal size by strength on each board, the mean error of each; the "
        "paper averages over the buckets of its own networks, with other pots, bets and iterations behind the values.",
        *(() if configuration.data else (f"Without --data DIR: {SMALL.summary}.",)),
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge(name: str, panels: dict[str, dict[str, list[tuple[int, float]]]], printed: float | None) -> Iterator[Claim]:
    """Yields the verdicts on a network."""
    points = panels[CARDS][name]
    (few, first), (many, last) = points[0], points[-1]
    slope = np.log(last / first) / np.log(many / few) if many > few else 0.0
    yield Claim(
        statement=f"{name}: the loss falls with data",
        source="section 4.3: more samples, lower losses",
        verdict=judge(last < first if many > few else None),
        ours=f"Huber {first:.5f} at {few:,}, {last:.5f} at {many:,}: a power of {slope:+.2f}",
    )
    if printed is not None:
        ours = panels[BUCKETS][name][-1][1]
        yield Claim(
            statement=f"{name}: Huber over buckets no larger than the paper's {printed:g}",
            source="Table 1, validation",
            verdict=judge(ours <= printed),
            ours=f"{ours:.2g} at {many:,} situations",
        )
        if name in BARS:
            rms, weighted = panels[RMS][name][-1][1], panels[WEIGHTED][name][-1][1]
            yield Claim(
                statement=f"{name}: at most {BARS[name][0]:g} % RMS of the pot, {BARS[name][1]:g} % by range",
                source="this project's aim",
                verdict=judge(rms <= BARS[name][0] and weighted <= BARS[name][1]),
                ours=f"{rms:.2f} %, {weighted:.2f} %",
            )


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


VALUE_NET_LOSSES: Final = Study(
    name="value-net-losses",
    title="Losses of value networks against situations they learnt from",
    source="Zarick et al. 2020, Table 1 and section 4.3",
    x_label="situations",
    y_label="error",
    sizes={
        Size.QUICK: ValueNetLossesConfiguration(),
        Size.FULL: ValueNetLossesConfiguration(shares=(1 / 64, 1 / 16, 1 / 4, 1.0)),
    },
    measure=measure,
    conclude=conclude,
    panels=MEASURES[:4],
    printed={BUCKETS: {name: ((None, supremus),) for name, (supremus, _) in TABLE.items()}},
    is_printed_of=lambda configuration: bool(configuration["data"]),  # without, the game is a smaller one
    seed=SEED,
)
