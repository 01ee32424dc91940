# SPDX-License-Identifier: Apache-2.0
"""An agent that solves the rest of the game again while it plays: on trees, over rules, and hold'em by hands."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.holdem.hands import check_holdem_game, hands_by_name, number_hands
from equipoise.agents.public_paths import Path, PublicPaths
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.core.formatting import show_given
from equipoise.games.base import CHANCE, Game
from equipoise.games.holdem.betting_tree import DEALING
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_game import game_of_spot
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.partial_games import RulesBlueprint
from equipoise.search.profiles import Stage
from equipoise.search.public import PublicProfile
from equipoise.search.walks import SearchPlan, SearchWalk, SearchWhen
from equipoise.solvers.strategy import TabularStrategy
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.holdem.places import HoldemPlace

__all__ = ["HoldemGround", "SearchAgent", "SearchPlan", "SearchWhen"]

FloatArray = npt.NDArray[np.float64]
KEPT_CELLS: Final = 20_000_000  # of trees that are grown from rules; others are grown and searched again if need be


class SearchAgent(PolicyAgent):
    """Plays a blueprint, and from where it searches on what its searches found, the last one first.

    A search below another is nested: reaches and alternatives are those of what is played so far. Searches are
    remembered, and what is played depends on public states alone: the agent plays one fixed strategy, and a match costs
    each search once. Of a blueprint over rules, the tree of what lies below a hand's first search is built when play
    comes there; gifts count from there on.

    >>> import numpy as np
    >>> from equipoise.games import make_game
    >>> from equipoise.runs import match
    >>> from equipoise.search import PublicProfile, SearchSettings
    >>> from equipoise.solvers import CFRSolver
    >>> from equipoise.trees import build_public_tree, derive_public_game
    >>> tree = build_public_tree(derive_public_game(make_game("kuhn")))
    >>> solver = CFRSolver(tree)
    >>> solver.iterate(10)
    >>> plan = SearchPlan(search=SearchSettings(iterations=20))
    >>> agent = SearchAgent(PublicProfile(tree, solver.average_strategy()), plan=plan)
    >>> match(agent, "uniform", game="kuhn", hands=10).num_hands
    10
    """

    def __init__(
        self,
        blueprint: PublicProfile | RulesBlueprint | HoldemProfile,
        *,
        game: Holdem | None = None,
        plan: SearchPlan | None = None,
        name: str = "search",
    ) -> None:
        """Keeps a blueprint.

        Args:
            blueprint: of a whole game on its tree or over its rules, or of a spot of hold'em by hands.
            game: of hold'em: of the same cards and chips, by default the spot's own; it may offer bets that the
                strategy lacks, and must offer those it has.
            plan: how and where it searches; Reach-Maxmargin at every later round if None, in hold'em on the river.
            name: for tables of results.
        """
        self.blueprint, self.plan = blueprint, plan or SearchPlan()
        self.name = name
        self.ground: _TreeGround | _RulesGround | HoldemGround
        if isinstance(blueprint, HoldemProfile):
            check_holdem_game(blueprint.begin, game or game_of_spot(blueprint.begin))
            walks = [SearchWalk(blueprint, seat, self.plan, name=name) for seat in (0, 1)]
            self.ground = HoldemGround(walks, blueprint.begin, name)
        elif self.plan.when is SearchWhen.REPLIES:
            raise ConfigError("a blueprint of a whole tree knows every action: search it by rounds or decisions")
        elif isinstance(blueprint, PublicProfile):
            self.ground = _TreeGround(blueprint, self.plan, name)
        elif isinstance(blueprint, RulesBlueprint):
            self.ground = _RulesGround(blueprint, self.plan, name)
        else:
            raise ConfigError(f"blueprint must be a profile such as PublicProfile, got {show_given(blueprint)}")

    @classmethod
    def from_table(
        cls, game: Game[Any], strategy: TabularStrategy, *, plan: SearchPlan | None = None, name: str = "search"
    ) -> SearchAgent:
        """Returns an agent whose blueprint is a table of information states."""
        tree = load_or_build_public_tree(game)
        return cls(PublicProfile(tree, strategy.to_tree(tree)), plan=plan, name=name)

    def begin_game(self, seat: int) -> None:
        """Goes back to the beginning."""
        self.ground.begin_game()

    def observe(self, observation: Observation) -> None:
        """Follows the game."""
        self.ground.observe(observation.public_state)

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what is played at an information state, after all searches on the way to it."""
        return self.ground.shares(observation)

    def find_stage(self, observation: Observation) -> tuple[Stage[HoldemPlace], HoldemPlace] | None:
        """Returns the last search on the way to a decision, and the decision in it; None but in hold'em."""
        if not isinstance(self.ground, HoldemGround):
            return None
        return self.ground.stage_at(observation.seat, observation.public_state)

    def public_actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns what some private state may play: of hold'em the bets that its last search has."""
        return self.ground.actions(decision) if isinstance(self.ground, HoldemGround) else decision.actions

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each private state plays."""
        if isinstance(self.ground, HoldemGround):
            return self.ground.rows(decision)
        return super().public_strategy(decision, rng=rng)


class _Ground:
    """What an agent searches on: how public states are found there. One that knows them all has nothing to follow."""

    def begin_game(self) -> None:
        """Goes back to the beginning."""

    def observe(self, label: str) -> None:
        """Follows the game."""


class _TreeGround(_Ground):
    """Searches of both seats over a blueprint on a tree, in which every label is known."""

    def __init__(self, blueprint: PublicProfile, plan: SearchPlan, name: str) -> None:
        self.blueprint = blueprint
        tree = blueprint.tree
        self.walks = tuple(SearchWalk(blueprint, seat, plan, name=name) for seat in (0, 1))
        self._node = {label: node for node, label in enumerate(tree.public_labels)}
        players = tree.infoset_player().tolist()
        self._infoset = {key: row for row, key in enumerate(zip(players, tree.infoset_labels, strict=True))}

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what is played at an information state."""
        key = (observation.seat, observation.infostate)
        if observation.public_state not in self._node or key not in self._infoset:
            raise InvalidStateError(
                f"{self.blueprint.tree.game_label} has no information state {observation.infostate!r} of player "
                f"{observation.seat} at {observation.public_state!r}"
            )
        tree, node = self.blueprint.tree, self._node[observation.public_state]
        steps = [below for _, below in tree.way_to(node)]
        stage, place = self.walks[observation.seat].stage_at(steps, observation.public_state)
        private = int(tree.infoset_private[self._infoset[key]])
        row = stage.profile.probabilities(place)[private]
        shares: list[float] = row[stage.profile.tree.legal_at(place)[private]].tolist()
        return shares


class _RulesGround(_Ground):
    """Searches of both seats over a blueprint on rules: from the first of a hand on those over a tree grown there."""

    def __init__(self, blueprint: RulesBlueprint, plan: SearchPlan, name: str) -> None:
        self.blueprint, self.plan, self.name = blueprint, plan, name
        self.paths = PublicPaths(blueprint.game)
        self.trees: OrderedDict[Path, _TreeGround] = OrderedDict()

    def begin_game(self) -> None:
        """Goes back to the beginning."""
        self.paths.begin_game()

    def observe(self, label: str) -> None:
        """Follows the game, so that no public state needs to be looked for from the beginning."""
        self.paths.observe(label)

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what is played at an information state."""
        path = self.paths.locate(observation.public_state)
        root = self._find_first(observation.seat, path)
        return self._ask_policy(observation, path) if root is None else self._tree_at(root).shares(observation)

    def _find_first(self, seat: int, path: Path) -> Path | None:
        """Returns where a seat's first search on a way begins, None if none does."""
        game, is_dealt = self.blueprint.game, False
        for length in range(len(path) + 1):
            actor = game.actor(self.paths.state_at(path[:length]))
            is_own = actor == seat if self.plan.when is SearchWhen.DECISIONS else is_dealt and actor >= 0
            if is_own:
                return path[:length]
            is_dealt = actor == CHANCE
        return None

    def _tree_at(self, root: Path) -> _TreeGround:
        if root not in self.trees:
            grown = self.blueprint.grow(root, self.paths.state_at(root))
            self.trees[root] = _TreeGround(grown, self.plan, self.name)
            while len(self.trees) > 1 and self._num_cells() > KEPT_CELLS:
                self.trees.popitem(last=False)
        self.trees.move_to_end(root)
        return self.trees[root]

    def _num_cells(self) -> int:
        return sum(kept.blueprint.strategy.size for kept in self.trees.values())

    def _ask_policy(self, observation: Observation, path: Path) -> list[float]:
        """Returns `[A]` what the blueprint says before any search."""
        game, state, seat = self.blueprint.game, self.paths.state_at(path), observation.seat
        for private in range(game.num_private(state, seat)):
            if game.infostate(state, seat, private) == observation.infostate:
                rows = self.blueprint.policy.probabilities(state)
                shares: list[float] = rows[private, game.legality(state)[private]].tolist()
                return shares
        raise InvalidStateError(
            f"{game.spec.label} has no information state {observation.infostate!r} of player {seat} at "
            f"{observation.public_state!r}"
        )


class HoldemGround(_Ground):
    """Searches of both seats over a strategy by hands; the game may offer bets that it lacks."""

    def __init__(self, walks: Sequence[SearchWalk[HoldemPlace]], spot: HoldemSpot, name: str) -> None:
        """Keeps the searches of both seats, from a spot on."""
        self.walks, self.spot, self.name = walks, spot, name
        self._hand_of = hands_by_name(spot.deck)

    def stage_at(self, seat: int, public_state: str) -> tuple[Stage[HoldemPlace], HoldemPlace]:
        """Returns the last search's stage at a decision of a seat, and the decision in it."""
        return self.walk_of(seat).stage_at(_split_steps(public_state, len(self.spot.board)), public_state)

    def walk_of(self, seat: int) -> SearchWalk[HoldemPlace]:
        """Returns a seat's searches."""
        return self.walks[seat]

    def shares(self, observation: Observation) -> list[float]:
        """Returns `[A]` what the hand plays after all searches on the way."""
        hand = self._hand_of[observation.infostate.partition("|")[0]]
        stage, place = self.stage_at(observation.seat, observation.public_state)
        shares = np.zeros(len(observation.actions))
        columns = self._columns(stage, place, observation.public_state, observation.actions)
        shares[columns] = stage.profile.probabilities(place)[hand]
        row: list[float] = shares.tolist()
        return row

    def actions(self, decision: PublicDecision) -> tuple[int, ...]:
        """Returns the actions that the last search has at a decision."""
        stage, place = self.stage_at(decision.seat, decision.public_state)
        assert isinstance(stage.profile, HoldemProfile)
        known: tuple[int, ...] = stage.profile.betting.nodes[place.node].actions
        return known

    def rows(self, decision: PublicDecision) -> FloatArray:
        """Returns `[H, A]` what each hand plays."""
        stage, place = self.stage_at(decision.seat, decision.public_state)
        hands = number_hands(decision.infostates, self.spot.deck)
        out = np.zeros(decision.legality.shape)
        out[:, self._columns(stage, place, decision.public_state, decision.actions)] = stage.profile.probabilities(
            place
        )[hands]
        return out

    def _columns(
        self, stage: Stage[HoldemPlace], place: HoldemPlace, public_state: str, actions: tuple[int, ...]
    ) -> list[int]:
        """Returns where the game's actions have those of a decision."""
        assert isinstance(stage.profile, HoldemProfile)
        known = stage.profile.betting.nodes[place.node].actions
        missing = [action for action in known if action not in actions]
        if missing:
            raise InvalidStateError(
                f"{self.name} would raise to {missing[0]} at {public_state!r}, the game offers {actions}: it must "
                "offer every bet of the strategy's menu"
            )
        return [actions.index(action) for action in known]


@functools.lru_cache(4096)
def _split_steps(public_state: str, num_dealt: int) -> tuple[int | tuple[int, ...], ...]:
    """Returns the actions of a public state and the cards of each deal, beyond those that lay at the beginning."""
    steps, board = parse_steps(public_state)
    out: list[int | tuple[int, ...]] = []
    for step in steps:
        if step != DEALING:
            out.append(step)
            continue
        size = 3 if num_dealt == 0 else 1
        out.append(tuple(board[num_dealt : num_dealt + size]))
        num_dealt += size
    return tuple(out)
