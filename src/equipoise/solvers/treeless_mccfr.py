# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo CFR on a game's rules, for games whose trees do not fit.

This is the one solver that runs Python at every node, because there are no arrays to run over: about a hundred
thousand nodes a second where `mccfr.py` on a tree does tens of millions (docs/methods/mccfr.md has the figures). Take
a tree wherever one fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.formatting import run_repr
from equipoise.core.memory import available_bytes
from equipoise.core.progress import SampledFigures
from equipoise.games.base import CHANCE, TERMINAL, Game
from equipoise.kernels.calls import check_integer
from equipoise.solvers.best_response import Evaluation, bind_history_kernel, evaluate
from equipoise.solvers.growing_tables import GrowingTables
from equipoise.solvers.mccfr import UNEVEN, MCCFRConfig, Scheme, check_plain
from equipoise.solvers.playouts import draw_chance, draw_index, sample_figures
from equipoise.solvers.saved_state import SavedArrays, encode_json, read_count, read_json, read_number
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.history import BEYOND_ANY_TREE, HistoryTree

__all__ = ["TreelessMCCFRSolver", "estimate_traversal_nodes"]

FloatArray = npt.NDArray[np.float64]

# Of what is free at the start. Measured on 3x3 phantom tic-tac-toe: for a moment, saving a run takes 1.6 times as much
# as its tables beside them, reading it back up to three times as much.
MEMORY_SHARE: Final = 0.25
TRAVERSAL_SHARE: Final = 1.25  # of the limit: what the tables may reach within a traversal before it is given up
UNIFORM_BATCH: Final = 1024  # numbers drawn from the generator at once
FEWEST_PLAYOUTS: Final = 50
MOST_PLAYOUTS: Final = 500  # of a player, at each evaluation
ITERATIONS_PER_PLAYOUT: Final = 16  # early evaluations are many and play fewer games


class UniformStream:
    """Uniform numbers in [0, 1), drawn in batches, with a state from which they go on to the bit."""

    def __init__(self, rng: np.random.Generator) -> None:
        if not isinstance(rng.bit_generator, np.random.PCG64):
            raise ConfigError(f"rng must be a PCG64 generator, got {type(rng.bit_generator).__name__}")
        self.rng = rng
        self.batch: list[float] = []  # what is left of the batch, in reverse
        self.before: Any = None  # the generator from which the batch was drawn

    def __call__(self) -> float:
        if not self.batch:
            self.refill()
        return self.batch.pop()

    def refill(self) -> None:
        """Draws the next batch."""
        self.before = self.rng.bit_generator.state
        self.batch = self.rng.random(UNIFORM_BATCH).tolist()[::-1]

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the generator from which the batch was drawn, and how much of the batch is left."""
        generator = self.before if self.batch else self.rng.bit_generator.state
        return {"generator": encode_json(generator), "numbers_left": np.array(len(self.batch))}

    def restore(self, state: SavedArrays) -> None:
        """Goes on where a saved stream was."""
        left, generator = read_count(state, "numbers_left"), np.random.PCG64()
        try:
            generator.state = read_json(state, "generator")
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"saved generator must be the state of a PCG64, got one with {error!r}") from None
        self.rng = np.random.Generator(generator)
        self.batch = []
        if left:
            self.refill()
            del self.batch[left:]


def estimate_traversal_nodes(game: Game[Any], *, rng: np.random.Generator, num_probes: int = 64) -> float:
    """Returns an unbiased estimate of the nodes in external sampling's first traversals, averaged over players.

    The probes are those of `estimate_num_histories`, branching at the traverser's nodes alone.
    """
    total = 0.0
    for probe in range(num_probes):
        if total > BEYOND_ANY_TREE * num_probes:
            return total / probe
        traverser = probe % game.spec.num_players
        state, width = game.initial_state(), 1.0
        total += width
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                action = draw_chance(game, state, rng.random())
            else:
                actions = game.legal_actions(state)
                action = actions[int(rng.integers(len(actions)))]
                width *= len(actions) if actor == traverser else 1
            total += width
            state = game.apply(state, action)
    return total / num_probes


class TreelessMCCFRSolver:
    """A run of external or outcome sampling whose tables grow as information states are met.

    The form of the algorithm is that of `MCCFRSolver`, whose docstring names the papers and the departures; the two
    agree draw by draw.

    Paper: Lanctot et al. 2009, "Monte Carlo Sampling for Regret Minimization in Extensive Games".
    Symbols: as in `MCCFRSolver`.
    Departs from the paper: as `MCCFRSolver` does, in averaging, in one action per information set and traversal, and in
        discounting by periods. An information state that was never met plays uniformly.
    Checked by: tests/solvers/test_treeless_mccfr.py.

    >>> from equipoise.games import make_game
    >>> solver = TreelessMCCFRSolver(make_game("kuhn"), rng=np.random.default_rng(0))
    >>> solver.iterate(100)
    >>> solver.iteration
    100
    """

    def __init__(
        self,
        game: Game[Any],
        config: MCCFRConfig | None = None,
        *,
        rng: np.random.Generator,
        tree: HistoryTree | None = None,
        max_bytes: int | None = None,
    ) -> None:
        """Begins a run.

        Args:
            game: rules with perfect recall, of any size.
            config: scheme, external or outcome, and discounting.
            rng: a PCG64 generator, as `numpy.random.default_rng` makes it.
            tree: of the same game, if there is one; evaluations are exact with it.
            max_bytes: of the tables; a quarter of what is free if None. The run stands still once they are reached.
        """
        self.game = game
        self.config = config or MCCFRConfig()
        if self.config.scheme not in (Scheme.EXTERNAL, Scheme.OUTCOME):
            scheme = self.config.scheme.name.lower().replace("_", "-")
            raise ConfigError(f"{scheme} sampling needs a tree; without one there are external and outcome sampling")
        if self.config.is_pruned or self.config.has_baselines:
            raise ConfigError("pruning and baselines need a tree, got a run on a game's rules")
        check_plain(self.config, "a game's rules")
        if self.config.discounting.kind in UNEVEN:
            kind = self.config.discounting.kind.value
            raise ConfigError(f"{kind} regrets need a tree, got a run on a game's rules")
        if max_bytes is None:
            available = available_bytes()
            self.max_bytes: float = math.inf if available is None else MEMORY_SHARE * available
        else:
            self.max_bytes = max_bytes
        self.tree = tree
        self.kernel = None if tree is None else bind_history_kernel(tree)
        self.tables = GrowingTables(game.spec.num_players, max_bytes=TRAVERSAL_SHARE * self.max_bytes)
        self.playout_seed = int(rng.integers(2**63))  # games played to measure leave the run's numbers alone
        self.uniform = UniformStream(rng)
        self.iteration = 0
        self.nodes_touched = 0  # histories visited so far, terminals included
        self.period = 1  # of nodes touched, the one under way
        self.weight_sum = 0.0  # of iterations, discounted as the sums are
        self._traverser = 0
        self._drawn: dict[int, int] = {}  # in a traversal: where an opponent's sums begin -> which action it plays

    __repr__ = run_repr

    @property
    def is_full(self) -> bool:
        """Returns whether the tables have reached their limit; `iterate` does nothing from then on."""
        return self.tables.num_bytes >= self.max_bytes

    def iterate(self, num_iterations: int) -> None:
        """Runs iterations, each a traversal for every player, and discounts when a period ends; fewer if it is full.

        Raises `GameTooLargeError` if a single traversal outgrows the limit; the run is of no use then.
        """
        check_integer("num_iterations", num_iterations, 0)
        for _ in range(num_iterations):
            if self.is_full:
                return
            for player in range(self.game.spec.num_players):
                self.traverse(player)
                if not self._averages_at_opponents:
                    self.walk_average(player)
            self.iteration += 1
            self.weight_sum += 1.0
            self.end_periods()

    def end_periods(self) -> None:
        """Discounts the sums for every period that the last iteration ended."""
        discounting = self.config.discounting
        while self.nodes_touched >= self.period * discounting.period_nodes:
            factor = discounting.factor(self.period)
            if factor != 1.0:
                self.tables.multiply(factor)
                self.weight_sum *= factor
            self.period += 1

    def traverse(self, player: int) -> None:
        """Samples one traversal for a player and adds its regrets, and the others' averages if there are two."""
        self._traverser = player
        self._drawn.clear()
        if self.config.scheme is Scheme.EXTERNAL:
            self._visit(self.game.initial_state())
        else:
            self._walk_path(self.game.initial_state())

    def walk_average(self, player: int) -> None:
        """Adds the player's strategy along one path on which the others move uniformly: own reach times a constant."""
        game, state = self.game, self.game.initial_state()
        self.nodes_touched += 1
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                state = self._draw_chance(state)
            else:
                actions = game.legal_actions(state)
                strategy: Sequence[float] = [1.0 / len(actions)] * len(actions)
                if actor == player:
                    first = self._find(state, actor, actions)
                    strategy = self._match_regrets(first, len(actions))
                    self._add_to_average(first, strategy, 1.0)
                state = game.apply(state, actions[draw_index(strategy, self.uniform())])
            self.nodes_touched += 1

    def average_strategy(self) -> TabularStrategy:
        """Returns the average strategy, the one that converges, at the information states met."""
        return self.tables.tabulate(self.game.spec.label)

    def average_on_tree(self, tree: HistoryTree) -> FloatArray:
        """Returns `[Q]` the average strategy in the numbering of a tree of the game, uniform at what was not met."""
        strategy = self.tables.average_strategy()
        out = np.ones(int(tree.sequence_start[-1]))
        places = zip(tree.infoset_player().tolist(), tree.infoset_labels, strict=True)
        for infoset, (player, label) in enumerate(places):
            first, count = int(tree.first_sequence[infoset]), int(tree.num_actions[infoset])
            entry = self.tables.first_entry[player].get(label)
            out[first : first + count] = 1.0 / count if entry is None else strategy[entry : entry + count]
        return out

    def evaluate(self) -> Evaluation | SampledFigures:
        """Returns the exact quality of the average strategy if there is a tree, else what can be sampled."""
        if self.tree is not None and self.kernel is not None:
            return evaluate(self.tree, self.average_on_tree(self.tree), kernel=self.kernel)
        return self.sample_figures(
            min(MOST_PLAYOUTS, max(FEWEST_PLAYOUTS, self.iteration // ITERATIONS_PER_PLAYOUT)),
        )

    def sample_figures(self, num_playouts: int) -> SampledFigures:
        """Returns the regret bound and the values against uniform opponents from so many games a player.

        The same state of a run gives the same figures, and the run does not notice.
        """
        return sample_figures(
            self.game,
            self.tables.average_at,
            num_infostates=len(self.tables),
            regret_bound=self.tables.positive_regret() / self.weight_sum if self.weight_sum else None,
            num_playouts=num_playouts,
            rng=np.random.default_rng((self.playout_seed, self.iteration)),
        )

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        return {
            **self.tables.state(),
            **self.uniform.state(),
            "iteration": np.array(self.iteration),
            "nodes_touched": np.array(self.nodes_touched),
            "period": np.array(self.period),
            "weight_sum": np.array(self.weight_sum),
            "playout_seed": np.array(self.playout_seed),
        }

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same game and configuration."""
        counts = {name: read_count(state, name) for name in ("iteration", "nodes_touched", "period", "playout_seed")}
        weight_sum = read_number(state, "weight_sum")
        uniform = UniformStream(self.uniform.rng)
        uniform.restore(state)
        self.tables.restore(state)
        self.uniform, self.weight_sum = uniform, weight_sum
        self.iteration, self.nodes_touched, self.period, self.playout_seed = counts.values()

    @property
    def _averages_at_opponents(self) -> bool:
        return self.game.spec.num_players == 2

    def _visit(self, state: Any) -> float:
        """Returns the sampled value of a state to the traverser; external sampling, regrets added on the way back."""
        game, traverser = self.game, self._traverser
        self.nodes_touched += 1
        while (actor := game.actor(state)) != traverser:
            if actor == TERMINAL:
                return game.returns(state)[traverser]
            state = self._draw_chance(state) if actor == CHANCE else self._draw_opponent(state, actor, 1.0)
            self.nodes_touched += 1
        actions = game.legal_actions(state)
        first = self._find(state, traverser, actions)
        # a path to this node is the only one to its information set: all that the traverser does not see is drawn once
        strategy = self._match_regrets(first, len(actions))
        values = [self._visit(game.apply(state, action)) for action in actions]
        value = sum([probability * one for probability, one in zip(strategy, values, strict=True)])
        regret_sum = self.tables.regret_sum
        for entry, one in enumerate(values, first):
            regret_sum[entry] += one - value
        return value

    def _walk_path(self, state: Any) -> None:
        """Walks one path to its end and adds the traverser's regrets on the way back; outcome sampling."""
        game, traverser, exploration = self.game, self._traverser, self.config.exploration
        own: list[tuple[int, list[float], int, float, float]] = []  # first entry, strategy, chosen, its share, cf_reach
        cf_reach = 1.0
        self.nodes_touched += 1
        while (actor := game.actor(state)) != TERMINAL:
            if actor == CHANCE:
                state = self._draw_chance(state)
            elif actor != traverser:
                state = self._draw_opponent(state, actor, cf_reach)
            else:
                actions = game.legal_actions(state)
                first = self._find(state, traverser, actions)
                strategy = self._match_regrets(first, len(actions))
                share = exploration / len(actions)
                chosen = draw_index([share + (1.0 - exploration) * p for p in strategy], self.uniform())
                probability = share + (1.0 - exploration) * strategy[chosen]
                own.append((first, strategy, chosen, probability, cf_reach))
                cf_reach /= probability
                state = game.apply(state, actions[chosen])
            self.nodes_touched += 1
        value, regret_sum = game.returns(state)[traverser], self.tables.regret_sum
        for first, strategy, chosen, probability, reach in reversed(own):
            sampled = value / probability
            value = strategy[chosen] * sampled
            for entry in range(first, first + len(strategy)):
                regret_sum[entry] -= reach * value
            regret_sum[first + chosen] += reach * sampled

    def _draw_chance(self, state: Any) -> Any:
        return self.game.apply(state, draw_chance(self.game, state, self.uniform()))

    def _draw_opponent(self, state: Any, actor: int, cf_reach: float) -> Any:
        """Returns the state after an opponent's action: one for each of its information sets in a traversal."""
        actions = self.game.legal_actions(state)
        first = self._find(state, actor, actions)
        index = self._drawn.get(first)
        if index is None:
            strategy = self._match_regrets(first, len(actions))
            if self._averages_at_opponents:  # met with the owner's own probability times 1 / cf_reach
                self._add_to_average(first, strategy, cf_reach)
            index = self._drawn[first] = draw_index(strategy, self.uniform())
        return self.game.apply(state, actions[index])

    def _find(self, state: Any, player: int, actions: Sequence[int]) -> int:
        """Returns where an information state's sums begin; those of a new one are zero."""
        infostate = self.game.infostate(state, player)
        first = self.tables.first_entry[player].get(infostate)
        if first is None:
            names = tuple([self.game.action_name(state, action) for action in actions])
            first = self.tables.add(player, infostate, names)
        return first

    def _match_regrets(self, first: int, num_actions: int) -> list[float]:
        """Returns `[A]` the strategy that regret matching plays, uniform without a positive regret."""
        positive = [regret if regret > 0.0 else 0.0 for regret in self.tables.regret_sum[first : first + num_actions]]
        total = sum(positive)
        return [regret / total for regret in positive] if total > 0.0 else [1.0 / num_actions] * num_actions

    def _add_to_average(self, first: int, strategy: Sequence[float], weight: float) -> None:
        strategy_sum = self.tables.strategy_sum
        for entry, probability in enumerate(strategy, first):
            strategy_sum[entry] += weight * probability
