# SPDX-License-Identifier: Apache-2.0
"""Trainings of values and policies: gradients, going on to the bit, and that they learn."""

import numpy as np
import pytest

from equipoise.core.errors import ConfigError, GameTooLargeError
from equipoise.games import make_game
from equipoise.learning.pog.games import SelfPlayGame, check_public_net
from equipoise.learning.pog.measuring import measure_composed
from equipoise.learning.pog.runs import play_settings
from equipoise.learning.pog.settings import PogSettings, find_preset
from equipoise.search.leaves import batch_beliefs
from equipoise.trees.public import build_public_tree

torch = pytest.importorskip("torch", reason="training needs torch")

from equipoise.learning.pog.training import PogTrainer  # noqa: E402 - needs torch

SMALL = {"simulations": 8, "hidden": 16, "layers": 2, "cycle": 64, "batch": 32, "capacity": 500}


def trainer_of(name="kuhn", **settings):
    return PogTrainer(SelfPlayGame(make_game(name)), PogSettings(**(SMALL | {"examples": 256} | settings)))


def test_a_training_goes_on_to_the_bit():
    whole, stopped = trainer_of(), trainer_of()
    for _ in whole.run():
        pass
    stopped.run_cycle()
    stopped.run_cycle()
    again = trainer_of()
    again.restore(stopped.state())
    for _ in again.run():
        pass

    assert again.examples == whole.examples
    for name, weights in whole.stored().tensors.items():
        np.testing.assert_array_equal(again.stored().tensors[name], weights)


def test_a_training_of_another_network_is_refused():
    with pytest.raises(ConfigError, match="the saved training is of another one"):
        trainer_of(hidden=8).restore(trainer_of().state())


def test_what_is_not_known_has_no_gradient():
    trainer = trainer_of(policy_weight=0.0)
    trainer.run_cycle()
    for name in ("value", "is_known"):
        trainer.memory.columns[name][:] = 0
    trainer.memory.columns["is_known"][:, 1] = True  # one private state of player 0 alone
    trainer.net.zero_grad()
    # an even range of values apart from what is taken off for sums of zero
    trainer.memory.columns["belief"][:] = 0
    trainer._find_loss().backward()
    last = trainer.net.trunk.weight[-1].grad

    assert (last[1] != 0).any()
    assert (last[[0, 2, 3, 4, 5]] == 0).all()
    assert (last[6:] == 0).all()


def test_the_best_policy_has_the_least_loss():
    trainer = trainer_of()
    trainer.run_cycle()
    some = trainer.memory.draw(64, rng=np.random.default_rng(0))
    table = trainer.config.places[0] * trainer.config.actions[0]
    wanted = torch.from_numpy(some["policy"])
    exact = torch.log(wanted.clamp(min=1e-9))
    exact = torch.cat([exact, exact], dim=1)
    noisy = exact + 0.5 * torch.randn(exact.shape, generator=torch.Generator().manual_seed(0))

    assert exact.shape[1] == 2 * table
    assert trainer._policy_loss(exact, some) < trainer._policy_loss(noisy, some)


def test_examples_are_used_as_often_as_asked():
    trainer = trainer_of(reuse=3.0)
    for _ in trainer.run():
        pass

    assert trainer.step == int(256 * 3.0 / 32)


def test_weights_in_the_core_say_what_torch_says():
    trainer = trainer_of("leduc")
    trainer.run_cycle()
    some = trainer.memory.draw(16, rng=np.random.default_rng(0))
    with torch.no_grad():
        values, logits = trainer.averaged(*(torch.from_numpy(some[name]) for name in ("feature", "belief", "is_there")))
    stored = trainer.stored()
    inputs = np.concatenate([some["feature"], np.sqrt(some["belief"])], axis=1)
    from equipoise.kernels.value_nets import PerceptronKernel  # noqa: PLC0415 - for this test alone

    found = PerceptronKernel(stored.config.num_inputs, stored.config.num_outputs, stored.layers()).run(inputs)
    np.testing.assert_allclose(found[:, 12:], logits.numpy(), atol=1e-5)
    left = (some["belief"] * found[:, :12]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose((found[:, :12] - 0.5 * left) * some["is_there"], values.numpy(), atol=1e-5)


def test_kuhn_is_learnt():
    trainer = trainer_of(simulations=16, examples=900, cycle=128)
    new = trainer_of(simulations=16)
    for _ in trainer.run():
        pass
    others = trainer.self_play.generate(150, rng=np.random.default_rng(99))  # what was not learnt

    assert value_error(trainer.averaged, others) < 0.3 * value_error(new.averaged, others)
    game = trainer.game
    tree = build_public_tree(game.form)
    before, after = (
        np.mean([one.exploitability for one in measure_composed(game.form, tree, play_of(each), range(3))])
        for each in (new, trainer)
    )
    assert after < before


def play_of(trainer):
    return play_settings(trainer.settings, trainer.leaves())


def value_error(net, examples):
    with torch.no_grad():
        values, _ = net(*(torch.from_numpy(examples[name]) for name in ("feature", "belief", "is_there")))
    return float(((values.numpy() - examples["value"]) ** 2).mean())


def test_a_network_of_another_game_is_refused():
    stored = trainer_of().stored()
    with pytest.raises(ConfigError, match="the network was made for kuhn, not for leduc"):
        check_public_net(stored, make_game("leduc"))


def test_sgd_goes_on_to_the_bit():
    changes = {"optimizer": "sgd", "rate": 0.05, "rate_decay": 0.5, "decay_steps": 10}
    whole, stopped, again = (trainer_of(**changes) for _ in range(3))
    for _ in whole.run():
        pass
    stopped.run_cycle()
    again.restore(stopped.state())
    for _ in again.run():
        pass

    for name, weights in whole.stored().tensors.items():
        np.testing.assert_array_equal(again.stored().tensors[name], weights)
    assert whole.optimizer.param_groups[0]["lr"] == pytest.approx(0.05 * 0.5 ** (whole.step / 10))


def test_memory_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr("equipoise.core.memory.available_bytes", lambda: 10**9)
    with pytest.raises(GameTooLargeError, match="remembering 50,000,000 examples needs"):
        PogTrainer(SelfPlayGame(make_game("kuhn")), find_preset("paper-go"))


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_a_temperature_makes_policies_more_even_and_leaves_values(temperature):
    game, trainer = SelfPlayGame(make_game("kuhn")), trainer_of()
    reach = game.first_reach()
    state = game.form.edges(game.form.initial_state())[0].child
    belief = batch_beliefs([state], [game.belief(state, reach)])
    plain = game.leaves(trainer.stored()).evaluate(belief)
    found = game.leaves(trainer.stored(), temperature=temperature).evaluate(belief)

    np.testing.assert_array_equal(found.cfv[0], plain.cfv[0])
    expected = plain.prior ** (1.0 / temperature)  # shares of the likeliest action's
    np.testing.assert_allclose(found.prior, expected, rtol=1e-5)
