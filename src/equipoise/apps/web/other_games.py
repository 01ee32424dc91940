# SPDX-License-Identifier: Apache-2.0
"""Solved games that are no spots: public states, information states with regrets, trees small enough to be drawn."""

from __future__ import annotations

import fnmatch
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library, OpenFile
from equipoise.core.errors import EquipoiseError, GameTooLargeError
from equipoise.core.records import make_finite
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.games.public import HasPublicForm
from equipoise.solvers.game_views import describe_state
from equipoise.solvers.solution_file import SolvedGame
from equipoise.solvers.stopping import Form
from equipoise.solvers.strategy import TabularStrategy, list_entries
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = ["OtherGames"]

MOST_DRAWN: Final = 2000  # histories of a tree
MOST_ROWS: Final = 1000  # of an answer
REGRETS: Final = "regret_sum"

Regrets = dict[tuple[int, str], list[float]]


class OtherGames:
    """What solved games say, by id."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def describe_state(self, id: str, line: str) -> dict[str, Any]:
        """Returns a public state."""
        with self.library.opened_game(id) as (file, solved):
            try:
                found = describe_state(solved.views, line)
            except EquipoiseError as error:
                raise ApiError.of(error, field="line") from None
            regrets = _find_regrets(file, solved)
            return _finite({"solution": id, **found, "regret": _list_regrets(found, regrets)})

    def list_infostates(self, id: str, match: str, player: int | None, *, offset: int, limit: int) -> dict[str, Any]:
        """Returns information states whose names have a text or match it as a glob."""
        with self.library.opened_game(id) as (file, solved):
            table, regrets = solved.table, _find_regrets(file, solved)
            rows = [
                row
                for row, name in enumerate(table.infostates)
                if (player is None or int(table.player[row]) == player)
                and (match in name or fnmatch.fnmatchcase(name, match))
            ]
            shown = rows[offset : offset + min(limit, MOST_ROWS)]
            return _finite({"total": len(rows), "rows": [_describe_row(table, row, regrets) for row in shown]})

    def draw_tree(self, id: str, limit: int) -> dict[str, Any]:
        """Returns every history of a small game, with what is done and what it is worth."""
        with self.library.opened_game(id) as (_, solved):
            limit = min(limit, MOST_DRAWN)
            try:
                tree = build_history_tree(solved.game, max_histories=limit)
            except GameTooLargeError:
                raise ApiError(409, f"the tree has more than {limit:,} histories", code="too_large") from None
            strategy = solved.table.to_tree(tree, is_partial=solved.is_partial)
            nodes = _list_nodes(tree, strategy)
            _name_outcomes(solved.game, nodes)
            return _finite({"kind": "history", "num_nodes": tree.num_nodes, "nodes": nodes})


def _finite(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = make_finite(content)
    return found


def _find_regrets(file: OpenFile, solved: SolvedGame) -> Regrets | None:
    """Returns regrets by player and information state, None where a file keeps none that can be read so."""
    if REGRETS not in file.kept:
        file.kept[REGRETS] = _read_regrets(solved)
    found: Regrets | None = file.kept[REGRETS]
    return found


def _read_regrets(solved: SolvedGame) -> Regrets | None:
    numbers = None if solved.run is None else solved.state.get(REGRETS)
    if numbers is None:
        return None
    is_public = solved.metadata.get("form") == Form.VECTOR or isinstance(solved.game, HasPublicForm)
    tree = load_or_build_public_tree(solved.game) if is_public else load_or_build_history_tree(solved.game)
    table = solved.table
    try:
        entries = list_entries(tree, numbers)
    except EquipoiseError:
        return None
    if entries.size != table.probability.size:
        return None
    starts = table.first_action
    return {
        (int(table.player[row]), name): entries[starts[row] : starts[row + 1]].tolist()
        for row, name in enumerate(table.infostates)
    }


def _list_regrets(found: dict[str, Any], regrets: Regrets | None) -> list[list[float] | None] | None:
    player = found["player"]
    if regrets is None or player is None or found["players"][player]["infostates"] is None:
        return None
    return [regrets.get((player, name)) for name in found["players"][player]["infostates"]]


def _describe_row(table: TabularStrategy, row: int, regrets: Regrets | None) -> dict[str, Any]:
    played, player, name = table.row(row), int(table.player[row]), table.infostates[row]
    return {
        "infostate": name,
        "player": player,
        "actions": list(played),
        "strategy": list(played.values()),
        "regret": None if regrets is None else regrets.get((player, name)),
    }


def _list_nodes(tree: HistoryTree, strategy: npt.NDArray[np.float64]) -> list[dict[str, Any]]:
    """Returns histories from the root on: who moves, what led there, how likely that was, what it is worth."""
    num_nodes = tree.num_nodes
    taken, names = np.ones(num_nodes), [""] * num_nodes
    value = np.zeros((tree.num_players, num_nodes))
    value[:, tree.terminal_node] = tree.utility
    for node in range(num_nodes):
        children = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]].tolist()
        for place, child in enumerate(children):
            if tree.actor[node] == CHANCE:
                taken[child] = tree.chance_probability[child]
                continue
            sequence = int(tree.first_sequence[tree.infoset[node]]) + place
            taken[child], names[child] = strategy[sequence], tree.sequence_labels[sequence]
    for node in range(num_nodes - 1, 0, -1):  # children come after their parents
        value[:, tree.parent[node]] += taken[node] * value[:, node]
    return [_describe_history(tree, node, names[node], float(taken[node]), value[:, node]) for node in range(num_nodes)]


def _name_outcomes(game: Game[Any], nodes: list[dict[str, Any]]) -> None:
    """Names what chance did, which the tree's arrays leave out, in the nodes that it led to."""
    children: dict[int | None, list[int]] = {}
    for node in nodes:
        children.setdefault(node["parent"], []).append(node["id"])
    states = {0: game.initial_state()}
    for node in nodes:  # parents come before their children
        state = states[node["id"]]
        actions = game.legal_actions(state) or tuple(outcome for outcome, _ in game.chance_outcomes(state))
        for action, child in zip(actions, children.get(node["id"], []), strict=True):
            states[child] = game.apply(state, action)
            if node["kind"] == "chance":
                nodes[child]["action"] = game.action_name(state, action)


def _describe_history(
    tree: HistoryTree, node: int, name: str, taken: float, value: npt.NDArray[np.float64]
) -> dict[str, Any]:
    actor, above = int(tree.actor[node]), int(tree.parent[node])
    depth, climb = 0, above
    while climb >= 0:
        depth, climb = depth + 1, int(tree.parent[climb])
    return {
        "id": node,
        "parent": None if above < 0 else above,
        "kind": {CHANCE: "chance", TERMINAL: "terminal"}.get(actor, "decision"),
        "player": actor if actor >= 0 else None,
        "infostate": tree.infoset_labels[tree.infoset[node]] if actor >= 0 else None,
        "action": name or None,
        "probability": None if above < 0 else taken,
        "utility": value.tolist() if actor == TERMINAL else None,
        "value": value.tolist(),
        "depth": depth,
    }
