# SPDX-License-Identifier: Apache-2.0
"""The networks of a preset in one folder, from the river up: situations, training, weights; all of it goes on later.

In the folder: `data/NAME/` shards of what a network learns from, `data/NAME-held-out/` what it is measured on,
`NAME.training.eq` the training so far, `NAME.safetensors` the weights with their card. Importing this module does not
need torch; training does.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from equipoise.core.checkpoint import Kind, load, save
from equipoise.core.errors import ConfigError
from equipoise.core.provenance import find_commit, version
from equipoise.games.holdem.betting import Street
from equipoise.learning.values.boards import BoardFacts
from equipoise.learning.values.bucket_states import see_shards
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.filling import Source
from equipoise.learning.values.generation import DistilledSource, SolvedSource
from equipoise.learning.values.inference import BoundNet, Questions
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.leduc import LeducSource, find_leduc
from equipoise.learning.values.leduc_search import MetSource
from equipoise.learning.values.measures import Errors
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.presets import HELD_OUT_SEED, NetRecipe, Preset
from equipoise.learning.values.self_play import SelfPlay
from equipoise.learning.values.shards import Arrays, ShardFolder
from equipoise.learning.values.shipped import SHIPPED
from equipoise.learning.values.toys import ToySource
from equipoise.learning.values.weights import StoredNet

if TYPE_CHECKING:
    from equipoise.learning.values.training import TrainingRecord, ValueTrainer

__all__ = ["Filling", "ValueChain"]

SAVE_SECONDS: Final = 45.0  # between saved states of a training
TOYS: Final = "toy"
LINES: Final = "end_"  # before the names of arrays of situations where lines leave the street
TOY_SEED: Final = 2  # beside the seed of situations
ONE_IN: Final = 20  # situations is set aside, to choose the best weights by


class Filling(NamedTuple):
    """A folder of situations that a network needs."""

    name: str
    source: Source
    samples: int  # wanted

    @property
    def num_shards(self) -> int:
        """Returns how many shards they make."""
        return math.ceil(self.samples / self.source.per_shard)


class ValueChain:
    """The networks of a preset, in a folder."""

    def __init__(
        self,
        folder: Path,
        preset: Preset,
        *,
        seed: int = 1,
        players: Path = SHIPPED,
        start: Path | None = None,
        device: str = "",
    ) -> None:
        """Keeps where they are and what they are.

        Args:
            folder: of situations, trainings and weights.
            preset: the networks.
            seed: of situations.
            players: folder of earlier networks, with which hands are played that situations are met in.
            start: folder of earlier networks, with whose weights trainings begin; None: with random ones.
            device: that trains, as torch names it; empty: CUDA where there is one, else the processor.
        """
        self.folder, self.preset, self.seed = folder, preset, seed
        self.players, self.start, self.device = players, start, device

    def weights_of(self, name: str) -> Path:
        """Returns where the weights of a network are, or will be."""
        return self.folder / f"{name}.safetensors"

    def net(self, name: str) -> NetFile:
        """Returns a trained network; raises `ConfigError` if it is not there yet."""
        place = self.weights_of(name)
        if not place.exists():
            raise ConfigError(
                f"the {name} network is needed first, and {place} is missing: train it with `street` {name}"
            )
        return NetFile.at(place)

    # --- situations ---

    def fillings(self, recipe: NetRecipe) -> list[Filling]:
        """Returns the folders of situations that a network needs, those held out first."""
        if recipe.config.game:
            return self._small_game(recipe)
        found = [self._held_out(recipe)]
        source = self._source(recipe, recipe.labels, self.seed, recipe.per_shard)
        found.append(Filling(recipe.name, source, recipe.samples))
        if recipe.met:
            found.append(
                Filling(f"{recipe.name}-met", dataclasses.replace(source, play=self._play(recipe)), recipe.met)
            )
        if recipe.toys:
            assert recipe.labels is not None
            labels = dataclasses.replace(recipe.labels, iterations=250)
            toys = ToySource(
                labels=labels, num_cells=recipe.config.cells, ratios=recipe.ratios, seed=self.seed + TOY_SEED
            )
            found.append(Filling(TOYS, toys, recipe.toys))
        return found

    def _held_out(self, recipe: NetRecipe) -> Filling:
        """Returns what a network is measured on."""
        if recipe.measured_on:
            return self._held_out(self.preset.find(recipe.measured_on))
        labels, few = recipe.held_out_labels or recipe.labels, min(recipe.held_out_per_shard, recipe.held_out)
        source = self._source(recipe, labels, HELD_OUT_SEED, few, is_exact=recipe.held_out_labels is not None)
        return Filling(f"{recipe.name}-held-out", source, recipe.held_out)

    def _small_game(self, recipe: NetRecipe) -> list[Filling]:
        """Returns the same for a network of Leduc."""
        before = [recipe]
        while before[-1].source:
            before.append(self.preset.find(before[-1].source))
        name = before[-1].name  # random situations are those of the first network, met ones those of all
        game = find_leduc(recipe.config.game)
        whole = LeducSource(game=game, num_pots=recipe.num_pots, per_shard=recipe.per_shard, seed=self.seed)
        held_out = dataclasses.replace(whole, seed=HELD_OUT_SEED, per_shard=min(recipe.per_shard, recipe.held_out))
        found = [Filling(f"{name}-held-out", held_out, recipe.held_out), Filling(name, whole, recipe.samples)]
        for each in reversed([each for each in before if each.met]):
            met = MetSource(net=self.net(each.source), game=game, per_shard=recipe.per_shard, seed=self.seed)
            found.append(Filling(f"{each.name}-met", met, each.met))
        return found

    def _play(self, recipe: NetRecipe) -> SelfPlay:
        """Returns the hands in which situations of a network are met, played with the earlier networks."""
        last = recipe.config.street if recipe.config.stage is NetStage.END else Street(recipe.config.street - 1)
        streets = [Street(street).name.lower() for street in range(recipe.met_from, last + 1)]
        ends = tuple(NetFile.at(self.players / f"{street}-end.safetensors") for street in streets)
        return SelfPlay(ends=ends, first=recipe.met_from, ratios=recipe.met_ratios, per_hand=recipe.met_per_hand)

    def _source(
        self, recipe: NetRecipe, labels: Labels | None, seed: int, per_shard: int, *, is_exact: bool = False
    ) -> DistilledSource | SolvedSource:
        if labels is None:
            net = self.net(recipe.source)
            return DistilledSource(net=net, ratios=recipe.ratios, per_shard=per_shard, seed=seed)
        return SolvedSource(
            street=recipe.config.street,
            labels=labels,
            ratios=recipe.ratios,
            per_shard=per_shard,
            seed=seed,
            deck=recipe.config.cards,
            leaves=self.net(recipe.leaves) if recipe.leaves and not is_exact else None,
        )

    def shards(self, filling: Filling) -> ShardFolder:
        """Returns the folder of some situations."""
        config = filling.source.config
        nets = [config[kind] for kind in ("source", "leaves", "play") if config.get(kind)]
        made_by = [net.partition("@")[2] for net in nets]  # other weights, other values
        name = "@".join([filling.name, *made_by])
        return ShardFolder(self.folder / "data" / name, config)

    def read(self, filling: Filling) -> list[Arrays]:
        """Returns what there is of some situations, up to as many as are wanted."""
        folder = self.shards(filling)
        return [folder.read(number).arrays for number in folder.numbers()[: filling.num_shards]]

    def read_held_out(self, recipe: NetRecipe) -> tuple[list[Arrays], str]:
        """Returns what a network is measured on, and how the names of its arrays begin."""
        shards = self.read(self._held_out(recipe))
        if recipe.measured_on:
            return [shard for shard in shards if f"{LINES}board" in shard], LINES
        return shards, ""

    # --- training ---

    def trainer(self, recipe: NetRecipe, *, is_resumed: bool = True, share: float = 1.0) -> ValueTrainer:
        """Returns the training of a network on the situations that there are.

        Args:
            recipe: of the network.
            is_resumed: whether it goes on where it stopped, if it was saved.
            share: of the situations that it learns from, the first ones; toy games are always all there.
        """
        from equipoise.learning.values.training import SituationSet, ToySet, ValueTrainer  # noqa: PLC0415  # torch

        if recipe.config.game:
            return self._resume(recipe, self._small_game_trainer(recipe), is_resumed=is_resumed)
        _, *fillings = self.fillings(recipe)
        rows = [shard for filling in fillings if filling.name != TOYS for shard in self.read(filling)]
        toys = [shard for filling in fillings if filling.name == TOYS for shard in self.read(filling)]
        measured, prefix = self.read_held_out(recipe)
        if not rows:
            raise ConfigError(f"there are no situations of the {recipe.name} to learn from")
        learnt, aside = _set_aside(_take_first(rows, share))
        trainer = ValueTrainer(
            recipe.config,
            recipe.settings,
            SituationSet.of(recipe.config, learnt),
            toys=ToySet(recipe.config, toys) if toys else None,
            aside=SituationSet.of(recipe.config, aside) if aside else None,
            held_out=SituationSet.of(recipe.config, measured, prefix) if measured else None,
            device=self.device,
        )
        return self._resume(recipe, trainer, is_resumed=is_resumed)

    def _small_game_trainer(self, recipe: NetRecipe) -> ValueTrainer:
        """Returns the training of a network of Leduc, from its beginning."""
        from equipoise.learning.values.training import SituationSet, ValueTrainer  # noqa: PLC0415  # torch

        held_out, *known = self.fillings(recipe)
        rows = [arrays for filling in known for arrays in self.read(filling)]
        if not rows:
            raise ConfigError(f"there are no situations of {recipe.name} to learn from")
        states = LeducSource(game=find_leduc(recipe.config.game), num_pots=recipe.num_pots).states()
        learnt, aside, measured = (
            SituationSet(*see_shards(recipe.config, states, shards)) if shards else None
            for shards in (*_set_aside(rows), self.read(held_out))
        )
        assert learnt is not None
        return ValueTrainer(recipe.config, recipe.settings, learnt, aside=aside, held_out=measured, device=self.device)

    def _resume(self, recipe: NetRecipe, trainer: ValueTrainer, *, is_resumed: bool) -> ValueTrainer:
        """Returns a training where it stopped, if it was saved."""
        if is_resumed and self._state_of(recipe.name).exists():
            trainer.restore(load(self._state_of(recipe.name), Kind.RUN).arrays)
        elif self.start is not None:
            trainer.start_from(StoredNet.load(self._start_of(recipe.name)))
        return trainer

    def _start_of(self, name: str) -> Path:
        assert self.start is not None
        return self.start / self.weights_of(name).name

    def _state_of(self, name: str) -> Path:
        return self.folder / f"{name}.training.eq"

    def train(
        self, recipe: NetRecipe, trainer: ValueTrainer, *, command: str, is_over: Callable[[], bool]
    ) -> Iterator[TrainingRecord]:
        """Yields records of a training; its state and weights are saved now and then, and when it stops.

        Args:
            recipe: of the network.
            trainer: of the same.
            command: that runs it, for the card.
            is_over: whether to stop early.
        """
        saved, saved_step = time.monotonic(), trainer.step
        log = self._read_log(recipe.name, trainer.step)

        def keep() -> None:
            save(self._state_of(recipe.name), Kind.RUN, {"network": recipe.name}, trainer.state())
            self.write(recipe, trainer, command=command, log=log)

        for record in trainer.run(is_over):
            is_measured = record.errors is not None or record.choice is not None
            if is_measured:
                errors = {} if record.errors is None else dataclasses.asdict(record.errors.report())
                choice = {} if record.choice is None else {"aside": dataclasses.asdict(record.choice.report())}
                log.append({"step": record.step, "loss": record.loss, **errors, **choice})
            if is_measured or time.monotonic() - saved > SAVE_SECONDS:
                keep()
                saved, saved_step = time.monotonic(), trainer.step
            yield record
        if trainer.step > saved_step:  # it was interrupted, or stopped early
            keep()

    def _read_log(self, name: str, step: int) -> list[dict[str, Any]]:
        """Returns the errors that were measured up to a step, from the card of the weights so far."""
        if step == 0 or not self.weights_of(name).exists():
            return []
        return [entry for entry in StoredNet.load(self.weights_of(name)).card.get("log", []) if entry["step"] <= step]

    def write(self, recipe: NetRecipe, trainer: ValueTrainer, *, command: str, log: list[dict[str, Any]]) -> None:
        """Writes the weights that are kept with a card: errors and steps are theirs, the log is of the whole run."""
        measured = [entry for entry in log if entry["step"] == trainer.kept_step]
        card = {
            "what": recipe.summary,
            "preset": self.preset.name,
            "data": {
                filling.name: {"situations": self._count(filling), **filling.source.config}
                for filling in self.fillings(recipe)
            },
            **({} if self.start is None else {"start": NetFile.at(self._start_of(recipe.name)).name}),
            "training": dataclasses.asdict(trainer.settings),
            "device": str(trainer.device),
            "steps": trainer.kept_step,
            "last_step": trainer.step,
            "errors": measured[-1] if measured else {},
            "log": log,
            "command": command,
            "version": version(),
            "commit": find_commit(),
        }
        trainer.kept.store(card).save(self.weights_of(recipe.name), dtype=np.float16)

    # --- measuring ---

    def measure(self, recipe: NetRecipe) -> Errors:
        """Returns how far the weights in the folder are off on what is held out, asked as a search asks them."""
        if recipe.config.game:
            raise ConfigError(f"networks of hold'em are measured on what is held out, got {recipe.name}")
        shards, prefix = self.read_held_out(recipe)
        if not shards:
            raise ConfigError(f"nothing of the {recipe.name} is held out in {self.folder}")
        net = self.net(recipe.name).bind()
        return Errors.join([_measure_shard(net, shard, prefix) for shard in shards])

    def note(self, recipe: NetRecipe, errors: Errors, *, command: str) -> None:
        """Writes what was measured into the card of the weights in the folder; the weights stay as they are."""
        place, named = self.weights_of(recipe.name), self.net(recipe.name).name
        stored = StoredNet.load(place)
        entry = {"step": stored.card.get("steps", 0), **dataclasses.asdict(errors.report())}
        bands = {f"{low:g}-{high:g}": dataclasses.asdict(each) for (low, high), each in errors.bands().items()}
        filling = self._held_out(recipe)
        measured = {
            "weights": named,  # the file before its card was written again
            "data": {filling.name: {"situations": self._count(filling), **filling.source.config}},
            "errors": entry,
            "bands": {band: each for band, each in bands.items() if each["count"]},
            "command": command,
            "version": version(),
            "commit": find_commit(),
        }
        card = {**stored.card, "measured": measured}
        if not card.get("log"):
            card |= {"errors": entry, "log": [entry]}
        dataclasses.replace(stored, card=card).save(place, dtype=np.float16)

    def _count(self, filling: Filling) -> int:
        return min(len(self.shards(filling).numbers()), filling.num_shards) * int(filling.source.per_shard)


def _measure_shard(net: BoundNet, shard: Arrays, prefix: str) -> Errors:
    """Returns how far a network is off on the situations of a shard."""
    boards, board_of = np.unique(shard[f"{prefix}board"], axis=0, return_inverse=True)
    facts = [BoardFacts(tuple(board.tolist()), net.config.cards) for board in boards]
    ranges = shard[f"{prefix}range"].astype(np.float64)
    ranges /= ranges.sum(axis=2, keepdims=True)
    ratio = shard[f"{prefix}ratio"].astype(np.float64)
    asked = Questions(facts, board_of.reshape(-1).astype(np.int32), ratio, np.ones(len(ratio)))
    first, second = (np.ascontiguousarray(ranges[:, player]) for player in (0, 1))
    found = np.stack(net.evaluate(asked, (first, second)), axis=1)
    return Errors.of(found, shard[f"{prefix}value"].astype(np.float64), ranges, ratio)


def _set_aside(shards: list[Arrays]) -> tuple[list[Arrays], list[Arrays]]:
    """Returns what is learnt from, and the last of every so many situations of each shard, by which weights are chosen.

    The last of a shard: neighbours have the same board or come from the same hand. Of fewer nothing is set aside.
    """
    learnt, aside = [], []
    for shard in shards:
        cut = {name: len(array) - len(array) // ONE_IN for name, array in shard.items()}
        learnt.append({name: array[: cut[name]] for name, array in shard.items()})
        if len(shard["value"]) >= ONE_IN:
            aside.append({name: array[cut[name] :] for name, array in shard.items()})
    return learnt, aside


def _take_first(shards: list[Arrays], share: float) -> list[Arrays]:
    """Returns the first share of the situations of shards, at least one; all of them for 1."""
    if share >= 1.0 or not shards:
        return shards
    size = len(shards[0]["board"])
    wanted = max(round(share * sum(len(shard["board"]) for shard in shards)), 1)
    whole, rest = divmod(wanted, size)
    found = shards[:whole]
    if rest:
        last = shards[whole]
        part = rest / len(last["board"])  # lines that leave the street are counted by themselves
        found = [*found, {name: array[: max(round(part * len(array)), 1)] for name, array in last.items()}]
    return found
