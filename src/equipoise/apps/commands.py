# SPDX-License-Identifier: Apache-2.0
"""Which commands there are, where each of them lives and what it does in a line; a command is loaded when it is run."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

import typer
import typer.main
from typer.core import TyperCommand

from equipoise.apps.help_page import HelpfulCommand, HelpfulGroup, format_examples
from equipoise.apps.options import make_command

__all__ = ["COMMANDS", "CommandEntry", "LazyGroup", "add_command"]

SOLVING, LOOKING, PLAYING, MEASURING = "Solve", "Look", "Play", "Measure"


@dataclasses.dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command: what lists say of it, and where it is."""

    panel: str
    summary: str  # a line
    run: str  # `module:function` below `equipoise.apps`, or the group of commands
    options: str | None  # `module:class` of its options; None: a group

    def load(self, name: str) -> Any:
        """Returns the command itself, as typer runs it; what it does is loaded with its options, or when it is run."""
        if self.options is None:
            return _named(typer.main.get_group(_find(self.run)), name)
        options = _find(self.options)
        is_light = self.options.partition(":")[0] != self.run.partition(":")[0]
        run = _load_later(self.run, options.about) if is_light else _find(self.run)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        add_command(alone, name, options, run)
        return _named(typer.main.get_command(alone), name)

    def outline(self, name: str) -> TyperCommand:
        """Returns a command that cannot be run, for lists of commands."""
        return TyperCommand(name, help=self.summary, rich_help_panel=self.panel)


def _find(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"equipoise.apps.{module}"), name)


def _load_later(place: str, about: str) -> Callable[[Any], None]:
    """Returns a function that loads another one when it is called; `about` is what help says of it."""

    def run(options: Any) -> None:
        _find(place)(options)

    run.__doc__ = about
    return run


def add_command(group: typer.Typer, name: str, options: type, run: Callable[[Any], None]) -> None:
    """Adds a command whose options are the fields of a dataclass."""
    epilog = format_examples(getattr(options, "sample_commands", ()))
    group.command(name, cls=HelpfulCommand, epilog=epilog)(make_command(options, run))


def _named(command: Any, name: str) -> Any:
    command.name = name
    return command


COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "solve": CommandEntry(SOLVING, "Solve a game or a hold'em spot.", "solve:solve", "solve_options:SolveOptions"),
    "size": CommandEntry(SOLVING, "Say what a hold'em spot would take.", "size:size", "size:SizeOptions"),
    "games": CommandEntry(SOLVING, "List the games; details of one by name.", "listing:games", "listing:GamesOptions"),
    "pushfold": CommandEntry(
        SOLVING, "Solve heads-up push or fold exactly.", "push_fold:push_fold", "push_fold:PushFoldOptions"
    ),
    "optimise": CommandEntry(
        SOLVING, "Find the bet sizes that lose least.", "optimise:optimise", "optimise:OptimiseOptions"
    ),
    "blueprint": CommandEntry(
        SOLVING, "Train hold'em in buckets, by sampling.", "blueprint:blueprint", "blueprint:BlueprintOptions"
    ),
    "improve": CommandEntry(
        SOLVING, "Train a blueprint with the sizes that opponents bet.", "improve:improve", "improve:ImproveOptions"
    ),
    "model": CommandEntry(
        SOLVING, "Count how an opponent plays in recorded hands.", "model:model", "model:ModelOptions"
    ),
    "train": CommandEntry(SOLVING, "Train networks and blueprints.", "groups:train_app", None),
    "show": CommandEntry(LOOKING, "Show a saved strategy.", "show:show", "show:ShowOptions"),
    "lines": CommandEntry(
        LOOKING, "List the lines of a solved spot with frequencies.", "lines:lines", "lines:LinesOptions"
    ),
    "export": CommandEntry(LOOKING, "Write a solved spot's tree to a file.", "lines:export", "lines:ExportOptions"),
    "report": CommandEntry(
        SOLVING, "Solve one spot on many boards, as one table.", "report:report", "report:ReportOptions"
    ),
    "evaluate": CommandEntry(
        LOOKING,
        "Say what a strategy earns and what beats it.",
        "evaluate:evaluate",
        "evaluate:EvaluateOptions",
    ),
    "search": CommandEntry(
        LOOKING, "Solve the rest of a saved game again, from one place on.", "search:search", "search:SearchOptions"
    ),
    "compare": CommandEntry(
        LOOKING, "Solve a game with several rules, side by side.", "comparison:compare", "comparison:CompareOptions"
    ),
    "tree": CommandEntry(LOOKING, "Draw a small game as a tree.", "tree:tree", "tree:TreeOptions"),
    "equity": CommandEntry(
        LOOKING, "Say what two ranges win if nobody bets again.", "equity:equity", "equity:EquityOptions"
    ),
    "serve": CommandEntry(
        LOOKING, "Show, solve, train and play in a browser.", "web.command:serve", "web.command:ServeOptions"
    ),
    "play": CommandEntry(PLAYING, "Play against an agent.", "table.command:play", "table.command:PlayOptions"),
    "match": CommandEntry(PLAYING, "Let agents play each other.", "match:match", "match:MatchOptions"),
    "engine": CommandEntry(
        PLAYING, "Let other programs play against an agent.", "engine:engine", "engine:EngineOptions"
    ),
    "dealer": CommandEntry(
        PLAYING, "Deal poker to bots that connect (ACPC).", "acpc.dealer:dealer", "acpc.dealer:DealerOptions"
    ),
    "seat": CommandEntry(PLAYING, "Let an agent play at a dealer (ACPC).", "acpc.seat:seat", "acpc.seat:SeatOptions"),
    "lbr": CommandEntry(PLAYING, "Say what a local best response wins from an agent.", "lbr:lbr", "lbr:LbrOptions"),
    "plot": CommandEntry(MEASURING, "Draw runs and studies from their files.", "plot:plot", "plot:PlotOptions"),
    "reproduce": CommandEntry(
        MEASURING, "Compute published figures again.", "reproduce:reproduce", "reproduce:ReproduceOptions"
    ),
    "bench": CommandEntry(MEASURING, "Measure speed; print the signature of results.", "groups:bench_app", None),
}


class LazyGroup(HelpfulGroup):
    """A group whose commands are loaded when they are run; help and completion list them without."""

    entries: ClassVar[Mapping[str, CommandEntry]]  # of its commands, by name

    def __init__(self, **attributes: Any) -> None:
        """Begins with the outlines of all commands."""
        super().__init__(**attributes)
        self.commands = {name: entry.outline(name) for name, entry in self.entries.items()}
        self._is_listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns a command, which may take long to load; for lists only its outline."""
        if self._is_listing or cmd_name not in self.entries:
            return super().get_command(ctx, cmd_name)
        return self.entries[cmd_name].load(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands."""
        with self._listing():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Returns the commands that begin like this."""
        with self._listing():
            return super().shell_complete(ctx, incomplete)

    @contextlib.contextmanager
    def _listing(self) -> Iterator[None]:
        self._is_listing = True
        try:
            yield
        finally:
            self._is_listing = False
