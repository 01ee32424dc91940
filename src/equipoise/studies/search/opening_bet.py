# SPDX-License-Identifier: Apache-2.0
"""A bet to open with that the blueprint does not know, and replies to it by search of a limited depth.

A player opens with three quarters of the pot. The other solves the rest of the first round; leaves are worth the mean
of what they are worth after the two sizes that the blueprint knows, for every continuation that the opener may choose.
The second round is then solved safely; alternatives are what leaves were worth.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.tied import TiedSolver
from equipoise.abstraction.translation import translate_bet
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import Given, Maxmargin
from equipoise.search.limits import RoundLimit
from equipoise.search.multi_valued import LeafTable, generate_continuations
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile, PublicSubgame
from equipoise.search.resolving import SubgameSolver
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.studies.search.search_games import ALL_IN, MIDDLE, SecondRound, bucket_rows, find_sizes
from equipoise.trees.grafting import Choice, attach_choices
from equipoise.trees.public import PublicTree
from equipoise.trees.public_edges import find_children, read_policy, relation_matrices
from equipoise.trees.public_pairs import joint_weights
from equipoise.trees.subtree import cut_subtree

__all__ = ["DepthLimitedReply", "KnownBlueprint", "OpeningBet", "fill_rare"]

SIZES: Final = (0.5, 0.75, 1.0)
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownBlueprint:
    """A solution of the part without the unknown bet."""

    played: PublicProfile  # the average strategies
    beyond: PublicProfile  # the same with rare information states filled in: what leaves are worth


def fill_rare(
    tree: PublicTree, average: FloatArray, mean: FloatArray, row: npt.NDArray[np.intp], rare: float
) -> FloatArray:
    """Returns `[C]` an average strategy with another in rows that their owner seldom comes to.

    Averages are weighted by own reach: what a player does where it does not come is what its first iterations did.

    Args:
        tree: a public tree.
        average: `[C]` weighted by own reach.
        mean: `[C]` of the same iterations, not weighted by it.
        row: `[I]` the row that each information state plays by.
        rare: own reach below which all information states of a row must be for it to be filled.
    """
    first = tree.infoset_start[:-1]
    own = np.add.reduceat(bind_public_kernel(tree).realize(average)[tree.sequence_cell], first)
    most = np.zeros(int(row.max()) + 1)
    np.maximum.at(most, row, own)
    cells = tree.sequence_cell[np.repeat(most[row] < rare, np.diff(tree.infoset_start))]
    out = average.copy()
    out[cells] = mean[cells]
    return out


class OpeningBet:
    """A game in which three quarters of the pot can be bet once: to open."""

    def __init__(self, text: str, iterations: int) -> None:
        """Builds the tree, solves it, and cuts the part without the opening bet.

        Args:
            text: a game with three bets.
            iterations: of CFR+ on the whole, which its value is taken from.
        """
        everything = SecondRound(text)
        size = find_sizes(everything.form, everything.tree)
        is_later = (size == MIDDLE) & (everything.tree.parent != 0)
        kept = cut_subtree(everything.tree, 0, without=np.flatnonzero(is_later | (size == ALL_IN)))
        self.tree, size = kept.tree, size[kept.nodes]
        self.unit = float(everything.form.spec.parameters.get("big_blind", 1.0))  # chips; Leduc's is the ante
        self.opener = int(self.tree.actor[0])
        self.replier = 1 - self.opener
        opening = {int(size[child]): int(child) for child in find_children(self.tree, 0)}
        self.surprise = opening[MIDDLE]
        self.images = {
            opening[SIZES.index(bet)]: share
            for bet, share in translate_bet(SIZES[MIDDLE], (SIZES[0], SIZES[-1])).items()
        }
        self.known = cut_subtree(self.tree, 0, without=[self.surprise])
        self.below = cut_subtree(self.tree, self.surprise)
        self.cards = everything.on(self.known.tree)
        whole = CFRSolver(self.tree, CFRPlus())
        whole.iterate(iterations)
        self.kernel = whole.kernel
        self.solution = whole.average_strategy()
        self.game_value = whole.evaluate().values[self.opener]

    def solve(self, iterations: int, *, bucket: IntArray | None = None, rare: float = 0.0) -> KnownBlueprint:
        """Returns a blueprint of the known part, by CFR+.

        Args:
            iterations: of CFR+.
            bucket: of every pair of the second round's cards; None: all are told apart.
            rare: see `fill_rare`.
        """
        tree = self.known.tree
        if bucket is None:
            solver: CFRSolver[PublicTree] | TiedSolver = CFRSolver(tree, CFRPlus())
            row: npt.NDArray[np.intp] = np.arange(tree.infoset_node.size)
        else:
            names = bucket_rows(self.cards, bucket)
            solver, row = TiedSolver(tree, names), np.unique(names, return_inverse=True)[1]
        mean = np.zeros(tree.legal_share.size)
        for t in range(1, iterations + 1):
            solver.iterate(1)
            mean += t * solver.current_strategy()
        average = solver.average_strategy()
        played = PublicProfile(tree, average, like=self.cards.uniform)
        filled = fill_rare(tree, average, played.kernel.normalize(mean), row, rare)
        return KnownBlueprint(played=played, beyond=PublicProfile(tree, filled, like=self.cards.uniform))

    def include(self, iterations: int, bucket: IntArray) -> FloatArray:
        """Returns `[C]` a solution in buckets of the whole, the opening bet included."""
        solver = TiedSolver(self.tree, bucket_rows(self.cards.on(self.tree), bucket))
        solver.iterate(iterations)
        return solver.average_strategy()

    def translate(self, blueprint: KnownBlueprint) -> FloatArray:
        """Returns `[C]` a blueprint with the reply to the opening bet by translation."""
        return translate_strategy(
            self.tree, [self.surprise], self.replier, self.complete(blueprint), lambda _: self.images
        )

    def complete(self, blueprint: KnownBlueprint) -> FloatArray:
        """Returns `[C]` a blueprint over the whole tree; what it says after the opening bet means nothing."""
        strategy: FloatArray = self.tree.legal_share.copy()
        self.known.insert(blueprint.played.strategy, strategy)
        return strategy

    def price(self, strategy: FloatArray) -> float:
        """Returns how much more than the value of the game the opener can get, in thousandths of the unit."""
        best = evaluate(self.tree, strategy, kernel=self.kernel).best_response_values[self.opener]
        return 1000 * (best - self.game_value) / self.unit

    def reply_price(self, strategy: FloatArray) -> float:
        """Returns the same where only the reply to the opening bet is the strategy's, and all else an equilibrium's.

        A blueprint in buckets loses so much to known bets that a best response may never make the unknown one; this is
        what the reply alone would lose.
        """
        out = self.solution.copy()
        self.below.insert(self.below.restrict(strategy), out, players=(self.replier,))
        return self.price(out)

    def known_price(self, blueprint: KnownBlueprint) -> float:
        """Returns how much more than that value the opener can get by known bets alone; below 0 if the other is new."""
        best = blueprint.played.evaluate().best_response_values[self.opener]
        return 1000 * (best - self.game_value) / self.unit

    def twin(self, leaf: int, image: int) -> int:
        """Returns the node of the known part that the same actions lead to after another opening bet."""
        path = []
        while leaf != self.surprise:
            above = int(self.tree.parent[leaf])
            path.append(find_children(self.tree, above).tolist().index(leaf))
            leaf = above
        for place in reversed(path):
            image = int(find_children(self.tree, image)[place])
        return int(np.searchsorted(self.known.nodes, image))


class DepthLimitedReply:
    """Replies to the opening bet of one blueprint, with as many values a leaf as are asked for.

    Paper: Brown 2020, PhD thesis, section 5.2.3, "Exploitability Experiments in No-Limit Flop Hold'em".
    Departs from the paper: what a blueprint does in private states that it does not bring to a leaf is not left to its
        first iterations (`fill_rare`); maxmargin is the safe search below leaves, which the paper does not name.
    Checked by: tests/studies/test_search_studies.py.
    """

    def __init__(self, opening: OpeningBet, blueprint: KnownBlueprint) -> None:
        """Begins without continuations."""
        self.opening, self.blueprint = opening, blueprint
        self.table = LeafTable()

    def generate(self, count: int, first: tuple[FloatArray, ...], iterations: int) -> tuple[FloatArray, ...]:
        """Returns so many continuations of the opener, each a best response to a search against those before it."""
        return generate_continuations(
            self.blueprint.beyond,
            self.opening.replier,
            RoundLimit(),
            count,
            first=first,
            iterations=iterations,
            table=self.table,
        )

    def reply(self, continuations: tuple[FloatArray, ...], iterations: int) -> FloatArray:
        """Returns `[C]` the blueprint with the reply to the opening bet, by depth-limited search."""
        game = self.opening
        leaves = RoundLimit().leaves(game.tree, game.surprise)
        part = cut_subtree(game.tree, game.surprise, leaves=leaves)
        choices = {leaf: self._choice(int(part.nodes[leaf]), continuations) for leaf in part.leaves.tolist()}
        grown = attach_choices(part, choices)
        before = self.blueprint.played.beliefs(0)
        moved = np.ones((int(game.tree.num_private[0, game.opener]), int(game.tree.num_actions[0])))
        beliefs = self._believe(
            before.reach[game.opener] @ relation_matrices(game.tree, game.surprise, game.opener, moved),
            before.reach[game.replier] @ relation_matrices(game.tree, game.surprise, game.replier),
            joint_weights(game.tree, game.surprise),
        )
        kernel = bind_public_kernel(grown.tree)
        subgame = PublicSubgame(
            part=grown, place=game.surprise, beliefs=beliefs, strategy=grown.tree.legal_share, kernel=kernel
        )
        found = self._solve(subgame, self._values_before(), iterations)
        out = game.complete(self.blueprint)
        grown.insert(found, out, players=(game.replier,))
        realization = subgame.realize(found)
        numbers = {int(node): index for index, node in enumerate(grown.nodes.tolist())}
        for leaf, choice in choices.items():
            node = int(part.nodes[leaf])
            reach = realization[grown.tree.private_cells(numbers[node], game.replier)]
            self._go_on(node, choice, reach, out, iterations)
        return out

    def go_on(self, strategy: FloatArray, continuations: tuple[FloatArray, ...], iterations: int) -> FloatArray:
        """Returns `[C]` a strategy whose second round after the opening bet is solved again, as below `reply`."""
        game, out = self.opening, strategy.copy()
        realization = game.kernel.realize(strategy)
        for leaf in RoundLimit().leaves(game.tree, game.surprise).tolist():
            reach = realization[game.tree.private_cells(leaf, game.replier)]
            self._go_on(leaf, self._choice(leaf, continuations), reach, out, iterations)
        return out

    def _values_before(self) -> FloatArray:
        """Returns `[H]` what the opener's private states get by their best known opening."""
        played, opener = self.blueprint.played, self.opening.opener
        best: FloatArray = read_policy(played.tree, 0, played.best_cfv(opener)).max(axis=1)
        return best / played.beliefs(0).mass(opener)

    def _believe(self, opener: FloatArray, replier: FloatArray, joint: FloatArray) -> PublicBelief:
        """Returns beliefs from both players' reaches."""
        return PublicBelief(reach=(opener, replier) if self.opening.opener == 0 else (replier, opener), joint=joint)

    def _solve(self, subgame: PublicSubgame, alternative: FloatArray, iterations: int) -> FloatArray:
        """Returns `[C]` what safe search finds at a subgame for the replier."""
        method = Maxmargin(alternatives=Given(alternative))  # where alternatives have slack, resolving plays anything
        solver = SubgameSolver(subgame, pose(self.blueprint.played, subgame, self.opening.replier, method))
        solver.iterate(iterations)
        return solver.average_strategy()

    def _choice(self, leaf: int, continuations: tuple[FloatArray, ...]) -> Choice:
        """Returns what a leaf pays: the mean over its twins after known openings."""
        game, beyond = self.opening, self.blueprint.beyond
        twins = [game.twin(leaf, image) for image in game.images]
        payoff = [
            [
                np.mean(
                    [self.table.look_up(beyond, twin, game.opener, theirs, beyond.strategy) for twin in twins], axis=0
                )
            ]
            for theirs in continuations
        ]
        return Choice(chooser=game.opener, payoff=np.array(payoff))

    def _go_on(self, leaf: int, choice: Choice, reach: FloatArray, out: FloatArray, iterations: int) -> None:
        """Writes the replier's second round below a leaf into `out`, alternatives being what the leaf was worth."""
        game = self.opening
        if not reach.any():
            return
        part = cut_subtree(game.tree, leaf)
        joint = joint_weights(game.tree, leaf)
        beliefs = self._believe(np.ones(joint.shape[game.opener]), reach, joint)
        mass = beliefs.mass(game.opener)
        gains = choice.payoff[:, 0] if game.opener == 0 else -choice.payoff[:, 0].swapaxes(1, 2)
        worth = (gains @ reach).max(axis=0)
        subgame = PublicSubgame(
            part=part,
            place=leaf,
            beliefs=beliefs,
            strategy=part.tree.legal_share,
            kernel=bind_public_kernel(part.tree),
        )
        alternative = Given.from_counterfactual(worth, mass).values
        part.insert(self._solve(subgame, alternative, iterations), out, players=(game.replier,))
