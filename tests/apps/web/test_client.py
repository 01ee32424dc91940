# SPDX-License-Identifier: Apache-2.0
"""The typed client against a server of its own process, which is also killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from equipoise import load
from equipoise.apps.bench.page import PageSettings, run_page
from equipoise.apps.web.client import Client, RequestError
from tests.apps.web.asking import SPOT

START = "from equipoise.apps.entry import main; main()"
LONG = SPOT | {"board": "Ks7h2d5c", "iterations": 10_000_000, "target": "0"}


class Server:
    """A server in a process of its own."""

    def __init__(self, runs, *options):
        command = [sys.executable, "-c", START, "serve", "--runs", str(runs), "--port", "0", *map(str, options)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        assert "http://127.0.0.1:" in line, line
        self.client = Client(line.split()[4].rstrip("/"))
        wait_until(lambda: _answers(self.client))

    def end(self, number):
        self.process.send_signal(number)
        self.process.communicate(timeout=30)


def _answers(client):
    try:
        return client.status().first is not None
    except RequestError:
        return False


def wait_until(is_so, seconds=30):
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def worker_of(runs):
    """Returns the process that does the jobs of a folder, None if there is none."""
    listing = subprocess.run(["ps", "-ww", "-eo", "pid,stat,args"], capture_output=True, text=True, check=True).stdout
    found = [row.split() for row in listing.splitlines() if "web.worker" in row and str(runs) in row]
    return next((int(row[0]) for row in found if not row[1].startswith("Z")), None)


@pytest.mark.slow
def test_a_killed_server_leaves_no_worker_and_loses_no_saved_work(tmp_path):
    server = Server(tmp_path)
    client = server.client
    id = client.solve(LONG).id
    wait_until(lambda: (client.job(id).progress is not None) and client.job(id).progress.iteration > 20)
    before, worker = client.job(id).progress.iteration, worker_of(tmp_path)
    server.end(signal.SIGKILL)
    wait_until(lambda: not is_alive(worker))
    assert worker_of(tmp_path) is None
    assert load(tmp_path / "jobs" / id / "result.eq").progress[-1].iteration >= before
    again = Server(tmp_path)
    wait_until(lambda: again.client.job(id).state == "running")
    wait_until(lambda: again.client.job(id).progress.iteration > before)
    again.client.stop(id)
    assert again.client.wait(id, seconds=30).state == "done"
    again.end(signal.SIGINT)
    assert worker_of(tmp_path) is None


@pytest.mark.slow
def test_the_client_walks_solves_trains_and_plays(tmp_path, solved):
    server = Server(tmp_path, solved / "river.eq", solved / "kuhn.eq")
    client = server.client
    try:
        assert client.status().first == "river"
        assert {card.id for card in client.solutions()} >= {"river", "kuhn"}
        assert client.node("river", ["x"]).player == 1
        assert client.solution("river").spot is not None
        assert client.equities("river").players[0].share[-1] == pytest.approx(1)
        assert client.gain("river").players[0].summary["gain"] >= 0
        assert client.compare("river", "river").actions[0].difference == 0
        assert client.csv("river").startswith("hand,")
        assert client.state("kuhn", "p").player == 1
        assert client.infostates("kuhn", "K:*").total == 4
        assert client.tree("kuhn").num_nodes == 58
        assert client.range("QQ+").combos == 18
        assert client.estimate(client.examples().spots[0].spot).fits
        job = client.wait(client.solve(game="kuhn", iterations=10).id, seconds=30)
        assert client.run(job.id).config["game"] == "kuhn"
        assert client.points(job.id).last > 0
        question = client.ask_question("river")
        assert client.answer_question(question.question, question.actions[0].id).stats.decisions == 1
        table = client.sit_down("uniform", "kuhn", seed=1)
        wait_until(lambda: not client.table(table.id).is_thinking)
        assert client.table(table.id).cards
        with pytest.raises(RequestError, match="no such solution") as refused:
            client.node("nobody")
        assert (refused.value.status, refused.value.code, refused.value.field) == (404, "not_found", "id")
    finally:
        server.end(signal.SIGINT)


def test_nobody_there_is_said(tmp_path):
    with pytest.raises(RequestError, match="does not answer"):
        Client("http://127.0.0.1:9", timeout=1).status()


@pytest.mark.slow
def test_the_page_is_timed(tmp_path):
    report = run_page(PageSettings(clients=3, pause=0.05, iterations=5, repeats=1, threads=1, has_browser=False))
    rows = {row["what"]: row for row in report.rows}
    assert rows["node, one reader"]["value"] > 0
    assert rows["questions answered"]["value"] > 3
    assert not report.is_partial
