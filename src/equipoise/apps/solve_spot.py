# SPDX-License-Identifier: Apache-2.0
"""Hold'em spots for `equipoise solve`: from a file and options to a run, and figures in the units of players."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.text import Text

from equipoise.abstraction.solutions import is_spot_text
from equipoise.apps.methods import normalize_rule
from equipoise.apps.session import Job, JobSizes, Quality, check_resumable
from equipoise.apps.solve_options import Precision, SolveOptions, Updates
from equipoise.core.errors import ConfigError, EquipoiseError, ParseError
from equipoise.core.files import describe_os_error, format_bytes
from equipoise.core.formatting import format_duration, format_small, format_utility
from equipoise.core.memory import check_memory
from equipoise.core.progress import Progress
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import format_board, format_deck
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.menus import POSITIONS
from equipoise.games.holdem.ranges import format_range
from equipoise.games.holdem.spot import HoldemSpot, parse_endgame
from equipoise.games.holdem.spot_file import SpotFile, check_locks, format_locks, load_spot
from equipoise.games.holdem.targets import Target, TargetUnit, parse_target
from equipoise.kernels.holdem.arrays import BoardFields, StreetFields
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver, estimate_bytes
from equipoise.solvers.holdem.solved_spot import SolvedSpot, encode_layout, make_locks
from equipoise.solvers.rule_notation import parse_rule
from equipoise.solvers.rules import Rule
from equipoise.solvers.saved_run import RunConfig
from equipoise.solvers.solve import Stopping, StopReason
from equipoise.solvers.substitution import WarmStart, WarmStartReport
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.holdem.tree import HoldemPlan, HoldemTree, plan_holdem_tree

__all__ = [
    "describe_units",
    "find_target",
    "format_chips",
    "format_shares",
    "is_spot",
    "prepare_spot",
    "read_spot",
    "spot_parameters",
]

SPOT_VERSION: Final = 1  # of what a spot means
DEFAULT_TARGET: Final = Target(0.5, TargetUnit.POT)
DTYPES: Final[Mapping[str, Any]] = {
    Precision.FLOAT32: np.float32,
    Precision.FLOAT64: np.float64,
    Precision.INT16: np.int16,
}
MOST_SHOWN: Final = 60  # characters of a parameter
FEWEST_MEASURED_ITERATIONS: Final = 8  # before which a slope says little of the time to a target
MEASURED_SECONDS: Final = 10.0  # or so long


def is_spot(options: SolveOptions) -> bool:
    """Returns whether the options ask for a spot, not a game."""
    return options.endgame is not None or (options.game is not None and is_spot_text(options.game))


def prepare_spot(file: SpotFile, options: SolveOptions, saved: SolvedSpot | None, console: Console) -> Job:
    """Returns the run that the options ask for, after saying its sizes and refusing what does not fit."""
    config = _make_config(file, options, saved)
    if saved is not None:
        check_resumable(options, saved.config, config)
    target, stopping = _make_stopping(file, options)
    assert config.rule is not None
    rule, dtype = parse_rule(config.rule), DTYPES[config.parameters["precision"]]
    began = time.perf_counter()
    locks = make_locks(file)
    plan = plan_holdem_tree(file.spot, locks=locks)
    num_bytes = estimate_bytes(plan, rule, dtype=dtype, num_threads=config.threads, locks=locks)
    label = f"{config.rule} in {config.parameters['precision']}"
    console.print(_describe_plan(plan))
    console.print(f"{label}: {format_bytes(num_bytes)} of memory, {plan.arrays.num_cells:,} numbers a table")
    check_memory(num_bytes, f"solving the spot with {label}")
    tree = plan.build()
    seconds = time.perf_counter() - began
    solver = CFRSolver(
        tree,
        rule,
        dtype=dtype,
        is_alternating=config.updates == Updates.ALTERNATING,
        num_threads=config.threads,
        locks=locks,
    )
    sizes = JobSizes(
        num_histories=None,
        num_infosets=_count_infosets(tree),
        tree_bytes=tree.arrays.num_bytes,
        table_bytes=num_bytes - tree.arrays.num_bytes,
        build_seconds=seconds,
    )
    return _SpotJob(file, solver, config, stopping, sizes, saved, is_target_asked_for=target is not None)


def _typical_slope(rule: Rule) -> float:
    """Returns the slope that log-log curves of spots come to: measured on the Libratus endgames and on flops."""
    later = rule.discounts(10)
    favours_later_iterations = later.average_decay < 1.0 or later.average_weight > 1.0
    return -1.5 if favours_later_iterations else -1.0


class _SpotJob(Job):
    """A run on a spot."""

    def __init__(
        self,
        file: SpotFile,
        solver: CFRSolver[HoldemTree],
        config: RunConfig,
        stopping: Stopping,
        sizes: JobSizes,
        saved: SolvedSpot | None,
        *,
        is_target_asked_for: bool,
    ) -> None:
        self.file, self.tree, self._sizes = file, solver.tree, sizes
        self.typical_slope = _typical_slope(solver.rule)
        super().__init__(
            name=file.spot.name,
            config=config,
            solver=solver,
            stopping=stopping,
            records=list(saved.progress) if saved is not None else [],
            is_target_asked_for=is_target_asked_for,
        )

    @property
    def sizes(self) -> JobSizes:
        """Returns how large it is."""
        return self._sizes

    def warm_start(self, path: Path, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in the file of a solved spot leaves off."""
        assert isinstance(self.solver, CFRSolver)
        with SolvedSpot(path) as stored:
            ours, theirs = spot_parameters(self.file), spot_parameters(stored.file)
            differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
            if differing:
                listed = "; ".join(
                    f"{name} {_shorten(theirs.get(name))}, expected {_shorten(ours.get(name))}" for name in differing
                )
                raise ConfigError(f"{path} holds another spot: {listed}")
            sums = stored.strategy_sum.read()
        return warm_start(self.solver, sums, config)

    def file_content(self) -> dict[str, Any]:
        """Returns the arrays that a file of the run holds now."""
        return {**encode_layout(self.tree), **self.solver.state()}

    def save(self, path: Path, reason: StopReason | None) -> None:
        """Writes the run to a file; no reason: it goes on."""
        SolvedSpot.save(path, self.record(reason), file=self.file, tree=self.tree, state=self.solver.state())

    def format_exploitability(self, value: float | None) -> str:
        """Returns an exploitability in chips, percent of the pot and mbb."""
        return super().format_exploitability(value) if value is None else format_chips(self.file.spot, value)

    def estimate_time(self, record: Progress) -> str | None:
        """Returns what a record says of the time that the run will take, None if nothing yet."""
        is_early = record.iteration < FEWEST_MEASURED_ITERATIONS and record.seconds < MEASURED_SECONDS
        if is_early or record.seconds_left is None or not record.iterations_per_second:
            return None
        milliseconds = 1e3 / record.iterations_per_second
        left = format_duration(record.seconds_left)
        return f"{_format_amount(milliseconds)} ms an iteration, about {left} more by the first {record.iteration}"

    def describe(self, quality: Quality) -> dict[str, Any]:
        """Returns the result's own keys."""
        assert isinstance(quality, Evaluation)
        rate = self.records[-1].iterations_per_second
        return {
            **describe_units(self.file.spot, quality.exploitability, quality.values),
            "exploitability_without_locks": self._measure_without_locks(),
            "ms_per_iteration": 1e3 / rate if rate else None,
            "num_boards": len(self.tree.boards),
            "num_public_states": self.tree.num_public_states,
        }

    def summarize(self, quality: Quality) -> dict[str, Any]:
        """Returns rows of the summary for people: what was solved, and how good it is."""
        assert isinstance(quality, Evaluation)
        spot = self.file.spot
        stacks = " and ".join(f"{stack:,}" for stack in sorted(set(spot.behind)))
        free = self._measure_without_locks()
        return {
            "spot": f"{self.name}, pot {spot.root_pot:,}, {stacks} behind, big blind {spot.big_blind:,}",
            "menu": format_menu(spot.menu),
            "exploitability": Text(self.format_exploitability(quality.exploitability), style="bold"),
            **({} if free is None else {"without locks": self.format_exploitability(free)}),
            "nash_conv": f"{format_small(quality.nash_conv)} chips",
            "values": format_shares(spot, quality.values),
        }

    def _measure_without_locks(self) -> float | None:
        """Returns the exploitability if locks bind no best response, so that they count as mistakes; None: no locks."""
        if not self.file.locks:
            return None
        assert isinstance(self.solver, CFRSolver)
        return self.solver.evaluate(respects_locks=False).exploitability


def describe_units(spot: HoldemSpot, exploitability: float, values: Sequence[float]) -> dict[str, Any]:
    """Returns the figures that only spots have: shares are the chips of the pot that each player takes in the end."""
    percent, mbb = _in_units(spot, exploitability)
    return {
        "exploitability_percent_of_pot": percent,
        "exploitability_mbb": mbb,
        "pot_shares": [value + paid for value, paid in zip(values, spot.paid, strict=True)],
    }


def format_chips(spot: HoldemSpot, chips: float) -> str:
    """Returns chips per hand with percent of the pot and mbb."""
    amount, share, thousandths = map(_format_amount, (chips, *_in_units(spot, chips)))
    return f"{amount} chips ({share}% of the pot, {thousandths} mbb)"


def format_shares(spot: HoldemSpot, values: Sequence[float]) -> str:
    """Returns what both players win per hand, a line each."""
    lines = []
    for name, value, paid in zip(POSITIONS, values, spot.paid, strict=True):
        share = value + paid
        percent = 100 * share / spot.root_pot
        lines.append(f"{name} {share:.4g} chips of the pot ({percent:.1f}%), net {format_utility(value)}")
    return "\n".join(lines)


def _in_units(spot: HoldemSpot, chips: float) -> tuple[float, float]:
    """Returns chips per hand as percent of the pot and in mbb."""
    return 100 * chips / spot.root_pot, 1000 * chips / spot.big_blind


def _refuse_game_options(options: SolveOptions) -> None:
    """Raises if an option was given that spots do not have."""
    if options.endgame is not None and options.game is not None:
        raise ConfigError(f"give one spot: {options.game} or --endgame {options.endgame}")
    for name in ("parameters", "form", "seed", "prune", "baseline"):
        if getattr(options, name) is not None:
            raise ConfigError(f"--{name.rstrip('s')} is for games; a spot has none")
    if options.method not in (None, "cfr"):
        raise ConfigError(f"spots are solved with method cfr, got --method {options.method}")


def read_spot(options: SolveOptions) -> SpotFile:
    """Returns the spot that the options name, with their menu."""
    _refuse_game_options(options)
    try:
        if options.endgame is None:
            assert options.game is not None
            file = load_spot(options.game)
        else:
            file = SpotFile(spot=parse_endgame(_read_endgame(options.endgame)))
        if options.menu is not None:
            file = dataclasses.replace(file, spot=dataclasses.replace(file.spot, menu=parse_menu(options.menu)))
            check_locks(file)
    except EquipoiseError as error:
        raise ParseError(f"{options.endgame or options.game}: {error}") from None
    return file


def _read_endgame(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ParseError(f"cannot be read: {describe_os_error(error)}") from None
    except UnicodeDecodeError:
        raise ParseError("is not text") from None


def _make_config(file: SpotFile, options: SolveOptions, saved: SolvedSpot | None) -> RunConfig:
    """Returns what is to be computed: what was asked for, else what the spot or the saved run says, else defaults."""
    before = saved.config if saved is not None else None
    rule = options.rule or file.rule or (before.rule if before is not None else None)
    precision = options.precision or file.precision or (before.parameters.get("precision") if before else None)
    if precision is not None and precision not in DTYPES:
        raise ConfigError(f"precision must be {' or '.join(DTYPES)}, got {precision!r}")
    threads = options.threads or file.threads or (before.threads if before is not None else 1)
    updates = options.updates or (before.updates if before is not None else Updates.ALTERNATING)
    return RunConfig(
        game="spot",
        parameters={**spot_parameters(file), "precision": str(precision or Precision.FLOAT32)},
        game_version=SPOT_VERSION,
        method="cfr",
        form="board",
        rule=normalize_rule("cfr", rule),
        updates=str(updates),
        seed=0,
        threads=threads,
        warm_start=before.warm_start if before is not None else None,
    )


def spot_parameters(file: SpotFile) -> dict[str, str]:
    """Returns all that decides what is solved, as text."""
    spot = file.spot
    rules = spot.betting_rules
    return {
        "board": format_board(spot.board),
        "pot": str(spot.root_pot),
        "stacks": ",".join(map(str, spot.stacks)),
        "big_blind": str(spot.big_blind),
        "deck": format_deck(spot.deck),
        "menu": format_menu(spot.menu),
        "oop": format_range(spot.ranges[0]),
        "ip": format_range(spot.ranges[1]),
        **({} if spot.board else {"small_blind": str(rules.small_blind), "ante": str(rules.ante)}),
        **({"bet_sizes": ",".join(map(str, spot.bet_sizes))} if spot.bet_sizes else {}),
        **({"max_raises": ",".join(map(str, spot.max_raises))} if spot.max_raises else {}),
        **({"last_street": rules.last_street.name.lower()} if rules.last_street is not Street.RIVER else {}),
        **({"rake": f"{spot.rake_rate},{spot.rake_cap}"} if spot.rake_rate else {}),
        **({"locks": format_locks(file.locks)} if file.locks else {}),
    }


def find_target(file: SpotFile, options: SolveOptions) -> Target | None:
    """Returns the exploitability that was asked for, options before the file."""
    return file.target if options.target is None else parse_target(options.target)


def _make_stopping(file: SpotFile, options: SolveOptions) -> tuple[Target | None, Stopping]:
    """Returns the target if one was asked for, and where the run stops; options go before the file."""
    target = find_target(file, options)
    iterations = options.iterations if options.iterations is not None else file.iterations
    seconds = options.seconds if options.seconds is not None else file.seconds
    is_open = target is None and iterations is None and seconds is None
    chips = DEFAULT_TARGET if is_open else target
    stopping = Stopping(
        iterations=iterations, target=None if chips is None else chips.chips(file.spot), seconds=seconds
    )
    # a limit on the command line is reason enough to stop before what the file aims at
    is_cut = options.target is None and (options.iterations is not None or options.seconds is not None)
    return (None if is_cut else target), stopping


def _shorten(text: str | None) -> str:
    """Returns a parameter for a message: ranges may fill pages."""
    if text is None:
        return "none"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _format_amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else format_small(value)


def _describe_plan(plan: HoldemPlan) -> str:
    root, num_boards = BoardFields(*plan.arrays.boards[0].tolist()), len(plan.arrays.boards)
    return (
        f"{plan.spot.name}: {root.num_hands_0:,} and {root.num_hands_1:,} hands, "
        f"{len(plan.betting.nodes):,} betting nodes, {num_boards:,} board{'s' * (num_boards > 1)}"
    )


def _count_infosets(tree: HoldemTree) -> int:
    """Returns the decisions of every hand on every board."""
    streets = [StreetFields(*row) for row in tree.arrays.streets.tolist()]
    boards = [BoardFields(*row) for row in tree.arrays.boards.tolist()]
    return sum(
        board.num_hands_0 * streets[board.street].num_nodes_0 + board.num_hands_1 * streets[board.street].num_nodes_1
        for board in boards
    )
