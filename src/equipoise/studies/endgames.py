# SPDX-License-Identifier: Apache-2.0
"""The public Libratus endgames as files of a directory that the user names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.spot import HoldemSpot, parse_endgame

__all__ = ["load_endgames", "require_endgames"]

ENDGAME_PATTERN: Final = "subgame*.txt"


def load_endgames(directory: Path | str) -> dict[str, HoldemSpot]:
    """Returns the Libratus endgames of a directory, by the names of their files; `ConfigError` if there are none."""
    directory = Path(directory)
    paths = sorted(directory.glob(ENDGAME_PATTERN))
    if not paths:
        what = "no directory" if not directory.is_dir() else f"no file {ENDGAME_PATTERN} there"
        raise ConfigError(f"the endgames are looked for in {directory}: {what}")
    spots = {}
    for path in paths:
        try:
            spots[path.stem] = parse_endgame(path.read_text(encoding="utf8"))
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}") from None
        except (ParseError, UnicodeDecodeError) as error:
            raise ParseError(f"{path}: {error}") from None
    return spots


def require_endgames(study: str, directory: str, names: Sequence[str]) -> dict[str, HoldemSpot]:
    """Returns the endgames that a study asks for, in its order; `ConfigError` where some are missing."""
    if not directory:
        raise ConfigError(f"study {study} needs `data` DIR, the directory of the Libratus endgames ({ENDGAME_PATTERN})")
    spots = load_endgames(directory)
    missing = [name for name in names if name not in spots]
    if missing:
        raise ConfigError(f"the endgames lack {', '.join(missing)}; {directory} has {', '.join(spots)}")
    return {name: spots[name] for name in names}
