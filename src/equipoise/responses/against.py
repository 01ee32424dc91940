# SPDX-License-Identifier: Apache-2.0
"""CFR-f: regret minimisation against an opponent that answers every iteration's strategy.

Paper: Davis 2015, "Using Response Functions for Strategy Training and Evaluation", MSc thesis [D15], 4.1 and 4.2.
Symbols: sigma_1^t -> tables.strategy; f_t(sigma_1^t) -> what `respond` returns; R_1^T -> epsilon, measured.
Departs from the paper: any rule of CFR; the average and the measured regret then weigh iterations alike, under
    which the chain of theorem 6 still holds. `updates_per_response` above 1 lets a response stand for several updates,
    as the paper's hold'em runs do, to which none of its theorems applies.
Checked by: tests/responses/test_against.py, tests/responses/test_guarantees.py.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import AbandonedError, ConfigError
from equipoise.core.formatting import run_repr
from equipoise.core.interruption import IsInterrupted, Listener
from equipoise.kernels.calls import check_integer, check_num_threads
from equipoise.responses.forms import BoardForm, PlayForm, PlayTree, SequenceForm, Table, Updates, bind_form
from equipoise.responses.hand_buckets import BucketForm, HandBuckets
from equipoise.responses.on_tree import OnTree
from equipoise.responses.protocol import Response, StatefulResponse
from equipoise.responses.streams import Purpose, spawn_stream
from equipoise.solvers.best_response import Evaluation, evaluate
from equipoise.solvers.rules import CFR, Rule
from equipoise.solvers.saved_state import (
    SavedArrays,
    name_tables,
    overwrite_tables,
    read_array,
    read_count,
    read_number,
)
from equipoise.trees.history import HistoryTree
from equipoise.trees.merging import merge_infosets

__all__ = ["AgainstSolver", "SeatLearner"]

NUMBERS: Final = ("utility_sum", "weight_sum", "square_sum", "standing_weight", "earlier_share")


class SeatLearner:
    """The learner of one seat: its tables, and what its opponent has played so far.

    Strategies that go in and out are over the tree; with an abstraction, tables are over the merged tree.
    """

    def __init__(
        self,
        tree: PlayTree | PlayForm,
        response: Response,
        *,
        seat: int,
        rule: Rule,
        updates_per_response: int = 1,
        seed: int = 0,
        groups: npt.ArrayLike | HandBuckets | None = None,
        dtype: npt.DTypeLike | None = None,
        num_threads: int = 1,
    ) -> None:
        """Begins a run.

        Args:
            tree: two players, zero sum.
            response: the opponent, over the same tree.
            seat: of the learner.
            rule: how regrets and averages are weighed.
            updates_per_response: of the learner, before the opponent answers again.
            seed: of the opponent's draws.
            groups: `[I]` information sets that the learner cannot tell apart, see `merge_infosets`; on a hold'em tree
                its buckets; None: it sees everything.
            dtype: of the tables, where the tree leaves a choice.
            num_threads: size of the team.
        """
        check_integer("updates_per_response", updates_per_response, 1)
        check_integer("seed", seed, 0)
        check_num_threads(num_threads)
        if seat not in (0, 1):
            raise ConfigError(f"seat must be 0 or 1, got {seat}")
        self.full = OnTree(tree)
        self.tree = self.full.tree
        self.response, self.rule = response, rule
        self.seat, self.seed = seat, seed
        self.updates_per_response = updates_per_response
        self.num_threads = num_threads
        self.merged = None
        self.form = self.full.form
        self.is_abstracted = groups is not None
        if isinstance(groups, HandBuckets):
            self.form = BucketForm(self._check_boards(), groups)
        elif groups is not None:
            if not isinstance(self.tree, HistoryTree):
                raise ConfigError("a learner's information sets are merged on history trees alone, got another tree")
            self.merged = merge_infosets(self.tree, groups, players=(seat,))
            self.form = SequenceForm(self.merged.tree)
        self.tables: Any = self.form.allocate(rule, dtype)
        self.iteration = 0
        self.response_reach = np.zeros_like(self.form.realize(self._next()))  # plan of the answer that stands
        self.response_sum = np.zeros_like(self.response_reach)  # of earlier answers, weighted as the average is
        self.standing_weight = 0.0  # of the answer that stands
        self.earlier_share = 1.0  # of `response_sum` that updates since have left
        self.utility_sum = 0.0  # the learner's, weighted likewise
        self.weight_sum = 0.0
        self.square_sum = 0.0  # of squared weights
        self._facing = self.response_reach
        self._idle = self._spawn()  # for responses that draw nothing

    def _check_boards(self) -> BoardForm:
        if not isinstance(self.full.form, BoardForm):
            raise ConfigError(f"buckets of hands are for hold'em trees, got {self.full.form.label}")
        return self.full.form

    def iterate(self, num_iterations: int) -> None:
        """Updates the learner so many times; an answer is asked for whenever the last one has stood long enough."""
        check_integer("num_iterations", num_iterations, 0)
        goal = self.iteration + num_iterations
        while self.iteration < goal:
            if self.iteration % self.updates_per_response == 0:
                self._ask()
            left = self.updates_per_response - self.iteration % self.updates_per_response
            self._learn(min(left, goal - self.iteration))

    def _ask(self) -> None:
        """Lets the opponent answer the present strategy: [D15] 5.1.1, the one that this iteration plays."""
        rng = self._idle if self.response.deterministic else self._spawn()
        answer = self.response.respond(self.current_strategy(), 1 - self.seat, rng)
        reach = self.form.realize(self.merged.lower(answer) if self.merged else answer)
        reach[self.form.own_cells[self.seat]] = 0.0
        self.response_sum = self._sum_answers()
        self.standing_weight, self.earlier_share = 0.0, 1.0
        self._stand(reach)

    def _spawn(self) -> np.random.Generator:
        return spawn_stream(self.seed, Purpose.TRAINING, self.seat, self.iteration)

    def _sum_answers(self) -> Table:
        """Returns `[C]` the reach of all answers so far, weighted as the average is."""
        return self.earlier_share * self.response_sum + self.standing_weight * self.response_reach

    def _stand(self, reach: Table) -> None:
        self.response_reach = reach
        self._facing = self.form.face(reach, self.seat, num_threads=self.num_threads)

    def _learn(self, num_updates: int) -> None:
        updates = Updates.tabulate(self.rule, self.iteration + 1, num_updates)
        utility = self.form.learn(updates, self.tables, self.seat, self._facing, num_threads=self.num_threads)
        # one number after the other, so that sums do not depend on how a run is cut into calls
        for (decay, weight), earned in zip(updates.discounts[:, 2:4].tolist(), utility.tolist(), strict=True):
            self.earlier_share *= decay
            self.standing_weight = decay * self.standing_weight + weight
            self.utility_sum = decay * self.utility_sum + weight * earned
            self.weight_sum = decay * self.weight_sum + weight
            self.square_sum = decay**2 * self.square_sum + weight**2
        self.iteration += num_updates

    @property
    def effective_iterations(self) -> float:
        """Returns how many iterations of equal weight leave a mean as much to chance: under CFR, all that were run."""
        return self.weight_sum**2 / self.square_sum if self.square_sum else 0.0

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes of the learner's sweeps: all histories (or public states), once per update."""
        return self.iteration * self.full.form.num_nodes

    def average_sums(self) -> Table:
        """Returns `[Q]` of the learner's tree: own reach summed up, the learner's, and its opponent's beside it."""
        return self.form.combine(self.form.average(self.tables), self._sum_answers(), 1 - self.seat)

    def average_strategy(self) -> Table:
        """Returns `[Q]` the learner's average, and for its opponent the average of the answers."""
        average = self.form.play(self.average_sums())
        return self.merged.lift(average) if self.merged else average

    def current_strategy(self) -> Table:
        """Returns `[Q]` what the learner plays next; its opponent's part means nothing."""
        return self.merged.lift(self._next()) if self.merged else self._next()

    def _next(self) -> Table:
        return self.form.current(self.rule, self.tables, has_played=self.iteration > 0)

    def measure_regret(self) -> float:
        """Returns epsilon: what the best strategy would have earned more, per iteration, against the answers given.

        [D15] definition 7, measured rather than bounded; iterations weigh as in the average. 0 before the first one.
        """
        if self.weight_sum <= 0:
            return 0.0
        best, _ = self.form.best_response(self._sum_answers() / self.weight_sum, self.seat)
        return best - self.utility_sum / self.weight_sum

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            **name_tables(self.tables),
            "iteration": np.array(self.iteration),
            "response_reach": self.response_reach,
            "response_sum": self.response_sum,
            **{name: np.array(getattr(self, name)) for name in NUMBERS},
        }
        if isinstance(self.response, StatefulResponse):
            arrays.update({f"response.{name}": value for name, value in self.response.state().items()})
        return arrays

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule and response."""
        iteration = read_count(state, "iteration")
        numbers = {name: read_number(state, name) for name in NUMBERS}
        kind, shape = self.response_sum.dtype, self.response_sum.shape
        reach, sums = (read_array(state, name, kind, shape) for name in ("response_reach", "response_sum"))
        overwrite_tables(name_tables(self.tables), state)
        if isinstance(self.response, StatefulResponse):
            inner = {name: array for name, array in state.items() if name.startswith("response.")}
            self.response.restore({name.removeprefix("response."): array for name, array in inner.items()})
        self.iteration = iteration
        self.response_sum = np.array(sums)
        for name, value in numbers.items():
            setattr(self, name, value)
        self._stand(np.array(reach))


class AgainstSolver:
    """A run of CFR-f in one seat or in both, as the driver advances it.

    In both seats, two learners train apart, each against the response in the other seat, and the strategy is theirs.
    In one seat the other half of the strategy is the average of the answers, with which CFR-BR comes to an equilibrium.

    >>> from equipoise.games import make_game
    >>> from equipoise.responses import BestResponse
    >>> from equipoise.trees import build_history_tree
    >>> tree = build_history_tree(make_game("kuhn"))
    >>> solver = AgainstSolver(tree, BestResponse(tree))
    >>> solver.iterate(100)
    >>> solver.evaluate().exploitability < 0.1
    True
    """

    def __init__(
        self,
        tree: PlayTree | PlayForm,
        response: Response,
        *,
        rule: Rule | None = None,
        seat: int | None = None,
        updates_per_response: int = 1,
        seed: int = 0,
        groups: npt.ArrayLike | HandBuckets | None = None,
        dtype: npt.DTypeLike | None = None,
        num_threads: int = 1,
    ) -> None:
        """Begins a run; `seat` None is both, the others are as for `SeatLearner`."""
        if isinstance(response, StatefulResponse) and seat is None:
            raise ConfigError(f"{response.name} learns from one opponent: give the seat of the learner, 0 or 1")
        self.response = response
        shared = tree if isinstance(tree, PlayForm) else bind_form(tree)
        self.tree = shared.tree
        self.rule = rule or CFR()
        self.num_threads = num_threads
        self.learners = tuple(
            SeatLearner(
                shared,
                response,
                seat=learner,
                rule=self.rule,
                updates_per_response=updates_per_response,
                seed=seed,
                groups=groups,
                dtype=dtype,
                num_threads=num_threads,
            )
            for learner in ((0, 1) if seat is None else (seat,))
        )
        self.full = self.learners[0].full

    __repr__ = run_repr

    @property
    def iteration(self) -> int:
        """Returns the updates of each learner so far; where a run was interrupted between them, of the last one."""
        return min(learner.iteration for learner in self.learners)

    @property
    def nodes_touched(self) -> int:
        """Returns the nodes of all learners' sweeps; what responses visit is theirs."""
        return sum(learner.nodes_touched for learner in self.learners)

    def iterate(self, num_iterations: int) -> None:
        """Updates every learner so many times, fewer if an answer is given up: then a run stands still."""
        check_integer("num_iterations", num_iterations, 0)
        goal = self.iteration + num_iterations
        with contextlib.suppress(AbandonedError):  # nobody has learnt from the answer, so the run can go on later
            for learner in self.learners:  # one may be ahead of another whose answer was given up
                learner.iterate(max(0, goal - learner.iteration))

    @property
    def kernel(self) -> Any:
        """Returns the kernel of full sweeps, with the locks of a spot."""
        return self.full.kernel

    def listen(self, is_interrupted: IsInterrupted) -> None:
        """Lets long answers ask whether they are still wanted."""
        if isinstance(self.response, Listener):
            self.response.listen(is_interrupted)

    def average_strategy(self) -> Table:
        """Returns `[Q]` the average strategy, the one of theorems 6, 8 and 10."""
        return self._join([learner.average_strategy() for learner in self.learners])

    def current_strategy(self) -> Table:
        """Returns `[Q]` what is played next, the one of theorems 7 and 9 at a random iteration."""
        return self._join([learner.current_strategy() for learner in self.learners])

    def measure_regrets(self) -> dict[int, float]:
        """Returns epsilon of each learner's seat."""
        return {learner.seat: learner.measure_regret() for learner in self.learners}

    def evaluate(self, *, respects_locks: bool = True) -> Evaluation:
        """Returns the exact quality of the average strategy as a profile.

        Args:
            respects_locks: on a hold'em tree, whether best responses keep to its locks.
        """
        if not respects_locks:
            average, kernel = self.average_strategy(), self.full.kernel
            return evaluate(
                self.tree, average, kernel=kernel, respects_locks=respects_locks, num_threads=self.num_threads
            )
        return self.full.evaluate(self.average_strategy(), num_threads=self.num_threads)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Returns the arrays from which the run goes on to the bit; on a hold'em tree with what is played on average.

        Whoever opens the file of a spot finds its strategy there, whatever was run.
        """
        arrays = {f"seat{one.seat}.{name}": array for one in self.learners for name, array in one.state().items()}
        if isinstance(self.full.form, BoardForm):
            arrays["strategy_sum"] = self.average_strategy()
        return arrays

    def restore(self, state: SavedArrays) -> None:
        """Overwrites the run with a saved state of the same tree, rule, response and seats."""
        for learner in self.learners:
            prefix = f"seat{learner.seat}."
            part = {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            learner.restore(part)

    def _join(self, strategies: list[Table]) -> Table:
        profile = strategies[0]
        for learner, strategy in zip(self.learners[1:], strategies[1:], strict=True):
            profile = self.full.combine(profile, strategy, learner.seat)
        return profile
