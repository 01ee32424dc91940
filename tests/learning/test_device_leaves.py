# SPDX-License-Identifier: Apache-2.0
"""Networks asked inside the loop on a device, against the native module's forward pass."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.kernels.frontier import LeafValues
from equipoise.learning.values.configuration import NetKind, NetStage, ValueNetConfig
from equipoise.learning.values.inference import BucketValues, bind_net
from equipoise.learning.values.leaves import NetworkLeaves
from equipoise.search.holdem.leaves import bind_lines
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import DCFRPlus
from equipoise.trees.holdem.tree import plan_first_street
from tests.learning.test_device_kernel import DEVICES, live_cells, make_spot
from tests.learning.test_value_leaves import RIVER, TURN_END, make_net

torch = pytest.importorskip("torch")

from equipoise.learning.device.kernel import AskedFrontier, TorchKernel  # noqa: E402  # needs torch
from equipoise.learning.device.leaves import NetworkLines  # noqa: E402
from equipoise.learning.networks import one_thread  # noqa: E402
from equipoise.learning.values.bucket_net import BucketNet  # noqa: E402
from equipoise.learning.values.curve_net import CurveNet  # noqa: E402

# iterations: float32 networks of two libraries are 1e-6 apart at first, a thousand times as much four iterations later
EARLY = 2
BUCKETS = 7
TURN_BUCKETS = ValueNetConfig(
    kind=NetKind.BUCKET, street=Street.TURN, stage=NetStage.END, deck="royal", buckets=BUCKETS, hidden=16, layers=2
)
BOARDS = ["ThJhQsKc", "TcTdAhKs"]


class SomeBuckets:
    """Buckets by the number of the hand."""

    def assign(self, board):
        return np.arange(190) % BUCKETS


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():  # threads that wait for each other take longer than these networks
        yield


def make_tree(board="ThJhQsKc", seed=1):
    return plan_first_street(make_spot(board, seed)).build()


def solve_natively(tree, config, stored, iterations, rule):
    net = bind_net(stored) if config.kind is NetKind.CURVE else BucketValues(stored, buckets=SomeBuckets())
    frontier = bind_lines(tree, (), NetworkLeaves(net))
    solver = CFRSolver(tree, rule, dtype=np.float64, is_alternating=False, frontier=frontier)
    solver.iterate(iterations)
    return solver


def bind_lines_of(config, stored, trees, device="cpu", dtype=torch.float32):
    if config.kind is NetKind.CURVE:
        return NetworkLines(CurveNet.of(stored).to(dtype), trees, device=device)
    return NetworkLines(BucketNet.of(stored).to(dtype), trees, device=device, buckets=SomeBuckets())


@pytest.mark.parametrize("power", [0, 1, 6])
@pytest.mark.parametrize("config", [TURN_END, TURN_BUCKETS], ids=["curve", "bucket"])
def test_lines_are_worth_what_the_native_module_says(config, power):
    tree, stored, rng = make_tree(), make_net(config), np.random.default_rng(power)
    net = bind_net(stored) if config.kind is NetKind.CURVE else BucketValues(stored, buckets=SomeBuckets())
    asked = AskedFrontier(bind_lines(tree, (), NetworkLeaves(net)), tree.arrays)
    reach = []
    for own in tree.arrays.root_reach:  # the second line is not reached
        kept = rng.random((len(tree.leaving_nodes()), own.size)) ** power
        kept[1] = 0.0
        reach.append(torch.as_tensor(kept * own))
    with torch.inference_mode():
        expected, found = asked.evaluate(tuple(reach)), bind_lines_of(config, stored, [tree]).evaluate(tuple(reach))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-6 * one.abs().max().item())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("config", [TURN_END, TURN_BUCKETS], ids=["curve", "bucket"])
def test_networks_are_asked_in_the_loop(config, device):
    tree, stored = make_tree(), make_net(config, scale=0.1)
    native = solve_natively(tree, config, stored, EARLY, DCFRPlus(delay=1))
    kernel = TorchKernel(tree.arrays, bind_lines_of(config, stored, [tree], device), device=device)
    solver = CFRSolver(tree, DCFRPlus(delay=1), dtype=np.float64, is_alternating=False, kernel=kernel)
    solver.iterate(EARLY)
    cells = live_cells(tree)
    for name in ("regret_sum", "strategy_sum"):
        expected, found = (getattr(each.tables, name)[cells] for each in (native, solver))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(tree.spot.pot, np.abs(expected).max()))
    first, second = native.evaluate(), solver.evaluate()
    np.testing.assert_allclose(second.values, first.values, rtol=0, atol=1e-5 * tree.spot.pot)


class LinesAsLeaves:
    """The network of the loop on a device, asked by the native module's loop."""

    def __init__(self, lines, tree, noise=0.0):
        self.lines, self.tree, self.noise, self.rng = lines, tree, noise, np.random.default_rng(5)

    def evaluate(self, batch):
        rows = self.tree.hands[0]
        reach = [np.zeros((len(batch.states), self.tree.arrays.num_rows(0, player))) for player in (0, 1)]
        out = [np.zeros(own.shape) for own in batch.reach]
        for player, own in enumerate(batch.reach):
            reach[player][:, : rows[player].size] = own[:, rows[player]]
        with torch.inference_mode():
            found = self.lines.evaluate(tuple(torch.as_tensor(own) for own in reach))
        for player, values in enumerate(found):
            moved = values.numpy() * (1.0 + self.noise * self.rng.standard_normal(values.shape))
            out[player][:, rows[player]] = moved[:, : rows[player].size]
        return LeafValues(tuple(out))


MANY = 25  # iterations: the loops' own networks have long been apart


def distance(one, other):
    """Returns how far the regrets of two runs are apart, as a share of the largest."""
    cells = live_cells(one.tree)
    first, second = (each.tables.regret_sum[cells] for each in (one, other))
    return np.abs(first - second).max() / np.abs(first).max()


def run_natively(tree, evaluator):
    frontier = bind_lines(tree, (), evaluator)
    solver = CFRSolver(tree, DCFRPlus(delay=1), dtype=np.float64, is_alternating=False, frontier=frontier)
    solver.iterate(MANY)
    return solver


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("config", [TURN_END, TURN_BUCKETS], ids=["curve", "bucket"])
def test_loops_do_not_part_where_their_networks_say_the_same(config, dtype):
    tree, stored = make_tree(), make_net(config, scale=0.1)
    lines = bind_lines_of(config, stored, [tree], dtype=getattr(torch, dtype))
    solver = CFRSolver(
        tree, DCFRPlus(delay=1), dtype=np.float64, is_alternating=False, kernel=TorchKernel(tree.arrays, lines)
    )
    solver.iterate(MANY)
    assert distance(run_natively(tree, LinesAsLeaves(lines, tree)), solver) < 1e-10


@pytest.mark.parametrize("config", [TURN_END, TURN_BUCKETS], ids=["curve", "bucket"])
def test_a_loop_parts_from_itself_if_its_network_is_off_by_single_precision(config):
    tree, stored = make_tree(), make_net(config, scale=0.1)
    lines = bind_lines_of(config, stored, [tree])
    before, after = (run_natively(tree, LinesAsLeaves(lines, tree, noise)) for noise in (0.0, 2.0**-24))
    assert distance(before, after) > 1e-4


@pytest.mark.parametrize("config", [TURN_END, TURN_BUCKETS], ids=["curve", "bucket"])
def test_a_batch_with_networks_is_its_subgames(config):
    trees, rule = [make_tree(board, seed) for seed, board in enumerate(BOARDS)], DCFRPlus()
    stored = make_net(config, scale=0.1)
    kernel = TorchKernel([tree.arrays for tree in trees], bind_lines_of(config, stored, trees))
    tables = kernel.allocate_tables(rule.kernel, np.float64)
    discounts = np.array([rule.discounts(t) for t in (1, 2)])  # differences of single precision grow later
    kernel.iterate_all(rule.kernel, discounts, tables, first_t=1, is_alternating=False)
    start = np.cumsum([0, *(tree.arrays.num_cells for tree in trees)])
    for index, tree in enumerate(trees):
        expected = solve_natively(tree, config, stored, 2, rule).tables.regret_sum
        own, cells = tables.regret_sum[start[index] : start[index + 1]], live_cells(tree)
        np.testing.assert_allclose(own[cells], expected[cells], rtol=0, atol=1e-5 * tree.spot.pot)


def test_networks_after_the_card_are_refused():
    with pytest.raises(ConfigError, match="before the next card"):
        NetworkLines(CurveNet.of(make_net(RIVER)), [make_tree()])
