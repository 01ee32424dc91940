# SPDX-License-Identifier: Apache-2.0
"""Machines against each other on a small deck: blueprints trained in seconds, matches, and what their intervals say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from equipoise.abstraction.blueprints import BlueprintSpec, make_deals, save_blueprint
from equipoise.agents.base import Agent
from equipoise.evaluation.statistics import Estimate, normal_quantile
from equipoise.games.holdem.rules import Holdem
from equipoise.runs.matches import match
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.studies.study import Measured, Point, Verdict

__all__ = ["ERROR", "contest", "find", "judge_interval", "points_of", "train_file"]

ERROR: Final = ", standard error"  # behind a curve's name
PERIODS: Final = 100
MILLI: Final = 1000.0
CONFIDENCE: Final = 0.95


def train_file(spec: BlueprintSpec, deals: int, seed: int, path: Path) -> Path:
    """Returns the file into which a blueprint of so many deals was written."""
    every = max(1, deals // PERIODS)
    config = BlueprintConfig(period=every, snapshot_every=5 * every, first_snapshot=deals // 4, seed=seed)
    trainer = BlueprintTrainer(spec.betting, make_deals(spec), spec.num_buckets, config)
    trainer.train(deals)
    save_blueprint(path, spec, trainer, {})
    return path


def contest(agents: Sequence[Agent], game: Holdem, *, hands: int, seed: int) -> Estimate:
    """Returns what the first agent wins a hand, in thousandths of a big blind; all take all seats on the same deals."""
    result = match(*agents, game=game, hands=hands, seed=seed)
    return result.estimate().scale(MILLI / game.betting_rules.big_blind)


def points_of(panel: str, curve: str, found: Estimate, hands: int) -> Iterator[Point]:
    """Yields a mean and its standard error."""
    yield Point(panel=panel, curve=curve, x=hands, y=found.mean)
    yield Point(panel=panel, curve=curve + ERROR, x=hands, y=found.standard_error)


def find(measured: Measured, panel: str, curve: str, hands: int, seats: int) -> Estimate | None:
    """Returns what `points_of` wrote, a sample being a deal from all seats; None where it was not measured."""
    mean, error = (measured.at(panel, name, hands) for name in (curve, curve + ERROR))
    return (
        None if mean is None or error is None else Estimate(mean=mean, standard_error=error, num_samples=hands // seats)
    )


def judge_interval(mean: float | None, error: float | None) -> Verdict:
    """Returns whether a number is above 0, undecided where its 95 % interval holds 0."""
    if mean is None or error is None:
        return Verdict.NOT_MEASURED
    reach = normal_quantile(CONFIDENCE) * error
    if mean > reach:
        return Verdict.CONFIRMED
    return Verdict.DENIED if mean < -reach else Verdict.UNDECIDED
