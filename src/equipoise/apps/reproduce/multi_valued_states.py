# SPDX-License-Identifier: Apache-2.0
"""Study `multi-valued-states`: how many values a leaf needs, Figure 5.8 on Leduc and flop hold'em.

A player opens with three quarters of the pot, which the other's blueprint does not know. The other solves the rest of
the first round; leaves are worth the mean of what they are worth after the two sizes that the blueprint knows, for
every continuation that the opener may choose. The second round is then solved safely; alternatives are what leaves were
worth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.abstraction.translation import translate_bet
from equipoise.apps.reproduce.orderings import Ordering, judge_ratios
from equipoise.apps.reproduce.search_games import (
    ALL_IN,
    MIDDLE,
    find_sizes,
    holdem_with_three_bets,
    leduc_with_three_bets,
    make_public_game,
)
from equipoise.apps.reproduce.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
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
from equipoise.trees.grafting import Choice, attach_choices
from equipoise.trees.public import build_public_tree
from equipoise.trees.subtree import (
    cut_subtree,
    find_children,
    joint_weights,
    leaf_payoffs,
    read_policy,
    relation_matrices,
)

__all__ = ["MULTI_VALUED_STATES", "MultiValuedConfiguration", "OpeningBet"]

FIGURE: Final = "Fig. 5.8"
SIZES: Final = (0.5, 0.75, 1.0)
ENOUGH: Final = 4  # values from which on search beats translation
VALUES: Final = "multi-valued states"
TRANSLATION: Final = "pseudo-harmonic translation"
INCLUDED: Final = "bet in the blueprint"
FloatArray = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MultiValuedConfiguration:
    """How many values leaves have, and iterations."""

    ranks: tuple[int, ...] = (5,)  # Leduc games, one for each pair of ranks and raises
    max_raises: tuple[int, ...] = (1,)  # of a round; 0: no Leduc game
    decks: tuple[str, ...] = ("QKA/cdh",)  # hold'em games, one for each pair of deck and raises
    first_raises: int = 2  # before the flop
    flop_raises: tuple[int, ...] = (1,)  # on the flop
    num_values: tuple[int, ...] = (1, 2, 4, 8)
    blueprint_iterations: int = 2000
    search_iterations: tuple[int, ...] = (500, 1000, 2000)  # runs: generated continuations depend on last bits

    @property
    def leduc_games(self) -> dict[str, str]:
        """Returns Leduc games by the names of their panels."""
        return {
            f"{ranks} ranks, {raises} raises": leduc_with_three_bets(ranks, raises)
            for raises in self.max_raises
            for ranks in self.ranks
            if raises
        }

    @property
    def flop_games(self) -> dict[str, str]:
        """Returns hold'em games by the names of their panels."""
        return {
            f"flop {deck}, {raises} raises": holdem_with_three_bets(deck, self.first_raises, raises)
            for raises in self.flop_raises
            for deck in self.decks
        }

    @property
    def games(self) -> dict[str, str]:
        """Returns all games by the names of their panels."""
        return self.leduc_games | self.flop_games


class OpeningBet:
    """A game in which three quarters of the pot can be bet once: to open."""

    def __init__(self, text: str, iterations: int) -> None:
        """Builds the tree, solves it, and solves the part without the opening bet: the blueprint."""
        game = make_public_game(text)
        everything = build_public_tree(game)
        size = find_sizes(game, everything)
        is_later = (size == MIDDLE) & (everything.parent != 0)
        kept = cut_subtree(everything, 0, without=np.flatnonzero(is_later | (size == ALL_IN)))
        self.tree, size = kept.tree, size[kept.nodes]
        self.unit = float(game.spec.parameters.get("big_blind", 1.0))  # chips; Leduc's is the ante
        self.opener = int(self.tree.actor[0])
        self.replier = 1 - self.opener
        opening = {int(size[child]): int(child) for child in find_children(self.tree, 0)}
        self.surprise = opening[MIDDLE]
        self.images = {
            opening[SIZES.index(bet)]: share
            for bet, share in translate_bet(SIZES[MIDDLE], (SIZES[0], SIZES[-1])).items()
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
        self.game_value = whole.evaluate().values[self.opener]

    def taken_for(self, node: int) -> dict[int, float]:
        """Returns what the opening bet is taken for; it is the only unknown one."""
        assert node == self.surprise
        return self.images

    def price(self, strategy: FloatArray) -> float:
        """Returns how much more than the value of the game the opener can get, in thousandths of the unit."""
        gain = evaluate(self.tree, strategy).best_response_values[self.opener] - self.game_value
        return 1000 * gain / self.unit

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
        """Returns `[H]` what the opener's private states get by their best known opening."""
        tree = self.known.tree
        best: FloatArray = read_policy(tree, 0, self.blueprint.best_cfv(self.opener)).max(axis=1)
        return best / self.blueprint.beliefs(0).mass(self.opener)

    def reply(self, continuations: tuple[FloatArray, ...], iterations: int) -> FloatArray:
        """Returns `[C]` the blueprint with the reply to the opening bet, by depth-limited search."""
        leaves = RoundLimit().leaves(self.tree, self.surprise)
        part = cut_subtree(self.tree, self.surprise, leaves=leaves)
        choices = {leaf: self._choice(int(part.nodes[leaf]), continuations) for leaf in part.leaves.tolist()}
        grown = attach_choices(part, choices)
        before = self.blueprint.beliefs(0)
        moved = np.ones((int(self.tree.num_private[0, self.opener]), int(self.tree.num_actions[0])))
        beliefs = self._believe(
            before.reach[self.opener] @ relation_matrices(self.tree, self.surprise, self.opener, moved),
            before.reach[self.replier] @ relation_matrices(self.tree, self.surprise, self.replier),
            joint_weights(self.tree, self.surprise),
        )
        kernel = bind_public_kernel(grown.tree)
        subgame = Subgame(
            part=grown, node=self.surprise, beliefs=beliefs, blueprint=grown.tree.legal_share, kernel=kernel
        )
        found = self._solve(subgame, self.values_before(), iterations)
        out = self.strategy.copy()
        grown.insert(found, out, players=(self.replier,))
        realization = subgame.realize(found)
        numbers = {int(node): index for index, node in enumerate(grown.nodes.tolist())}
        for leaf, choice in choices.items():
            node = int(part.nodes[leaf])
            self._go_on(
                node, choice, realization[grown.tree.private_cells(numbers[node], self.replier)], out, iterations
            )
        return out

    def _believe(self, opener: FloatArray, replier: FloatArray, joint: FloatArray) -> PublicBelief:
        """Returns beliefs from both players' reaches."""
        return PublicBelief(reach=(opener, replier) if self.opener == 0 else (replier, opener), joint=joint)

    def _solve(self, subgame: Subgame, alternative: FloatArray, iterations: int) -> FloatArray:
        """Returns `[C]` what safe search finds at a subgame for the replier."""
        method = Maxmargin(alternatives=Given(alternative))  # where alternatives have slack, resolving plays anything
        solver = SubgameSolver(subgame, pose(self.blueprint, subgame, self.replier, method))
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
                        leaf_payoffs(tree, twin, combine(tree, self.opener, theirs, self.blueprint.strategy))
                        for twin in twins
                    ],
                    axis=0,
                )
            ]
            for theirs in continuations
        ]
        return Choice(chooser=self.opener, payoff=np.array(payoff))

    def _go_on(self, leaf: int, choice: Choice, reach: FloatArray, out: FloatArray, iterations: int) -> None:
        """Writes the replier's second round below a leaf into `out`, alternatives being what the leaf was worth."""
        if not reach.any():
            return
        part = cut_subtree(self.tree, leaf)
        joint = joint_weights(self.tree, leaf)
        beliefs = self._believe(np.ones(joint.shape[self.opener]), reach, joint)
        mass = beliefs.mass(self.opener)
        gains = choice.payoff[:, 0] if self.opener == 0 else -choice.payoff[:, 0].swapaxes(1, 2)
        worth = (gains @ reach).max(axis=0)
        alternative = np.divide(worth, mass, out=np.zeros(mass.size), where=mass > 0)
        subgame = Subgame(
            part=part,
            node=leaf,
            beliefs=beliefs,
            blueprint=part.tree.legal_share,
            kernel=bind_public_kernel(part.tree),
        )
        part.insert(self._solve(subgame, alternative, iterations), out, players=(self.replier,))


def measure(configuration: MultiValuedConfiguration) -> Iterator[Step]:
    """Yields what replies cost, game by game, by the number of values of a leaf."""
    games = configuration.games
    total = len(games) * (2 + len(configuration.num_values))
    for index, (panel, text) in enumerate(games.items()):
        done = index * (2 + len(configuration.num_values))
        yield Step(fraction=done / total, text=f"{panel}: trees and equilibria")
        opening = OpeningBet(text, configuration.blueprint_iterations)
        translated = translate_strategy(
            opening.tree, [opening.surprise], opening.replier, opening.strategy, opening.taken_for
        )
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
                    opening.blueprint, opening.replier, RoundLimit(), count, first=found, iterations=iterations
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
    for panel in configuration.games:
        curve = {count: measured.at(panel, VALUES, count) for count in counts}
        translated, included = (measured.at(panel, name, counts[0]) for name in (TRANSLATION, INCLUDED))
        rows += [
            {
                "game": panel,
                "values": count,
                "ours (thousandths)": _round(value),
                TRANSLATION: _round(translated),
                INCLUDED: _round(included),
            }
            for count, value in curve.items()
        ]
        one, most = curve.get(1), curve[counts[-1]]
        many = [value for count, value in curve.items() if count >= ENOUGH and value is not None]
        tenth = None if translated is None else translated / 10
        claims += [
            _claim(f"{panel}: with one value translation is better", translated, one),
            _claim(f"{panel}: with four values or more it beats translation", max(many, default=None), translated),
            _claim(f"{panel}: {counts[-1]} values are better than one", most, one),
            _claim(f"{panel}: with {counts[-1]} values the price is below a tenth of translation's", most, tenth),
        ]
    for kind, games in (("leduc", configuration.leduc_games), ("flop hold'em", configuration.flop_games)):
        claims += _judge_games(kind, games, counts, measured)
    notes = (
        "What the opener gains over the value of the game by best responses, in thousandths of Leduc's ante or of "
        "hold'em's big blind.",
        "Medians over runs that differ in how long searches are run: best responses are pure and tip at last bits.",
        "Suits merged, bets of half and the whole pot, three quarters only to open; no all-in bets. Leduc may be "
        "raised as often as said in either round, hold'em on the flop; before it first_raises says how often.",
        "The text says that 16 values come close to having had the bet in the abstraction; a tenth of what translation "
        "costs is our test of that.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge_games(kind: str, games: Collection[str], counts: Sequence[int], measured: Measured) -> Iterator[Claim]:
    """Yields whether translation is better with one value and worse with four or more, over all games of a kind."""
    for count in counts:
        if count != 1 and count < ENOUGH:
            continue
        ratios = [
            ratio for panel in games if (ratio := _compare(measured, panel, count, is_inverse=count == 1)) is not None
        ]
        words = "one value is worse than" if count == 1 else f"{count} values are better than"
        ordering = Ordering(above="", below="", source=FIGURE, statement=f"{kind}: {words} translation")
        yield judge_ratios(ordering, ratios, what="games")


def _compare(measured: Measured, panel: str, count: int, *, is_inverse: bool) -> float | None:
    """Returns how many times dearer translation is than so many values (or the inverse) in the median run."""
    pair = measured.at(panel, TRANSLATION, count), measured.at(panel, VALUES, count)
    above, below = reversed(pair) if is_inverse else pair
    return None if above is None or not below else above / below


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
    y_label="thousandths of the ante or big blind",
    sizes={
        Size.QUICK: MultiValuedConfiguration(),
        Size.FULL: MultiValuedConfiguration(
            ranks=(3, 4, 5, 6, 7),
            max_raises=(1, 2),
            decks=("QKA/cdh", "QKA/cdhs", "JQKA/cdh", "TJQKA/cd"),
            num_values=(1, 2, 4, 8, 16),
            blueprint_iterations=5000,
            search_iterations=(500, 700, 1000, 1400, 2000),
        ),
    },
    measure=measure,
    conclude=conclude,
)
