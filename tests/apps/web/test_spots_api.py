# SPDX-License-Identifier: Apache-2.0
import functools
import threading
import urllib.parse
from pathlib import Path

import pytest

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.ranges import SavedRanges
from equipoise.apps.web.routes import spots
from equipoise.apps.web.services import read_example
from equipoise.apps.web.spots import MOST_NODES
from tests.apps.web.asking import SPOT, refusal

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("board", {"board": "KsKs2d5cJs"}),
        ("board", {"board": "Ks7h2d5cJx"}),
        ("pot", {"pot": -3}),
        ("stacks", {"stacks": [1, 2, 3]}),
        ("ranges.oop", {"ranges": {"oop": "AKx", "ip": "AA"}}),
        ("ranges", {"ranges": {"oop": "KsKh", "ip": "KsKh"}}),
        ("menu", {"menu": "banana"}),
        ("rake.rate", {"rake": {"rate": 2}}),
        ("locks[0]", {"locks": [{"line": "x", "hands": "AA"}]}),
        ("locks[0].line", {"locks": [{"line": "q", "hands": "AK", "play": {"check": 1}}]}),
        ("extra", {"extra": 1}),
        ("iterations", {"iterations": "many"}),
        ("iterations", {"iterations": 2**70}),
        ("seconds", {"seconds": -1}),
        ("precision", {"precision": ""}),
        ("precision", {"precision": "float16"}),
        ("rule", {"rule": ""}),
        ("rule", {"rule": "mine.py:Class"}),
        ("title", {"title": "two\nlines"}),
        ("board", {"board": ""}),
        ("pot", {"pot": None}),
        ("ranges.ip", {"ranges": {"oop": "AA"}}),
        ("last_street", {"last_street": "flop"}),
        ("menu", {"menu": ["a"]}),
        ("menu", {"menu": 5}),
        ("locks[0].line", {"locks": [{"line": 5, "play": {"x": 1}}]}),
    ],
)
def test_what_is_wrong_is_named(client, field, change):
    answer = client.post("/api/spots/check", json={"spot": SPOT | change})
    assert (answer.status_code, refusal(answer)["field"]) == (422, field)


def test_messages_of_forms_are_of_forms(client):
    for change in ({"board": ""}, {"stacks": None}, {"ranges": {"oop": "AA"}}):
        assert "cut short" not in refusal(client.post("/api/spots/check", json={"spot": SPOT | change}))["message"]
    found = refusal(client.post("/api/range", json={"text": ""}))
    assert (found["field"], found["got"]) == ("text", "")
    assert refusal(client.post("/api/board", json={"text": "KsKs2d"}))["got"] == "Ks twice"


def test_what_a_file_says_of_its_solve_is_looked_at_too(client):
    text = client.post("/api/spots/check", json={"spot": SPOT}).json()["text"]
    assert refusal(client.post("/api/spots/parse", json={"text": 'rule = ""\n' + text}))["field"] == "rule"


def test_ranges_of_files_are_refused(client):
    ranges = {"oop": {"file": "/etc/passwd"}, "ip": "AA"}
    assert client.post("/api/spots/check", json={"spot": SPOT | {"ranges": ranges}}).status_code == 422
    text = 'board="Ks7h2d5cJs"\npot=2\nstacks=3\nranges={oop={file="/etc/passwd"}, ip="AA"}'
    answer = client.post("/api/spots/parse", json={"text": text})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "ranges.oop")


def test_a_spot_goes_to_its_file_and_back(client):
    found = client.post("/api/spots/check", json={"spot": SPOT}).json()
    again = client.post("/api/spots/parse", json={"text": found["text"]}).json()
    assert again == found
    assert found["combos"] == [3 + 3 + 12 + 6 + 3 * 0 + 4 + 4 - 0, again["combos"][1]]


def test_ranges_go_both_ways(client):
    read = client.post("/api/range", json={"text": "AKs:0.5, QQ+"}).json()
    assert (read["text"], read["combos"], read["cells"]["AKs"]) == ("QQ+, AKs:0.5", 20, 0.5)
    assert client.post("/api/range", json={"weights": read["weights"]}).json() == read
    painted = client.post("/api/range", json={"weights": {"AhKh": 1, "AKs": 0.5}}).json()
    assert (painted["mixed"], painted["weights"]["AhKh"], painted["weights"]["AsKs"]) == (["AKs"], 1, 0.5)
    assert client.post("/api/range", json={"text": "QQ", "board": "Qs7h2d"}).json()["combos"] == 3


def test_a_bad_range_says_what_was_got_and_what_would_do(client):
    found = refusal(client.post("/api/range", json={"text": "AA, AKx"}))
    assert (found["code"], found["field"], found["got"]) == ("range", "text", "AKx")
    assert "QQ+" in found["hint"]


def test_ranges_are_kept_under_names(client):
    assert client.put("/api/ranges/BTN open", json={"text": "22+, A2s+"}).json()["combos"] == 78 + 48
    assert [one["name"] for one in client.get("/api/ranges").json()["ranges"]] == ["BTN open"]
    assert client.delete("/api/ranges/BTN open").status_code == 204
    assert client.delete("/api/ranges/BTN open").status_code == 404


def test_kept_ranges_that_cannot_be_read_hide_no_others(tmp_path):
    (tmp_path / "ranges.json").write_text('{"mine": "AA", "broken": "AKx", "other": 5}')
    assert [one["name"] for one in SavedRanges(tmp_path / "ranges.json").list_ranges()] == ["mine"]


def test_a_range_that_cannot_be_is_not_kept(client):
    found = refusal(client.put("/api/ranges/mine", json={"text": "AKx"}))
    assert (found["code"], found["field"], found["got"]) == ("range", "text", "AKx")


def test_boards_are_read(client):
    assert client.post("/api/board", json={"text": "Ks 7h,2d"}).json()["cards"] == ["Ks", "7h", "2d"]
    assert refusal(client.post("/api/board", json={"text": "Ks7h"}))["field"] == "board"


def test_estimates_say_what_a_solve_takes(client):
    found = client.post("/api/estimate", json={"spot": SPOT}).json()
    assert (found["boards"], found["fits"], found["menu"]) == (1, True, SPOT["menu"])
    assert found["bytes"] > found["remedies"][0]["bytes"] > 0
    assert found["ms_per_iteration"] > 0


def test_estimates_count_the_limit_of_a_job(serve):
    found = serve(job_bytes=1000).post("/api/estimate", json={"spot": SPOT}).json()
    assert (found["fits"], found["job_bytes"]) == (False, 1000)


def test_examples_are_those_of_the_repository(client):
    for example in client.get("/api/spots").json()["spots"]:
        assert example["text"] == (ROOT / "examples" / "spots" / f"{example['id']}.toml").read_text()
        assert read_example(example["id"]) == example["text"]


def test_menus_have_names(client):
    assert "libratus" in {menu["name"] for menu in client.get("/api/menus").json()["menus"]}


@pytest.mark.parametrize("name", ["BTN/CO 3bet", "100 %?", "Größe 开"])
def test_names_of_ranges_are_what_people_write(client, name):
    path = f"/api/ranges/{urllib.parse.quote(name, safe='')}"
    assert client.put(path, json={"text": "AA"}).json()["name"] == name
    assert name in [one["name"] for one in client.get("/api/ranges").json()["ranges"]]
    assert client.delete(path).status_code == 204


@pytest.mark.slow
@pytest.mark.parametrize("locks", [None, [{"line": "x", "play": {"check": 1}}]], ids=["free", "locked"])
@pytest.mark.parametrize("path", ["/api/estimate", "/api/jobs"])
def test_menus_without_end_are_refused_before_they_are_listed(client, path, locks):
    menu = ", ".join(f"{percent}%" for percent in range(10, 600, 10)) + "; cap: 9"
    spot = SPOT | {"board": "Ks7h2d", "stacks": 1000, "menu": menu, "locks": locks}
    found = refusal(client.post(path, json={"spot": spot}))
    assert (found["code"], found["field"]) == ("too_large", "menu")
    assert f"more than {MOST_NODES} nodes" in found["message"]


def test_estimates_are_made_one_at_a_time_and_keep_nobody_waiting(client, monkeypatch):
    begun, may_go_on, at_once, most = threading.Event(), threading.Event(), [], []

    def hold(*_given, **_named):
        at_once.append(None)
        most.append(len(at_once))
        begun.set()
        assert may_go_on.wait(20)
        at_once.pop()
        raise ApiError(422, "held up")

    monkeypatch.setattr(spots, "estimate_spot", hold)
    ask = functools.partial(client.post, "/api/estimate", json={"spot": SPOT})
    asking = [threading.Thread(target=ask) for _ in range(50)]
    for thread in asking:
        thread.start()
    assert begun.wait(20)
    assert client.post("/api/board", json={"text": "Ks7h2d"}).status_code == 200  # more wait than there are threads
    may_go_on.set()
    for thread in asking:
        thread.join(20)
    assert most == [1] * len(asking)
