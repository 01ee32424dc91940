# SPDX-License-Identifier: Apache-2.0
"""Local best response on small games: greedy play against a known strategy, looking one move ahead.

It knows the opponent's strategy and range, and values each of its moves as if both went on by a roll-out policy. What
it wins is a lower bound on what a best response wins; here both are exact. Hold'em too large for that: `holdem.lbr`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PublicAgent, PublicDecision, describe_decision
from equipoise.agents.simple import ClassAgent
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.evaluation.assembly import assemble_public_strategy, strategy_tables
from equipoise.games.base import TERMINAL, ActionClass, Game
from equipoise.games.public import PublicEdge, Relation
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import DerivedPublicGame, derive_public_game
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.holdem.tree import HoldemTree

__all__ = ["LocalResponse", "Menu", "every_action", "fold_or_call", "measure_lbr", "respond_locally", "score_answers"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Menu = Callable[[PublicDecision], BoolArray]  # which columns of a decision may be chosen


def every_action(decision: PublicDecision) -> BoolArray:
    """Returns `[A]` that everything may be chosen."""
    return np.ones(len(decision.actions), np.bool_)


def fold_or_call(decision: PublicDecision) -> BoolArray:
    """Returns `[A]` that folds and calls may be chosen; everything where there is neither."""
    allowed = np.array([kind in (ActionClass.FOLD, ActionClass.CALL) for kind in decision.classes])
    return allowed if allowed.any() else every_action(decision)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LocalResponse:
    """What local best responses win against one strategy, exactly, in the game's unit of utility.

    >>> response = LocalResponse(values=(0.4, 0.2), best_response_values=(0.5, 0.5), strategy_values=(0.0, 0.0))
    >>> round(response.mean, 3)
    0.3
    """

    values: tuple[float, float]  # of the local response in each seat
    best_response_values: tuple[float, float]  # of the best response there
    strategy_values: tuple[float, float]  # of the strategy itself there, against itself

    __repr__ = brief_repr

    @property
    def mean(self) -> float:
        """Returns what it wins on average over both seats: a lower bound on the exploitability if the sum is zero."""
        return sum(self.values) / 2


class _Lookahead:
    """Values of moves of one player under roll-outs."""

    def __init__(
        self,
        public: DerivedPublicGame,
        player: int,
        opponent: Sequence[FloatArray],
        rollout: Sequence[FloatArray],
    ) -> None:
        self.public, self.player = public, player
        self.opponent, self.rollout = opponent, rollout
        self.edges = [public.edges(state) for state in range(public.arrays.actor.size)]

    def action_values(self, state: int, reach: FloatArray) -> FloatArray:
        """Returns `[H, A]` the counterfactual value of each move, given the opponent's reach of its private states."""
        public = self.public
        shape = public.num_private(state, self.player), len(public.legal_actions(state))
        values = np.zeros(shape)
        for edge in self.edges[state]:
            relation = edge.relations[self.player]
            after = self.push(edge, reach, None)
            below = self.value(edge.child, after, is_answer=True)
            np.add.at(values, (relation.private, relation.action), relation.weight * below[relation.target])
        return values

    def value(self, state: int, reach: FloatArray, *, is_answer: bool = False) -> FloatArray:
        """Returns `[H]` the player's counterfactual values where both go on by the roll-out policy.

        Args:
            state: where they go on.
            reach: `[H]` the opponent's.
            is_answer: whether the opponent's move here answers the player's: it folds as often as its strategy does.
        """
        public, player = self.public, self.player
        actor = public.actor(state)
        if actor == TERMINAL:
            payoffs = public.payoffs(state)[player]
            ends: FloatArray = payoffs @ reach if player == 0 else reach @ payoffs
            return ends
        out = np.zeros(public.num_private(state, player))
        table = self.answer(state) if is_answer and actor == 1 - player else self.rollout[state]
        for edge in self.edges[state]:
            after = self.push(edge, reach, table if actor == 1 - player else None)
            if not after.any():
                continue
            below = self.value(edge.child, after)
            relation = edge.relations[player]
            weight = relation.weight * below[relation.target]
            if actor == player:
                weight = weight * table[relation.private, relation.action]
            out += np.bincount(relation.private, weight, minlength=out.size)
        return out

    def answer(self, state: int) -> FloatArray:
        """Returns `[H, A]` the opponent's answer: its own folds, and the roll-out policy with what is left."""
        decision_classes = [self.public.action_class(state, action) for action in self.public.legal_actions(state)]
        is_fold = np.array([kind is ActionClass.FOLD for kind in decision_classes])
        own, rest = self.opponent[state], np.where(is_fold, 0.0, self.rollout[state])
        totals = rest.sum(axis=1, keepdims=True)
        open_moves = np.where(is_fold, 0.0, self.public.legality(state))
        even = open_moves / np.maximum(open_moves.sum(axis=1, keepdims=True), 1.0)
        rest = np.where(totals > 0, rest / np.where(totals > 0, totals, 1.0), even)
        folds = np.where(is_fold, own, 0.0)
        answer: FloatArray = folds + (1.0 - folds.sum(axis=1, keepdims=True)) * rest
        return answer

    def push(self, edge: PublicEdge[int], reach: FloatArray, table: FloatArray | None) -> FloatArray:
        """Returns the opponent's reach along an edge; by a table where it moves."""
        relation: Relation = edge.relations[1 - self.player]
        weight = relation.weight * reach[relation.private]
        if table is not None:
            weight = weight * table[relation.private, relation.action]
        size = self.public.num_private(edge.child, 1 - self.player)
        after: FloatArray = np.bincount(relation.target, weight, minlength=size).astype(np.float64, copy=False)
        return after


def respond_locally(
    public: DerivedPublicGame,
    player: int,
    opponent: Sequence[FloatArray],
    rollout: Sequence[FloatArray],
    *,
    menu: Menu = every_action,
    on_progress: Callable[[float], None] | None = None,
) -> list[FloatArray]:
    """Returns by state `[H, A]` the greedy play of one player; empty where it does not move.

    Paper: Lisy & Bowling 2017, "Equilibrium Approximation Quality of Current No-Limit Poker Bots", arXiv:1612.07547.
    Symbols: the opponent's range -> reach; WpRollout, the value of checking and calling to the end -> rollout.
    Departs from the paper: any game with a public form and any roll-out policy; all private states at once.
    Checked by: tests/evaluation/test_lbr.py.

    Args:
        public: the game.
        player: who responds.
        opponent: by state `[H, A]`, of which the opponent's are read.
        rollout: by state `[H, A]` how both go on in the mind of the player.
        menu: what the player may choose; where that leaves a private state nothing, all that is legal.
        on_progress: called with the share of the player's decisions done.

    >>> from equipoise.agents import ClassAgent, UniformAgent
    >>> from equipoise.games import ActionClass, make_game
    >>> public, rng = derive_public_game(make_game("kuhn")), np.random.default_rng(0)
    >>> played = assemble_public_strategy(UniformAgent(), public, rng=rng)
    >>> calling = assemble_public_strategy(ClassAgent(ActionClass.CALL), public, rng=rng)
    >>> tables = [strategy_tables(public, one) for one in (played, calling)]
    >>> respond_locally(public, 0, *tables)[0]  # with a jack, a queen and a king
    array([[0., 1.],
           [0., 1.],
           [0., 1.]])
    """
    ahead = _Lookahead(public, player, opponent, rollout)
    out: list[FloatArray] = [np.zeros((0, 0))] * public.arrays.actor.size
    pending = [(0, np.ones(public.num_private(0, 1 - player)))]
    num_own, num_done = int((public.arrays.actor == player).sum()), 0
    while pending:
        state, reach = pending.pop()
        actor = public.actor(state)
        if actor == player:
            allowed = public.legality(state) & menu(describe_decision(public, state))
            allowed[~allowed.any(axis=1)] = public.legality(state)[~allowed.any(axis=1)]
            values = np.where(allowed, ahead.action_values(state, reach), -np.inf)
            table = np.zeros(values.shape)
            table[np.arange(len(values)), values.argmax(axis=1)] = 1.0
            out[state] = table
            num_done += 1
            if on_progress is not None:
                on_progress(num_done / num_own)
        for edge in ahead.edges[state]:
            pending.append((edge.child, ahead.push(edge, reach, opponent[state] if actor == 1 - player else None)))
    return out


def measure_lbr(
    agent: PublicAgent,
    game: Game[Any],
    *,
    rollout: PublicAgent | None = None,
    menu: Menu = every_action,
    rng: np.random.Generator,
    tree: HistoryTree | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> LocalResponse:
    """Returns what local best responses win against an agent, exactly, beside what best responses win.

    Args:
        agent: who is exploited; asked once for its strategy in every public state.
        game: two players, small enough for a tree.
        rollout: how hands go on in the responder's mind; by default both check or call.
        menu: what the responder may choose.
        rng: what agents draw from.
        tree: of the game; built here if None.
        on_progress: called with the share of the responder's decisions done.

    >>> from equipoise.agents import UniformAgent
    >>> from equipoise.games import make_game
    >>> found = measure_lbr(UniformAgent(), make_game("kuhn"), rng=np.random.default_rng(0))
    >>> found.mean > 0  # what a response that looks one move ahead wins
    True
    """
    if game.spec.num_players != 2:
        raise ConfigError(f"local best responses are for two players, {game.spec.name} has {game.spec.num_players}")
    public = derive_public_game(game)
    strategy = assemble_public_strategy(agent, public, rng=rng)
    follows = assemble_public_strategy(rollout or ClassAgent(ActionClass.CALL), public, rng=rng)
    tables, rolls = strategy_tables(public, strategy), strategy_tables(public, follows)
    tree = tree or build_history_tree(game)
    own, split = strategy.to_tree(tree), int(tree.sequence_start[1])

    def answer(player: int) -> FloatArray:
        on_share = None if on_progress is None else functools.partial(_report_half, on_progress, player)
        played = respond_locally(public, player, tables, rolls, menu=menu, on_progress=on_share)
        found = _replace(public, strategy, played).to_tree(tree)
        return np.concatenate([found[:split], own[split:]] if player == 0 else [own[:split], found[split:]])

    return score_answers(tree, own, answer)


def score_answers(
    tree: HistoryTree | HoldemTree, own: FloatArray, answer: Callable[[int], FloatArray]
) -> LocalResponse:
    """Returns what answers to a strategy win, exactly, beside what best responses win.

    Args:
        tree: of the game, by histories or by hands.
        own: what the strategy plays in both seats, in the tree's numbering.
        answer: by seat, the same table with the answer of that seat in the strategy's place.
    """
    whole = evaluate(tree, own)
    first, second = (evaluate(tree, answer(seat)).values[seat] for seat in (0, 1))
    return LocalResponse(
        values=(first, second),
        best_response_values=(whole.best_response_values[0], whole.best_response_values[1]),
        strategy_values=(whole.values[0], whole.values[1]),
    )


def _report_half(on_progress: Callable[[float], None], player: int, share: float) -> None:
    on_progress((player + share) / 2)


def _replace(public: DerivedPublicGame, strategy: TabularStrategy, played: Sequence[FloatArray]) -> TabularStrategy:
    """Returns a strategy whose rows are replaced by tables where there are any."""
    probability = strategy.probability.copy()
    rows = {key: row for row, key in enumerate(zip(strategy.player.tolist(), strategy.infostates, strict=True))}
    for state, table in enumerate(played):
        if not table.size:
            continue
        actor, legality = public.actor(state), public.legality(state)
        for private, shares in enumerate(table):
            row = rows[actor, public.infostate(state, actor, private)]
            probability[strategy.first_action[row] : strategy.first_action[row + 1]] = shares[legality[private]]
    return dataclasses.replace(strategy, probability=probability)
