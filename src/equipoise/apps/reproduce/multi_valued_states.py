# SPDX-License-Identifier: Apache-2.0
"""Study `multi-valued-states`: how many values a leaf needs, Figure 5.8 on Leduc.

Player 0 opens with three quarters of the pot, which player 1's blueprint does not know. Player 1 solves the rest of the
first round; leaves are worth the mean of what they are worth after the two sizes that the blueprint knows, for every
continuation that player 0 may choose. The second round is then solved safely; alternatives are what leaves were worth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_bet
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.games.leduc import Leduc, Sizing
from equipoise.search.beliefs import PublicBelief
from equipoise.search.gadgets import Given, Maxmargin, pose
from equipoise.search.limits import RoundLimit
from equipoise.search.multi_valued import combine, generate_continuations
from equipoise.search.resolving import SubgameSolver
from equipoise.search.subgames import Blueprint, Subgame
from equipoise.search.translated import translate_strategy
from equipoise.solvers.best_response import bind_public_kernel, evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.derive import derive_public_game
from equipoise.trees.grafting import Choice, attach_choices
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import (
    cut_subtree,
    find_children,
    joint_weights,
    leaf_payoffs,
    read_policy,
    relation_matrices,
    trace_back,
)

__all__ = ["MULTI_VALUED_STATES", "MultiValuedConfiguration", "OpeningBet"]

FIGURE: Final = "Fig. 5.8"
SIZES: Final = (0.5, 0.75, 1.0)
FIRST_RAISE: Final = 2  # actions of Leduc's rules
OPENER, REPLIER = 0, 1
VALUES: Final = "multi-valued states"
TRANSLATION: Final = "pseudo-harmonic translation"
INCLUDED: Final = "bet in the blueprint"
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MultiValuedConfiguration:
    """How many values leaves have, and iterations."""

    ranks: tuple[int, ...] = (5,)
    max_raises: tuple[int, ...] = (1,)  # of a round; a game for each pair of these
    num_values: tuple[int, ...] = (1, 2, 4, 8)
    blueprint_iterations: int = 2000
    search_iterations: tuple[int, ...] = (500, 1000, 2000)  # runs: generated continuations depend on last bits


class OpeningBet:
    """Leduc in which three quarters of the pot can be bet once: to open."""

    def __init__(self, ranks: int, max_raises: int, iterations: int) -> None:
        """Builds the tree, solves it, and solves the part without the opening bet: the blueprint."""
        game = derive_public_game(
            Leduc(
                ranks=ranks,
                first_sizes=SIZES,
                second_sizes=(SIZES[0], SIZES[2]),
                sizing=Sizing.POT,
                stack=10.0 * 4.0 ** (2 * max_raises),  # deep enough for every line
                max_raises=max_raises,
                merge_suits=True,
            )
        )
        everything = build_public_tree(game)
        is_first = np.array(["/" not in label for label in everything.public_labels])
        without, self.action = [], np.full(everything.actor.size, -1)
        for node in range(1, everything.actor.size):
            above = int(everything.parent[node])
            actor = int(everything.actor[above])
            if actor < 0:
                continue
            column = int(trace_back(everything, node, actor)[1][0])
            self.action[node] = game.legal_actions(above)[column]
            is_all_in = everything.action_labels[above][column] == "all-in"
            is_later = is_first[above] and above != 0 and self.action[node] == FIRST_RAISE + 1
            if is_all_in or is_later:
                without.append(node)
        kept = cut_subtree(everything, 0, without=without)
        self.tree, self.action = kept.tree, self.action[kept.nodes]
        opening = {int(self.action[child]): int(child) for child in find_children(self.tree, 0)}
        self.surprise = opening[FIRST_RAISE + 1]
        self.images = {
            opening[FIRST_RAISE + SIZES.index(size)]: share
            for size, share in translate_bet(SIZES[1], (SIZES[0], SIZES[2])).items()
        }
        self.known = cut_subtree(self.tree, 0, without=[self.surprise])
        solver = CFRSolver(self.known.tree, CFRPlus())
        solver.iterate(iterations)
        self.blueprint = Blueprint(self.known.tree, solver.average_strategy())
        self.strategy: FloatArray = self.tree.legal_share.copy()
        self.known.insert(self.blueprint.strategy, self.strategy)
        whole = CFRSolver(self.tree, CFRPlus())
        whole.iterate(iterations)
        self.included = whole.average_strategy()
        self.game_value = whole.evaluate().values[OPENER]

    def taken_for(self, node: int) -> dict[int, float]:
        """Returns what the opening bet is taken for; it is the only unknown one."""
        assert node == self.surprise
        return self.images

    def price(self, strategy: FloatArray) -> float:
        """Returns how much more than the value of the game player 0 can get, in thousandths of a chip."""
        return 1000 * (evaluate(self.tree, strategy).best_response_values[OPENER] - self.game_value)

    def twin(self, leaf: int, image: int) -> int:
        """Returns the node of the blueprint's tree that the same actions lead to after another opening bet."""
        path = []
        while leaf != self.surprise:
            above = int(self.tree.parent[leaf])
            path.append(find_children(self.tree, above).tolist().index(leaf))
            leaf = above
        for place in reversed(path):
            image = int(find_children(self.tree, image)[place])
        return int(np.searchsorted(self.known.nodes, image))

    def values_before(self) -> FloatArray:
        """Returns `[H]` what player 0's private states get by their best known opening."""
        tree = self.known.tree
        best: FloatArray = read_policy(tree, 0, self.blueprint.best_cfv(OPENER)).max(axis=1)
        return best / self.blueprint.beliefs(0).mass(OPENER)

    def reply(self, continuations: tuple[FloatArray, ...], iterations: int) -> FloatArray:
        """Returns `[C]` the blueprint with player 1's reply to the opening bet, by depth-limited search."""
        leaves = RoundLimit().leaves(self.tree, self.surprise)
        part = cut_subtree(self.tree, self.surprise, leaves=leaves)
        choices = {leaf: self._choice(int(part.nodes[leaf]), continuations) for leaf in part.leaves.tolist()}
        grown = attach_choices(part, choices)
        before = self.blueprint.beliefs(0)
        moved = np.ones((int(self.tree.num_private[0, OPENER]), int(self.tree.num_actions[0])))
        reach = (
            before.reach[OPENER] @ relation_matrices(self.tree, self.surprise, OPENER, moved),
            before.reach[REPLIER] @ relation_matrices(self.tree, self.surprise, REPLIER),
        )
        beliefs = PublicBelief(reach=reach, joint=joint_weights(self.tree, self.surprise))
        kernel = bind_public_kernel(grown.tree)
        subgame = Subgame(
            part=grown, node=self.surprise, beliefs=beliefs, blueprint=grown.tree.legal_share, kernel=kernel
        )
        found = self._solve(subgame, self.values_before(), iterations)
        out = self.strategy.copy()
        grown.insert(found, out, players=(REPLIER,))
        realization = subgame.realize(found)
        numbers = {int(node): index for index, node in enumerate(grown.nodes.tolist())}
        for leaf, choice in choices.items():
            node = int(part.nodes[leaf])
            self._go_on(node, choice, realization[grown.tree.private_cells(numbers[node], REPLIER)], out, iterations)
        return out

    def _solve(self, subgame: Subgame, alternative: FloatArray, iterations: int) -> FloatArray:
        """Returns `[C]` what safe search finds at a subgame for player 1."""
        method = Maxmargin(alternatives=Given(alternative))  # where alternatives have slack, resolving plays anything
        solver = SubgameSolver(subgame, pose(self.blueprint, subgame, REPLIER, method))
        solver.iterate(iterations)
        return solver.average_strategy()

    def _choice(self, leaf: int, continuations: tuple[FloatArray, ...]) -> Choice:
        """Returns what a leaf pays: the mean over its twins after known openings."""
        twins = [self.twin(leaf, image) for image in self.images]
        tree = self.known.tree
        payoff = [
            [
                np.mean(
                    [
                        leaf_payoffs(tree, twin, combine(tree, OPENER, theirs, self.blueprint.strategy))
                        for twin in twins
                    ],
                    axis=0,
                )
            ]
            for theirs in continuations
        ]
        return Choice(chooser=OPENER, payoff=np.array(payoff))

    def _go_on(self, leaf: int, choice: Choice, reach: FloatArray, out: FloatArray, iterations: int) -> None:
        """Writes player 1's second round below a leaf into `out`, alternatives being what the leaf was worth."""
        if not reach.any():
            return
        part = cut_subtree(self.tree, leaf)
        joint = joint_weights(self.tree, leaf)
        beliefs = PublicBelief(reach=(np.ones(joint.shape[0]), reach), joint=joint)
        mass = beliefs.mass(OPENER)
        worth = np.max([payoff[0] @ reach for payoff in choice.payoff], axis=0)
        alternative = np.divide(worth, mass, out=np.zeros(mass.size), where=mass > 0)
        subgame = Subgame(
            part=part,
            node=leaf,
            beliefs=beliefs,
            blueprint=part.tree.legal_share,
            kernel=bind_public_kernel(part.tree),
        )
        part.insert(self._solve(subgame, alternative, iterations), out, players=(REPLIER,))


def _games(configuration: MultiValuedConfiguration) -> list[tuple[int, int, str]]:
    """Returns ranks, raises and panel of every game."""
    return [
        (ranks, raises, f"{ranks} ranks, {raises} raises")
        for raises in configuration.max_raises
        for ranks in configuration.ranks
    ]


def measure(configuration: MultiValuedConfiguration) -> Iterator[Step]:
    """Yields what replies cost, game by game, by the number of values of a leaf."""
    games = _games(configuration)
    total = len(games) * (2 + len(configuration.num_values))
    for index, (ranks, raises, panel) in enumerate(games):
        done = index * (2 + len(configuration.num_values))
        yield Step(fraction=done / total, text=f"{panel}: trees and equilibria")
        opening = OpeningBet(ranks, raises, configuration.blueprint_iterations)
        translated = translate_strategy(opening.tree, [opening.surprise], REPLIER, opening.strategy, opening.taken_for)
        points = [
            Point(panel=panel, curve=curve, x=count, y=opening.price(strategy))
            for curve, strategy in ((TRANSLATION, translated), (INCLUDED, opening.included))
            for count in configuration.num_values
        ]
        yield Step(fraction=(done + 2) / total, text=f"{panel}: translation", points=tuple(points))
        for run, iterations in enumerate(configuration.search_iterations):
            found: tuple[FloatArray, ...] = ()
            for place, count in enumerate(sorted(configuration.num_values), start=1):
                found = generate_continuations(
                    opening.blueprint, REPLIER, RoundLimit(), count, first=found, iterations=iterations
                )
                price = opening.price(opening.reply(found, iterations))
                point = Point(panel=panel, curve=VALUES, x=count, y=price, run=run)
                share = (run + place / len(configuration.num_values)) / len(configuration.search_iterations)
                fraction = (done + 2 + share * len(configuration.num_values)) / total
                yield Step(fraction=fraction, text=f"{panel}: {count} values", points=(point,))


def conclude(configuration: MultiValuedConfiguration, measured: Measured) -> Conclusion:
    """Returns the curves, and a verdict on each statement about them for every game."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    counts = sorted(configuration.num_values)
    for _, _, panel in _games(configuration):
        curve = {count: measured.at(panel, VALUES, count) for count in counts}
        translated, included = (measured.at(panel, name, counts[0]) for name in (TRANSLATION, INCLUDED))
        rows += [
            {
                "game": panel,
                "values": count,
                "ours (mchips)": _round(value),
                TRANSLATION: _round(translated),
                INCLUDED: _round(included),
            }
            for count, value in curve.items()
        ]
        one, most = curve.get(1), curve[counts[-1]]
        many = [value for count, value in curve.items() if count >= 4 and value is not None]
        tenth = None if translated is None else translated / 10
        claims += [
            _claim(f"{panel}: with one value translation is better", translated, one),
            _claim(f"{panel}: with four values or more it beats translation", max(many, default=None), translated),
            _claim(f"{panel}: {counts[-1]} values are better than one", most, one),
            _claim(f"{panel}: with {counts[-1]} values the price is below a tenth of translation's", most, tenth),
        ]
    notes = (
        "What player 0 gains over the value of the game by best responses, in thousandths of a chip (the ante).",
        "Medians over runs that differ in how long searches are run: best responses are pure and tip at last bits.",
        "Leduc with suits merged, bets of half and the whole pot, three quarters only to open; no all-in bets.",
        "The text says that 16 values come close to having had the bet in the abstraction; a tenth of what translation "
        "costs is our test of that.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _claim(statement: str, less: float | None, more: float | None) -> Claim:
    """Returns the verdict on one price being below another."""
    if less is None or more is None:
        return Claim(statement=statement, source=FIGURE, verdict=judge(None), ours="nothing")
    return Claim(statement=statement, source=FIGURE, verdict=judge(less < more), ours=f"{less:.4g} and {more:.4g}")


MULTI_VALUED_STATES: Final = Study(
    name="multi-valued-states",
    title="Depth-limited replies by number of values a leaf",
    source="Brown 2020, thesis section 5.2.3, Fig. 5.8",
    x_label="values of a leaf",
    y_label="thousandths of a chip",
    sizes={
        Size.QUICK: MultiValuedConfiguration(),
        Size.FULL: MultiValuedConfiguration(
            ranks=(3, 4, 5, 6, 7),
            max_raises=(1, 2),
            num_values=(1, 2, 4, 8, 16),
            blueprint_iterations=5000,
            search_iterations=(500, 700, 1000, 1400, 2000),
        ),
    },
    measure=measure,
    conclude=conclude,
)
