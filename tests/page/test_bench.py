# SPDX-License-Identifier: Apache-2.0
"""What `equipoise bench page` measures in the browser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from equipoise.apps.bench.browser import measure_file, measure_page

pytestmark = pytest.mark.browser


def test_what_a_reader_waits_for_is_measured(server):
    with ThreadPoolExecutor(1) as other:  # the driver of the other tests is in this thread
        rows = other.submit(measure_page, server.address, "turn", ["", "/x-x/Td"], repeats=1).result()
    assert [row["what"] for row in rows][:3] == ["first paint", "first grid", "grid after a click"]
    assert all(row["value"] > 0 for row in rows)
    assert rows[0]["value"] <= rows[1]["value"]


def test_clicks_through_a_file_are_measured(server):
    with ThreadPoolExecutor(1) as other:
        rows = other.submit(measure_file, server.address, "turn").result()
    assert [row["what"] for row in rows][:2] == ["first grid of the file", "grid of the file after a click"]
    assert 0 < rows[1]["value"] <= rows[2]["value"]
