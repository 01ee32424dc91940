# SPDX-License-Identifier: Apache-2.0
"""A bot for hold'em in twenty lines: asked in lines of JSON, it answers in lines of JSON (docs/bots.md)."""

import json
import sys
from typing import Any

HIGH = "TJQKA"


def choose(asked: dict[str, Any]) -> int:
    """Returns a move: raise with two high cards or a pair, check or call small bets with one, else fold."""
    table = asked["table"]
    names: dict[str, int] = {move["kind"]: move["action"] for move in asked["moves"]}
    first, second = (card[0] for card in table["cards"])
    strength = (first in HIGH) + (second in HIGH) + 2 * (first == second)
    if strength >= 2 and "raise_from" in asked and table["street"] == "preflop":
        return int(asked["raise_from"])
    if table["to_call"] <= strength * table["pot"] / 2 or "fold" not in names:
        return names["call"]
    return names["fold"]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "act":
        print(json.dumps({"action": choose(message)}), flush=True)
