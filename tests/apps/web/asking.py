# SPDX-License-Identifier: Apache-2.0
import time

BASE = "http://127.0.0.1:8140"
HOST = {"host": "127.0.0.1:8140"}
SPOT = {
    "board": "Ks7h2d5cJs",
    "pot": 24,
    "stacks": 80,
    "big_blind": 1,
    "menu": "75%, a / a; cap: 2",
    "ranges": {"oop": "77, KK, AK, KQ:0.5, T9s, 98s", "ip": "JJ-99, KTs+, AJ, QJs, 76s"},
}
TOML = """board = "Ks7h2d5cJs"
pot = 24
stacks = 80
big_blind = 1
menu = "75%, a / a; cap: 2"
[ranges]
oop = "77, KK, AK, KQ:0.5, T9s, 98s"
ip = "JJ-99, KTs+, AJ, QJs, 76s"
"""


def wait_for(client, id, *states, seconds=20):
    """Returns a job once it is in one of some states."""
    until = time.monotonic() + seconds
    while (job := client.get(f"/api/jobs/{id}").json())["state"] not in states:
        assert time.monotonic() < until, job
        time.sleep(0.1)
    return job


def refusal(answer):
    """Returns what an answer refuses, in the one shape that errors have."""
    assert answer.status_code >= 400
    assert set(answer.json()) == {"error"}
    assert set(answer.json()["error"]) == {"code", "message", "field", "got", "hint"}
    return answer.json()["error"]
