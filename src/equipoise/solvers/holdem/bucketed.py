# SPDX-License-Identifier: Apache-2.0
"""Public chance sampling on hold'em whose hands play by bucket, and what responses inside the abstraction gain."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.core.memory import check_memory
from equipoise.core.progress import SampledFigures
from equipoise.games.holdem.cards import format_board
from equipoise.kernels.holdem.arrays import TILE
from equipoise.kernels.holdem.sampling import HoldemSamplingTables, RunoutKernel, SampledArray, StrategyPair, draw_cards
from equipoise.kernels.sampling import Scheme
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.holdem.mccfr import check_table_dtype, make_sampling_tables
from equipoise.solvers.mccfr import MCCFRConfig, SampledRun
from equipoise.trees.holdem.bucketed import BucketedTree

__all__ = ["BucketedSolver", "ResponseEstimate", "Runouts", "estimate_response", "evaluate_bucketed", "learn_responses"]

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_RUNOUTS = 20_000  # that an exact evaluation lists
NUM_MEASURED = 20  # runouts behind the figures of a run that is too large for one
LEAST_REGRET_CHIPS = 1e-9  # far below what a runout teaches
MAX_KEPT_HANDS = 2_000_000  # of all runouts, at about 20 bytes, that are laid out once


class Runouts:
    """The runouts of a tree as its kernel takes them; laid out once where there are few."""

    def __init__(self, tree: BucketedTree, kernel: RunoutKernel) -> None:
        self.tree, self.kernel = tree, kernel
        self._cards_left, self._size = tree.cards_left, tree.num_runout_cards
        self._is_kept = tree.num_runouts * tree.hands.size * len(tree.streets) <= MAX_KEPT_HANDS
        self._kept: dict[tuple[int, ...], object] = {}

    def draw(self, random_words: npt.NDArray[np.uint64]) -> object:
        """Returns a runout, all being as likely; advances the generator in place."""
        return self[self.tree.sort_runout(draw_cards(random_words, self._cards_left, self._size))]

    def __getitem__(self, cards: tuple[int, ...]) -> object:
        """Returns the runout of these cards."""
        runout = self._kept.get(cards)
        if runout is None:
            runout = self.kernel.bind(self.tree.lay_out(cards))
            if self._is_kept:
                self._kept[cards] = runout
        return runout


class BucketedSolver(SampledRun[HoldemSamplingTables]):
    """A run of public chance sampling on a bucketed tree, on one thread; an iteration updates both players once.

    Each player's sweep draws a runout, takes every hand that it leaves through the betting, and adds what hands of the
    same bucket earn to one row, each hand with its weight in the range. Averages add own reach times strategy likewise.

    Paper: Johanson et al. 2012 (public chance sampling), as in `HoldemSamplingKernel`; Waugh et al. 2009, "A Practical
        Use of Imperfect Recall", for buckets that forget those of earlier streets.
    Symbols: as in `MCCFRSolver`.
    Departs from the paper: regrets leave out the chance of the board given both hands, a constant of the street.
    Checked by: tests/solvers/test_bucketed_holdem.py.
    """

    def __init__(
        self,
        tree: BucketedTree,
        config: MCCFRConfig | None = None,
        *,
        rng: np.random.Generator,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        config = config or MCCFRConfig(scheme=Scheme.PUBLIC_CHANCE)
        check_table_dtype(dtype)
        if config.scheme is not Scheme.PUBLIC_CHANCE:
            raise ConfigError(f"bucketed trees are solved by public chance sampling, got {config.scheme_name} sampling")
        check_memory(2 * tree.rows.num_cells * np.dtype(dtype).itemsize, "the bucketed tree")
        super().__init__(config, make_sampling_tables(tree.rows.num_cells, dtype, rng))
        self.tree = tree
        self.kernel = RunoutKernel(tree.arrays)
        self.runouts = Runouts(tree, self.kernel)

    @property
    def num_bytes(self) -> int:
        """Returns the bytes of the tables and of what sweeps have worked with so far."""
        return self.tables.regret_sum.nbytes + self.tables.strategy_sum.nbytes + self.kernel.num_bytes

    def _sample(self, num_iterations: int, node_limit: int) -> int:
        played = StrategyPair((self.tables.regret_sum, self.tables.regret_sum), self.tree.reach)
        done = 0
        while done < num_iterations and self.nodes_touched < node_limit:
            for player in (0, 1):
                runout = self.runouts.draw(self.tables.random_words)
                self.kernel.update(runout, player, played, self.tree.reach[player], self.tables)
                self.tables.nodes_touched[0] += np.uint64(len(self.tree.betting.nodes))
            done += 1
        return done

    def evaluate(self) -> Evaluation | SampledFigures:
        """Returns the exact quality of the average strategy inside the abstraction, see `evaluate_bucketed`.

        Where there are too many runouts to list, what it earns against uniform play on sampled ones.
        """
        if self.tree.num_runouts <= MAX_RUNOUTS:
            return evaluate_bucketed(self.runouts, self.tables.strategy_sum)
        return self.sample_figures(NUM_MEASURED)

    def sample_figures(self, num_runouts: int) -> SampledFigures:
        """Returns what the average strategy earns against uniform play on sampled runouts, every hand taken.

        Runouts come from a generator of their own, so that measuring does not disturb the run.
        """
        sums = self.tables.strategy_sum
        uniform = np.zeros_like(sums)
        rng = np.random.default_rng([*self.tables.random_words.tolist(), self.iteration])
        words = make_sampling_tables(0, sums.dtype, rng).random_words
        pairs = (sums, uniform), (uniform, sums), (uniform, uniform)
        won = np.zeros((num_runouts, len(pairs)))
        for place in range(num_runouts):
            runout = self.runouts.draw(words)
            for column, (player, pair) in enumerate(zip((0, 1, 0), pairs, strict=True)):
                values = self.kernel.values(runout, player, StrategyPair(pair, self.tree.reach))
                won[place, column] = self.tree.mean_value(player, values)
        means, errors = won.mean(axis=0).tolist(), (won.std(axis=0, ddof=1) / np.sqrt(num_runouts)).tolist()
        return SampledFigures(
            num_infostates=self.tree.count_rows(sums),
            regret_bound=None,
            values_against_uniform=(means[0], means[1]),
            standard_errors=(errors[0], errors[1]),
            uniform_values=(means[2], -means[2]),
            num_playouts=num_runouts,
        )

    def estimate_response(
        self, *, rng: np.random.Generator, num_learnt: int = 1_000, num_measured: int = 1_000
    ) -> ResponseEstimate:
        """Returns what learnt responses gain against the average strategy; see the function of this name."""
        sums = self.tables.strategy_sum
        return estimate_response(self.runouts, sums, rng=rng, num_learnt=num_learnt, num_measured=num_measured)

    def average_strategy(self, node: int, board: Sequence[int]) -> FloatArray:
        """Returns `[H, A]` what every hand of the deck plays on average at a decision on a board; 0 if blocked."""
        return self.tree.normalize(self.tables.strategy_sum, node, board)


# --- responses inside the abstraction ---


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ResponseEstimate:
    """What two learnt responses win against a fixed strategy, in chips per hand.

    Each response is some strategy of the abstract game, so its true value is at most that of a best response: `gain` is
    an estimate of a **lower bound** on the exploitability inside the abstraction, with its own `standard_error`.
    """

    gain: float  # mean over players of what the response wins; the strategy's own values cancel
    standard_error: float  # over the runouts measured
    response_values: tuple[float, float]  # of each player's response against the other's strategy
    num_learnt: int  # runouts from which each response learnt
    num_measured: int  # fresh runouts on which both were measured


def estimate_response(
    runouts: Runouts,
    sums: SampledArray,
    *,
    rng: np.random.Generator,
    num_learnt: int,
    num_measured: int,
) -> ResponseEstimate:
    """Returns what responses in the same buckets gain that learn by sampling against play in proportion to `sums`."""
    if num_learnt < 1 or num_measured < 2:
        raise ConfigError(
            f"a response needs runouts to learn from and two to measure, got {num_learnt}, {num_measured}"
        )
    tree, kernel = runouts.tree, runouts.kernel
    learnt = learn_responses(runouts, sums, rng=rng, num_learnt=num_learnt)
    played = [_replace(sums, player, own, tree) for player, own in enumerate(learnt)]
    words = make_sampling_tables(0, sums.dtype, rng).random_words
    won = np.zeros((num_measured, 2))
    for place in range(num_measured):
        runout = runouts.draw(words)
        for player in (0, 1):
            won[place, player] = tree.mean_value(player, kernel.values(runout, player, played[player]))
    gains = won.mean(axis=1)
    return ResponseEstimate(
        gain=float(gains.mean()),
        standard_error=float(gains.std(ddof=1) / np.sqrt(num_measured)),
        response_values=(float(won[:, 0].mean()), float(won[:, 1].mean())),
        num_learnt=num_learnt,
        num_measured=num_measured,
    )


def learn_responses(
    runouts: Runouts, sums: SampledArray, *, rng: np.random.Generator, num_learnt: int
) -> tuple[SampledArray, SampledArray]:
    """Returns `[C]` for each player what a response in the same buckets plays in proportion to.

    It learns by sampling against play in proportion to `sums`, from so many runouts.
    """
    tree, kernel = runouts.tree, runouts.kernel
    found = []
    for player in (0, 1):
        tables = make_sampling_tables(tree.rows.num_cells, sums.dtype, rng)
        # where nothing is learnt the response plays what it deviates from; any regret outweighs this start
        np.multiply(sums, LEAST_REGRET_CHIPS / max(float(sums.max(initial=0.0)), 1.0), out=tables.regret_sum)
        pair = _replace(sums, player, tables.regret_sum, tree)
        for _ in range(num_learnt):
            runout = runouts.draw(tables.random_words)
            kernel.update(runout, player, pair, tree.reach[player], tables)
        found.append(tables.regret_sum)
    return found[0], found[1]


def _replace(sums: SampledArray, player: int, own: SampledArray, tree: BucketedTree) -> StrategyPair:
    """Returns what is played when one player leaves a strategy for a table of its own."""
    return StrategyPair((own, sums) if player == 0 else (sums, own), tree.reach)


def evaluate_bucketed(runouts: Runouts, sums: SampledArray) -> Evaluation:
    """Returns exact values and best-response values, in chips per hand, of play in proportion to `sums`.

    Every runout is listed. Who deviates knows the betting and the sequence of its own buckets, earlier streets'
    included (perfect recall), and no cards. Where buckets remember those before them this is the best response of the
    abstract game; where they forget, the abstract game's own responses can only do worse, and this is an upper bound.
    """
    tree, kernel = runouts.tree, runouts.kernel
    if tree.num_runouts > MAX_RUNOUTS:
        raise GameTooLargeError(
            f"an exact evaluation lists every runout: {MAX_RUNOUTS:,} at most, "
            f"from board {format_board(tree.spot.board) or 'none'} there are {tree.num_runouts:,}; "
            "use estimate_response"
        )
    exact = sums.astype(np.float64)
    played = StrategyPair((exact, exact), tree.reach)
    totals = [np.zeros_like(reach) for reach in tree.reach]
    for cards in tree.list_runouts():
        runout = runouts[cards]
        for player in (0, 1):
            totals[player] += kernel.values(runout, player, played)
    sequences = _Sequences(tree)
    best = tuple(sequences.best_value(kernel, player, played) for player in (0, 1))
    values = tuple(tree.mean_value(player, totals[player] / tree.num_runouts) for player in (0, 1))
    return Evaluation(values=values, best_response_values=best)


class _Sequences:
    """The sequences of buckets that hands can run through, street by street."""

    def __init__(self, tree: BucketedTree) -> None:
        self.tree = tree
        seen = [np.zeros(0, np.int64) for _ in tree.streets]
        for _, _, keys in self._runouts():
            seen = [np.union1d(old, new) for old, new in zip(seen, keys, strict=True)]
        self.keys: list[LongArray] = seen
        counts = [tree.assigner.num_buckets(street) for street in tree.streets]
        # by street: which sequence of the street above each one continues
        self.parents = [
            np.searchsorted(above, here // count)
            for above, here, count in zip(self.keys[:-1], self.keys[1:], counts[1:], strict=True)
        ]

    def _runouts(self) -> Iterator[tuple[list[tuple[int, ...]], list[IntArray], list[LongArray]]]:
        """Yields boards, hands and their keys, by street; a key holds the key above and the bucket."""
        tree = self.tree
        for cards in tree.list_runouts():
            boards = tree.boards(cards)
            numbers = tree.live_hands(boards)
            key = np.zeros(tree.spot.deck.num_hands, np.int64)
            keys = []
            for street, board, here in zip(tree.streets, boards, numbers, strict=True):
                key = key * tree.assigner.num_buckets(street) + tree.buckets(board)
                keys.append(key[here])
            yield boards, numbers, keys

    def best_value(self, kernel: RunoutKernel, player: int, played: StrategyPair) -> float:
        """Returns a player's best-response value, in chips per hand."""
        tree = self.tree
        flats, folds = (
            [
                np.zeros((keys.size, TILE * packs))
                for keys, packs in zip(self.keys, tree.arrays.street_field(name).tolist(), strict=True)
            ]
            for name in ("flat_packs", "fold_packs")
        )
        own_weight = tree.reach[player] / tree.num_runouts
        for boards, numbers, keys in self._runouts():
            rows = []
            for board, here, all_keys, key in zip(boards, numbers, self.keys, keys, strict=True):
                pair = [tree.buckets(board)[here]] * 2
                pair[player] = np.searchsorted(all_keys, key).astype(np.int32)
                rows.append((pair[0], pair[1]))
            runout = kernel.bind(tree.arrange(boards, numbers, rows, tree.rows))
            kernel.collect(runout, player, played, own_weight, flat_sums=flats, fold_sums=folds)
        return self._respond(player, flats[-1], folds) / tree.pair_chance

    def _respond(self, player: int, ends: FloatArray, folds: list[FloatArray]) -> float:
        """Returns the sum over first buckets of what the best answers earn, working up from the last street's ends."""
        for street in reversed(range(len(folds))):
            fields = self.tree.arrays.street(street)
            flat_slot, fold_slot, nodes = self._betting(player, street)
            value = np.zeros((ends.shape[0], fields.num_lines + fields.num_cells[player]))
            for slots, worth in ((flat_slot, ends), (fold_slot, folds[street])):
                for column, slot in enumerate(slots.tolist()):
                    value[:, slot] += worth[:, column]
            for first_cell, num_actions, source in reversed(nodes.tolist()):
                first = fields.num_lines + first_cell
                value[:, source] += value[:, first : first + num_actions].max(axis=1)
            if street:
                ends = self._hand_up(value[:, : fields.num_lines], street)
        return float(value[:, 0].sum())

    def _hand_up(self, entering: FloatArray, street: int) -> FloatArray:
        """Returns what the lines that go on are worth on the street above, padding included."""
        arrays = self.tree.arrays
        packs = arrays.street_field("flat_packs")
        first = 2 * TILE * int(packs[: street - 1].sum())  # the chance of a deal is the same for both
        scale = arrays.flat_scale[first : first + TILE * int(packs[street - 1])]
        ends = np.zeros((self.keys[street - 1].size, scale.size))
        np.add.at(ends[:, : entering.shape[1]], self.parents[street - 1], entering)
        return ends * scale

    def _betting(self, player: int, street: int) -> tuple[IntArray, IntArray, IntArray]:
        """Returns a player's slots of flats and folds, and its decisions, on a street."""
        arrays = self.tree.arrays
        slots = []
        for name, array in (("flat_packs", arrays.flat_slot), ("fold_packs", arrays.fold_slot)):
            packs = arrays.street_field(name)
            size = TILE * int(packs[street])
            first = 2 * TILE * int(packs[:street].sum()) + player * size
            slots.append(array[first : first + size])
        ends = np.cumsum(arrays.street_field("num_nodes").ravel())
        return slots[0], slots[1], np.split(arrays.nodes, ends[:-1])[2 * street + player]
