# SPDX-License-Identifier: Apache-2.0
"""Training of value networks: losses fall, runs go on to the bit, states of other networks are refused."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import Deck
from equipoise.learning.values.configuration import ValueNetConfig
from equipoise.learning.values.generation import SolvedSource
from equipoise.learning.values.labels import Labels
from equipoise.learning.values.measures import Errors
from equipoise.learning.values.settings import TrainingSettings
from equipoise.learning.values.toys import ToySource

training = pytest.importorskip("equipoise.learning.values.training", reason="needs torch")
torch = training.torch

DECK = Deck(ranks="9TJQKA", suits="cdh")
CONFIG = ValueNetConfig(deck="9TJQKA/cdh", cells=8, segments=8, hidden=16, layers=2)
SETTINGS = TrainingSettings(steps=60, batch=8, toy_batch=16, hands=20, validate_every=20, warm_up=5, rate=3e-3, seed=1)


@pytest.fixture(scope="module")
def data():
    labels = Labels(iterations=30)
    source = SolvedSource(street=Street.RIVER, labels=labels, per_shard=40, deck=DECK)
    toys = ToySource(labels=labels, num_cells=8, per_shard=64, deck=DECK)
    return {
        "situations": training.SituationSet.of(CONFIG, [source.make(0), source.make(1)]),
        "aside": training.SituationSet.of(CONFIG, [source.make(2)]),
        "held_out": training.SituationSet.of(CONFIG, [source.make(3)]),
        "toys": training.ToySet(CONFIG, [toys.make(0)]),
    }


def make_trainer(data, **changes):
    settings = TrainingSettings(**{**{name: getattr(SETTINGS, name) for name in SETTINGS.__slots__}, **changes})
    sets = {name: data[name] for name in ("situations", "toys", "aside", "held_out")}
    return training.ValueTrainer(CONFIG, settings, **sets)


def test_errors_fall(data):
    trainer = make_trainer(data)
    before = trainer.measure(data["held_out"]).report()
    records = list(trainer.run())
    assert [record.step for record in records] == [20, 40, 60]
    assert records[-1].errors.report().huber < 0.9 * before.huber


def test_a_run_goes_on_to_the_bit(data):
    whole = make_trainer(data)
    list(whole.run())
    first = make_trainer(data)
    next(first.run())
    second = make_trainer(data)
    second.restore(first.state())
    list(second.run())
    assert second.step == 60
    for name, part in whole.state().items():
        assert np.array_equal(part, second.state()[name], equal_nan=True), name


def test_a_step_takes_place_on_one_device(data):
    """A tensor that stayed behind would not meet those that are nowhere."""
    for hands in (20, 10_000):
        trainer = make_trainer(data, hands=hands)
        trainer.device = torch.device("meta")
        trainer.net.to(trainer.device)
        for loss in (trainer._situation_loss(), trainer._toy_loss(data["toys"])):
            assert loss.device.type == "meta"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
def test_a_run_on_another_device_goes_on_here(data):
    sets = {name: data[name] for name in ("situations", "toys", "aside", "held_out")}
    first = training.ValueTrainer(CONFIG, SETTINGS, **sets, device="cuda")
    next(first.run())
    second = make_trainer(data)
    second.restore(first.state())
    list(second.run())
    assert second.step == 60


def test_devices_that_are_not_there_are_refused(data):
    with pytest.raises(ConfigError, match="torch knows no device toaster"):
        training.ValueTrainer(CONFIG, SETTINGS, data["situations"], device="toaster")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="there is no CUDA device here"):
            training.ValueTrainer(CONFIG, SETTINGS, data["situations"], device="cuda")


def test_it_stops_when_nothing_becomes_better(data):
    trainer = make_trainer(data, steps=1000, rate=1e-9, average_decay=0.0, patience=2, validate_every=5)
    trainer.best = 0.0
    assert len(list(trainer.run())) == 2


def test_the_best_weights_are_kept_and_not_the_last(data):
    # without a small rate the weights soon wander off: some earlier ones are better than the last
    trainer = make_trainer(data, steps=200, rate=0.3, clip=1e6, average_decay=0.0, validate_every=5, warm_up=100)
    hubers = {record.step: record.choice.report().huber for record in trainer.run()}
    best = min(hubers, key=lambda step: hubers[step])
    assert best < trainer.step
    assert trainer.kept_step == best
    assert hubers[trainer.step] > 1.5 * hubers[best]
    trainer.averaged = trainer.kept
    assert trainer.measure(data["aside"]).report().huber == hubers[best]


def test_what_is_held_out_decides_nothing(data):
    with_it, without = (make_trainer({**data, "held_out": held_out}) for held_out in (data["held_out"], None))
    found = [list(trainer.run()) for trainer in (with_it, without)]
    assert [record.errors is None for records in found for record in records] == [False] * 3 + [True] * 3
    kept = [dict(trainer.kept.state_dict()) for trainer in (with_it, without)]
    assert all((kept[0][name] == part).all() for name, part in kept[1].items())


def test_the_best_weights_are_known_after_a_stop(data):
    first = make_trainer(data)
    next(first.run())
    second = make_trainer(data)
    second.restore(first.state())
    assert second.kept_step == 20
    kept = zip(first.kept.parameters(), second.kept.parameters(), strict=True)
    assert all((own == other).all() for own, other in kept)


def test_with_nothing_set_aside_the_last_weights_are_kept(data):
    settings = dataclasses.replace(SETTINGS, validate_every=2)
    trainer = training.ValueTrainer(CONFIG, settings, data["situations"], held_out=data["held_out"])
    list(trainer.run())
    assert trainer.kept is trainer.averaged
    assert trainer.kept_step == 60


def test_steps_are_fitted_to_the_time_that_there_is(data):
    trainer = make_trainer(data, steps=1_000_000)
    trainer.fit(0.5)
    assert 20 < trainer.settings.steps < 100_000
    assert trainer.step == 20


def test_a_state_of_another_network_is_refused(data):
    state = make_trainer(data).state()
    other = training.ValueTrainer(
        ValueNetConfig(deck="9TJQKA/cdh", cells=8, segments=8, hidden=24, layers=2), SETTINGS, data["situations"]
    )
    with pytest.raises(ConfigError, match="another network"):
        other.restore(state)
    with pytest.raises(ConfigError, match="another network"):
        other.restore({"progress": state["progress"]})


def test_training_starts_from_an_earlier_network(data):
    earlier = make_trainer(data)
    list(earlier.run())
    trainer = make_trainer(data, seed=5)
    before = trainer.measure(data["aside"]).report().huber
    trainer.start_from(earlier.kept.store())
    assert trainer.measure(data["aside"]).report().huber == earlier.best < before
    other = training.ValueTrainer(
        ValueNetConfig(deck="9TJQKA/cdh", cells=8, segments=8, hidden=24, layers=2), SETTINGS, data["situations"]
    )
    with pytest.raises(ConfigError, match="same form"):
        other.start_from(earlier.kept.store())


def test_toy_games_of_another_size_are_refused(data):
    toys = ToySource(labels=Labels(iterations=2), num_cells=6, per_shard=2, deck=DECK)
    with pytest.raises(ConfigError, match="6 strengths"):
        training.ToySet(CONFIG, [toys.make(0)])


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="steps must be at least 1"):
        TrainingSettings(steps=0)
    with pytest.raises(ConfigError, match="rate"):
        TrainingSettings(rate=0.0)


def test_errors_are_measured_in_pots():
    value = np.zeros((2, 2, 4))
    found = value + np.array([0.1, 0.3])[:, None, None]
    ranges = np.full((2, 2, 4), 0.25)
    errors = Errors.of(found, value, ranges, np.array([0.5, 5.0]))
    whole = errors.report()
    assert whole.rms == pytest.approx(100 * np.sqrt((0.01 + 0.09) / 2))
    assert whole.weighted_rms == pytest.approx(whole.rms)
    assert whole.median == pytest.approx(20.0)
    assert whole.huber == pytest.approx((0.005 + 0.045) / 2)
    assert errors.report(1.0).rms == pytest.approx(30.0)
    assert errors.bands()[0.2, 1.0].count == 1
    assert errors.report(100.0).count == 0
