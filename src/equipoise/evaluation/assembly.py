# SPDX-License-Identifier: Apache-2.0
"""From agents to tables: what an agent does at every information state of a game, and how exploitable that is.

An agent that searches is run at each information state (or public state, if it answers for whole ones) under a seed;
the answers together are a strategy like any other, and its exploitability is exact. Other seeds give other strategies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import PolicyAgent, PublicAgent, check_shares, describe_decision, observe_state
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.solvers.best_response import Evaluation, evaluate
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.derive import DerivedPublicGame, derive_public_game
from equipoise.trees.history import HistoryTree, build_history_tree

__all__ = [
    "SeededExploitability",
    "assemble_public_strategy",
    "assemble_strategy",
    "measure_seeds",
    "strategy_tables",
]

FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeededExploitability:
    """Exact exploitabilities of the strategies that an agent assembles under several seeds.

    >>> from equipoise import Evaluation
    >>> runs = tuple(Evaluation(values=(0.0, 0.0), best_response_values=(gain, gain)) for gain in (0.25, 0.75))
    >>> SeededExploitability(evaluations=runs).mean
    0.5
    """

    evaluations: tuple[Evaluation, ...]  # one for each seed

    __repr__ = brief_repr

    @property
    def exploitabilities(self) -> tuple[float, ...]:
        """Returns the exploitability under each seed."""
        return tuple(evaluation.exploitability for evaluation in self.evaluations)

    @property
    def minimum(self) -> float:
        """Returns the least of them."""
        return min(self.exploitabilities)

    @property
    def mean(self) -> float:
        """Returns their mean."""
        return float(np.mean(self.exploitabilities))

    @property
    def maximum(self) -> float:
        """Returns the largest of them; near the least, the mean says something."""
        return max(self.exploitabilities)


def measure_seeds(
    agent: PolicyAgent | PublicAgent,
    game: Game[Any],
    *,
    seeds: Sequence[int],
    is_public: bool = False,
    tree: HistoryTree | None = None,
    on_progress: Callable[[float, SeededExploitability], None] | None = None,
) -> SeededExploitability:
    """Returns how exploitable an agent is that assembles its strategy anew under each seed.

    Paper: Schmid et al. 2021, "Player of Games", arXiv:2112.03178, section 4.1.
    Departs from the paper: agents that carry results from one search to the next are run along depth-first order.
    Checked by: tests/evaluation/test_assembly.py.

    Args:
        agent: who plays; all of its randomness must come from the generator that it is given.
        game: small enough for a tree.
        seeds: one strategy each.
        is_public: whether the agent is asked for whole public states, not for single information states.
        tree: of the game; built here if None.
        on_progress: called with the share done and the seeds so far.

    >>> from equipoise.agents import make_ismcts_agent
    >>> from equipoise.games import make_game
    >>> from equipoise.search import ISMCTSConfig
    >>> game = make_game("kuhn")
    >>> agent = make_ismcts_agent(game, ISMCTSConfig(num_simulations=50))
    >>> found = measure_seeds(agent, game, seeds=[0, 1])
    >>> found.minimum <= found.mean <= found.maximum
    True
    """
    if not seeds:
        raise ConfigError("an agent is measured under at least one seed, got none")
    tree = tree or build_history_tree(game)
    public = derive_public_game(game) if is_public else None
    found = []
    for done, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        if public is None:
            if not isinstance(agent, PolicyAgent):
                raise ConfigError(f"{agent.name} says no probabilities at single information states; use is_public")
            strategy = assemble_strategy(agent, game, tree, rng=rng)
        else:
            if not isinstance(agent, PublicAgent):
                raise ConfigError(f"{agent.name} has no strategy for whole public states")
            strategy = assemble_public_strategy(agent, public, rng=rng).to_tree(tree)
        found.append(evaluate(tree, strategy))
        if on_progress is not None:
            on_progress((done + 1) / len(seeds), SeededExploitability(evaluations=tuple(found)))
    return SeededExploitability(evaluations=tuple(found))


def assemble_strategy(
    agent: PolicyAgent, game: Game[Any], tree: HistoryTree, *, rng: np.random.Generator, seat: int | None = None
) -> FloatArray:
    """Returns `[Q]` what an agent plays at every information set of a tree, asked once for each.

    Args:
        agent: who plays.
        game: of the tree.
        tree: in whose numbering the answer is.
        rng: what the agent draws from.
        seat: whose information sets are asked for, all if None; those of others are 1 throughout.

    >>> from equipoise.agents import UniformAgent
    >>> from equipoise.games import make_game
    >>> from equipoise.trees import build_history_tree
    >>> game = make_game("kuhn")
    >>> tree = build_history_tree(game)
    >>> table = assemble_strategy(UniformAgent(), game, tree, rng=np.random.default_rng(0))
    >>> evaluate(tree, table).exploitability
    0.4583333333333333
    """
    out = np.ones(int(tree.sequence_start[-1]))
    known = np.zeros(tree.num_actions.size, np.bool_)
    stack: list[tuple[Any, int]] = [(game.initial_state(), 0)]
    while stack:
        state, node = stack.pop()
        actor = game.actor(state)
        if actor == TERMINAL:
            continue
        infoset = int(tree.infoset[node])
        if actor >= 0 and not known[infoset] and seat in (None, actor):
            known[infoset] = True
            shares = agent.probabilities(observe_state(game, state, actor), rng=rng)
            first, count = int(tree.first_sequence[infoset]), int(tree.num_actions[infoset])
            check_shares(agent.name, shares, count, tree.infoset_labels[infoset])
            out[first : first + count] = shares
        if actor == CHANCE:
            actions = tuple(outcome for outcome, _ in game.chance_outcomes(state))
        else:
            actions = game.legal_actions(state)
        edges = tree.edge_child[tree.first_edge[node] : tree.first_edge[node + 1]].tolist()
        stack += [(game.apply(state, action), child) for action, child in zip(actions, edges, strict=True)]
    return out


def assemble_public_strategy(
    agent: PublicAgent, public: DerivedPublicGame, *, rng: np.random.Generator
) -> TabularStrategy:
    """Returns what an agent plays in every public state, asked once for each, parents first.

    >>> from equipoise.agents import UniformAgent
    >>> from equipoise.games import make_game
    >>> from equipoise.trees import derive_public_game
    >>> strategy = assemble_public_strategy(
    ...     UniformAgent(), derive_public_game(make_game("kuhn")), rng=np.random.default_rng(0)
    ... )
    >>> strategy.probabilities(0, "K:")
    array([0.5, 0.5])
    """
    players, infostates, sizes, actions, shares = [], [], [], [], []
    for state in range(public.arrays.actor.size):
        seat = public.actor(state)
        if seat < 0:
            continue
        decision = describe_decision(public, state)
        table = agent.public_strategy(decision, rng=rng)
        names = [public.action_name(state, action) for action in decision.actions]
        for private, infostate in enumerate(decision.infostates):
            columns = np.flatnonzero(decision.legality[private])
            row = table[private, columns]
            check_shares(agent.name, row.tolist(), columns.size, infostate)
            players.append(seat)
            infostates.append(infostate)
            sizes.append(columns.size)
            actions += [names[column] for column in columns]
            shares += (row / row.sum()).tolist()
    return TabularStrategy(
        game_label=public.spec.label,
        player=np.array(players, np.int32),
        infostates=tuple(infostates),
        first_action=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        actions=tuple(actions),
        probability=np.array(shares),
    )


def strategy_tables(public: DerivedPublicGame, strategy: TabularStrategy) -> list[FloatArray]:
    """Returns by state `[H, A]` what its actor plays; an empty table where nobody acts."""
    tables: list[FloatArray] = []
    for state in range(public.arrays.actor.size):
        actor = public.actor(state)
        if actor < 0:
            tables.append(np.zeros((0, 0)))
            continue
        legality = public.legality(state)
        table = np.zeros(legality.shape)
        for private in range(len(legality)):
            table[private, legality[private]] = strategy.probabilities(actor, public.infostate(state, actor, private))
        tables.append(table)
    return tables
