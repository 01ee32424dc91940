# SPDX-License-Identifier: Apache-2.0
"""Decisions to practise on, out of solved spots, as often as the solution deals them; answers, and how it goes.

A hand is played out by the solution: both players' cards by their weights, actions by the strategy, cards by chance.
Every decision of it is asked about as often as it comes: one of a few numbers is drawn, and the decision of that number
asked about if the hand has it.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from equipoise.apps.web.errors import ApiError, naming_id
from equipoise.apps.web.library import Library
from equipoise.apps.web.places import Places
from equipoise.core.errors import CheckpointError
from equipoise.core.files import write_text
from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.holdem.cards import format_card
from equipoise.games.holdem.hands import format_hand, hands_of
from equipoise.games.holdem.line_notation import Line, shorten_line
from equipoise.solvers.holdem.solved_spot import SolvedSpot
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["Trainer", "name_verdict"]

MOST_DECISIONS: Final = 12  # of a hand that are asked about
MOST_TRIES: Final = 3000
MOST_QUESTIONS: Final = 200  # that may still be answered
MOST_LAST: Final = 7
KEPT: Final = {"question", "solution", "line", "hand", "street", "class", "verdict", "loss_bb"}  # of an answer
VERDICTS: Final = ((0.5, "right"), (3.0, "small loss"), (10.0, "mistake"))  # percent of the pot that are lost


def name_verdict(percent: float) -> str:
    """Returns what a loss is called.

    >>> name_verdict(0.2), name_verdict(2.0), name_verdict(50.0)
    ('right', 'small loss', 'blunder')
    """
    return next((word for most, word in VERDICTS if percent < most), "blunder")


class Trainer:
    """Asks, judges and counts."""

    def __init__(self, library: Library, places: Places, path: Path, *, seed: int | None = None) -> None:
        """Reads the score so far from a file."""
        self.library, self.places = library, places
        self._path, self._lock = path, threading.Lock()
        self._rng = np.random.default_rng(seed)
        self._questions: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._count = 0
        self._answers: list[dict[str, Any]] = _read_answers(path)

    def ask(self, ids: Sequence[str], street: str | None, player: int | None) -> dict[str, Any]:
        """Returns a decision to make."""
        spots = list(ids) or [
            card["id"] for card in self.library.list_cards() if card["kind"] == "spot" and card["error"] is None
        ]
        if not spots:
            raise ApiError(409, "there is no solved spot to practise on: solve one first")
        with self._lock:
            id = spots[int(self._rng.integers(len(spots)))]
        with naming_id("solutions"):
            found = self._draw(id, street, player)
        node = json.loads(self.places.describe_node(id, ",".join(found["line"]), has_values=False))
        with self._lock:
            self._count += 1
            question = f"q{self._count}"
            self._questions[question] = {"solution": id, **found}
            while len(self._questions) > MOST_QUESTIONS:
                self._questions.popitem(last=False)
        return {
            "question": question,
            "solution": id,
            "line": node["line"],
            "text": node["text"],
            "steps": _list_steps(node),
            "board": node["board"],
            "street": node["street"],
            "player": node["player"],
            "seats": node["seats"],
            "hand": found["hand"],
            "pot": node["pot"],
            "to_call": node["to_call"],
            "stacks": node["stacks"],
            "big_blind": node["big_blind"],
            "actions": [
                {key: action[key] for key in ("id", "name", "kind", "to", "pot_share")} for action in node["actions"]
            ],
        }

    def _draw(self, id: str, street: str | None, player: int | None) -> dict[str, Any]:
        """Returns a decision of a hand that the solution plays."""
        with self.library.opened_spot(id) as (_, solved), self._lock:
            for _ in range(MOST_TRIES):
                wanted = int(self._rng.integers(MOST_DECISIONS))
                met = [
                    one
                    for one in _play_out(solved, self._rng)
                    if (player is None or one["player"] == player) and (street is None or one["street"] == street)
                ]
                if wanted < len(met):
                    return met[wanted]
        raise ApiError(409, "no such decision comes up in this solution", field="street", got=street)

    def judge(self, question: str, action: str) -> dict[str, Any]:
        """Returns what an answer was worth, and counts it."""
        with self._lock:
            asked = self._questions.get(question)
        if asked is None:
            raise ApiError(404, "there is no such question, or it was answered", field="question", got=question)
        node = json.loads(self.places.describe_node(asked["solution"], ",".join(asked["line"])))
        ids = [one["id"] for one in node["actions"]]
        if action not in ids:
            raise ApiError(422, f"there is no such action; there are {', '.join(ids)}", field="action", got=action)
        own = node["players"][node["player"]]
        row = own["hands"].index(asked["hand"])
        values, shares = node["action_ev"][row], node["strategy"][row]
        if values[0] is None:
            raise ApiError(409, "this solution is too large for values here: practise on a smaller one")
        best = max(range(len(ids)), key=lambda place: values[place])
        loss = values[best] - values[ids.index(action)]
        percent = 100 * loss / node["pot"]
        named = node["classes"][own["class"][row]] if own["class"] is not None else None
        answer = {
            "question": question,
            "solution": asked["solution"],
            "line": node["line"],
            "hand": asked["hand"],
            "street": node["street"],
            "class": named,
            "verdict": name_verdict(percent),
            "loss_bb": loss / node["big_blind"],
        }
        with self._lock:
            if self._questions.pop(question, None) is None:
                raise ApiError(404, "the question was answered", field="question", got=question)
            self._answers.append(answer)
            with contextlib.suppress(CheckpointError):  # a disk without room: it counts until the server ends
                write_text(self._path, json.dumps(self._answers))
        return {
            **answer,
            "action": action,
            "best": ids[best],
            "loss": loss,
            "loss_percent": percent,
            "actions": [
                {"id": one["id"], "name": one["name"], "probability": shares[place], "ev": values[place]}
                for place, one in enumerate(node["actions"])
            ],
            "stats": self.describe(),
        }

    def describe(self) -> dict[str, Any]:
        """Returns how it goes, in sum, by street and by class of hand."""
        with self._lock:
            answers = list(self._answers)
        by_street = {name: _count(answers, "street", name) for name in dict.fromkeys(one["street"] for one in answers)}
        classes = dict.fromkeys(one["class"] for one in answers if one["class"] is not None)
        return {
            **_sum(answers),
            "by_street": by_street,
            "by_class": {name: _count(answers, "class", name) for name in classes},
            "last": answers[-MOST_LAST:][::-1],
        }

    def forget(self) -> None:
        """Begins to count anew."""
        with self._lock:
            self._answers = []
            write_text(self._path, "[]")


def _play_out(solved: SolvedSpot, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Returns the decisions of one hand that the solution plays, first to last."""
    betting = solved.tree.betting
    hands = hands_of(solved.spot.deck)
    held = _deal(solved, rng)
    node, board = 0, tuple(solved.spot.board)
    used = {card for hand in held for card in hands.cards[hand].tolist()}
    met = []
    while (here := betting.nodes[node]).kind in (NodeKind.DECISION, NodeKind.STREET_END):
        if here.kind is NodeKind.STREET_END:
            node = here.children[0]
            missing = betting.nodes[node].state.street.num_board_cards - len(board)
            left = [card for card in solved.spot.deck.cards if card not in used and card not in board]
            board = (*board, *(left[place] for place in rng.permutation(len(left))[:missing]))
            continue
        player = here.state.actor
        met.append(
            {
                "line": shorten_line(betting, Line(node, board)),
                "player": player,
                "street": here.state.street.name.lower(),
                "board": [format_card(card) for card in board],
                "hand": format_hand(held[player], solved.spot.deck),
            }
        )
        shares = solved.strategy.probabilities(HoldemPlace(node, board))[held[player]]
        if shares.sum() <= 0:
            break
        place = int(np.searchsorted(np.cumsum(shares), rng.random() * shares.sum(), side="right"))
        node = here.children[min(place, len(here.children) - 1)]
    return met


def _deal(solved: SolvedSpot, rng: np.random.Generator) -> tuple[int, int]:
    """Returns both players' hands, by their weights and without a card in common."""
    spot, hands = solved.spot, hands_of(solved.spot.deck)
    first, second = spot.live_weights(0), spot.live_weights(1)
    odds = first * hands.compatible(second)
    one = int(np.searchsorted(np.cumsum(odds), rng.random() * odds.sum(), side="right"))
    rest = np.where(hands.blocked(hands.cards[one].tolist()), 0.0, second)
    other = int(np.searchsorted(np.cumsum(rest), rng.random() * rest.sum(), side="right"))
    return one, other


def _list_steps(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns what happened, step by step, as people say it."""
    steps: list[dict[str, Any]] = []
    names = [part.strip() for part in node["text"].split(",")] if node["text"] else []
    for step, name in zip(node["path"], names, strict=True):
        if step["kind"] == "decision":
            steps.append({"player": step["player"], "name": name})
        else:
            steps.append({"cards": step["cards"]})
    return steps


def _sum(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    lost = sum(one["loss_bb"] for one in answers)
    return {
        "decisions": len(answers),
        "right": sum(one["verdict"] == "right" for one in answers),
        "lost": lost,
        "lost_per_decision": lost / len(answers) if answers else None,
    }


def _count(answers: Sequence[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    return _sum([one for one in answers if one[key] == name])


def _read_answers(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    given = found if isinstance(found, list) else []
    return [one for one in given if isinstance(one, dict) and one.keys() >= KEPT]
