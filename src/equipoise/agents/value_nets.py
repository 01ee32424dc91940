# SPDX-License-Identifier: Apache-2.0
"""Networks that value streets of hold'em, found in a folder: the package's own, or one that is given."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError
from equipoise.core.tensor_files import load_tensors
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.learning.values.shipped import LEDUC_NETS, SHIPPED, read_net
from equipoise.search.holdem.leaves import AfterDeal
from equipoise.search.leaves import LeafEvaluator, SwitchedLeaves

__all__ = ["NetFolder", "digest_nets", "name_net"]

SUFFIX: Final = ".safetensors"
MOST_BEYOND: Final = 2.0  # times the depth that a network learnt, up to which what is deeper may be taken for that


def name_net(street: Street, stage: NetStage) -> str:
    """Returns the name of a street's network.

    >>> name_net(Street.TURN, NetStage.END), name_net(Street.TURN, NetStage.START)
    ('turn-end', 'turn')
    """
    return f"{street.name.lower()}-end" if stage is NetStage.END else street.name.lower()


def digest_nets(folder: str = "") -> str:
    """Returns a short hash over the networks of a folder; without one over all of the package, whatever the game.

    What a card says of weights is not part of it: agents that differ by it alone play the same.
    """
    places = (Path(folder).expanduser(),) if folder else (SHIPPED, LEDUC_NETS)
    found = hashlib.sha256()
    for place in places:
        for file in sorted(place.rglob(f"*{SUFFIX}")):
            tensors, texts = load_tensors(file)
            found.update(f"{file.relative_to(place)} {texts.get('config')}\n".encode())
            for name, tensor in tensors.items():
                found.update(f"{name} {tensor.dtype} {tensor.shape}\n".encode())
                found.update(tensor.tobytes())
    return found.hexdigest()[:12]


class NetFolder:
    """The networks of a folder, for hands that begin with a spot."""

    def __init__(self, name: str, spot: HoldemSpot, folder: str = "", *, num_threads: int = 1) -> None:
        """Looks nowhere yet.

        Args:
            name: of the agent, for messages.
            spot: with which hands begin.
            folder: where weights are; empty: the package's.
            num_threads: of each network.
        """
        self.name, self.spot, self.num_threads = name, spot, num_threads
        self.folder = Path(folder).expanduser() if folder else SHIPPED

    def find_end(self, street: Street, *, is_after: bool = False, num_cards: int = 0) -> LeafEvaluator:
        """Returns what values the lines that leave a street.

        Args:
            street: that is left.
            is_after: whether the next street's network is asked behind the card, if there is one after the flop.
            num_cards: that it is asked about in each iteration; 0: all. Last, and by whoever asks afterwards, the
                network before the card is asked if there is one, else all cards are.
        """
        following = None if street is Street.PREFLOP else self.find_start(Street(street + 1))
        before = self._find(street, NetStage.END)
        if following is not None and (is_after or before is None):
            every = AfterDeal(following, self.spot)
            if not num_cards:
                return every
            some = AfterDeal(following, self.spot, num_cards=num_cards)
            return SwitchedLeaves(some, every if before is None else before, num_last=1)
        if before is None:
            file = f"{name_net(street, NetStage.END)}{SUFFIX}"
            raise ConfigError(
                f"{self.name} needs {file} in {self.folder}: nets=DIR says where weights are, leaves=equity plays "
                "without"
            )
        return before

    def find_start(self, street: Street) -> LeafEvaluator | None:
        """Returns what values the beginning of a street, None if there is no such network."""
        return self._find(street, NetStage.START)

    def find_starts(self, streets: Sequence[Street]) -> dict[Street, LeafEvaluator]:
        """Returns the networks that there are of the beginnings of streets."""
        found = {street: self.find_start(street) for street in streets}
        return {street: leaves for street, leaves in found.items() if leaves is not None}

    def _find(self, street: Street, stage: NetStage) -> NetworkLeaves | None:
        """Returns a network of the folder; raises `ConfigError` where it is for another street, cards or stacks."""
        file = self.folder / f"{name_net(street, stage)}{SUFFIX}"
        if not file.is_file():
            return None
        net = read_net(file)
        if (net.config.street, net.config.stage) != (street, stage):
            own = name_net(net.config.street, NetStage(net.config.stage))
            raise ConfigError(f"{file} holds the network {own}, its name says {file.stem}")
        try:
            net.config.check_deck(self.spot.deck)
        except ConfigError as error:
            raise ConfigError(f"{self.name} cannot use {file}: {error}") from None
        if (deepest := _find_deepest(self.spot)) > MOST_BEYOND * net.config.most_ratio:
            raise ConfigError(
                f"{self.name} cannot play {deepest:,.0f} pots deep: {file.name} has learnt {net.config.most_ratio:g} "
                "at most; leaves=equity plays any stack"
            )
        return NetworkLeaves(net, num_threads=self.num_threads)


def _find_deepest(spot: HoldemSpot) -> float:
    """Returns how many pots can be behind once a street is left: after calls alone."""
    if spot.board:
        return min(spot.stacks) / spot.pot
    paid = spot.big_blind + spot.ante
    return max(min(spot.stacks) - paid, 0) / (2 * paid)
