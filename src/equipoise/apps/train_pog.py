# SPDX-License-Identifier: Apache-2.0
"""`equipoise train pog`: values and policies learnt by sound self-play, in one folder that agents play from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import typer
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import (
    GameParameters,
    Json,
    LearnHours,
    LearnOut,
    LearnRay,
    LearnSeed,
    LearntGame,
    LearnWorkers,
    OverwriteOut,
    Quiet,
    ResumeOut,
    TensorBoard,
)
from equipoise.apps.signals import SignalFlag
from equipoise.apps.train_session import TrainCall, TrainSession, conduct, format_figure, spell_training, tell_end
from equipoise.core.errors import GameTooLargeError
from equipoise.core.formatting import format_duration
from equipoise.core.pool import Pool
from equipoise.games.base import Game
from equipoise.games.perfect_information import PerfectInformationGame
from equipoise.games.registry import format_game
from equipoise.learning.pog.measuring import measure_composed
from equipoise.learning.pog.runs import KIND, NET, STATE, check_same_settings, play_settings
from equipoise.learning.pog.settings import PRESETS, PogSettings, find_preset
from equipoise.runs.request import find_named_game
from equipoise.trees.public import PublicTree, build_public_tree

__all__ = ["TrainPogOptions", "train_pog"]

MOST_NODES: Final = 20_000  # public states of a game that is tested on the way
CHANGED: Final = (
    *("examples", "hidden", "simulations", "per_sweep", "queries", "recursive_queries", "outcomes", "policy_weight"),
    *("checks", "check_seeds", "seeds", "seed"),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainPogOptions:
    """What `equipoise train pog` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How long": ("hours", "examples", "seed"),
        "How": (
            *("hidden", "simulations", "per_sweep", "queries", "recursive_queries", "outcomes", "policy_weight"),
            *("workers", "ray"),
        ),
        "How it is tested": ("checks", "check_seeds", "seeds"),
        "Where to keep it": ("resume", "overwrite", "tensorboard", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train pog leduc --out pog-leduc --hours 0.1",
        "equipoise train pog leduc --out pog-leduc --resume",
    )

    game: LearntGame
    parameters: GameParameters = None
    preset: Annotated[str, typer.Option(help=f"How it is learnt: {', '.join(PRESETS)}.")] = "small"
    out: LearnOut
    hours: LearnHours = None
    examples: Annotated[int | None, typer.Option(min=1, help="Solved queries that self-play makes.")] = None
    hidden: Annotated[int | None, typer.Option(min=1, help="Units of a hidden layer.")] = None
    simulations: Annotated[int | None, typer.Option("--simulations", "-s", min=1, help="Of each search.")] = None
    per_sweep: Annotated[float | None, typer.Option(min=0.001, help="Simulations for each sweep.")] = None
    queries: Annotated[float | None, typer.Option(min=0.0, help="Of each search that are solved.")] = None
    recursive_queries: Annotated[
        float | None, typer.Option(min=0.0, help="Of each solved query that are solved too.")
    ] = None
    outcomes: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of an episode's decisions learnt with its outcome.")
    ] = None
    policy_weight: Annotated[
        float | None, typer.Option(min=0.0, help="Of the policies' loss; 0: values alone, walks go without a prior.")
    ] = None
    checks: Annotated[int | None, typer.Option(min=1, help="Tests of exploitability, the last at the end.")] = None
    check_seeds: Annotated[int | None, typer.Option(min=1, help="Of searches in tests on the way.")] = None
    seeds: Annotated[int | None, typer.Option(min=1, help="Of searches in the last test.")] = None
    workers: LearnWorkers = 1
    ray: LearnRay = None
    seed: LearnSeed = 0
    tensorboard: TensorBoard = None
    resume: ResumeOut = False
    overwrite: OverwriteOut = False
    json: Json = False
    quiet: Quiet = False


def train_pog(options: TrainPogOptions) -> None:
    """Learn values and policies by sound self-play (Player of Games): searches grow trees that end with a network.

    In games that are small enough the exploitability of play by search is measured on the way, exactly for each seed.
    State and weights are kept every minute: stop it at any time and give --resume.
    """
    from equipoise.learning.pog.games import SelfPlayGame  # noqa: PLC0415 - with the trainer
    from equipoise.learning.pog.training import PogTrainer  # noqa: PLC0415 - torch is an extra

    game = find_named_game(options.game, options.parameters)
    assert game is not None, "the game is an argument"
    settings = _change(find_preset(options.preset), options)
    console = make_console(is_quiet=options.quiet)
    trainer = PogTrainer(SelfPlayGame(game), settings)
    call = TrainCall.of(options)
    command = spell_training(options, "pog", CHANGED)
    last, flag = conduct(
        call,
        lambda folder, board: _Session(trainer, game, folder, board, console, command=command),
        kind=KIND,
        config={"game": format_game(game), "settings": settings.as_dict(), "preset": options.preset},
        check=lambda folder: check_same_settings(folder, game, settings),
    )
    _show(last, game, settings, options, console)
    tell_end(call, flag, console, is_done=trainer.is_done)


def _change(preset: PogSettings, options: TrainPogOptions) -> PogSettings:
    """Returns a preset with the numbers that were asked for."""
    given = {name: getattr(options, name) for name in CHANGED}
    return dataclasses.replace(preset, **{name: value for name, value in given.items() if value is not None})


class _Session(TrainSession):
    """A training of values and policies."""

    what, method, line = "values and policies, learnt by sound self-play", "pog", "play by search"
    net_file, state_file = NET, STATE
    _tree: PublicTree | None = None
    _is_too_large = False

    @property
    def test(self) -> str:
        return _describe_test(self.settings)

    @property
    def sizes(self) -> tuple[int, int]:
        return self.settings.check_seeds, self.settings.seeds

    def records(self, is_over: Callable[[], bool], pool: Pool | None) -> Iterator[Any]:
        yield from self.trainer.run(is_over, pool)

    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        counts = dataclasses.asdict(self.trainer.self_play.counts)
        tree = self._find_tree()
        if tree is None:
            return counts
        play = play_settings(self.settings, self.trainer.leaves())
        found = measure_composed(self.trainer.game.form, tree, play, range(count), is_interrupted=flag)
        if not found:
            return counts
        seeds = [one.exploitability for one in found]
        mean = float(np.mean(seeds))
        return {
            **counts,
            "exploitability": mean,
            "exploitability_mbb": self.in_mbb(mean),
            "exploitability_min": min(seeds),
            "exploitability_max": max(seeds),
            "seeds": len(seeds),
        }

    def _find_tree(self) -> PublicTree | None:
        """Returns all of a game, None if that is too much."""
        form = self.trainer.game.form
        if self._tree is None and not self._is_too_large and not isinstance(form, PerfectInformationGame):
            try:
                self._tree = build_public_tree(form, max_nodes=MOST_NODES)
            except GameTooLargeError:
                self._is_too_large = True
        return self._tree


def _describe_test(settings: PogSettings) -> str:
    """Returns how weights are tested: by what search."""
    growth = settings.growth
    turns = "in turn" if growth.is_alternating else "at once"
    return f"PoG({growth.simulations},{growth.per_sweep:g}), players updated {turns}, searched again safely"


def _show(
    last: dict[str, Any], game: Game[Any], settings: PogSettings, options: TrainPogOptions, console: Console
) -> None:
    if options.json:
        write_json({"game": format_game(game), "test": _describe_test(settings), "out": str(options.out), **last})
        return
    if not last or options.quiet:
        return
    spent = format_duration(last["cpu_seconds"])
    said = f"{last['examples']:,} solved queries in {spent} of CPU time"
    if "exploitability" in last:
        said = f"{format_figure(last)} over {last['seeds']} seeds of {_describe_test(settings)}; {said}"
    make_console(is_stderr=False).print(f"{format_game(game)}: {said}")
    console.print(f"play it: pog:{options.out}")
