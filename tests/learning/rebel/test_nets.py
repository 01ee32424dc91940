# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import parse_game
from equipoise.learning.rebel.nets import check_belief_net, make_config, predict
from equipoise.learning.rebel.settings import RebelSettings
from equipoise.learning.values.shipped import load_leduc
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon

torch = pytest.importorskip("torch", reason="training needs torch")


@pytest.fixture(scope="module")
def stored():
    from equipoise.learning.rebel.training import BeliefNet  # noqa: PLC0415 - needs torch
    from equipoise.learning.values.trunk import copy_weights  # noqa: PLC0415 - needs torch

    game = BeliefGame.of(parse_game("leduc"), parse_horizon("round"))
    config = make_config(game, RebelSettings(hidden=24), "leduc")
    net = BeliefNet(config, generator=torch.Generator().manual_seed(0))
    return net, StoredNet(config=config, tensors=copy_weights(net))


def draw_beliefs(config, count):
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(config.buckets), (count, 2)).astype(np.float32)
    return rng.integers(0, config.kinds, count).astype(np.int32), belief


def forward(stored, kind, belief):
    """Returns what a network says, by plain NumPy in double precision."""
    config = stored.config
    weights = {name: tensor.astype(float) for name, tensor in stored.tensors.items()}
    shown = np.eye(config.kinds)[kind]
    hidden = np.concatenate([shown, np.sqrt(config.buckets * belief.reshape(len(kind), -1).astype(float))], axis=1)
    for place in range(config.layers):
        hidden = hidden @ weights[f"trunk.weight.{place}"].T + weights[f"trunk.bias.{place}"]
        hidden = np.where(hidden > 0, hidden, hidden * weights[f"trunk.slope.{place}"])
    last = hidden @ weights[f"trunk.weight.{config.layers}"].T + weights[f"trunk.bias.{config.layers}"]
    found = last.reshape(belief.shape)
    return found - 0.5 * (belief * found).sum(axis=(1, 2), keepdims=True)


def test_torch_the_core_and_numpy_say_the_same(stored):
    net, kept = stored
    kind, belief = draw_beliefs(kept.config, 50)
    with torch.no_grad():
        said = net(torch.from_numpy(kind.astype(np.int64)), torch.from_numpy(belief)).numpy()
    np.testing.assert_allclose(predict(kept, kind, belief), said, atol=1e-5)
    np.testing.assert_allclose(forward(kept, kind, belief), said, atol=1e-5)


def test_files_read_back(stored, tmp_path):
    _, kept = stored
    kept.save(tmp_path / "net.safetensors")
    again = StoredNet.load(tmp_path / "net.safetensors")
    assert again.config == kept.config
    kind, belief = draw_beliefs(kept.config, 5)
    np.testing.assert_array_equal(predict(again, kind, belief), predict(kept, kind, belief))


def test_other_networks_are_refused(stored):
    with pytest.raises(ConfigError, match="expected a belief network, got one of kind bucket"):
        check_belief_net(load_leduc("limit"), parse_game("leduc"))
    with pytest.raises(ConfigError, match="made for leduc, not for kuhn"):
        check_belief_net(stored[1], parse_game("kuhn"))
