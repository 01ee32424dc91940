# SPDX-License-Identifier: Apache-2.0
"""`equipoise evaluate AGENT --game G`: how exploitable an agent is, under several seeds or over playthroughs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import typer

from equipoise.agents.notation import AgentText
from equipoise.agents.pog import PogAgent
from equipoise.agents.rebel import RebelAgent
from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.signals import SignalFlag, Stopped
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import format_duration, format_small
from equipoise.core.machine import describe_origin
from equipoise.evaluation.assembly import SeededExploitability, measure_seeds
from equipoise.evaluation.statistics import big_blind_of
from equipoise.games.base import Game
from equipoise.games.registry import format_game
from equipoise.runs.evaluation import check_measurable
from equipoise.runs.matches import find_game
from equipoise.runs.preparation import build_tree

__all__ = ["evaluate_agent"]


def evaluate_agent(
    text: str,
    *,
    game_name: str | None,
    parameters: list[str] | None,
    num_seeds: int,
    num_playthroughs: int,
    is_public: bool,
    max_histories: int,
    is_json: bool,
    is_quiet: bool,
) -> None:
    """Reports the least, the mean and the largest exploitability over seeds; Ctrl-C keeps the seeds so far.

    Of an agent that draws what it plays once a game, that of its average over playthroughs.
    """
    maker = AgentText(text)
    game = find_game([maker], game_name, parameters)
    agent = check_measurable(maker(game))
    if isinstance(agent, RebelAgent):
        if num_seeds > 1 or is_public:
            raise ConfigError(f"{text} is measured over --playthroughs N, not over --seeds or --whole-states")
        _evaluate_playthroughs(text, agent, game, num_playthroughs, is_json=is_json, is_quiet=is_quiet)
        return
    if isinstance(agent, PogAgent):
        _evaluate_searches(text, agent, game, num_seeds, is_json=is_json, is_quiet=is_quiet)
        return
    console = make_console(is_quiet=is_quiet)
    tree = build_tree(game, max_histories=max_histories, reporter=ConsoleReporter(console))
    began = time.perf_counter()
    so_far: list[SeededExploitability] = []
    # agents never look at a flag: a signal ends the seed under way at once
    with SignalFlag(is_immediate=True) as flag, TaskDisplay(console, text) as display:

        def keep(share: float, found: SeededExploitability) -> None:
            so_far.append(found)
            display.update(share, f"seeds, mean {format_small(found.mean)}")

        try:
            measure_seeds(agent, game, seeds=range(num_seeds), is_public=is_public, tree=tree, on_progress=keep)
        except Stopped:
            if not so_far:
                raise
    _report(text, game, so_far[-1], time.perf_counter() - began, is_json=is_json, is_quiet=is_quiet)
    if flag():
        console.print(f"interrupted after {len(so_far)} of {num_seeds} seeds", style="yellow")
        raise typer.Exit(flag.exit_code)


def _evaluate_searches(
    text: str, agent: PogAgent, game: Game[Any], num_seeds: int, *, is_json: bool, is_quiet: bool
) -> None:
    """Reports the exploitability of a search at every decision, a seed of walks each; Ctrl-C keeps those so far."""
    console = make_console(is_quiet=is_quiet)
    began = time.perf_counter()
    with SignalFlag() as flag, TaskDisplay(console, text) as display:
        found = agent.measure(
            range(num_seeds), on_progress=lambda share: display.update(share, "searches"), is_interrupted=flag
        )
    if found:
        seconds = time.perf_counter() - began
        _report(text, game, SeededExploitability(evaluations=found), seconds, is_json=is_json, is_quiet=is_quiet)
    if flag():
        console.print(f"interrupted after {len(found)} of {num_seeds} seeds", style="yellow")
        raise typer.Exit(flag.exit_code)


def _evaluate_playthroughs(
    text: str, agent: RebelAgent, game: Game[Any], count: int, *, is_json: bool, is_quiet: bool
) -> None:
    """Reports the exploitability of the average over playthroughs; Ctrl-C keeps those so far."""
    console = make_console(is_quiet=is_quiet)
    began = time.perf_counter()
    with SignalFlag() as flag, TaskDisplay(console, text) as display:
        display.update(0.0, f"{count:,} playthroughs")
        found = agent.measure(
            count,
            rng=np.random.default_rng(0),
            on_progress=lambda share: display.update(share, f"{count:,} playthroughs"),
            is_interrupted=flag,
        )
    seconds = time.perf_counter() - began
    blind = big_blind_of(game)
    scale = None if blind is None else 1000 / blind
    if is_json:
        write_json(
            {
                "game": game.spec.name,
                "label": game.spec.label,
                "agent": text,
                "search": str(agent.searcher.recipe),
                "exploitability": found.exploitability,
                "exploitability_mbb": None if scale is None else found.exploitability * scale,
                "exploitability_lower": found.lower,
                "exploitability_lower_error": found.lower_error,
                "playthroughs": found.playthroughs,
                "seconds": seconds,
                **describe_origin(),
            }
        )
    else:
        heads = ("exploitability", "of the average", "at least", "standard error")
        figures = (found.exploitability, found.lower, found.lower_error)
        rows = [("per game", *(f"{value:.5f}" for value in figures))]
        if scale is not None:
            rows.append(("mbb/h", *(f"{value * scale:,.1f}" for value in figures)))
        title = f"{text} in {format_game(game)}, {agent.searcher.recipe}"
        print_result(make_rows(heads, rows, title=title), is_quiet=is_quiet)
        console.print(
            f"exact for the average of {found.playthroughs:,} playthroughs, which is above that of all on average; "
            f"in {format_duration(seconds)}"
        )
    if flag():
        console.print(f"interrupted after {found.playthroughs:,} of {count:,} playthroughs", style="yellow")
        raise typer.Exit(flag.exit_code)


def _report(
    text: str, game: Game[Any], found: SeededExploitability, seconds: float, *, is_json: bool, is_quiet: bool
) -> None:
    blind = big_blind_of(game)
    scale = None if blind is None else 1000 / blind
    figures = {"min": found.minimum, "mean": found.mean, "max": found.maximum}
    if is_json:
        write_json(
            {
                "game": game.spec.name,
                "label": game.spec.label,
                "agent": text,
                "exploitability": found.mean,
                "exploitability_min": found.minimum,
                "exploitability_max": found.maximum,
                "exploitability_mbb": None if scale is None else found.mean * scale,
                "seeds": list(found.exploitabilities),
                "seconds": seconds,
                **describe_origin(),
            }
        )
        return
    rows = [("per game", *(format_small(value) for value in figures.values()))]
    if scale is not None:
        rows.append(("mbb/h", *(f"{value * scale:,.1f}" for value in figures.values())))
    title = f"{text} in {format_game(game)}, {len(found.evaluations)} seed{'s' if len(found.evaluations) > 1 else ''}"
    print_result(make_rows(("exploitability", *figures), rows, title=title), is_quiet=is_quiet)
    make_console(is_quiet=is_quiet).print(f"exact for each seed, in {format_duration(seconds)}")
