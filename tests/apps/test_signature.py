# SPDX-License-Identifier: Apache-2.0
"""Results to the last bit: the recorded hash of every family of solvers, whatever the build and the threads."""

import os
import subprocess
import sys
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


def test_the_library_of_matrix_products_decides_nothing():
    # the order in which OpenBLAS adds goes by the processor that it finds, or is told that it finds
    families = ["public", "holdem", "search", "leaves"]
    program = (
        "import sys; from equipoise.apps.bench.signature import sign_family as sign; print(*map(sign, sys.argv[1:]))"
    )
    environment = {**os.environ, "OPENBLAS_CORETYPE": "NEHALEM", "EQUIPOISE_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", program, *families], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [RECORDED[family] for family in families]


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
