# SPDX-License-Identifier: Apache-2.0
"""Locks in a line of text: `check, bet 50%: QQ+, AK: fold=25%, call`.

The line before the first colon says where, what stands behind the last one what is done there, and in between, if
anything, which hands do it. A share is a percentage or a number to 1; one action may leave its share out and gets what
the others leave.
"""

from __future__ import annotations

import math
from typing import Final

from equipoise.core.errors import ParseError
from equipoise.games.holdem.spot_file import SpotLock

__all__ = ["format_lock", "parse_lock"]

NOTATION: Final = "write LINE: PLAY or LINE: HANDS: PLAY, as in 'check, bet 50%: AK, QQ+: fold=25%, call'"
TOLERANCE: Final = 1e-6


def parse_lock(text: str) -> SpotLock:
    """Returns the lock that a text describes; whether its line, hands and actions exist is for the spot to say.

    >>> parse_lock("check, bet 50%: fold=25%, call").play
    {'fold': 0.25, 'call': 0.75}
    >>> parse_lock("root: 72o: check").hands
    '72o'
    """
    if ":" not in text:
        raise ParseError(f"lock {text!r} has no colon; {NOTATION}")
    line, rest = text.split(":", 1)
    hands, play = rest.rsplit(":", 1) if ":" in rest else ("random", rest)
    if not hands.strip():
        raise ParseError(f"lock {text!r} names no hands between its colons; {NOTATION}")
    return SpotLock(line=line.strip(), hands=hands.strip(), play=_parse_play(text, play))


def format_lock(lock: SpotLock) -> str:
    """Returns a lock as `parse_lock` reads it.

    >>> format_lock(parse_lock("check: AA: bet 50%=0.5, check"))
    'check: AA: bet 50%=0.5, check=0.5'
    """
    play = ", ".join(f"{action}={share!r}" for action, share in lock.play.items())
    return f"{lock.line or 'root'}: {lock.hands}: {play}"


def _parse_play(text: str, play: str) -> dict[str, float]:
    shares: dict[str, float | None] = {}
    for part in play.split(","):
        action, _, share = (piece.strip() for piece in part.partition("="))
        if not action or ("=" in part and not share):
            raise ParseError(f"lock {text!r}: {part.strip()!r} is no action with a share; {NOTATION}")
        if action in shares:
            raise ParseError(f"lock {text!r} names {action!r} twice")
        shares[action] = _parse_share(text, share) if share else None
    said = sum(share for share in shares.values() if share is not None)
    open_actions = [action for action, share in shares.items() if share is None]
    if len(open_actions) > 1:
        raise ParseError(f"lock {text!r}: only one action may leave its share out, got {', '.join(open_actions)}")
    if said > 1 + TOLERANCE or (not open_actions and abs(said - 1) > TOLERANCE):
        raise ParseError(f"lock {text!r}: shares must sum to 100%, got {100 * said:.4g}%")
    return {action: max(0.0, 1 - said) if share is None else share for action, share in shares.items()}


def _parse_share(text: str, share: str) -> float:
    number, scale = (share[:-1], 0.01) if share.endswith("%") else (share, 1.0)
    try:
        value = float(number) * scale
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1 + TOLERANCE:
        raise ParseError(f"lock {text!r}: a share is 0 to 1 or 0% to 100%, got {share!r}")
    return value
