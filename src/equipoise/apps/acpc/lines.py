# SPDX-License-Identifier: Apache-2.0
"""Lines over a socket, which may be late, too long or not come at all."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import Final

from equipoise.core.errors import AgentFailedError, ConfigError

__all__ = ["LineSocket", "LostConnectionError", "parse_address"]

LONGEST_LINE: Final = 4096  # bytes
END: Final = b"\r\n"


class LostConnectionError(AgentFailedError):
    """The other side has gone, does not answer or says more than a line may have."""


class LineSocket:
    """One connection; every wait has an end where one is asked for."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        """Takes over a connection.

        Args:
            connection: that is open.
            name: of the other side, for messages.
        """
        self._socket, self.name = connection, name
        self._buffer = b""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # lines are short and waited for
        connection.setblocking(False)

    def send(self, line: str, seconds: float = 10.0) -> None:
        """Sends a line; raises `LostConnectionError` if it is not taken in time."""
        left = memoryview(line.encode("ascii", "replace") + END)
        deadline = time.monotonic() + seconds
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                wait = max(deadline - time.monotonic(), 0.0)
                if not select.select([], [self._socket], [], wait)[1]:
                    raise LostConnectionError(f"{self.name} does not read what it is told") from None
            except OSError:
                raise LostConnectionError(f"{self.name} has gone") from None

    def read(self, seconds: float | None = None) -> str | None:
        """Returns the next line, None where none comes in time; raises `LostConnectionError` at the end."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._buffer[: LONGEST_LINE + 1]:
            if len(self._buffer) > LONGEST_LINE:
                raise LostConnectionError(f"{self.name} sent a line of more than {LONGEST_LINE:,} bytes")
            wait = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            if not select.select([self._socket], [], [], wait)[0]:
                return None
            try:
                data = self._socket.recv(LONGEST_LINE)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                raise LostConnectionError(f"{self.name} has gone")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("ascii", "replace").strip()

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(OSError):
            self._socket.close()


def parse_address(text: str) -> tuple[str, int]:
    """Returns host and port of `HOST:PORT`, or of a port of this machine.

    >>> parse_address("poker.example:20000"), parse_address("20000")
    (('poker.example', 20000), ('127.0.0.1', 20000))
    """
    host, _, port = text.strip().rpartition(":")
    if not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 1 << 16:
        raise ConfigError(f"a dealer is named HOST:PORT, as in 127.0.0.1:20000, got {text[:80]!r}")
    return host.strip("[]") or "127.0.0.1", int(port)
