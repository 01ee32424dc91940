# SPDX-License-Identifier: Apache-2.0
"""`equipoise train rebel`: values of beliefs learnt by self-play, in one folder that agents play from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar

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
    LearnSettings,
    LearntGame,
    LearnWorkers,
    OverwriteOut,
    Quiet,
    ResumeOut,
    TensorBoard,
)
from equipoise.apps.signals import SignalFlag
from equipoise.apps.train_session import TrainCall, TrainSession, conduct, format_figure, spell_training, tell_end
from equipoise.core.errors import UnknownNameError
from equipoise.core.formatting import format_duration
from equipoise.core.pool import Pool
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import format_game
from equipoise.learning.rebel.holdem.settings import HOLDEM_PRESETS
from equipoise.learning.rebel.playthroughs import measure_playthroughs
from equipoise.learning.rebel.runs import KIND, NET, POLICY, STATE, check_same_settings
from equipoise.learning.rebel.settings import PRESETS, RebelSettings, change_settings, find_preset
from equipoise.runs.request import find_named_game
from equipoise.search.belief_games import BeliefGame, parse_horizon

__all__ = ["TrainRebelOptions", "train_rebel"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainRebelOptions:
    """What `equipoise train rebel` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How long": ("hours", "examples", "playthroughs", "seed"),
        "How": ("hidden", "horizon", "iterations", "setting", "workers", "ray"),
        "Where to keep it": ("resume", "overwrite", "tensorboard", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train rebel leduc --out run --hours 0.1",
        "equipoise train rebel leduc --out run --resume",
    )

    game: LearntGame
    parameters: GameParameters = None
    preset: Annotated[str, typer.Option(help=f"How it is learnt: {', '.join((*PRESETS, *HOLDEM_PRESETS))}.")] = "small"
    out: LearnOut
    hours: LearnHours = None
    examples: Annotated[int | None, typer.Option(min=1, help="Values that self-play makes.")] = None
    hidden: Annotated[int | None, typer.Option(min=1, help="Units of a hidden layer.")] = None
    horizon: Annotated[
        str | None, typer.Option(help="Where searches end: a number of actions, or round.", metavar="N|round")
    ] = None
    iterations: Annotated[int | None, typer.Option(min=1, help="Of each search in training.")] = None
    setting: LearnSettings = None
    playthroughs: Annotated[int | None, typer.Option(min=1, help="Of the last test.")] = None
    workers: LearnWorkers = 1
    ray: LearnRay = None
    seed: LearnSeed = 0
    tensorboard: TensorBoard = None
    resume: ResumeOut = False
    overwrite: OverwriteOut = False
    json: Json = False
    quiet: Quiet = False


def train_rebel(options: TrainRebelOptions) -> None:
    """Learn what beliefs are worth by self-play (ReBeL): searches end with a network, which learns what they find.

    The exploitability of play by random iterations is measured on the way, exactly for the playthroughs that are drawn.
    State and weights are kept every minute: stop it at any time and give --resume.
    """
    if options.preset in HOLDEM_PRESETS:
        from equipoise.apps.train_rebel_holdem import train_in_holdem  # noqa: PLC0415 - it needs torch

        train_in_holdem(options, spell_command(options))
        return
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - torch is an extra

    game = find_named_game(options.game, options.parameters)
    assert game is not None, "the game is an argument"
    settings = _change(_find_preset(options.preset), options)
    console = make_console(is_quiet=options.quiet)
    trainer = RebelTrainer(BeliefGame.of(game, parse_horizon(settings.horizon)), settings, format_game(game))
    if trainer.game.num_kinds == 1:
        trainer.self_play.refuse()
    last, flag = conduct(
        TrainCall.of(options),
        lambda folder, board: _Session(trainer, game, folder, board, console, command=spell_command(options)),
        kind=KIND,
        config={"game": format_game(game), "settings": settings.as_dict(), "preset": options.preset},
        check=lambda folder: check_same_settings(folder, game, settings),
    )
    _show(last, game, settings, options, console)
    tell_end(TrainCall.of(options), flag, console, is_done=trainer.is_done)


def _find_preset(name: str) -> RebelSettings:
    """Returns the settings of a preset of small games."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, (*PRESETS, *HOLDEM_PRESETS))
    return find_preset(name)


def _change(preset: RebelSettings, options: TrainRebelOptions) -> RebelSettings:
    """Returns a preset with the numbers that were asked for."""
    changes: dict[str, Any] = {"seed": options.seed}
    for name in ("examples", "hidden", "horizon", "playthroughs"):
        if getattr(options, name) is not None:
            changes[name] = getattr(options, name)
    if options.iterations is not None:
        changes["training"] = dataclasses.replace(preset.training, iterations=options.iterations)
    return change_settings(dataclasses.replace(preset, **changes), parse_parameters(options.setting or []))


class _Session(TrainSession):
    """A training of values of beliefs."""

    what, method, line = "values of beliefs, learnt by self-play", "rebel", "random iterations"
    net_file, state_file = NET, STATE

    @property
    def test(self) -> str:
        return str(self.settings.test)

    @property
    def sizes(self) -> tuple[int, int]:
        return self.settings.check_playthroughs, self.settings.playthroughs

    def records(self, is_over: Callable[[], bool], pool: Pool | None) -> Iterator[Any]:
        yield from self.trainer.run(is_over=is_over, pool=pool)

    def save(self, last: dict[str, Any]) -> None:
        proposed = self.trainer.stored_policy({"what": "strategies that searches begin with", "command": self.command})
        if proposed is not None:
            proposed.save(self.folder.path / POLICY)
        super().save(last)

    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        rng = np.random.default_rng([self.settings.seed, 57, self.trainer.step])
        found = measure_playthroughs(self.trainer.test_searcher(), count, rng=rng, is_interrupted=flag)
        return {
            "exploitability": found.exploitability,
            "exploitability_mbb": self.in_mbb(found.exploitability),
            "lower": found.lower,
            "lower_error": found.lower_error,
            "playthroughs": found.playthroughs,
        }


def spell_command(options: TrainRebelOptions) -> str:
    """Returns the command that makes the same weights: the folder is left open."""
    return spell_training(options, "rebel", ("examples", "hidden", "horizon", "iterations", "seed"))


def _show(
    last: dict[str, Any], game: Game[Any], settings: RebelSettings, options: TrainRebelOptions, console: Console
) -> None:
    if options.json:
        write_json({"game": format_game(game), "test": str(settings.test), "out": str(options.out), **last})
        return
    if not last or options.quiet:
        return
    spent = format_duration(last["cpu_seconds"])
    make_console(is_stderr=False).print(
        f"{format_game(game)}: {format_figure(last)} over {last['playthroughs']:,} playthroughs of {settings.test}; "
        f"at least {last['lower']:.4f} (standard error {last['lower_error']:.4f}); {last['examples']:,} values in "
        f"{spent} of CPU time"
    )
    console.print(f"play it: rebel:{options.out}")
