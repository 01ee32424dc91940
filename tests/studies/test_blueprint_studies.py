# SPDX-License-Identifier: Apache-2.0
"""Studies of how blueprints are trained, and the reduced game that measures them."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.studies.blueprints import claims, rbs, scaling
from equipoise.studies.blueprints.reduced import ReducedHoldem, list_deals, packed_rows
from equipoise.studies.study import Measured, Point, Verdict

NONE_CONFIRMED = {Verdict.DENIED}


def fill(*values: tuple[str, str, int, float]) -> Measured:
    measured = Measured()
    for panel, curve, x, y in values:
        for run in (0, 1):
            measured.add(Point(panel=panel, curve=curve, x=x, y=y * (1 + 0.01 * run), run=run))
    return measured


def verdicts(conclusion) -> list[Verdict]:
    return [claim.verdict for claim in conclusion.claims]


def test_the_reduced_game_lists_every_deal_once() -> None:
    listing = list_deals()
    assert listing.weights.sum() == 120 * 21 * 10  # flops, hands of seven cards, hands of five
    assert len(listing.strong) == 1260  # two suits: half of the pairs of flop and hand
    game = ReducedHoldem(buckets=0)
    uniform = [np.full((size, int(count)), 1 / max(int(count), 1)) for size, count in _shapes(game)]
    assert abs(game.measure(uniform.__getitem__).values.sum()) < 1e-9


def _shapes(game: ReducedHoldem):
    arrays = game.betting.arrays
    sizes = (25, 1260)
    return [(sizes[street], count) for street, count in zip(arrays.streets, arrays.num_actions, strict=True)]


def test_buckets_within_clusters_are_those_that_training_draws() -> None:
    """Every deal of the ground has, cluster by cluster, the bucket that measuring lifts."""
    game = ReducedHoldem(buckets=5, clusters=3)
    ground = game.ground()
    assert sum(len(flops) for flops in ground.flops) == 120
    holes = np.array([[[0, 1], [2, 3]]], np.uint8)  # numbers in the deck
    cards = np.array(ground.deals.deck, np.uint8)
    listed = {tuple(row) for row in game.deals.buckets.reshape(len(game.deals.weights), -1).tolist()}
    for cluster, flops in enumerate(ground.flops):
        for flop in flops:
            left = cards[~np.isin(cards, flop)]
            found = ground.deals.look_up(flop[None].copy(), left[holes])[0][0].astype(int)
            found[:, 1] += cluster * 5
            assert tuple(found.reshape(-1).tolist()) in listed


def test_packed_rows_are_the_average_or_its_likeliest_action() -> None:
    game = ReducedHoldem(buckets=5)
    config = BlueprintConfig(scale=100.0, period=1000, walked_streets=4)
    trainer = BlueprintTrainer(game.betting, game.deals, game.num_buckets, config)
    trainer.train(5_000)
    mixed = packed_rows(game.betting, game.num_buckets, trainer.pack())(0)
    pure = packed_rows(game.betting, game.num_buckets, trainer.pack(), is_pure=True)(0)
    assert np.abs(mixed - trainer.average(0)).max() < 0.006
    assert np.array_equal(pure.argmax(axis=1), mixed.argmax(axis=1))
    assert set(pure.reshape(-1).tolist()) == {0.0, 1.0}


def test_a_strategy_wins_nothing_against_itself() -> None:
    game = ReducedHoldem(buckets=5, menu=rbs.MENU)
    config = BlueprintConfig(scale=100.0, period=1000, walked_streets=4)
    trainer = BlueprintTrainer(game.betting, game.deals, game.num_buckets, config)
    trainer.train(20_000)
    own = rbs.lift(game, trainer.average)
    assert abs(rbs.play(game, own, own)) < 1e-9
    fold = [np.eye(1, int(count), 0) for _, count in _shapes(game)]
    players = {0: 25, 1: 1260}
    folds = lambda node: np.repeat(fold[node], players[int(game.betting.arrays.streets[node])], axis=0)  # noqa: E731
    assert rbs.play(game, own, folds) > 3.0


@pytest.mark.parametrize(
    ("study", "configuration"),
    [
        (claims.BLUEPRINT_CLAIMS, claims.ClaimsConfiguration(deals=(500, 1000), runs=1, six_deals=(50,))),
        (rbs.RBS_BLUEPRINT, rbs.RbsConfiguration(nodes=(40_000, 80_000), runs=1, opponent_deals=500)),
        (scaling.TARTANIAN_SCALING, scaling.ScalingConfiguration(clusters=(1, 2), deals=(200, 400), runs=1)),
    ],
    ids=["claims", "rbs", "scaling"],
)
def test_tiny_runs_end_with_a_verdict_on_everything(study, configuration) -> None:
    result = study.run(configuration)
    assert not result.is_partial
    assert all(np.isfinite(row["ours"]) for row in result.conclusion.rows)
    assert Verdict.NOT_MEASURED not in verdicts(result.conclusion)


def test_claims_can_be_denied() -> None:
    configuration = claims.ClaimsConfiguration(deals=(100, 1000), runs=2)
    kind = claims.WEIGHTS, claims.RECALL
    bad = fill(
        *((kind[0], curve, x, y) for curve in (claims.LINEAR, claims.ALIKE) for x, y in ((100, 9.0), (1000, 5.0))),
        *((kind[1], curve, 1000, 5.0 + (curve != claims.NOTHING)) for curve in (claims.NOTHING, *claims.PRUNED)),
        (claims.TABLES, claims.VISITED, 1000, 0.9),
    )
    assert set(verdicts(claims.conclude(configuration, bad))) == NONE_CONFIRMED
    good = fill(
        (kind[0], claims.LINEAR, 300, 5.0),
        (kind[0], claims.ALIKE, 1000, 5.0),
        *((kind[1], curve, 1000, 5.0 - (curve != claims.NOTHING)) for curve in (claims.NOTHING, *claims.PRUNED)),
        (claims.TABLES, claims.VISITED, 1000, 0.1),
    )
    assert set(verdicts(claims.conclude(configuration, good))) == {Verdict.CONFIRMED}
    assert set(verdicts(claims.conclude(configuration, Measured()))) == {Verdict.NOT_MEASURED}


def test_regret_based_sampling_can_lose() -> None:
    configuration = rbs.RbsConfiguration(nodes=(100, 1000), runs=2)
    curves = rbs.PLAIN, rbs.SAMPLED, rbs.ENDED

    def race(*won: float) -> Measured:
        rows = [(rbs.AGAINST, curve, x, y) for curve, y in zip(curves, won, strict=True) for x in (100, 1000)]
        return fill(*rows, *((rbs.GAINS, curve, 1000, 100 - y) for curve, y in zip(curves, won, strict=True)))

    assert set(verdicts(rbs.conclude(configuration, race(9.0, 5.0, 4.0)))) == NONE_CONFIRMED
    assert set(verdicts(rbs.conclude(configuration, race(5.0, 9.0, 12.0)))) == {Verdict.CONFIRMED}
    assert verdicts(rbs.conclude(configuration, race(5.0, 5.01, 12.0)))[0] is Verdict.UNDECIDED


def test_more_clusters_can_be_worse() -> None:
    configuration = scaling.ScalingConfiguration(clusters=(1, 2), deals=(100, 1000), runs=2)

    def race(gain: float, differing: float, head: float) -> Measured:
        return fill(
            (scaling.GAINS, "1 cluster", 1000, 5.0),
            (scaling.GAINS, "2 clusters", 1000, gain),
            (scaling.SAME, "2 clusters", 100, differing),
            (scaling.HEAD, "all", 2, head),
        )

    assert set(verdicts(scaling.conclude(configuration, race(6.0, 0.5, 0.5)))) == NONE_CONFIRMED
    assert set(verdicts(scaling.conclude(configuration, race(4.0, 0.0, 0.2)))) == {Verdict.CONFIRMED}


def test_settings_that_make_no_sense_are_refused() -> None:
    for make in (
        lambda: claims.ClaimsConfiguration(deals=(2, 1)),
        lambda: rbs.RbsConfiguration(nodes=()),
        lambda: scaling.ScalingConfiguration(deals=(150,)),
    ):
        with pytest.raises(ConfigError):
            make()
