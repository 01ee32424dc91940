# SPDX-License-Identifier: Apache-2.0
import time
import tomllib

import pytest

from equipoise.agents.files import game_of_file, load_agent
from equipoise.apps.web import table_files
from equipoise.core.errors import CheckpointError
from equipoise.evaluation.aivat import Aivat
from equipoise.evaluation.holdem.solved import SolvedForm
from equipoise.solvers.holdem.solved_spot import view_strategy
from tests.apps.web.asking import refusal


def sit_down(client, **form):
    answer = client.post("/api/tables", json={"seed": 1, **form})
    assert answer.status_code == 201, answer.text
    return _settle(client, answer.json())


def _settle(client, table):
    until = time.monotonic() + 20
    while table["is_thinking"]:
        assert time.monotonic() < until
        time.sleep(0.01)
        table = client.get(f"/api/tables/{table['id']}").json()
    return table


def act(client, table, action):
    answer = client.post(f"/api/tables/{table['id']}/act", json={"action": action, "hand": table["hand"]})
    assert answer.status_code == 200, answer.text
    return _settle(client, answer.json())


def play_hand(client, table, choose):
    """Returns a table after its hand was played to the end."""
    while not table["is_over"]:
        assert table["their_cards"] is None
        table = act(client, table, choose(table))
    assert table["error"] is None
    return table


def play_hands(client, table, count, choose):
    total = 0.0
    for number in range(1, count + 1):
        table = play_hand(client, table, choose)
        assert table["result"]["hands"] == number
        total += table["won"]
        assert table["result"]["total"] == pytest.approx(total)
        if number < count:
            table = _settle(client, client.post(f"/api/tables/{table['id']}/next").json())
    return table


def first(table):
    return table["actions"][0]["id"]


def test_cards_that_are_hidden_are_nowhere_before_the_end(client):
    table = sit_down(client, agent="call", game="leduc")
    table = act(client, table, table["actions"][0]["id"])
    assert [step["cards"] for step in table["history"] if step["cards"]] == [table["board"]]
    assert not table["is_over"]
    shown = {*table["cards"], *table["board"]}
    hidden = {f"{rank}{suit}" for rank in "JQK" for suit in "sh"} - shown
    assert not [card for card in hidden if card in str({**table, "title": ""})]
    kuhn = sit_down(client, agent="call", game="kuhn")
    assert not [step for step in kuhn["history"] if step["cards"]]


@pytest.mark.parametrize(
    ("game", "agent"),
    [("kuhn", "continual"), ("leduc", "uniform"), ("liars_dice", "uniform"), ("goofspiel", "uniform")],
)
def test_games_are_played_to_the_end(client, game, agent):
    table = play_hands(client, sit_down(client, agent=agent, game=game), 3, first)
    assert (table["hand"], table["actions"], table["your_turn"]) == (3, [], False)
    assert table["revealed"]


def test_ten_hands_of_leduc_have_an_interval_and_an_estimate_with_less_spread(client):
    table = play_hands(client, sit_down(client, agent="file-leduc"), 10, lambda table: table["actions"][-1]["id"])
    result = table["result"]
    assert result["interval"][0] < result["mean"] < result["interval"][1]
    width = result["interval"][1] - result["interval"][0]
    assert result["aivat"]["interval"][1] - result["aivat"]["interval"][0] < width
    assert result["mbb"] == pytest.approx(1000 * result["mean"])


def test_holdem_offers_legal_bets_and_writes_histories(client):
    table = sit_down(client, agent="call", game="holdem")
    assert (table["seat"], table["button"], table["to_call"], len(table["cards"])) == (1, 1, 50, 2)
    assert (table["raise"]["least"], table["raise"]["most"]) == (200, 20000)
    table = act(client, table, "r300")
    assert (table["street"], table["pot"], len(table["board"])) == ("flop", 600, 3)
    table = play_hand(client, table, lambda table: "c")
    text = client.get(f"/api/tables/{table['id']}/history.phh").text
    hand = tomllib.loads(text)["1"]
    assert hand["actions"][2:4] == ["p2 cbr 300", "p1 cc"]
    assert sum(hand["finishing_stacks"]) == sum(hand["starting_stacks"])
    assert hand["finishing_stacks"][1] - 20000 == table["won"]


@pytest.mark.parametrize("action", ["r100", "r999999", "r150x", "", "0", "raise", "r-5"])
def test_moves_that_are_not_legal_are_refused(client, action):
    table = sit_down(client, agent="call", game="holdem")
    answer = client.post(f"/api/tables/{table['id']}/act", json={"action": action})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "action")


def test_what_it_thought_is_told_after_the_hand(client):
    table = sit_down(client, agent="file-river")
    assert client.get(f"/api/tables/{table['id']}/thoughts").status_code == 409
    table = play_hand(client, table, first)
    thoughts = client.get(f"/api/tables/{table['id']}/thoughts").json()["decisions"]
    mix = {action["id"]: action["probability"] for action in thoughts[0]["actions"]}
    assert sum(mix.values()) == pytest.approx(1)
    assert mix[thoughts[0]["chosen"]] > 0
    assert "".join(thoughts[0]["cards"]) in thoughts[0]["range"]["hands"]
    assert thoughts[0]["cards"] == table["their_cards"]
    assert len(thoughts[0]["grid"]["names"]) == 169


def test_a_full_disk_ends_no_game(client, monkeypatch):
    shown = sit_down(client, agent="uniform", game="kuhn")

    def fail(*_arguments):
        raise CheckpointError("cannot write the table: no space left on device")

    monkeypatch.setattr(table_files, "write_text", fail)
    table = play_hands(client, shown, 2, first)
    assert (table["hand"], table["is_over"], table["error"]) == (2, True, None)


def test_no_hand_is_dealt_while_one_is_being_scored(client):
    shown = sit_down(client, agent="uniform", game="kuhn")
    table = client.app.state.services.tables.find(shown["id"])
    play_hand(client, shown, first)
    table.is_thinking = True  # as between the last move and the end of its thread
    assert client.post(f"/api/tables/{table.id}/next").status_code == 409
    table.is_thinking = False
    assert client.post(f"/api/tables/{table.id}/next").json()["hand"] == 2


def test_moves_out_of_turn_are_refused(client):
    table = play_hand(client, sit_down(client, agent="uniform", game="kuhn"), first)
    late = client.post(f"/api/tables/{table['id']}/act", json={"action": "0"})
    assert late.status_code == 409
    other = client.post(f"/api/tables/{table['id']}/act", json={"action": "0", "hand": 7})
    assert refusal(other)["field"] == "hand"
    second = client.post(f"/api/tables/{table['id']}/next").json()
    assert (second["hand"], second["seat"]) == (2, 0)
    assert client.post(f"/api/tables/{table['id']}/next").status_code == 409


@pytest.mark.parametrize(
    "agent",
    [
        *("mine.py:Agent", "equipoise.agents.simple:UniformAgent", "file:/etc/passwd", "file:x.eq", "search:x.eq"),
        *("uci:stockfish", "gtp:gnugo --mode gtp", "bot:./bot", "bot:rm -rf", "rebel:runs/x", "supremus:/etc/passwd"),
    ],
)
def test_agents_that_are_not_listed_are_refused(client, agent):
    answer = client.post("/api/tables", json={"agent": agent, "game": "kuhn"})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "agent")


@pytest.mark.parametrize("game", ["mine.py:Game", "openspiel:chess", "game.efg", "matrix"])
def test_games_that_are_not_listed_are_not_played(client, game):
    answer = client.post("/api/tables", json={"agent": "uniform", "game": game})
    assert (answer.status_code, refusal(answer)["field"]) == (422, "game")


def test_lists_have_agents_games_and_tables(client):
    agents = {agent["id"]: agent for agent in client.get("/api/agents").json()["agents"]}
    assert {"supremus", "continual", "file-river", "file-kuhn"} <= set(agents)
    assert not {"search", "ismcts", "translate", "file"} & set(agents)
    games = {game["id"]: game for game in client.get("/api/games").json()["games"]}
    assert games["leduc"]["can_play"]
    assert {row["name"] for row in games["kuhn"]["parameters"]} == {"players"}
    table = sit_down(client, agent="uniform", game="kuhn")
    assert client.get("/api/tables").json()["tables"][0]["id"] == table["id"]
    assert client.delete(f"/api/tables/{table['id']}").status_code == 204
    assert client.get(f"/api/tables/{table['id']}").status_code == 404


def test_the_size_of_a_search_is_told_after_the_hand(client):
    table = sit_down(client, agent="supremus", game="holdem", parameters={"board": "Ks7h2d5cJs", "pot": 200})
    table = play_hand(client, table, first)
    decisions = client.get(f"/api/tables/{table['id']}/thoughts").json()["decisions"]
    assert decisions
    assert all(decision["num_searched"] > 1 for decision in decisions)


def _restart(serve, table):
    """Returns a client of a new server on the same folder and the table there, without what only clocks tell."""
    serve.stop()
    client = serve()
    return client, client.get(f"/api/tables/{table['id']}").json()


@pytest.mark.parametrize(("form", "choose"), [({"agent": "file-leduc"}, 0), ({"agent": "call", "game": "holdem"}, -1)])
def test_a_restart_finds_tables_with_the_hand_as_it_was(serve, form, choose):
    client = serve()
    table = play_hands(client, sit_down(client, **form), 2, lambda table: table["actions"][choose]["id"])
    hands = client.get(f"/api/tables/{table['id']}/hands").json()
    thoughts = client.get(f"/api/tables/{table['id']}/thoughts?hand=1").json()
    client, again = _restart(serve, table)
    assert again == table
    table = _settle(client, client.post(f"/api/tables/{table['id']}/next").json())
    if table["your_turn"]:
        client, again = _restart(serve, table)
        assert again == table
    table = play_hand(client, table, lambda table: table["actions"][choose]["id"])
    assert table["result"]["hands"] == 3
    assert client.get(f"/api/tables/{table['id']}/hands").json()["hands"][:2] == hands["hands"]
    assert client.get(f"/api/tables/{table['id']}/thoughts?hand=1").json() == thoughts
    assert [row["hands"] for row in client.get("/api/tables").json()["tables"]] == [3]
    other = sit_down(client, **form)
    assert other["id"] != table["id"]


def test_a_hand_goes_on_as_it_would_have_without_a_restart(serve):
    def play(is_restarted):
        client = serve()
        table = sit_down(client, agent="file-leduc", seed=4)
        moves = 0
        while not table["is_over"]:
            if is_restarted and moves:
                client, table = _restart(serve, table)
            table = act(client, table, table["actions"][0]["id"])
            moves += 1
        serve.stop()
        return {**table, "id": ""}

    assert play(True) == play(False)


@pytest.mark.parametrize("id", ["t1", "../t1", "t0", "t1.how", "t99999999999"])
def test_tables_that_are_none_are_not_looked_for_on_disk(serve, tmp_path, id):
    client = serve()
    (tmp_path / "runs" / "t1.how.json").write_text("{}")
    assert client.get(f"/api/tables/{id}").status_code == 404
    assert client.delete(f"/api/tables/{id}").status_code in (404, 405)


def test_a_table_whose_agent_is_gone_says_so_and_can_be_left(serve):
    client = serve()
    table = sit_down(client, agent="file-leduc")
    serve.stop()
    client = serve(files=("kuhn.eq",))
    answer = client.get(f"/api/tables/{table['id']}")
    assert (answer.status_code, refusal(answer)["field"]) == (409, "id")
    assert client.delete(f"/api/tables/{table['id']}").status_code == 204
    assert client.get("/api/tables").json()["tables"] == []


@pytest.mark.parametrize("where", ["begin_game", "observe", "act"])
def test_a_table_whose_agent_dies_breaks_the_hand_off_and_goes_on(client, monkeypatch, where):
    table = sit_down(client, game="kuhn", agent="file-kuhn")
    table = play_hand(client, table, first)
    agent = client.app.state.services.tables.find(table["id"]).agent

    def die(*_arguments, **_named):
        raise RuntimeError("it is dead")

    with monkeypatch.context() as patch:
        patch.setattr(type(agent), where, die)
        table = _settle(client, client.post(f"/api/tables/{table['id']}/next").json())
        while not table["is_over"]:
            table = act(client, table, first(table))
    assert (table["error"], table["won"]) == ("the agent failed: RuntimeError", None)
    assert table["result"]["hands"] == 1
    for number in (2, 3):  # in both seats
        table = _settle(client, client.post(f"/api/tables/{table['id']}/next").json())
        table = play_hand(client, table, first)
        assert table["result"]["hands"] == number
    assert table["result"]["aivat"]["mean"] is not None


def test_thoughts_about_a_spot_are_of_its_range_and_worth_what_the_spot_says(client, solved):
    table = play_hand(client, sit_down(client, agent="file-river"), first)
    while not (thoughts := client.get(f"/api/tables/{table['id']}/thoughts").json()["decisions"]):
        table = _settle(client, client.post(f"/api/tables/{table['id']}/next").json())
        table = play_hand(client, table, first)
    thought, agent = thoughts[0], 1 - table["seat"]
    line = ",".join(step["id"] for step in _steps_before(client, table, agent))
    node = client.get("/api/solutions/river/node", params={"line": line}).json()
    own = node["players"][agent]
    assert sorted(thought["range"]["hands"]) == sorted(own["hands"])
    names = {"".join(thought["cards"]), "".join(reversed(thought["cards"]))}
    row = next(place for place, hand in enumerate(own["hands"]) if hand in names)
    assert [action["ev"] for action in thought["actions"]] == pytest.approx(node["action_ev"][row])


def _steps_before(client, table, agent):
    """Yields the actions before the agent's first one, as the spot names them."""
    line = []
    for step in table["history"]:
        if step["player"] is None:
            continue
        if step["player"] == agent:
            return
        node = client.get("/api/solutions/river/node", params={"line": ",".join(line)}).json()
        found = node["actions"][0]  # what `first` chose
        line.append(found["id"])
        yield found


def test_holdem_from_a_spot_is_scored_by_the_values_of_its_own_file(client, solved, monkeypatch):
    heard, hear = [], Aivat.hear
    monkeypatch.setattr(Aivat, "hear", lambda self, state: heard.append(state) or hear(self, state))
    table = play_hands(client, sit_down(client, agent="file-turn", seed=3), 3, first)
    assert table["result"]["no_aivat"] is None
    hands = client.get(f"/api/tables/{table['id']}/hands").json()["hands"]
    monkeypatch.undo()
    told = [hand["aivat"] for hand in hands]
    assert table["result"]["aivat"]["mean"] == pytest.approx(sum(told) / 3)
    agent = load_agent(solved / "turn.eq")
    game = game_of_file(solved / "turn.eq")
    form = SolvedForm(game, view_strategy(agent.hand_strategy))
    begins = [place for place, state in enumerate(heard) if not state.hole]
    for hand, begin, end in zip(hands, begins, [*begins[1:], None], strict=True):
        seat = hand["seat"]
        aivat = Aivat(form, [None if place == seat else agent for place in (0, 1)])
        for state in heard[begin:end]:
            aivat.hear(state)
        assert aivat.estimate()[seat] == pytest.approx(hand["aivat"])


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"agent": "call", "game": "holdem"}, None),
        ({"agent": "call", "game": "liars_dice"}, "no guesses"),
        ({"agent": "file-kuhn"}, None),
    ],
)
def test_a_table_without_an_estimate_says_why(client, form, reason):
    table = play_hand(client, sit_down(client, **form), first)
    assert table["result"]["no_aivat"] == reason
    assert (table["result"]["aivat"] is None) == (reason is not None)


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_searches_of_small_games_say_what_actions_are_worth(client, game):
    table = play_hands(client, sit_down(client, agent="continual", game=game), 2, first)
    decisions = client.get(f"/api/tables/{table['id']}/thoughts").json()["decisions"]
    assert decisions
    assert all(action["ev"] is not None for decision in decisions for action in decision["actions"])
