# SPDX-License-Identifier: Apache-2.0
"""A client of the page's interface: typed answers, errors with their field, jobs that can be waited for.

It needs the extra `web` for its types and nothing else; requests are made with what Python has.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from equipoise.apps.web.models.games import GameList, GameState, GameTree, InfostateList
from equipoise.apps.web.models.jobs import EventList, FlopReport, JobAnswer, JobList
from equipoise.apps.web.models.lab import Differences, PointList, RunDetails, RunList
from equipoise.apps.web.models.play import AgentList, HandList, TableAnswer, Thoughts
from equipoise.apps.web.models.solutions import (
    Cards,
    Comparison,
    Equities,
    Gain,
    Node,
    SolutionCard,
    SolutionDetails,
    SolutionList,
)
from equipoise.apps.web.models.spots import Estimate, ExampleList, RangeAnswer, SpotAnswer, SpotForm
from equipoise.apps.web.models.status import Status
from equipoise.apps.web.models.train import Judgement, Question, TrainingStats
from equipoise.apps.web.settings import DEFAULT_PORT
from equipoise.core.errors import EquipoiseError

__all__ = ["Client", "RequestError"]

FINAL: Final = ("done", "failed", "interrupted", "cancelled")

Answer = TypeVar("Answer", bound=BaseModel)
Spot = SpotForm | Mapping[str, Any]
Line = str | Sequence[str]


class RequestError(EquipoiseError, RuntimeError):
    """A request that was refused, or could not be made; `field` names what was wrong."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.status, self.code, self.field = status, code, field


class Client:
    """Asks a server of `equipoise serve`."""

    def __init__(
        self, address: str = f"http://127.0.0.1:{DEFAULT_PORT}", *, token: str | None = None, timeout: float = 30.0
    ) -> None:
        """Keeps where the server is.

        Args:
            address: as `equipoise serve` prints it, without what stands behind the port.
            token: of a server that others can reach.
            timeout: seconds after which an answer is given up.
        """
        self.address, self._token, self._timeout = address.rstrip("/"), token, timeout

    def status(self) -> Status:
        """Returns how the server is."""
        return self._get(Status, "/status")

    def solutions(self) -> list[SolutionCard]:
        """Returns every solved file that may be asked for."""
        return self._get(SolutionList, "/solutions").solutions

    def solution(self, id: str) -> SolutionDetails:
        """Returns what a file says of its run."""
        return self._get(SolutionDetails, f"/solutions/{_quote(id)}")

    def upload(self, path: Path, name: str | None = None) -> SolutionCard:
        """Returns the card of a file that the server takes in."""
        query = {"name": name or path.name}
        content = self._ask("POST", "/solutions", query, path.read_bytes(), "application/octet-stream")
        return SolutionCard.model_validate_json(content)

    def rename(self, id: str, name: str) -> SolutionCard:
        """Gives a solution another name."""
        return self._send(SolutionCard, "PATCH", f"/solutions/{_quote(id)}", {"name": name})

    def remove_solution(self, id: str) -> None:
        """Removes a solution that was made or uploaded there."""
        self._ask("DELETE", f"/solutions/{_quote(id)}")

    def node(self, id: str, line: Line = "") -> Node:
        """Returns a place in a solved spot."""
        return self._get(Node, f"/solutions/{_quote(id)}/node", line=_join(line))

    def cards(self, id: str, line: Line) -> Cards:
        """Returns every next card."""
        return self._get(Cards, f"/solutions/{_quote(id)}/cards", line=_join(line))

    def equities(self, id: str, line: Line = "") -> Equities:
        """Returns both ranges from weak to strong."""
        return self._get(Equities, f"/solutions/{_quote(id)}/equities", line=_join(line))

    def gain(self, id: str, line: Line = "", *, locks: Sequence[Mapping[str, Any]] = ()) -> Gain:
        """Returns what best responses would win more, with locks if some hands played as these say."""
        place = f"/solutions/{_quote(id)}/gain"
        if locks:
            return self._send(Gain, "POST", place, {"line": _join(line), "locks": [*locks]})
        return self._get(Gain, place, line=_join(line))

    def compare(self, id: str, other: str, line: Line = "") -> Comparison:
        """Returns a place in two solutions."""
        return self._get(Comparison, f"/solutions/{_quote(id)}/compare", **{"with": other, "line": _join(line)})

    def csv(self, id: str, line: Line = "") -> str:
        """Returns a decision as CSV."""
        return self._ask("GET", f"/solutions/{_quote(id)}/csv", {"line": _join(line)}).decode()

    def state(self, id: str, line: str = "") -> GameState:
        """Returns a public state of a solved game."""
        return self._get(GameState, f"/solutions/{_quote(id)}/state", line=line)

    def infostates(self, id: str, match: str = "", *, offset: int = 0, limit: int = 100) -> InfostateList:
        """Returns information states of a solved game."""
        place = f"/solutions/{_quote(id)}/infostates"
        return self._get(InfostateList, place, match=match, offset=offset, limit=limit)

    def tree(self, id: str, limit: int = 200) -> GameTree:
        """Returns every history of a small game."""
        return self._get(GameTree, f"/solutions/{_quote(id)}/tree", limit=limit)

    def games(self) -> GameList:
        """Returns the games that the server has."""
        return self._get(GameList, "/games")

    def examples(self) -> ExampleList:
        """Returns spots to begin with."""
        return self._get(ExampleList, "/spots")

    def check_spot(self, spot: Spot) -> SpotAnswer:
        """Returns a spot as it would be solved."""
        return self._send(SpotAnswer, "POST", "/spots/check", {"spot": _dump(spot)})

    def range(self, text: str | None = None, weights: Mapping[str, float] | None = None) -> RangeAnswer:
        """Returns a range in both notations."""
        given = {"text": text} if text is not None else {"weights": dict(weights or {})}
        return self._send(RangeAnswer, "POST", "/range", given)

    def estimate(self, spot: Spot) -> Estimate:
        """Returns what solving a spot would take."""
        return self._send(Estimate, "POST", "/estimate", {"spot": _dump(spot)})

    def solve(self, spot: Spot | None = None, *, game: str | None = None, **limits: Any) -> JobAnswer:
        """Returns a job that solves a spot or a game; limits are iterations, target, seconds, and rule, method."""
        form = {"kind": "solve", "spot": None if spot is None else _dump(spot), "game": game, **limits}
        return self._send(JobAnswer, "POST", "/jobs", form)

    def submit(self, **form: Any) -> JobAnswer:
        """Returns a job of any kind, by the fields of its form."""
        return self._send(JobAnswer, "POST", "/jobs", form)

    def jobs(self) -> JobList:
        """Returns all jobs."""
        return self._get(JobList, "/jobs")

    def job(self, id: str) -> JobAnswer:
        """Returns a job with its curve."""
        return self._get(JobAnswer, f"/jobs/{_quote(id)}")

    def pause(self, id: str) -> JobAnswer:
        """Asks a job to hold on."""
        return self._send(JobAnswer, "POST", f"/jobs/{_quote(id)}/pause")

    def resume(self, id: str, **totals: Any) -> JobAnswer:
        """Lets a job go on, to new limits if there are any."""
        return self._send(JobAnswer, "POST", f"/jobs/{_quote(id)}/resume", totals or None)

    def stop(self, id: str) -> JobAnswer:
        """Asks a job to end and keep what it has."""
        return self._send(JobAnswer, "POST", f"/jobs/{_quote(id)}/stop")

    def cancel(self, id: str) -> JobAnswer:
        """Ends a job and drops what it has."""
        return self._send(JobAnswer, "POST", f"/jobs/{_quote(id)}/cancel")

    def remove_job(self, id: str) -> None:
        """Forgets a job that is over."""
        self._ask("DELETE", f"/jobs/{_quote(id)}")

    def events(self, after: int = 0) -> EventList:
        """Returns what happened since an event."""
        return self._get(EventList, "/events", after=after)

    def wait(
        self,
        id: str,
        *,
        seconds: float | None = None,
        on_progress: Callable[[JobAnswer], None] | None = None,
        every: float = 0.2,
    ) -> JobAnswer:
        """Returns a job once it is over; raises `RequestError` if that takes longer than it may.

        Args:
            id: of the job.
            seconds: that it may take; None: as long as it takes.
            on_progress: called with the job whenever it was looked at.
            every: seconds between looks.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while (job := self.job(id)).state not in FINAL:
            if on_progress is not None:
                on_progress(job)
            if until is not None and time.monotonic() > until:
                raise RequestError(0, "timeout", f"job {id} is {job.state} after {seconds:g} s")
            time.sleep(every)
        return job

    def flops(self, id: str) -> FlopReport:
        """Returns a report over flops."""
        return self._get(FlopReport, f"/flops/{_quote(id)}")

    def ask_question(self, *solutions: str, street: str | None = None, player: int | None = None) -> Question:
        """Returns a decision to practise on."""
        form = {"solutions": list(solutions), "street": street, "player": player}
        return self._send(Question, "POST", "/train/next", form)

    def answer_question(self, question: str, action: str) -> Judgement:
        """Returns what an answer was worth."""
        return self._send(Judgement, "POST", "/train/answer", {"question": question, "action": action})

    def training(self) -> TrainingStats:
        """Returns how practice goes."""
        return self._get(TrainingStats, "/train/stats")

    def agents(self) -> AgentList:
        """Returns who may be played against."""
        return self._get(AgentList, "/agents")

    def sit_down(self, agent: str, game: str | None = None, **options: Any) -> TableAnswer:
        """Returns a new table; options are parameters, seconds, seed."""
        return self._send(TableAnswer, "POST", "/tables", {"agent": agent, "game": game, **options})

    def table(self, id: str) -> TableAnswer:
        """Returns a table."""
        return self._get(TableAnswer, f"/tables/{_quote(id)}")

    def act(self, id: str, action: str, hand: int | None = None) -> TableAnswer:
        """Makes a move."""
        return self._send(TableAnswer, "POST", f"/tables/{_quote(id)}/act", {"action": action, "hand": hand})

    def deal(self, id: str) -> TableAnswer:
        """Deals the next hand."""
        return self._send(TableAnswer, "POST", f"/tables/{_quote(id)}/next")

    def thoughts(self, id: str, hand: int | None = None) -> Thoughts:
        """Returns what the agent thought in a hand that is over."""
        return self._get(Thoughts, f"/tables/{_quote(id)}/thoughts", **({} if hand is None else {"hand": hand}))

    def hands(self, id: str) -> HandList:
        """Returns the hands of a table that are over."""
        return self._get(HandList, f"/tables/{_quote(id)}/hands")

    def runs(self) -> RunList:
        """Returns everything in the folder of runs."""
        return self._get(RunList, "/runs")

    def run(self, id: str) -> RunDetails:
        """Returns a run with its configuration."""
        return self._get(RunDetails, f"/runs/{_quote(id)}")

    def points(self, id: str, after: int = 0) -> PointList:
        """Returns the numbers that a run has recorded."""
        return self._get(PointList, f"/runs/{_quote(id)}/points", after=after)

    def differences(self, *ids: str) -> Differences:
        """Returns where the configurations of runs differ."""
        return self._get(Differences, "/runs/differences", ids=",".join(ids))

    def _get(self, model: type[Answer], path: str, **query: Any) -> Answer:
        return model.model_validate_json(self._ask("GET", path, query))

    def _send(self, model: type[Answer], method: str, path: str, body: Any = None) -> Answer:
        content = None if body is None else json.dumps(body).encode()
        return model.model_validate_json(self._ask(method, path, None, content))

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        kind: str = "application/json",
    ) -> bytes:
        """Returns the body of an answer; raises `RequestError` for a refusal and where nobody answers."""
        address = f"{self.address}/api{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        if body is not None:
            headers["Content-Type"] = kind
        request = urllib.request.Request(address, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            raise _explain(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise RequestError(0, "unreachable", f"the server at {self.address} does not answer: {error}") from None


def _explain(error: urllib.error.HTTPError) -> RequestError:
    """Returns a refusal as an exception."""
    with error:
        try:
            found = json.loads(error.read())["error"]
            return RequestError(error.code, str(found["code"]), str(found["message"]), found["field"])
        except (ValueError, KeyError, TypeError):
            return RequestError(error.code, "failed", f"the server answered {error.code}")


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _join(line: Line) -> str:
    return line if isinstance(line, str) else ",".join(line)


def _dump(spot: Spot) -> dict[str, Any]:
    return spot.model_dump(exclude_none=True) if isinstance(spot, SpotForm) else dict(spot)
