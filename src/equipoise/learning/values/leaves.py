# SPDX-License-Identifier: Apache-2.0
"""Leaves of a search valued by a network: at the end of a street as they are, behind its cards through `AfterDeal`."""

from __future__ import annotations

import numpy as np

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Stage
from equipoise.games.holdem.cards import format_board
from equipoise.kernels.calls import check_num_threads
from equipoise.kernels.frontier import BeliefBatch, LeafValues
from equipoise.learning.values.boards import shared_boards
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.inference import BoundNet, Questions
from equipoise.search.holdem.leaves import HoldemState
from equipoise.search.leaves import RecentPlans

__all__ = ["NetworkLeaves"]


class NetworkLeaves:
    """Both players' values at public states of hold'em, as a network sees them.

    Where nobody has chips left, hands are worth what a showdown pays and the network says nothing.

    >>> from pathlib import Path
    >>> import equipoise
    >>> from equipoise.learning import StoredNet
    >>> from equipoise.learning.values.inference import bind_net
    >>> [river] = (Path(equipoise.__file__).parent / "weights").rglob("river.safetensors")
    >>> NetworkLeaves(bind_net(StoredNet.load(river))).num_threads
    1
    """

    def __init__(self, net: BoundNet, *, num_threads: int = 1) -> None:
        """Keeps the network.

        Args:
            net: made for the deck, the street and its start or end.
            num_threads: side by side.
        """
        check_num_threads(num_threads)
        self.net, self.num_threads = net, num_threads
        self._plans = RecentPlans(self._plan, size=64)  # `AfterDeal` may ask about a few cards at a time

    def evaluate(self, batch: BeliefBatch) -> LeafValues:
        """Returns what the network says."""
        if not batch.states:
            return LeafValues((np.zeros(batch.reach[0].shape), np.zeros(batch.reach[1].shape)))
        return LeafValues(self.net.evaluate(self._plans.find(batch), batch.reach, num_threads=self.num_threads))

    def _plan(self, batch: BeliefBatch) -> Questions:
        """Returns boards, stacks and pots of the states."""
        for state in batch.states:
            self._check(state)
        for deck in {joint.deck for joint in batch.joint}:
            self.net.config.check_deck(deck)
        rows: dict[tuple[int, ...], int] = {}
        board_of = [rows.setdefault(tuple(sorted(state.board)), len(rows)) for state in batch.states]
        # what was not matched goes back to its owner
        pot = np.array([2 * min(state.betting.committed) for state in batch.states], np.float64)
        left = np.array([min(state.stacks) for state in batch.states], np.float64)
        boards = shared_boards(self.net.config.cards).find(list(rows))
        return Questions(boards, np.array(board_of, np.int32), left / pot, pot)

    def _check(self, state: HoldemState) -> None:
        """Raises `ConfigError` unless the network was made for a state like this."""
        config = self.net.config
        is_end = state.betting.stage is Stage.DEAL
        is_then = min(state.stacks) == 0 or is_end is (config.stage is NetStage.END)
        if len(state.board) != config.street.num_board_cards or not is_then:
            when = "end" if is_end else "start"
            where = f"the {when} of betting on {format_board(state.board) or 'no board'}"
            street = config.street.name.lower()
            raise ConfigError(f"the network values the {config.stage} of the {street}, it was asked about {where}")
