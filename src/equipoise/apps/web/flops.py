# SPDX-License-Identifier: Apache-2.0
"""One spot on many flops, as a job of the page: each solved in turn, one row a flop of what is done on a line.

How a board is solved and summed up is in `runs.board_report`; here a job pauses, stops within a flop and tells its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from equipoise.apps.web.job_text import Command, JobSpec, Limits, MessageType
from equipoise.core.errors import EquipoiseError
from equipoise.core.reporting import Reporter
from equipoise.core.runs import RunFolder
from equipoise.games.holdem.cards import RANKS, card_rank, format_card, parse_board
from equipoise.games.holdem.flop_subsets import describe_texture
from equipoise.games.holdem.spot_file import SpotFile, parse_spot
from equipoise.runs.board_report import mean_of_column, solve_on_board, summarize_decision
from equipoise.runs.request import RunRequest

__all__ = ["ROW", "average_rows", "name_texture", "run_flops"]

ROW: Final = "flop"  # event with a row of the table


class Told(Protocol):
    """Hears what a worker says."""

    def tell(self, kind: MessageType, **fields: Any) -> None:
        """Hears a message."""
        ...

    def tell_state(self, state: str, **fields: Any) -> None:
        """Hears the state of the job."""
        ...


class Asked(Protocol):
    """Says what a worker is to do."""

    @property
    def wanted(self) -> Command:
        """Returns what the job is to do."""
        ...

    def is_interrupted(self) -> bool:
        """Returns whether it is to do anything but go on."""
        ...

    def wait_while_paused(self) -> Command:
        """Returns what is wanted once that is no longer a pause."""
        ...


def name_texture(flop: Sequence[int]) -> list[str]:
    """Returns what players call a flop: its suits, its pairs, its highest rank.

    >>> name_texture(parse_board("Ks7s2s"))
    ['monotone', 'K high']
    """
    highest = max(card_rank(card) for card in flop)
    return [*describe_texture(flop).split(), f"{RANKS[highest]} high"]


def run_flops(
    folder: RunFolder, spec: JobSpec, limits: Limits, controls: Asked, voice: Told, reporter: Reporter
) -> None:
    """Solves flop after flop; rows that are in the folder already are not solved again."""
    assert spec.spot is not None
    file = parse_spot(spec.spot)
    done = {str(event["text"]) for event in folder.events() if event["event"] == ROW}
    folder.record("begin", config={"line": spec.line, "flops": len(spec.flops)})
    voice.tell_state("running")
    for flop, count in spec.flops.items():
        if flop in done:
            continue
        while (row := _solve_flop(file, (flop, count), spec, limits, controls, reporter)) is None:
            wanted = controls.wanted
            if wanted is Command.PAUSE:
                voice.tell_state("paused")
                wanted = controls.wait_while_paused()
                if wanted is Command.RESUME:
                    voice.tell_state("running")
                    continue
            if wanted is Command.STOP:
                folder.record("end", stopped_by="interrupted")
                voice.tell_state("done", stopped_by="interrupted")
            return
        folder.record(ROW, text=flop, **row)
        done.add(flop)
        voice.tell(MessageType.FLOP, flop=flop, num_done=len(done), num_flops=len(spec.flops))
    folder.record("end", stopped_by="target")
    voice.tell_state("done", stopped_by="target")


def _solve_flop(
    file: SpotFile, flop: tuple[str, float], spec: JobSpec, limits: Limits, controls: Asked, reporter: Reporter
) -> dict[str, Any] | None:
    """Returns the row of a flop, None if somebody wants something else."""
    board, count = parse_board(flop[0]), flop[1]
    cards = {"flop": [format_card(card) for card in board], "texture": name_texture(board)}
    empty: dict[str, Any] = {"ids": [], "names": [], "player": None, "frequency": [], "ev": None, "equity": None}
    try:
        request = RunRequest.restore({**spec.request, **limits.totals})
        run = solve_on_board(file, board, request, reporter, is_interrupted=controls.is_interrupted)
        if controls.is_interrupted():
            return None
        summary = summarize_decision(run, spec.line)
        found = {name: summary[name] for name in (*empty, "percent_of_pot")}
        return {**cards, "weight": count * run.file.spot.pair_weight(), **found, "error": None}
    except EquipoiseError as error:  # one flop that cannot be solved, as where it leaves a player no hand
        return {**cards, "weight": 0.0, **empty, "percent_of_pot": None, "error": str(error)}


def average_rows(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the average row, flops weighted by how often they come."""

    def mean(name: str) -> list[float | None]:
        known = [row for row in rows if row[name] and None not in row[name]]
        weights = [row["weight"] for row in known]
        return [mean_of_column(column, weights) for column in zip(*(row[name] for row in known), strict=False)]

    return {"frequency": mean("frequency"), "ev": mean("ev"), "equity": mean("equity")}
