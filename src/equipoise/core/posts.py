# SPDX-License-Identifier: Apache-2.0
"""Workers that each have a place of their own: a message goes to one of them, which may keep what it holds in memory.

A pool gives tasks to whoever is free. Where tables are too large to be sent about, each worker has a part and is asked
by number. One that dies is replaced by a process that holds nothing and is given its message again: whatever is held
can be made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, Self, TypeVar

from equipoise.core.errors import ConfigError
from equipoise.core.local_pool import LocalPool

__all__ = ["HerePosts", "LocalPosts", "Posts"]

Message = TypeVar("Message")
Answer = TypeVar("Answer")


class Posts(Protocol):
    """Workers by number."""

    @property
    def num_posts(self) -> int:
        """Returns how many there are."""
        ...

    def ask(self, function: Callable[[Message], Answer], messages: Mapping[int, Message]) -> dict[int, Answer]:
        """Returns `function(message)` by number of the worker; all that are asked work at once."""
        ...


class HerePosts:
    """The caller's process, one message after the other.

    >>> HerePosts(2).ask(abs, {0: -2, 1: 3})
    {0: 2, 1: 3}
    """

    def __init__(self, num_posts: int = 1) -> None:
        """Makes nothing: the posts are numbers alone."""
        self.num_posts = num_posts

    def ask(self, function: Callable[[Message], Answer], messages: Mapping[int, Message]) -> dict[int, Answer]:
        """Returns `function(message)` by number of the worker."""
        return {number: function(message) for number, message in messages.items()}


class LocalPosts:
    """Processes of this machine, a pool of one for each post; entered, they end when it is left."""

    def __init__(self, num_posts: int) -> None:
        """Starts nothing yet."""
        if num_posts < 1:
            raise ConfigError(f"there must be at least one worker, got {num_posts}")
        self._pools = [LocalPool(1, in_process=False) for _ in range(num_posts)]
        self._threads = ThreadPoolExecutor(num_posts, thread_name_prefix="post")

    @property
    def num_posts(self) -> int:
        """Returns how many there are."""
        return len(self._pools)

    def ask(self, function: Callable[[Message], Answer], messages: Mapping[int, Message]) -> dict[int, Answer]:
        """Returns answers by number of the worker; `WorkerError` where a message ends its worker again and again."""

        def ask_one(number: int) -> Answer:
            (answer,) = self._pools[number].map(function, [messages[number]])
            return answer

        return dict(zip(messages, self._threads.map(ask_one, messages), strict=True))

    def close(self) -> None:
        """Ends the workers; what they hold is gone."""
        self._threads.shutdown()
        for pool in self._pools:
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
