# SPDX-License-Identifier: Apache-2.0
"""Where in a public game an agent is: public states found by their labels, of a game whose tree is not built."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from equipoise.core.errors import InvalidStateError
from equipoise.games.public import PublicGame

__all__ = ["Path", "PublicPaths"]

Path = tuple[int, ...]  # edges from the beginning of the game

MOST_LOOKED_AT: Final = 200_000  # public states, to find one that was not seen coming


class PublicPaths:
    """The ways to public states, looked for near the last one first."""

    def __init__(self, game: PublicGame[Any]) -> None:
        self.game = game
        self._paths: dict[str, Path] = {game.public_state(game.initial_state()): ()}
        self._states: dict[Path, Any] = {(): game.initial_state()}
        self._last: Path = ()

    def begin_game(self) -> None:
        """Goes back to the beginning."""
        self._last = ()

    def observe(self, label: str) -> None:
        """Follows the game, so that no public state needs to be looked for from the beginning."""
        found = self._find(label, most=self._nearby())
        if found is not None:
            self._last = found

    def state_at(self, path: Path) -> Any:
        """Returns the public state that edges from the beginning lead to."""
        if path not in self._states:
            self._states[path] = self.game.edges(self.state_at(path[:-1]))[path[-1]].child
        return self._states[path]

    def locate(self, label: str) -> Path:
        """Returns the way to a public state."""
        found = self._find(label, most=self._nearby())
        if found is None:
            self._last = ()
            found = self._find(label, most=MOST_LOOKED_AT)
        if found is None:
            raise InvalidStateError(
                f"{label!r} is none of the first {len(self._paths):,} public states of {self.game.spec.label}: agents "
                "find states by observing the game"
            )
        self._last = found
        return found

    def _nearby(self) -> int:
        """Returns how many public states are looked at for one that may not be one of this game's (a hidden deal)."""
        return 2 + len(self.game.edges(self.state_at(self._last)))

    def _find(self, label: str, *, most: int) -> Path | None:
        """Returns the way to a public state, nearest to the last one first, or None if so many are others."""
        known = self._paths.get(label)
        if known is not None:
            return known
        pending = deque([(self._last, self.state_at(self._last))])
        for _ in range(most):
            if not pending:
                return None
            path, state = pending.popleft()
            for place, edge in enumerate(self.game.edges(state)):
                below = (*path, place)
                here = self.game.public_state(edge.child)
                self._paths[here] = below
                if here == label:
                    return below
                pending.append((below, edge.child))
        return None
