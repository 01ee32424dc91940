# SPDX-License-Identifier: Apache-2.0
"""A solve from ready to done: records, reasons to stop, quality, result, file. It neither prints nor hears signals.

The command line, a notebook and a server drive the same object: one thread goes through `advance`, others may ask for
strategies, saves and an end meanwhile. What differs between games and spots is in `game_run` and `spot_run`.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.copying import NotCopied
from equipoise.core.errors import ConfigError
from equipoise.core.files import StrPath
from equipoise.core.formatting import format_duration, format_optional, format_utility
from equipoise.core.interruption import IsInterrupted, never
from equipoise.core.progress import Progress, SampledFigures
from equipoise.core.provenance import find_commit
from equipoise.responses.against import AgainstSolver
from equipoise.responses.configured import AGAINST_FIELDS
from equipoise.responses.outcomes import REPORT_SECONDS, SeatOutcome, report_seats
from equipoise.runs.guarded import GuardedSolver
from equipoise.runs.request import RunRequest
from equipoise.runs.threads import ThreadTrial
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.driver import LONG_WAIT_SECONDS, Solver, is_at_most
from equipoise.solvers.driver import run as drive
from equipoise.solvers.saved_run import RunConfig, RunRecord
from equipoise.solvers.stopping import Stopping, StopReason
from equipoise.solvers.substitution import WarmStart, WarmStartReport

__all__ = ["Quality", "Run", "RunSizes", "check_resumable"]

Quality = Evaluation | SampledFigures


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunSizes:
    """How large something to solve is; None: not known, or not counted.

    >>> from equipoise.runs import prepare_run
    >>> sizes = prepare_run("kuhn").sizes
    >>> sizes.num_histories, sizes.num_infosets
    (58, 12)
    """

    num_histories: int | None
    num_infosets: int | None
    tree_bytes: int
    table_bytes: int
    build_seconds: float
    why: str | None = None  # there is no exploitability


class Run(NotCopied, abc.ABC):
    """A solve under way.

    >>> from equipoise.runs import RunRequest, prepare_run
    >>> run = prepare_run("kuhn", RunRequest(rule="cfr+", iterations=50))
    >>> for record in run.advance():
    ...     last = record
    >>> run.label, last.iteration
    ('kuhn · cfr+', 50)
    """

    kept_by = "its `save` writes a file, or take a Solution"
    is_exact = False  # whether one iteration is the whole of it
    keeps_best = False  # whether the run goes back, when it ends, to the evaluation with the lowest exploitability
    typical_slope = 0.0  # of log-log curves, where experience says more than the first iterations

    def __init__(
        self,
        *,
        name: str,
        config: RunConfig,
        solver: Solver,
        stopping: Stopping,
        records: list[Progress],
        is_target_asked_for: bool,
    ) -> None:
        self.name = name  # for titles
        self.config = config
        self.solver = solver
        self.stopping = stopping
        self.records = records  # grows
        self.is_target_asked_for = is_target_asked_for  # so that missing it is worth a word
        self.stopped_by: StopReason | None = None  # None: going on, or not begun
        self._guarded = GuardedSolver(solver)
        self._wanted_no_more = threading.Event()
        self._best: tuple[int, dict[str, npt.NDArray[np.generic]]] | None = None  # records so far, and the state there

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.label}: iteration {self.solver.iteration:,}>"

    @property
    def label(self) -> str:
        """Returns what the run computes, in a few words."""
        return f"{self.name} · {self.algorithm}"

    @property
    def algorithm(self) -> str:
        """Returns the rule, or the method of runs without one."""
        return self.config.rule or self.config.method

    @property
    def is_full(self) -> bool:
        """Returns whether tables that grow have reached their limit, so that the run is over."""
        return False

    @property
    @abc.abstractmethod
    def sizes(self) -> RunSizes:
        """Returns how large it is now."""

    @functools.cached_property
    def outcomes(self) -> tuple[SeatOutcome, ...]:
        """Returns how each seat's learner fared against a response; asked for when the run is over."""
        if not isinstance(self.solver, AgainstSolver):
            return ()
        with self._guarded.turns.taken():
            return report_seats(self.solver, seed=self.config.seed, seconds=REPORT_SECONDS)

    def try_threads(self) -> None:
        """Lets the first iterations find how many threads help; what is computed does not depend on it."""
        if isinstance(self.solver, CFRSolver):
            self._guarded.trial = ThreadTrial(self.solver)

    def describe_against(self) -> dict[str, Any]:
        """Returns the keys of a run against a response."""
        config = self.config
        return {
            **{name: getattr(config, name) for name in AGAINST_FIELDS},
            "seats": [dataclasses.asdict(one) for one in self.outcomes] if config.against is not None else None,
        }

    def stop(self) -> None:
        """Ends the run at the next native call, from whatever thread; a last record is yielded."""
        self._wanted_no_more.set()

    @abc.abstractmethod
    def set_limits(self, request: RunRequest) -> None:
        """Sets where the run stops when it goes on: at the limits of a request, which has nothing else."""

    def find_end(self) -> StopReason | None:
        """Returns why there is nothing left to do, None if there is."""
        if not self.records:
            return None
        reason = self.stopping.reason(self.records[-1])
        return StopReason.MEMORY if reason is None and self.is_full else reason

    def advance(
        self, *, is_interrupted: IsInterrupted = never, on_advance: Callable[[Progress], None] = lambda _: None
    ) -> Iterator[Progress]:
        """Runs to the stopping point and yields a record at each evaluation; `stopped_by` then says which it was.

        Args:
            is_interrupted: asked now and then; `stop` has the same effect.
            on_advance: called every few seconds between two evaluations that lie far apart.
        """
        self._wanted_no_more.clear()
        self.stopped_by = self.find_end()
        if self.stopped_by is not None:
            return
        if self.keeps_best and self.records:
            self._remember(self.records[-1])
        for record in drive(
            self._guarded,
            iterations=self.stopping.iterations,
            target=self.stopping.target,
            seconds=self.stopping.seconds,
            seconds_before=self.records[-1].seconds if self.records else 0.0,
            is_interrupted=lambda: self._wanted_no_more.is_set() or is_interrupted(),
            on_advance=on_advance,
            typical_slope=self.typical_slope,
        ):
            self.records.append(record)
            if isinstance(self.solver, CFRSolver):
                self.config = dataclasses.replace(self.config, threads=self.solver.num_threads)
            if self.keeps_best:
                self._remember(record)
            yield record
        self.stopped_by = self._find_reason(is_interrupted)
        self._go_back()

    def _remember(self, record: Progress) -> None:
        """Keeps a copy of the run if no record has a lower exploitability."""
        values = [each.exploitability for each in self.records if each.exploitability is not None]
        is_measured = (
            record.exploitability is not None and (record.evaluated_at or record.iteration) == record.iteration
        )
        if is_measured and record.exploitability == min(values):
            state = {name: np.array(array) for name, array in self._guarded.state().items()}
            self._best = len(self.records), state

    def _go_back(self) -> None:
        """Takes the run back to where it was best, if it was to keep that; later records are dropped."""
        if self._best is None:
            return
        count, state = self._best
        self._best = None
        if count < len(self.records):
            self._guarded.restore(state)
            del self.records[count:]

    def _find_reason(self, is_interrupted: IsInterrupted) -> StopReason:
        if self.is_exact:
            return StopReason.SOLVED
        if self.records and (met := self.stopping.reason(self.records[-1])) is not None:
            return met
        was_interrupted = self._wanted_no_more.is_set() or is_interrupted()
        return StopReason.MEMORY if self.is_full and not was_interrupted else StopReason.INTERRUPTED

    @property
    def misses_target(self) -> bool:
        """Returns whether a target was asked for and not reached."""
        return self.is_target_asked_for and not is_at_most(self.records[-1].exploitability, self.stopping.target)

    def measure(self) -> Quality:
        """Returns the quality of what the run would output now; what the last record was made from, if it is that."""
        return self._guarded.evaluate()

    def measure_at_the_end(self) -> Quality | None:
        """Returns the quality to report; nobody who interrupted waits long for it.

        Then it is what was last found, before the last iterations; None if nothing was since a saved run went on.
        """
        if self.stopped_by is not StopReason.INTERRUPTED or not self.is_slow:
            return self.measure()
        return self._guarded.last_evaluation

    @property
    def is_slow(self) -> bool:
        """Returns whether an iteration, and so an evaluation, takes long enough to be waited for."""
        rate = self.records[-1].iterations_per_second
        return self._guarded.can_stop and 0 < rate < 1 / LONG_WAIT_SECONDS

    def _record_now(self) -> RunRecord:
        """Returns what a file says of the run; the last record has older figures if this iteration has none."""
        stopped_by = None if self.stopped_by is None else str(self.stopped_by)
        return RunRecord(config=self.config, progress=self._records_now(), stopped_by=stopped_by)

    def _records_now(self) -> tuple[Progress, ...]:
        if not self.records:
            raise ConfigError("nothing is computed yet: there is nothing to save")
        last, iteration = self.records[-1], self.solver.iteration
        if last.iteration == iteration:
            return tuple(self.records)
        touched = self.solver.nodes_touched
        return *self.records, dataclasses.replace(
            last, iteration=iteration, nodes_touched=touched, evaluated_at=last.evaluated_at or last.iteration
        )

    @abc.abstractmethod
    def warm_start(self, path: StrPath, config: WarmStart) -> WarmStartReport:
        """Begins where the strategy in a file leaves off."""

    @abc.abstractmethod
    def file_content(self) -> dict[str, Any]:
        """Returns the arrays and strings that a file of the run holds now."""

    @abc.abstractmethod
    def save(self, path: StrPath) -> None:
        """Writes the run as it stands to a file."""

    def format_exploitability(self, value: float | None) -> str:
        """Returns an exploitability as people read it."""
        return format_optional(value)

    def format_value(self, value: float) -> str:
        """Returns what the first player wins as people read it."""
        return format_utility(value)

    def estimate_time(self, record: Progress) -> str | None:
        """Returns what a record says of the time that the run will take, None if nothing yet."""
        return None

    def describe_limits(self) -> str:
        """Returns where the run will stop, in words."""
        stopping = self.stopping
        limits = {
            "iteration": None if stopping.iterations is None else f"{stopping.iterations:,}",
            "exploitability": None if stopping.target is None else self.format_exploitability(stopping.target),
            "time": None if stopping.seconds is None else format_duration(stopping.seconds),
        }
        return " or ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)

    def regrets(self) -> npt.NDArray[Any]:
        """Returns the table of regrets as it is now, on the run's tree; raises `ConfigError` if there is none."""
        with self._guarded.turns.taken():
            found = self.solver.state().get("regret_sum")
            if found is None:
                whose = f"method {self.config.method}" + (" against a response" if self.config.against else "")
                raise ConfigError(f"{whose} keeps no table of regrets by which a search could estimate")
            return found.copy()

    def describe_own(self, quality: Quality) -> dict[str, Any]:
        """Returns the keys of a result that only this kind of run has."""
        return {}

    def describe(self, quality: Quality) -> dict[str, Any]:
        """Returns the result under the documented keys."""
        if not self.records:
            raise ConfigError("nothing is computed yet: there is nothing to describe")
        config, last, sizes = self.config, self.records[-1], self.sizes
        exact = quality if isinstance(quality, Evaluation) else None
        sampled = quality if isinstance(quality, SampledFigures) else None
        return {
            "game": config.game,
            "rule": config.rule,
            "iterations": last.iteration,
            "seconds": last.seconds,
            "exploitability": None if exact is None else exact.exploitability,
            "nash_conv": None if exact is None else exact.nash_conv,
            "game_value": None if exact is None else exact.values[0],
            "num_histories": sizes.num_histories,
            "num_infosets": sizes.num_infosets,
            "seed": config.seed,
            "version": config.equipoise_version,
            "commit": find_commit(),
            "parameters": dict(config.parameters),
            "game_version": config.game_version,
            "method": config.method,
            "form": config.form,
            "prune": config.prune,
            "updates": config.updates,
            "threads": config.threads,
            "warm_start": config.warm_start,
            "baseline": config.baseline,
            "traversals": config.traversals,
            "stopped_by": None if self.stopped_by is None else str(self.stopped_by),
            "target": self.stopping.target,
            "values": None if exact is None else list(exact.values),
            "best_response_values": None if exact is None else list(exact.best_response_values),
            "why": sizes.why,
            "sampled": None if sampled is None else dataclasses.asdict(sampled),
            "nodes_touched": last.nodes_touched,
            "build_seconds": sizes.build_seconds,
            "tree_bytes": sizes.tree_bytes,
            "table_bytes": sizes.table_bytes,
            **self.describe_own(quality),
            "progress": [dataclasses.asdict(record) for record in self.records],
        }


def check_resumable(where: object, before: RunConfig, config: RunConfig) -> None:
    """Raises `ConfigError` with every difference if the run that is saved somewhere is another one."""
    differences = before.differences(config)
    if differences:
        raise ConfigError(f"{where} holds another run: {'; '.join(differences)}")
