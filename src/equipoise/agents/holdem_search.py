# SPDX-License-Identifier: Apache-2.0
"""An agent that plays heads-up hold'em by a table of hands and solves what it comes to again while it plays."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from equipoise.agents.base import Observation, PolicyAgent, PublicDecision
from equipoise.agents.holdem import check_holdem_game, hands_by_name
from equipoise.agents.search import SearchWhen
from equipoise.core.errors import ConfigError, InvalidStateError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.betting_tree import DEALING, BettingTree, NodeKind
from equipoise.games.holdem.public_text import parse_steps
from equipoise.games.holdem.rules import Holdem
from equipoise.search.gadgets import Unsafe
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Reply, Stage
from equipoise.search.resolving import SearchResult
from equipoise.search.settings import SearchSettings
from equipoise.trees.holdem.places import HoldemPlace, HoldemStrategy

__all__ = ["HoldemSearchAgent", "HoldemSearchPlan"]

FloatArray = npt.NDArray[np.float64]

KEPT_BYTES: Final = 512_000_000  # of searches that are remembered; others are run again if need be


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemSearchPlan:
    """Where in a hand searches begin; bets that the strategy so far lacks are searched from `first_reply` on."""

    search: SearchSettings = dataclasses.field(default_factory=SearchSettings)
    when: SearchWhen = SearchWhen.ROUNDS
    first_street: Street = Street.RIVER  # no search begins before it, unless an unknown bet makes one
    first_reply: Street = Street.FLOP  # unknown bets before it are refused; whole-deck flops are too large as well

    def __post_init__(self) -> None:
        if self.first_reply > self.first_street:
            first, reply = self.first_street.name.lower(), self.first_reply.name.lower()
            raise ConfigError(f"first_reply must not be after the {first}, where searches begin, got the {reply}")


class HoldemSearchAgent(PolicyAgent):
    """Plays a table of hands, and from where it searches on what its searches found, the last one first.

    A search of known bets after which the opponent's best response has more than before, over its hands, is not played:
    with so few iterations a strategy that was solved for longer is better. What it does depends on public states alone,
    so that it is one fixed strategy, searched where it is asked for.
    """

    def __init__(
        self, policy: HoldemStrategy, game: Holdem, *, plan: HoldemSearchPlan | None = None, name: str = "search"
    ) -> None:
        """Keeps a blueprint.

        Args:
            policy: of a whole spot: solved, in buckets or uniform.
            game: of the same cards and chips; it may offer bets that the policy lacks, and must offer those it has.
            plan: how and where it searches.
            name: for tables of results.
        """
        check_holdem_game(policy.tree.spot, game)
        self.policy, self.plan = policy, plan or HoldemSearchPlan()
        self._name = name
        self._searches = tuple(NestedSearch(HoldemProfile(policy), seat, self.plan.search) for seat in (0, 1))
        self._hand_of = hands_by_name(policy.tree.spot.deck)
        self._found: OrderedDict[tuple[Any, ...], SearchResult | None] = OrderedDict()

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def probabilities(self, observation: Observation, *, rng: np.random.Generator) -> Sequence[float]:
        """Returns `[A]` what the hand plays after all searches on the way."""
        hand = self._hand_of[observation.infostate.partition("|")[0]]
        stage, node, board = self.stage_at(observation.seat, observation.public_state)
        row = stage.profile.probabilities(HoldemPlace(node, board))[hand].tolist()
        columns = self._columns(stage, node, observation.public_state, observation.actions)
        shares = [0.0] * len(observation.actions)
        for column, share in zip(columns, row, strict=True):
            shares[column] = share
        return shares

    def public_strategy(self, decision: PublicDecision, *, rng: np.random.Generator) -> FloatArray:
        """Returns `[H, A]` what each hand plays."""
        stage, node, board = self.stage_at(decision.seat, decision.public_state)
        hands = [self._hand_of[infostate.partition("|")[0]] for infostate in decision.infostates]
        out = np.zeros(decision.legality.shape)
        columns = self._columns(stage, node, decision.public_state, decision.actions)
        out[:, columns] = stage.profile.probabilities(HoldemPlace(node, board))[hands]
        return out

    def _columns(self, stage: Stage[HoldemPlace], node: int, public_state: str, actions: tuple[int, ...]) -> list[int]:
        """Returns where the game's actions have those of a decision."""
        known = betting_of(stage).nodes[node].actions
        missing = [action for action in known if action not in actions]
        if missing:
            raise InvalidStateError(
                f"{self.name} would raise to {missing[0]} at {public_state!r}, the game offers {actions}: it must "
                "offer every bet of the strategy's menu"
            )
        return [actions.index(action) for action in known]

    def stage_at(self, seat: int, public_state: str) -> tuple[Stage[HoldemPlace], int, tuple[int, ...]]:
        """Returns the last search's stage at a decision of a seat, the decision in it, and the board."""
        steps, board = parse_steps(public_state)
        search = self._searches[seat]
        stage, node, is_new = search.begin(), 0, False  # whether a search has just begun there
        for count in range(len(steps) + 1):
            here = betting_of(stage).nodes[node]
            dealt = board[: here.state.street.num_board_cards]
            if not is_new and self._begins(seat, stage, node):
                stage, node = self._enter(seat, (steps[:count], dealt), stage, node, None)
            if count == len(steps):
                break
            here, step, is_new = betting_of(stage).nodes[node], steps[count], False
            if step == DEALING or step in here.actions:
                node = here.children[0 if step == DEALING else here.actions.index(step)]
            elif here.kind is NodeKind.DECISION and here.state.actor != seat:
                self._check_reply(here.state.street, public_state, step)
                stage, node = self._enter(seat, (steps[: count + 1], dealt), stage, node, Reply(step))
                is_new = True
            else:
                raise InvalidStateError(f"{self.name} does not play to {public_state!r}: it would not raise to {step}")
        if betting_of(stage).nodes[node].state.actor != seat:
            raise InvalidStateError(f"player {seat} does not act at {public_state!r}")
        return stage, node, board

    def _begins(self, seat: int, stage: Stage[HoldemPlace], node: int) -> bool:
        """Returns whether a search begins at a node that was come to."""
        here = betting_of(stage).nodes[node]
        if here.kind is not NodeKind.DECISION or here.state.street < self.plan.first_street:
            return False
        if self.plan.when is SearchWhen.DECISIONS:
            return here.state.actor == seat
        # the root of a spot is where its round opens
        return self.plan.when is SearchWhen.ROUNDS and here.action == DEALING

    def _check_reply(self, street: Street, public_state: str, step: int) -> None:
        if street < self.plan.first_reply:
            raise InvalidStateError(
                f"{self.name} has no bet to {step} on the way to {public_state!r}, and searches no reply before the "
                f"{self.plan.first_reply.name.lower()}"
            )

    def _enter(
        self, seat: int, place: tuple[Any, ...], stage: Stage[HoldemPlace], node: int, reply: Reply | None
    ) -> tuple[Stage[HoldemPlace], int]:
        """Returns the stage of a search, and its root."""
        key = (seat, *place)
        if key not in self._found:
            # nothing else is known behind an unknown bet; elsewhere there is the strategy so far
            found = self._searches[seat].search(stage, HoldemPlace(node, place[1]), reply, is_there=reply is not None)
            self._found[key] = None if found is not None and reply is None and self._is_worse(found) else found
            while (
                sum(kept.subgame.num_bytes for kept in self._found.values() if kept) > KEPT_BYTES
                and len(self._found) > 1
            ):
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        result = self._found[key]
        if (
            result is None or result.stage is None
        ):  # never played to: nothing to search for; or nothing better was found
            return stage, node
        return result.stage, result.stage.place.node

    def _is_worse(self, found: SearchResult) -> bool:
        """Returns whether a search has stopped short of a strategy so far that was nearer to its limit."""
        search = self.plan.search
        if isinstance(search.method, Unsafe) or search.menu is not None:
            return False  # nothing is known from before, or not of the same bets
        before, after = found.responses()
        return after > before and found.least_margin < 0


def betting_of(stage: Stage[HoldemPlace]) -> BettingTree:
    """Returns the bets that a stage knows."""
    assert isinstance(stage.profile, HoldemProfile)
    return stage.profile.betting
