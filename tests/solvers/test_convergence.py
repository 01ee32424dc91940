# SPDX-License-Identifier: Apache-2.0
"""Curves: our own early points to the bit, later ones over perturbed runs, and the digests' calibration numbers.

After some hundred iterations last bits have grown into the digits: a late number is one draw of many, only an average
says something about the rule.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from equipoise.games.registry import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    LinearCFRPlus,
    NormalHedge,
    Optimistic,
    PredictiveCFRPlus,
)
from equipoise.trees.history import build_history_tree
from equipoise.trees.perturbation import perturb_payoffs

CURVES = Path(__file__).parent.parent / "convergence" / "leduc.txt"
POINTS = (10, 20, 50)
LATE = 1000
PERTURBATION, PERTURBED_RUNS = 1e-9, 8  # of payoffs, as a share of their range
ROUNDING = 1e-14  # of payoffs, as another order of the sums would do
RULES = [
    CFR(),
    CFRPlus(gamma=1.0),
    CFRPlus(),
    LinearCFR(),
    LinearCFRPlus(),
    DCFR(),
    DCFR(beta=0.5),
    DCFR(beta=-math.inf),
    DCFRPlus(),
    Optimistic(LinearCFR()),
    PredictiveCFRPlus(),
    Hedge(),
    NormalHedge(base=LinearCFR()),
]


@pytest.fixture(scope="module")
def leduc():
    return build_history_tree(make_game("leduc", merge_suits=True))


@pytest.fixture(scope="module")
def perturbed_leduc(leduc):
    return perturb(leduc)


@pytest.fixture(scope="module")
def rounded_leduc(leduc):
    return perturb(leduc, ROUNDING)


@pytest.fixture(scope="module")
def suited_leduc():
    return build_history_tree(make_game("leduc"))


@pytest.fixture(scope="module")
def kuhn():
    return build_history_tree(make_game("kuhn"))


def curve(tree, rule, points, *, is_alternating=True):
    solver = CFRSolver(tree, rule, is_alternating=is_alternating)
    seen = []
    for point in points:
        solver.iterate(point - solver.iteration)
        seen.append(solver.evaluate().exploitability)
    return seen


def perturb(tree, relative=PERTURBATION):
    """Returns the same game several times, its payoffs off by next to nothing: runs part as if by chance."""
    rngs = map(np.random.default_rng, range(PERTURBED_RUNS))
    return [perturb_payoffs(tree, relative=relative, rng=rng) for rng in rngs]


def mean_curve(trees, rule, points, **options):
    """Returns the geometric mean of curves."""
    return np.exp(np.log([curve(tree, rule, points, **options) for tree in trees]).mean(axis=0)).tolist()


def format_curves(tree):
    """Returns the text of the curve file, for scripts/convergence."""
    head = f"""\
# exploitability on rank-only Leduc, alternating: at {", ".join(map(str, POINTS))} iterations, every digit;
# at {LATE} the geometric mean of {PERTURBED_RUNS} runs on payoffs that are off by {PERTURBATION:g} of their range
"""
    trees = perturb(tree)
    lines = [
        " ".join([rule.name, *map(repr, curve(tree, rule, POINTS)), f"{mean_curve(trees, rule, (LATE,))[0]:.3g}"])
        for rule in RULES
    ]
    return head + "\n".join(lines) + "\n"


def read_curves():
    rows = [line.split() for line in CURVES.read_text().splitlines() if line and not line.startswith("#")]
    return {name: [float(value) for value in values] for name, *values in rows}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_curve_on_leduc_is_unchanged(leduc, rule):
    assert curve(leduc, rule, POINTS) == read_curves()[rule.name][:-1]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_late_point_on_leduc_is_unchanged(perturbed_leduc, rule):
    expected = read_curves()[rule.name][-1]
    assert expected / 1.3 < mean_curve(perturbed_leduc, rule, (LATE,))[0] < expected * 1.3


# specs/thesis-ch2-3.md part 14.3: average exploitability at 10, 100, 300, 1,000 iterations, measured independently
THESIS_DIGEST = [
    (CFR(), (0.8886, 0.0957, 0.0355, 0.01182)),
    (CFRPlus(gamma=1.0), (0.6104, 0.01342, 0.00227, 2.55e-4)),
    (CFRPlus(), (0.5291, 0.01212, 0.00157, 2.30e-4)),
    (LinearCFR(), (0.7211, 0.0345, 0.0122, 6.99e-3)),
    (LinearCFRPlus(), (0.8059, 0.0356, 0.00993, 2.28e-3)),
    (DCFR(), (0.7788, 0.00776, 0.00120, 1.75e-4)),
    (DCFR(beta=0.5), (0.6621, 0.0188, 0.00246, 4.01e-4)),
    (DCFR(beta=-math.inf), (0.6252, 0.00779, 0.00106, 1.71e-4)),
    (DCFR(alpha=math.inf, beta=-math.inf, gamma=0.0), (0.8271, 0.0687, 0.0231, 6.95e-3)),
]


@pytest.mark.parametrize(("rule", "expected"), THESIS_DIGEST, ids=lambda value: getattr(value, "name", ""))
def test_digest_of_the_thesis_on_leduc(leduc, perturbed_leduc, rounded_leduc, rule, expected):
    first, *others = (curve(tree, rule, (10, 100, 300, 1000)) for tree in (leduc, *perturbed_leduc))
    assert first[0] == pytest.approx(expected[0], rel=1e-3)
    assert mean_curve(rounded_leduc, rule, (100,))[0] == pytest.approx(expected[1], rel=0.15)
    late = np.exp(np.log([got[2:] for got in others]).mean(axis=0)).tolist()
    assert all(theirs / 1.5 < ours < theirs * 1.5 for ours, theirs in zip(late, expected[2:], strict=True))


# specs/player-of-games.md part 17, in thousandths of a chip; sweeps 10, 100, 1,000
RM_PLUS_UNIFORM = DCFR(alpha=math.inf, beta=-math.inf, gamma=0.0)
POG_DIGEST = [
    ("kuhn", CFRPlus(gamma=1.0), False, (71.2, 15.7, 2.83)),
    ("kuhn", CFRPlus(gamma=1.0), True, (32.7, 1.19, 0.087)),
    ("kuhn", RM_PLUS_UNIFORM, False, (98.0, 19.5, 3.78)),
    ("kuhn", CFR(), False, (96.2, 25.7, 7.27)),
    ("suited_leduc", CFRPlus(gamma=1.0), False, (775, 44.0, 6.85)),
    ("suited_leduc", CFRPlus(gamma=1.0), True, (610, 13.4, 0.255)),
    ("suited_leduc", RM_PLUS_UNIFORM, False, (960, 120, 16.5)),
    ("suited_leduc", CFR(), False, (927, 173, 39.8)),
]


@pytest.mark.parametrize(("game", "rule", "is_alternating", "expected"), POG_DIGEST)
def test_digest_of_player_of_games(request, game, rule, is_alternating, expected):
    tree = request.getfixturevalue(game)
    got = [1000 * value for value in curve(tree, rule, (10, 100, 1000), is_alternating=is_alternating)]
    assert got[:2] == pytest.approx(expected[:2], rel=0.01)
    # in Kuhn poker regrets tie exactly, and perturbed payoffs are another game; in Leduc a late number is one of many
    trees = [tree] if game == "kuhn" else perturb(tree)
    late = 1000 * mean_curve(trees, rule, (1000,), is_alternating=is_alternating)[0]
    assert late == pytest.approx(expected[2], rel=0.05)


def test_slow_two_by_two_game_of_the_thesis():
    # section 5 of the digest: CFR+ (linear) 3.8e-4, 2.7e-5, 3.6e-6 at 1e2, 1e3, 1e4; slope above -1 later
    tree = build_history_tree(make_game("dcfr_slow_2x2"))
    got = curve(tree, CFRPlus(gamma=1.0), (100, 1000, 10_000, 100_000))
    assert got == pytest.approx([3.8e-4, 2.7e-5, 3.6e-6, 5.5e-7], rel=0.05)
    assert -0.9 < math.log10(got[3] / got[2]) < -0.7
