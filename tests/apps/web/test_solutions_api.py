# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import json
import shutil

import pytest

from equipoise import load
from equipoise.apps.web.library import Library
from equipoise.apps.web.models.games import GameState
from equipoise.apps.web.models.solutions import Cards, Gain, Node
from equipoise.core import checkpoint
from equipoise.core.checkpoint import Kind
from equipoise.games.holdem.lock_notation import parse_lock
from equipoise.solvers.holdem.gains import describe_gain
from equipoise.solvers.holdem.locked_views import play_with_locks
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from tests.apps.web.asking import refusal


def test_listed_files_have_ids_and_figures(client):
    cards = {card["id"]: card for card in client.get("/api/solutions").json()["solutions"]}
    assert set(cards) >= {"river", "turn", "kuhn", "leduc"}
    assert (cards["river"]["kind"], cards["river"]["board"][0], cards["river"]["iterations"]) == ("spot", "Ks", 30)
    assert (cards["kuhn"]["kind"], cards["kuhn"]["name"], cards["kuhn"]["is_own"]) == ("game", "kuhn", False)


def test_a_node_says_what_the_library_says(client, solved):
    answer = client.get("/api/solutions/river/node", params={"line": "x,b75p"})
    place = load(solved / "river.eq").describe_place("check, bet 75%")
    assert answer.json() == {"solution": "river", **json.loads(json.dumps(place))}
    Node.model_validate(answer.json())


def test_next_cards_and_gains_say_what_the_library_says(client, solved):
    turn = load(solved / "turn.eq").run
    cards = client.get("/api/solutions/turn/cards", params={"line": "x,x"}).json()
    assert cards == {"solution": "turn", **json.loads(json.dumps(turn.describe_runouts("x,x")))}
    gain = client.get("/api/solutions/turn/gain", params={"line": "x"}).json()
    assert gain == {"solution": "turn", **json.loads(json.dumps(turn.describe_gain("x")))}
    Cards.model_validate(cards)
    Gain.model_validate(gain)


def test_painted_play_is_answered_without_solving_again(client, solved):
    hands = {"AKs": [1, 0, 0], "AhKd": [0.25, 0.5, 0.25]}
    form = {"line": [], "locks": [{"line": [], "hands": hands}]}
    answer = client.post("/api/solutions/river/gain", json=form).json()
    locks = (parse_lock("root: AKs: check"), parse_lock("root: AhKd: check=25%, bet 75%=50%, all-in=25%"))
    with SolvedSpot(solved / "river.eq") as spot:
        expected = describe_gain(play_with_locks(spot, locks))
    assert answer == {"solution": "river", **json.loads(json.dumps(expected))}
    plain = client.get("/api/solutions/river/gain").json()
    assert answer["players"][1]["summary"]["gain"] > plain["players"][1]["summary"]["gain"]


@pytest.mark.parametrize(
    ("locks", "status", "field"),
    [
        ([], 422, "locks"),
        ([{"hands": {"AKs": [1, 0]}}], 422, "locks[0]"),
        ([{"hands": {"AKs": [0.5, 0, 0]}}], 422, "locks[0]"),
        ([{"line": "x,x,x", "hands": {"AKs": [1, 0, 0]}}], 422, "locks[0]"),
        ([{"hands": "/etc/passwd", "play": {"check": 1}}], 422, "locks"),
    ],
)
def test_play_that_cannot_be_is_not_answered(client, locks, status, field):
    answer = client.post("/api/solutions/river/gain", json={"locks": locks})
    assert (answer.status_code, refusal(answer)["field"]) == (status, field)


def test_equities_go_from_weak_to_strong(client):
    for player in client.get("/api/solutions/river/equities").json()["players"]:
        assert player["equity"] == sorted(player["equity"])
        assert player["share"] == sorted(player["share"])
        assert player["share"][-1] == pytest.approx(1)


def test_a_solution_compared_with_itself_differs_nowhere(client):
    found = client.get("/api/solutions/river/compare", params={"with": "river", "line": "x"}).json()
    assert {row["difference"] for row in found["actions"]} == {0}
    assert {cell["difference"] for cell in found["cells"]} == {0, None}


def test_comparisons_name_actions_that_one_side_lacks(client):
    found = client.get("/api/solutions/river/compare", params={"with": "turn"}).json()
    rows = {row["id"]: row for row in found["actions"]}
    assert rows["a"]["second"] is None
    assert rows["a"]["difference"] is None
    answer = client.get("/api/solutions/river/compare", params={"with": "turn", "line": "a"})
    assert (answer.status_code, refusal(answer)["field"]) == (409, "with")


def test_exports_are_those_of_the_command_line(client):
    rows = client.get("/api/solutions/river/csv").text.splitlines()
    assert rows[0].startswith("hand,weight,equity,value,check,bet 75%,all-in")
    assert 'board = "Ks7h2d5cJs"' in client.get("/api/solutions/river/spot").text
    assert refusal(client.get("/api/solutions/river/csv", params={"line": "x,x"}))["field"] == "line"


def test_details_hold_the_spot_as_a_form(client):
    found = client.get("/api/solutions/river").json()
    assert found["spot"]["ranges"]["oop"] == "KK, 77, AK, T9s, 98s, KQ:0.5"
    assert client.post("/api/spots/check", json={"spot": found["spot"]}).json()["text"] == found["text"]
    assert found["progress"][-1]["iteration"] == 30


@pytest.mark.parametrize(
    "id", ["nobody", "../river", "%2e%2e%2friver", "river.eq", "/etc/passwd", "equipoise.games.kuhn:Kuhn", "file:x.eq"]
)
def test_only_listed_ids_are_opened(client, id):
    assert refusal(client.get(f"/api/solutions/{id}/node"))["code"] == "not_found"


def test_lines_that_are_none_are_refused_under_their_name(client):
    answer = client.get("/api/solutions/river/node", params={"line": "x,q"})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "line")
    assert "check, bet 75%, all-in" in refusal(answer)["message"]


def test_public_states_come_with_regrets(client, solved):
    found = client.get("/api/solutions/kuhn/state", params={"line": "p"}).json()
    GameState.model_validate(found)
    place = load(solved / "kuhn.eq").describe_place("p")
    assert {key: found[key] for key in place} == json.loads(json.dumps(place))
    assert len(found["regret"]) == 3
    rows = client.get("/api/solutions/kuhn/infostates", params={"match": "K:*"}).json()
    assert rows["total"] == 4
    place = found["players"][1]["infostates"].index("K:p")
    assert next(row["regret"] for row in rows["rows"] if row["infostate"] == "K:p") == found["regret"][place]


def test_small_trees_are_drawn_with_values(client, solved):
    tree = client.get("/api/solutions/kuhn/tree").json()
    assert tree["num_nodes"] == len(tree["nodes"]) == 58
    assert {node["action"] for node in tree["nodes"] if node["depth"] == 1} == {"J", "Q", "K"}
    assert tree["nodes"][0]["value"][0] == pytest.approx(load(solved / "kuhn.eq").game_value)
    assert refusal(client.get("/api/solutions/leduc/tree"))["code"] == "too_large"


def test_spots_and_games_are_asked_in_their_own_ways(client):
    assert client.get("/api/solutions/kuhn/node").status_code == 409
    assert client.get("/api/solutions/river/state").status_code == 409


def test_an_id_that_there_is_not_is_named_as_it_was_given(client):
    compared = client.get("/api/solutions/river/compare", params={"with": "nothing"})
    asked = client.post("/api/train/next", json={"solutions": ["nothing"]})
    locks = [{"line": "x", "play": {"check": 1}}]
    solved = client.post("/api/jobs", json={"kind": "resolve", "solution": "nothing", "locks": locks})
    for answer, field in ((compared, "with"), (asked, "solutions"), (solved, "solution")):
        assert (answer.status_code, refusal(answer)["field"], refusal(answer)["got"]) == (404, field, "nothing")


def test_uploads_are_listed_renamed_copied_and_removed(client, solved):
    kind = {"content-type": "application/octet-stream"}
    content = (solved / "kuhn.eq").read_bytes()
    card = client.post("/api/solutions", params={"name": "../My Kuhn.eq"}, content=content, headers=kind).json()
    assert (card["id"], card["origin"], card["is_own"]) == ("my-kuhn", "upload", True)
    assert client.patch("/api/solutions/my-kuhn", json={"name": " Kuhn! "}).json()["name"] == "Kuhn!"
    for name in ("", " ", "two\nlines", "x" * 121):
        assert refusal(client.patch("/api/solutions/my-kuhn", json={"name": name}))["field"] == "name"
    copy = client.post("/api/solutions/my-kuhn/duplicate").json()["id"]
    assert client.get(f"/api/solutions/{copy}/file").content == content
    assert client.delete("/api/solutions/my-kuhn").status_code == 204
    assert client.get("/api/solutions/my-kuhn").status_code == 404
    assert client.delete("/api/solutions/river").status_code == 409


def test_uploads_are_checked_off_the_loop_that_serves_everybody(client, solved, monkeypatch):
    loops, real = [], Library.take_in

    def take_in(self, part, name):
        with contextlib.suppress(RuntimeError):
            loops.append(asyncio.get_running_loop())
        return real(self, part, name)

    monkeypatch.setattr(Library, "take_in", take_in)
    kind = {"content-type": "application/octet-stream"}
    content = (solved / "kuhn.eq").read_bytes()
    card = client.post("/api/solutions", params={"name": "off"}, content=content, headers=kind).json()
    assert (card["id"], loops) == ("off", [])
    client.delete("/api/solutions/off")


def test_uploads_that_name_code_are_refused(client, solved, tmp_path):
    kind = {"content-type": "application/octet-stream"}
    assert client.post("/api/solutions", content=b"not a file", headers=kind).status_code == 422
    whole = checkpoint.load(solved / "kuhn.eq", Kind.RUN)
    named = {**whole.metadata, "game": "mine", "game_class": "os:system"}
    checkpoint.save(tmp_path / "bad.eq", Kind.RUN, named, {**whole.arrays, **whole.strings})
    answer = client.post("/api/solutions", content=(tmp_path / "bad.eq").read_bytes(), headers=kind)
    assert (answer.status_code, "of games that this package has" in refusal(answer)["message"]) == (422, True)


def test_a_file_that_changes_is_read_again(serve, tmp_path, solved):
    path = tmp_path / "runs" / "mine.eq"
    path.parent.mkdir()
    path.write_bytes((solved / "river.eq").read_bytes())
    client = serve(files=())
    before = client.get("/api/solutions/mine/node").json()["actions"]
    load(path).resume(iterations=60).save(path)
    assert client.get("/api/solutions/mine/node").json()["actions"] != before


def test_a_named_file_that_was_removed_is_not_listed_and_hides_no_other(serve, solved, tmp_path):
    named = tmp_path / "named.eq"
    shutil.copyfile(solved / "kuhn.eq", named)
    client = serve(files=(named, "leduc.eq"))
    assert client.get("/api/solutions/named/state").status_code == 200
    named.unlink()
    assert [one["id"] for one in client.get("/api/solutions").json()["solutions"]] == ["leduc"]
    for path in ("solutions/named", "solutions/named/state", "solutions/named/file"):
        assert client.get(f"/api/{path}").status_code == 404
    assert "file-named" not in [one["id"] for one in client.get("/api/agents").json()["agents"]]
    assert client.get("/api/status").json()["first"] == "leduc"
    named.write_bytes(b"no file of ours")
    assert refusal(client.get("/api/solutions/named/state"))["message"].startswith("named.eq is not an Equipoise file")


def test_text_that_cannot_be_sent_is_refused_and_written_out(client):
    answer = client.patch(
        "/api/solutions/kuhn", content=b'{"name": "\\ud800"}', headers={"content-type": "application/json"}
    )
    assert (answer.status_code, refusal(answer)["field"], refusal(answer)["got"]) == (422, "name", "\\ud800")
