# SPDX-License-Identifier: Apache-2.0
"""Results to the last bit: the recorded hash of every family of solvers, whatever the build and the threads."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.apps.bench.signature import FAMILIES, encode_part, sign_family
from equipoise.apps.cli import app

SIGNATURE = Path(__file__).parent.parent / "signature.txt"
RECORDED = dict(line.split() for line in SIGNATURE.read_text().splitlines())


def test_every_family_is_recorded():
    assert list(RECORDED) == [*FAMILIES, "signature"]


@pytest.mark.parametrize("num_threads", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_bits_are_the_recorded_ones(family, num_threads):
    assert sign_family(family, num_threads=num_threads) == RECORDED[family]


def test_command_prints_what_is_recorded():
    result = CliRunner().invoke(app, ["bench", "--signature"])
    assert result.exit_code == 0
    assert result.stdout == SIGNATURE.read_text()


def test_a_last_bit_changes_the_hash():
    numbers = np.linspace(0.0, 1.0, 5)
    other = numbers.copy()
    other[2] = np.nextafter(other[2], 1.0)
    assert encode_part(numbers) != encode_part(other)
    assert encode_part(np.float32(0.5)) != encode_part(0.5)
    assert encode_part(0.0) != encode_part(-0.0)
