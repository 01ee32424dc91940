# SPDX-License-Identifier: Apache-2.0
"""`equipoise train deep-cfr`: networks of regrets, or a rival of theirs, in one folder that agents play from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

import typer
from rich.console import Console

from equipoise.apps.display import make_console
from equipoise.apps.output import write_json
from equipoise.apps.shared_options import (
    GameParameters,
    Json,
    LearnHours,
    LearnOut,
    LearnSeed,
    LearnSettings,
    LearntGame,
    OverwriteOut,
    Quiet,
    ResumeOut,
    TensorBoard,
)
from equipoise.apps.signals import SignalFlag
from equipoise.apps.train_session import TrainCall, TrainSession, conduct, format_figure, spell_training, tell_end
from equipoise.core.errors import AbandonedError
from equipoise.core.formatting import format_duration
from equipoise.core.pool import Pool
from equipoise.games.base import Game
from equipoise.games.parameters import parse_parameters
from equipoise.games.registry import format_game
from equipoise.learning.deep_cfr.measuring import HoldemMeasure, find_measure
from equipoise.learning.deep_cfr.runs import KIND, NET, STATE, TABLES, check_same_settings
from equipoise.learning.deep_cfr.settings import (
    PRESETS,
    DeepCFRSettings,
    Learner,
    Player,
    change_settings,
    find_preset,
)
from equipoise.runs.request import find_named_game
from equipoise.solvers.strategy import TabularStrategy

__all__ = ["TrainDeepCFROptions", "train_deep_cfr"]

CHANGED: Final = ("iterations", "traversals", "learner")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrainDeepCFROptions:
    """What `equipoise train deep-cfr` is told."""

    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "How long": ("hours", "iterations", "traversals", "seed"),
        "How": ("learner", "setting"),
        "Where to keep it": ("resume", "overwrite", "tensorboard", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise train deep-cfr kuhn --out deep-kuhn --iterations 20",
        "equipoise train deep-cfr leduc --out nfsp-leduc --learner nfsp --hours 0.1",
    )

    game: LearntGame
    parameters: GameParameters = None
    preset: Annotated[str, typer.Option(help=f"How it is learnt: {', '.join(PRESETS)}.")] = "cpu"
    out: LearnOut
    hours: LearnHours = None
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", min=1, help="Of the whole training.")] = None
    traversals: Annotated[
        int | None, typer.Option(min=1, help="Of each player in an iteration; games of NFSP.", metavar="K")
    ] = None
    learner: Annotated[str | None, typer.Option(help=f"Who learns: {', '.join(Learner)} (default deep-cfr).")] = None
    setting: LearnSettings = None
    seed: LearnSeed = 0
    tensorboard: TensorBoard = None
    resume: ResumeOut = False
    overwrite: OverwriteOut = False
    json: Json = False
    quiet: Quiet = False


def train_deep_cfr(options: TrainDeepCFROptions) -> None:
    """Learn regrets with networks (Deep CFR) or by neural fictitious self-play, in any game.

    Where the game is small enough the exact exploitability of what was learnt is measured on the way. State and
    strategies are kept every minute: stop it at any time and give --resume.
    """
    from equipoise.learning.deep_cfr.making import make_trainer  # noqa: PLC0415 - torch is an extra

    game = find_named_game(options.game, options.parameters)
    assert game is not None, "the game is an argument"
    settings = _change(find_preset(options.preset), options)
    console = make_console(is_quiet=options.quiet)
    trainer = make_trainer(game, settings)
    call = TrainCall.of(options)
    command = spell_training(options, "deep-cfr", (*CHANGED, "seed"))
    last, flag = conduct(
        call,
        lambda folder, board: _Session(trainer, game, folder, board, console, command=command),
        kind=KIND,
        config={"game": format_game(game), "settings": settings.as_dict(), "preset": options.preset},
        check=lambda folder: check_same_settings(folder, game, settings),
    )
    _show(last, game, options, console)
    tell_end(call, flag, console, is_done=trainer.is_done)


def _change(preset: DeepCFRSettings, options: TrainDeepCFROptions) -> DeepCFRSettings:
    """Returns a preset with the numbers that were asked for."""
    given = parse_parameters(options.setting or [])
    given |= {name: str(value) for name in CHANGED if (value := getattr(options, name)) is not None}
    return change_settings(preset, {"seed": str(options.seed), **given})


class _Session(TrainSession):
    """A training of networks of regrets, or of a rival."""

    what, line, unit = "a strategy learnt by self-play", "what plays", "iterations"
    net_file, state_file = NET, STATE
    method = "deep-cfr"
    _flag: SignalFlag
    _policy: Any = None  # a `PolicyFit` as it was last measured
    _hands: HoldemMeasure | None = None
    _was_sought = False  # whether there is one

    @property
    def test(self) -> str:
        if self.settings.learner is Learner.NFSP:
            return "average policy of NFSP"
        return "network of the average" if self.settings.player is Player.POLICY else "all iterations' networks"

    @property
    def sizes(self) -> tuple[int, int]:
        return 1, 1

    @property
    def _is_nfsp(self) -> bool:
        return bool(self.settings.learner is Learner.NFSP)

    def train(self, flag: SignalFlag, pool: Pool | None, deadline: float) -> dict[str, Any]:
        """Trains; a signal is obeyed within an iteration, too: with the thesis's presets one takes minutes."""
        self._flag = flag
        return super().train(flag, pool, deadline)

    def records(self, is_over: Callable[[], bool], pool: Pool | None) -> Iterator[Any]:
        yield from self.trainer.run(is_over, is_interrupted=self._flag)

    def measure(self, count: int, flag: SignalFlag) -> dict[str, Any]:
        from equipoise.learning.deep_cfr.making import fit_policy, tabulate_policy  # noqa: PLC0415 - torch

        if self._is_nfsp:
            return self._describe({Player.POLICY: self.trainer.evaluate().exploitability})
        try:
            self._policy = fit_policy(self.trainer, is_interrupted=flag)
        except AbandonedError:
            return {}
        if self.trainer.average is None:
            return self._measure_hands()
        strategy = tabulate_policy(self._policy, self.trainer.walks)
        found = {
            Player.POLICY: self.trainer.evaluate(strategy).exploitability,
            Player.VALUES: self.trainer.evaluate().exploitability,
        }
        return self._describe(found)

    def _measure_hands(self) -> dict[str, Any]:
        """Returns figures of a game that has no tree: exact ones of hold'em on a small deck, else none."""
        if not self._was_sought:
            self._hands, self._was_sought = find_measure(self.game), True
        if self._hands is None:
            return {"nodes_touched": self.trainer.nodes_touched}
        found = self._hands.evaluate(lambda features, is_legal: self._policy.play(0, features, is_legal))
        return self._describe({Player.POLICY: found.exploitability})

    def _describe(self, found: dict[Player, float]) -> dict[str, Any]:
        """Returns exploitabilities by what plays; that of the run's own player is the run's."""
        own = found.get(self.settings.player, found[Player.POLICY])
        return {
            "exploitability": own,
            "exploitability_mbb": self.in_mbb(own),
            **{f"exploitability_{player}": value for player, value in found.items()},
            "nodes_touched": self.trainer.nodes_touched,
        }

    def save_nets(self, card: dict[str, Any]) -> None:
        """Keeps what plays: tables where there is a tree, a network elsewhere."""
        from equipoise.learning.deep_cfr.making import save_policy_net, tabulate_policy  # noqa: PLC0415 - torch

        path, trainer = self.folder.path, self.trainer
        if self._is_nfsp:
            self._save_table(trainer.tree, trainer.learner.strategy(), Player.POLICY, card)
            return
        if trainer.average is None:
            if self._policy is not None:
                save_policy_net(self._policy, path / NET, card)
            return
        tree = trainer.walks.tree
        if trainer.iteration:
            self._save_table(tree, trainer.average.strategy(), Player.VALUES, card)
        if self._policy is not None:
            self._save_table(tree, tabulate_policy(self._policy, trainer.walks), Player.POLICY, card)

    def _save_table(self, tree: Any, strategy: Any, player: Player, card: dict[str, Any]) -> None:
        TabularStrategy.from_tree(tree, strategy).save(self.folder.path / TABLES[player], {"card": card})


def _show(last: dict[str, Any], game: Game[Any], options: TrainDeepCFROptions, console: Console) -> None:
    if options.json:
        write_json({"game": format_game(game), "out": str(options.out), **last})
        return
    if not last or options.quiet:
        return
    said = f"{last['examples']:,} iterations in {format_duration(last['cpu_seconds'])} of CPU time"
    if "exploitability" in last:
        said = f"{format_figure(last)}; {said}, {last['nodes_touched']:,} histories"
    make_console(is_stderr=False).print(f"{format_game(game)}: {said}")
    console.print(f"play it: deep-cfr:{options.out}")
