# SPDX-License-Identifier: Apache-2.0
"""`equipoise optimise`: bet sizes that find themselves, of a game's parameters and of hold'em spots."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any, ClassVar

import numpy as np
import typer
from rich.console import Console

from equipoise.abstraction.bet_sizes import BetSizeConfig, BetSizeSearch, SizedSpot, SizedValue, full_menu, round_sizes
from equipoise.abstraction.bucketed_strategy import SolvedBuckets
from equipoise.abstraction.parameter_optimisation import OptimisationConfig, ParameterOptimiser, ParameterStep
from equipoise.abstraction.solutions import open_subject
from equipoise.apps.display import make_console
from equipoise.apps.output import make_rows, print_result, write_json
from equipoise.apps.signals import SignalFlag
from equipoise.apps.task_display import TaskDisplay
from equipoise.core.errors import ConfigError
from equipoise.core.provenance import version
from equipoise.games.base import Game
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.menus import POSITIONS
from equipoise.games.holdem.spot_file import SpotFile
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.solvers.solution_file import SolvedGame
from equipoise.trees.parametric import build_parametric_tree

__all__ = ["OptimiseOptions", "optimise"]

DEFAULT_ITERATIONS = 100_000
GAP = 0.0005  # of the pot, to which what sizes are worth is known


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OptimiseOptions:
    """What `equipoise optimise` is told."""

    panels: ClassVar[dict[str, tuple[str, ...]]] = {
        "Of a game": ("parameters", "start", "lowest", "highest", "rate", "payoff", "iterations", "sampled", "seed"),
        "Of a hold'em spot": ("street", "sizes", "threads"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise optimise leduc --parameters raise_sizes",
        "equipoise optimise examples/spots/river.toml --street river --player oop",
        "equipoise optimise examples/spots/turn.toml --sizes 2",
    )

    subject: Annotated[str, typer.Argument(help="A two-player game, or SPOT.toml.")]
    parameters: Annotated[
        str | None,
        typer.Option(help="Of the game, between commas; raise_sizes: every bet size.", metavar="NAMES"),
    ] = None
    start: Annotated[
        str | None, typer.Option(help="Values to start from, between commas; by default the game's.", metavar="VALUES")
    ] = None
    lowest: Annotated[float | None, typer.Option(help="Least value of a parameter, or size in pots.")] = None
    highest: Annotated[float | None, typer.Option(help="Largest value of a parameter, or size in pots.")] = None
    rate: Annotated[float, typer.Option(help="Alpha: how far a step goes by its gradient.")] = 50.0
    payoff: Annotated[
        float | None, typer.Option(help="U: average payoff; larger forgets less. By default the mean stake.")
    ] = None
    iterations: Annotated[int, typer.Option(min=1, help="Of each probe.")] = DEFAULT_ITERATIONS
    sampled: Annotated[bool, typer.Option("--sampled", help="Draw the cards, the same for all probes.")] = False
    seed: Annotated[int, typer.Option(min=0, help="Of drawn cards.")] = 0
    street: Annotated[str | None, typer.Option(help="Whose first bets are sized: flop, turn or river.")] = None
    player: Annotated[
        str | None, typer.Option(help="Whose value is made large: oop (default) or ip; in games 0 or 1 (default).")
    ] = None
    sizes: Annotated[int, typer.Option(min=1, max=4, help="How many sizes.")] = 1
    threads: Annotated[int, typer.Option("--threads", "-t", min=1, help="Of each solve.")] = 1
    json: Annotated[bool, typer.Option("--json", help="Write the result as JSON to standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages, progress or tables.")] = False


def optimise(options: OptimiseOptions) -> None:
    """Find the bet sizes that lose least while the game is being solved.

    Of a spot it prints the sizes, their value against a full menu, and what rounding them costs. Ctrl-C prints what was
    found so far.
    """
    subject = open_subject(options.subject)
    console = make_console(is_quiet=options.quiet)
    if isinstance(subject, SpotFile):
        _optimise_spot(subject, options, console)
    elif isinstance(subject, SolvedGame | SolvedSpot | SolvedBuckets):
        subject.close()
        raise ConfigError(f"sizes are found in a game or a spot's file, got the solution {options.subject}")
    else:
        _optimise_game(subject, options, console)


def _optimise_game(game: Game[Any], options: OptimiseOptions, console: Console) -> None:
    if options.street is not None or options.sizes != 1:
        raise ConfigError("--street and --sizes are for hold'em spots; parameters of a game are named by --parameters")
    _refuse(options, "Of a hold'em spot", place="hold'em spots")
    if options.parameters is None:
        raise ConfigError("a game needs --parameters, such as raise_sizes")
    names = [name.strip() for name in options.parameters.split(",")]
    tree = build_parametric_tree(game, names)
    config = OptimisationConfig(
        player=_parse_seat(options.player, default=1),
        rate=options.rate,
        payoff=options.payoff,
        lowest=0.015625 if options.lowest is None else options.lowest,
        highest=math.inf if options.highest is None else options.highest,
        samples_chance=options.sampled,
    )
    rng = np.random.default_rng(options.seed) if options.sampled else None
    optimiser = ParameterOptimiser(tree, _parse_numbers(options.start), config=config, rng=rng)
    taken: ParameterStep | None = None
    with TaskDisplay(console, f"sizes of {game.spec.name}") as display, SignalFlag() as is_stopped:
        for step in optimiser.run(options.iterations):
            taken = step
            display.update(min(1.0, optimiser.iterations / options.iterations), optimiser.describe_point())
            if is_stopped():
                console.print("stopped: what follows is as far as it came", style="yellow")
                break
    found = [probe.evaluate() for probe in optimiser.probes]
    result = _describe_game(optimiser, taken, found)
    if options.json:
        write_json(result)
    elif not options.quiet:
        _print_game(optimiser, result)
    _exit_if(is_stopped)


def _describe_game(
    optimiser: ParameterOptimiser, taken: ParameterStep | None, found: list[Evaluation]
) -> dict[str, Any]:
    values = [one.values[optimiser.config.player] for one in found]
    return {
        "game": optimiser.tree.tree.game_label,
        "player": optimiser.config.player,
        "parameters": dict(zip(optimiser.tree.names, optimiser.point, strict=True)),
        "value": sum(values) / len(values),
        "exploitability": max(one.exploitability for one in found),
        "gradient": [] if taken is None else list(taken.gradient),
        "steps": optimiser.step - 1,
        "iterations": optimiser.iterations,
        "version": version(),
    }


def _print_game(optimiser: ParameterOptimiser, result: dict[str, Any]) -> None:
    rows = [
        [name, f"{start:g}", f"{value:.4f}", f"{slope:+.2g}"]
        for (name, value), start, slope in zip(
            result["parameters"].items(), optimiser.tree.base, result["gradient"] or [math.nan] * 9, strict=False
        )
    ]
    print_result(make_rows(["parameter", "the game's", "found", "slope"], rows))
    print_result(
        f"worth {result['value']:.5f} to player {result['player']}, probes within {result['exploitability']:.2g} of an "
        f"equilibrium; {result['steps']:,} steps, {result['iterations']:,} iterations of each probe"
    )


def _optimise_spot(file: SpotFile, options: OptimiseOptions, console: Console) -> None:
    if options.parameters is not None or options.start is not None:
        raise ConfigError("--parameters and --start are for games; a spot's sizes are told by --street and --player")
    street = _parse_street(options.street, file)
    _refuse(options, "Of a game", "lowest", "highest", place="games")
    position = POSITIONS[0] if options.player is None else options.player
    if position not in POSITIONS:
        raise ConfigError(f"--player must be {' or '.join(POSITIONS)} in a spot, got {position!r}")
    plain = BetSizeConfig()
    lowest = plain.lowest if options.lowest is None else options.lowest
    highest = plain.highest if options.highest is None else options.highest
    starts = tuple(dict.fromkeys(min(max(start, lowest), highest) for start in plain.starts))
    config = BetSizeConfig(
        street=street,
        player=POSITIONS.index(position),
        num_sizes=options.sizes,
        lowest=lowest,
        highest=highest,
        starts=starts,
    )
    sized = SizedSpot(file.spot, config)
    search = BetSizeSearch(sized, num_threads=options.threads)
    values: dict[str, SizedValue] = {}
    with TaskDisplay(console, file.name) as display, SignalFlag() as is_stopped:
        for taken in search.run():
            share = 0.7 * taken.step / config.steps
            display.update(share, f"start {taken.start + 1}: {_format_sizes(taken.sizes)}")
            if is_stopped():
                break
        for number, (name, sizes) in enumerate(_choose_compared(sized, search).items()):
            if is_stopped():
                console.print("stopped: what follows is as far as it came", style="yellow")
                break
            display.update(0.7 + 0.1 * number, f"value of {name}")
            values[name] = sized.solve(sizes, gap=GAP, num_threads=options.threads)
    result = _describe_spot(file, search, values)
    if options.json:
        write_json(result)
    elif not options.quiet:
        _print_spot(search, values, position)
    _exit_if(is_stopped)


def _choose_compared(sized: SizedSpot, search: BetSizeSearch) -> dict[str, tuple[float, ...]]:
    return {"found": search.best, "rounded": round_sizes(search.best), "full menu": full_menu(sized)}


def _describe_spot(file: SpotFile, search: BetSizeSearch, values: dict[str, SizedValue]) -> dict[str, Any]:
    config = search.sized.config
    return {
        "spot": file.name,
        "street": config.street.name.lower(),
        "player": POSITIONS[config.player],
        "sizes": list(search.best),
        "starts": [list(sizes) for sizes in search.ends],
        "values": {name: dataclasses.asdict(value) for name, value in values.items()},
        "iterations": search.iteration,
        "version": version(),
    }


def _print_spot(search: BetSizeSearch, values: dict[str, SizedValue], player: str) -> None:
    found = values.get("found")
    rows = [
        [
            name,
            _format_sizes(value.sizes),
            f"{100 * value.value:.3f} %",
            "" if found is None or name == "found" else f"{100 * (value.value - found.value):+.3f} %",
            f"{100 * value.gap:.3f} %",
        ]
        for name, value in values.items()
    ]
    ends = "; ".join(map(_format_sizes, search.ends))
    print_result(f"{player} bets {_format_sizes(search.best)} of the pot; starts ended at {ends}")
    if rows:
        print_result(make_rows(["menu", "sizes", f"{player} takes of the pot", "against found", "known to"], rows))
    if found is not None and "full menu" in values:
        loss = 100 * (values["full menu"].value - found.value)
        print_result(f"the full menu is worth {abs(loss):.3f} % of the pot {'more' if loss > 0 else 'less'}")
    if found is not None and "rounded" in values:
        print_result(f"rounding costs {100 * max(0.0, found.value - values['rounded'].value):.3f} % of the pot")


def _format_sizes(sizes: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * size:.0f} %" for size in sizes)


def _refuse(options: OptimiseOptions, panel: str, *shared: str, place: str) -> None:
    """Raises `ConfigError` if an option was given that is of the other kind of subject."""
    defaults = {field.name: field.default for field in dataclasses.fields(options)}
    for name in options.panels[panel]:
        if name not in shared and getattr(options, name) != defaults[name]:
            raise ConfigError(f"--{name} is for {place}")


def _parse_street(text: str | None, file: SpotFile) -> Street:
    known = [street.name.lower() for street in Street if street is not Street.PREFLOP]
    if text is None:
        return file.spot.betting_rules.first_street
    if text not in known:
        raise ConfigError(f"--street must be one of {', '.join(known)}, got {text!r}")
    return Street[text.upper()]


def _parse_seat(text: str | None, *, default: int) -> int:
    if text is None:
        return default
    if text not in ("0", "1"):
        raise ConfigError(f"--player must be 0 or 1 in a game, got {text!r}")
    return int(text)


def _parse_numbers(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--start must be numbers between commas, got {text!r}") from None


def _exit_if(flag: SignalFlag) -> None:
    if flag():
        raise typer.Exit(flag.exit_code)
