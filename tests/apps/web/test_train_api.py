# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
import pytest

from equipoise import load
from equipoise.apps.web import training
from equipoise.apps.web.training import Trainer, _play_out
from equipoise.core.errors import CheckpointError
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from tests.apps.web.asking import refusal


def ask(client, **wanted):
    answer = client.post("/api/train/next", json={"solutions": ["river"], **wanted})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_answer_counts_though_the_disk_is_full(serve, monkeypatch):
    def fail(*_arguments):
        raise CheckpointError("cannot write the record: no space left on device")

    client = serve()
    question = ask(client)
    monkeypatch.setattr(training, "write_text", fail)
    form = {"question": question["question"], "action": question["actions"][0]["id"]}
    assert client.post("/api/train/answer", json=form).json()["stats"]["decisions"] == 1


@pytest.mark.parametrize("text", ["[1]", '[{"verdict": "right"}]', "{}", "no list"])
def test_a_damaged_record_is_begun_anew(tmp_path, text):
    (tmp_path / "training.json").write_text(text)
    assert Trainer(None, None, tmp_path / "training.json").describe()["decisions"] == 0


def test_an_answer_is_worth_what_the_solution_says(client, solved):
    question = ask(client)
    action = question["actions"][0]
    found = client.post("/api/train/answer", json={"question": question["question"], "action": action["id"]}).json()
    place = load(solved / "river.eq").describe_place(",".join(question["line"]))
    row = place["players"][question["player"]]["hands"].index(question["hand"])
    values = place["action_ev"][row]
    assert found["loss"] == pytest.approx(max(values) - values[0])
    assert found["loss_percent"] == pytest.approx(100 * found["loss"] / place["pot"])
    assert [one["probability"] for one in found["actions"]] == pytest.approx(place["strategy"][row])
    assert values[[one["id"] for one in found["actions"]].index(found["best"])] == max(values)
    assert (found["stats"]["decisions"], found["stats"]["last"][0]["hand"]) == (1, question["hand"])


def test_a_question_is_answered_once_and_counted_across_restarts(serve):
    client = serve()
    question = ask(client)
    form = {"question": question["question"], "action": question["actions"][0]["id"]}
    assert refusal(client.post("/api/train/answer", json=form | {"action": "nothing"}))["field"] == "action"
    assert client.post("/api/train/answer", json=form).status_code == 200
    assert client.post("/api/train/answer", json=form).status_code == 404
    serve.stop()
    again = serve()
    stats = again.get("/api/train/stats").json()
    assert (stats["decisions"], stats["by_street"]["river"]["decisions"]) == (1, 1)
    assert again.delete("/api/train/stats").status_code == 204
    assert again.get("/api/train/stats").json()["decisions"] == 0


def test_questions_are_of_the_street_and_player_asked_for(client):
    for _ in range(5):
        question = ask(client, solutions=["turn"], street="river", player=1)
        assert (question["street"], question["player"], len(question["board"])) == ("river", 1, 5)
        assert sum("cards" in step and step["cards"] is not None for step in question["steps"]) == 1
    assert client.post("/api/train/next", json={"solutions": ["river"], "street": "flop"}).status_code == 409
    assert client.post("/api/train/next", json={"solutions": ["kuhn"]}).status_code == 409


def test_hands_come_as_often_as_the_solution_deals_them(solved):
    rng, met, count = np.random.default_rng(3), Counter(), 3000
    with SolvedSpot(solved / "river.eq") as spot:
        for _ in range(count):
            met.update((",".join(one["line"]), one["hand"]) for one in _play_out(spot, rng))
    place = load(solved / "river.eq").describe_place("x")
    own, reach = place["players"][1], place["reach"]
    expected = np.array(own["odds"]) / sum(own["odds"]) * reach * count
    seen = np.array([met["x", hand] for hand in own["hands"]])
    assert seen.sum() == pytest.approx(reach * count, abs=5 * np.sqrt(count))
    spread = np.sqrt(np.maximum(expected, 1))
    assert (np.abs(seen - expected) < 5 * spread).all()
