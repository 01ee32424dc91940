# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that measures every test by processor time and writes those over the limit to tests/slow.txt.

Run by `scripts/slow-tests`. Processor time, that of child processes included, does not depend on what else the machine
does. A test also counts as slow if a fixture that it shares with others is: without its neighbours it pays for it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "slow.txt"
SLOW_SECONDS = 0.1  # of processor time
HEADER = "# Tests that take long, left out of `make test-fast`; measured and written by scripts/slow-tests."


def processor_seconds() -> float:
    """Returns the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


class Measuring:
    """Measures in every worker, adds up in the process that hands out tests."""

    def __init__(self) -> None:
        self.last = processor_seconds()
        self.slow_fixtures: list[tuple[str, str]] = []  # where it is seen, its name
        self.seconds: dict[str, float] = {}
        self.slow: set[str] = set()

    def pytest_runtest_logstart(self) -> None:
        """Begins a test: what came before, such as collecting, is not its own."""
        self.last = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Notes fixtures that are shared and slow."""
        before = processor_seconds()
        result = yield
        if fixturedef.scope != "function" and processor_seconds() - before > SLOW_SECONDS:
            self.slow_fixtures.append((fixturedef.baseid, fixturedef.argname))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Sends along what a phase of a test took."""
        report = yield
        now = processor_seconds()
        names = getattr(item, "fixturenames", ())
        shares = any(name in names and item.nodeid.startswith(base) for base, name in self.slow_fixtures)
        report.user_properties.append(("processor_seconds", now - self.last))
        report.user_properties.append(("shares_slow_fixture", shares))
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds up."""
        found = dict(reversed(report.user_properties))  # the last of each name is this phase's
        taken = [value for name, value in report.user_properties if name == "processor_seconds"][-1:]
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + sum(taken)
        if found.get("shares_slow_fixture") or self.seconds[report.nodeid] > SLOW_SECONDS:
            self.slow.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the list: what was measured now, and of the rest what it said before."""
        if hasattr(session.config, "workerinput") or not self.seconds:
            return
        kept = [name for name in read_list() if name not in self.seconds and (ROOT / name.split("::")[0]).exists()]
        LIST.write_text("\n".join([HEADER, *sorted({*kept, *self.slow})]) + "\n", encoding="utf8")
        rest = sum(taken for name, taken in self.seconds.items() if name not in self.slow)
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line(
            f"{len(self.slow)} of {len(self.seconds)} are slow; the others take {rest:.0f} s of one core"
        )


def read_list() -> list[str]:
    """Returns the tests that are known to be slow."""
    lines = LIST.read_text(encoding="utf8").splitlines() if LIST.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def pytest_configure(config: pytest.Config) -> None:
    """Begins to measure."""
    config.pluginmanager.register(Measuring())
