# SPDX-License-Identifier: Apache-2.0
import dataclasses

import pytest

from equipoise.runs.request import RunRequest


@pytest.mark.parametrize("name", ["threads", "num_threads"])
def test_kept_requests_of_any_age_are_restored(name):
    kept = {"rule": "cfr+", "target": None, name: 2}
    assert RunRequest.restore(kept) == RunRequest(rule="cfr+", num_threads=2)


def test_what_is_kept_comes_back():
    request = RunRequest(rule="cfr+", iterations=5, has_warm_start=True, num_threads=3)
    assert RunRequest.restore(dataclasses.asdict(request)) == request
