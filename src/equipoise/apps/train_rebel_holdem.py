# SPDX-License-Identifier: Apache-2.0
"""`equipoise train rebel holdem`: the presets of `train rebel` that learn hold'em on 52 cards. It needs torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.signals import SignalFlag
from equipoise.apps.train_session import TrainCall, TrainSession, conduct, tell_end
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration
from equipoise.core.pool import Pool
from equipoise.core.runs import RunFolder
from equipoise.games.holdem.betting import Street
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import make_game
from equipoise.learning.rebel.holdem.nets import Layer
from equipoise.learning.rebel.holdem.playthroughs import measure_turn_endgame
from equipoise.learning.rebel.holdem.settings import (
    BIG_BLIND,
    HoldemRebelSettings,
    change_holdem_settings,
    find_holdem_preset,
)
from equipoise.learning.rebel.holdem.training import HoldemRebelTrainer
from equipoise.learning.rebel.runs import STATE
from equipoise.learning.values.configuration import NetStage

if TYPE_CHECKING:
    from equipoise.apps.train_rebel import TrainRebelOptions

__all__ = ["KIND", "train_in_holdem"]

KIND = "rebel-holdem"  # of a run's folder
FREE = frozenset({"checks", "check_playthroughs", "playthroughs", "test_board", "test_stack", "test_iterations"})


def train_in_holdem(options: TrainRebelOptions, command: str) -> None:
    """Trains by one of the presets of hold'em.

    Args:
        options: of `train rebel`.
        command: that makes the same weights.
    """
    settings = _change(find_holdem_preset(options.preset), options)
    console = make_console(is_quiet=options.quiet)
    trainer = HoldemRebelTrainer(settings)

    def check(folder: RunFolder) -> None:
        began = HoldemRebelSettings.from_dict(folder.config.get("settings", {}))
        folder.check_same(settings.as_dict(), free=FREE, began=began.as_dict())

    last, flag = conduct(
        TrainCall.of(options),
        lambda folder, board: _Session(trainer, make_game("holdem"), folder, board, console, command=command),
        kind=KIND,
        config={"game": "holdem", "settings": settings.as_dict(), "preset": options.preset},
        check=check,
    )
    _show(last, settings, options, console)
    tell_end(TrainCall.of(options), flag, console, is_done=trainer.is_done)


def _change(preset: HoldemRebelSettings, options: TrainRebelOptions) -> HoldemRebelSettings:
    """Returns a preset with the numbers that were asked for."""
    if options.game != "holdem" or options.parameters:
        given = " ".join([options.game, *(f"-p {text}" for text in options.parameters or [])])
        raise ConfigError(f"the preset {options.preset} is for holdem, whose board and stacks are -s, got {given}")
    if options.horizon is not None:
        raise ConfigError(f"searches of hold'em end with the round: there is no --horizon, got {options.horizon}")
    changes: dict[str, Any] = {"seed": options.seed}
    for name in ("examples", "hidden", "iterations", "playthroughs"):
        if getattr(options, name) is not None:
            changes[name] = getattr(options, name)
    return change_holdem_settings(dataclasses.replace(preset, **changes), parse_parameters(options.setting or []))


class _Session(TrainSession):
    """A training in hold'em."""

    what, method, line = "values of beliefs in hold'em, learnt by self-play", "rebel", "random iterations"
    net_file, state_file = "", STATE
    settings: HoldemRebelSettings

    @property
    def test(self) -> str:
        return f"{self.settings.method} by {self.settings.rule}, {self.settings.test_iterations} iterations"

    @property
    def sizes(self) -> tuple[int, int]:
        return self.settings.check_playthroughs, self.settings.playthroughs

    def records(self, is_over: Callable[[], bool], pool: Pool | None) -> Iterator[Any]:
        yield from self.trainer.run(is_over=is_over, pool=pool)

    def save_nets(self, card: dict[str, Any]) -> None:
        for name, stored in self.trainer.stored_nets(card).items():
            stored.save(self.folder.path / f"{name}.safetensors")

    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        """Returns the exploitability on the test's board; nothing where hands do not begin with the turn."""
        if self.settings.street is not Street.TURN:
            return {}
        rng = np.random.default_rng([self.settings.seed, 57, self.trainer.step])
        nets = self.trainer.nets()
        ends = nets.at(Layer(Street.TURN, NetStage.END))
        found = measure_turn_endgame(self.settings, ends, count, rng=rng, guide=nets.guide, is_interrupted=flag)
        return {
            "exploitability": found.exploitability,
            "exploitability_mbb": 1000.0 * found.exploitability / BIG_BLIND,
            "playthroughs": found.playthroughs,
        }


def _show(last: dict[str, Any], settings: HoldemRebelSettings, options: TrainRebelOptions, console: Console) -> None:
    if options.json:
        write_json({"game": "holdem", "out": str(options.out), **last})
        return
    if not last or options.quiet:
        return
    said = f"{last['examples']:,} values in {format_duration(last['cpu_seconds'])} of CPU time"
    if "exploitability" in last:
        said = (
            f"exploitability {last['exploitability_mbb']:.1f} mbb over {last['playthroughs']:,} playthroughs on "
            f"{settings.test_board}; {said}"
        )
    make_console(is_stderr=False).print(f"holdem: {said}")
    console.print(f"networks: {options.out}")
