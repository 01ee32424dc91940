# SPDX-License-Identifier: Apache-2.0
"""What cannot be pickled or copied, and says so: it holds threads, workspaces or open files."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from equipoise.core.errors import ConfigError

__all__ = ["NotCopied"]


class NotCopied:
    """A base of classes that `pickle` and `copy` refuse with a line that says what to do instead.

    >>> import copy
    >>> from equipoise.runs import prepare_run
    >>> try:
    ...     copy.deepcopy(prepare_run("kuhn"))
    ... except ConfigError as error:
    ...     print(error)
    a GameRun cannot be pickled or copied: its `save` writes a file, or take a Solution
    """

    kept_by: ClassVar[str] = "send or keep what it computed"  # what to do instead

    def __reduce__(self) -> NoReturn:
        """Raises `ConfigError`."""
        raise ConfigError(f"a {type(self).__name__} cannot be pickled or copied: {self.kept_by}")

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        """Raises `ConfigError`."""
        self.__reduce__()
