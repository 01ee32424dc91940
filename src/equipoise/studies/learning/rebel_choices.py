# SPDX-License-Identifier: Apache-2.0
"""Study `rebel-choices`: what single choices of learning values of beliefs by self-play give, one changed at a time.

Every training has the same game, examples and seeds; what is measured is the exploitability of random iterations. The
first training's network is also tested in other ways. Learning needs torch, the extra `[learn]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.base import Game
from equipoise.games.registry import format_game, parse_game
from equipoise.learning.rebel.nets import bind_belief_net, bind_elsewhere
from equipoise.learning.rebel.playthroughs import AverageSearcher, PlayedAverage, measure_playthroughs
from equipoise.learning.rebel.policies import bind_guide
from equipoise.learning.rebel.self_play import BeliefSearcher
from equipoise.learning.rebel.settings import BeliefMethod, RebelSettings, change_settings, find_preset, with_method
from equipoise.learning.values.weights import StoredNet
from equipoise.search.belief_games import BeliefGame, parse_horizon
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge

__all__ = ["CHOICES", "REBEL_CHOICES", "TESTS", "RebelChoicesConfiguration"]

UPPER, LOWER, SECONDS = "exploitability", "at least", "CPU seconds of training"
PRESET: Final = "as the preset"
MARGIN: Final = 1.1  # within which nothing is decided


CHOICES: Final[Mapping[str, Mapping[str, str]]] = {  # as typed: settings that differ
    "preset": {},
    "random": {"beliefs": "random"},
    "newest": {"average_decay": "0"},
    "reuse-2": {"reuse": "2"},
    "reuse-5": {"reuse": "5"},
    "reuse-20": {"reuse": "20"},
    "explore-0": {"exploration": "0"},
    "explore-50": {"exploration": "0.5"},
    "weighted": {"uniform_draws": "0"},
    "early": {"late_from": "1"},
    "policy": {"warm_start": "15"},
    "units-64": {"hidden": "64"},
    "units-256": {"hidden": "256"},
    "lcfr": with_method(BeliefMethod.CFR_D, "lcfr"),
    "avg": with_method(BeliefMethod.CFR_AVG, "lcfr"),
    "modified": with_method(BeliefMethod.MODIFIED_CFR_AVG, "lcfr"),
    "fp": with_method(BeliefMethod.FP, "lcfr"),
    "flop": with_method(BeliefMethod.FP, "optimistic-lcfr"),
}
SAID: Final[Mapping[str, str]] = {
    "preset": PRESET,
    "random": "any beliefs in place of those of self-play",
    "newest": "the newest weights play, not averaged ones",
    "reuse-2": "each example is learnt from 2 times",
    "reuse-5": "5 times",
    "reuse-20": "20 times",
    "explore-0": "nobody explores",
    "explore-50": "one player explores by half",
    "weighted": "iterations lead on by their weights alone",
    "early": "searches of self-play stay short",
    "policy": "a policy network warm-starts searches, for 15 iterations",
    "units-64": "64 units",
    "units-256": "256 units",
    "lcfr": "learnt by linear CFR-D too",
    "avg": "by linear CFR-AVG",
    "modified": "by modified linear CFR-AVG",
    "fp": "by linear fictitious play",
    "flop": "by FLOP",
}
QUICK: Final = (
    "preset",
    "random",
    "policy",
    "newest",
    "reuse-5",
    "reuse-20",
    "explore-0",
    "fp",
    "flop",
    "units-64",
)
AVERAGES: Final = "averages"
TESTS: Final[Mapping[str, str]] = {  # of the preset's network, as typed: as shown
    AVERAGES: "the preset's network, averages of searches played and believed",
    "depth-3": "searched to depth 3",
    "depth-4": "searched to depth 4",
    "by-dcfr": "tested by DCFR, as the preset is",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RebelChoicesConfiguration:
    """The game, how long every training is, and which choices are compared."""

    game: str = "liars_dice(dice=1,faces=4)"
    preset: str = "small"
    examples: int = 5_000
    test_rule: str = "lcfr"  # of choices that name no other: by DCFR a single network's figure is a matter of luck
    playthroughs: int = 64
    seeds: int = 1
    choices: tuple[str, ...] = QUICK
    tests: tuple[str, ...] = tuple(TESTS)

    def __post_init__(self) -> None:
        for name in ("examples", "playthroughs", "seeds"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for names, known, what in ((self.choices, CHOICES, "choice"), (self.tests, TESTS, "test")):
            if unknown := [name for name in names if name and name not in known]:
                raise UnknownNameError(what, unknown[0], known)
        change_settings(find_preset(self.preset), {"test.rule": self.test_rule})


def measure(configuration: RebelChoicesConfiguration) -> Iterator[Step]:
    """Yields exploitabilities of what is learnt, choice by choice and seed by seed."""
    game = parse_game(configuration.game)
    names = [name for name in configuration.choices if name]
    total = configuration.seeds * len(names)
    for done, (seed, name) in enumerate((seed, name) for seed in range(configuration.seeds) for name in names):
        changes = {"test.rule": configuration.test_rule, **CHOICES[name]}
        settings = change_settings(find_preset(configuration.preset), changes)
        settings = dataclasses.replace(settings, examples=configuration.examples, seed=seed)
        learnt = _learn(game, settings)
        searcher = _searcher(game, settings, learnt, "")
        points = list(_points(SAID[name], _play(searcher, configuration, seed), configuration, seed))
        points.append(Point(panel=SECONDS, curve=SAID[name], x=configuration.examples, y=learnt.seconds, run=seed))
        if name == "preset":
            for test in (each for each in configuration.tests if each):
                tested = _searcher(game, settings, learnt, test)
                points += _points(TESTS[test], _play(tested, configuration, seed), configuration, seed)
        yield Step(fraction=(done + 1) / total, text=f"{SAID[name]}, seed {seed}", points=tuple(points))


class _Learnt(NamedTuple):
    """What a training learns."""

    net: StoredNet
    policy: StoredNet | None
    seconds: float  # of CPU time


def _learn(game: Game[Any], settings: RebelSettings) -> _Learnt:
    from equipoise.learning.rebel.training import RebelTrainer  # noqa: PLC0415 - torch is an extra

    trainer = RebelTrainer(BeliefGame.of(game, parse_horizon(settings.horizon)), settings, format_game(game))
    for _ in trainer.run():
        pass
    return _Learnt(trainer.stored(), trainer.stored_policy(), trainer.cpu_seconds)


def _searcher(game: Game[Any], settings: RebelSettings, learnt: _Learnt, test: str) -> BeliefSearcher:
    """Returns how a network is tested: as its settings say, or in another way."""
    net = learnt.net
    form = BeliefGame.of(game, parse_horizon(settings.horizon))
    if test.startswith("depth-"):
        trained, form = form, form.with_limit(parse_horizon(test.removeprefix("depth-")))
        return BeliefSearcher(form, settings.test, net=bind_elsewhere(net, trained, form))
    guide = bind_guide(form, learnt.policy, settings)
    recipe = dataclasses.replace(settings.test, rule="dcfr") if test == "by-dcfr" else settings.test
    kind = AverageSearcher if test == AVERAGES else BeliefSearcher
    return kind(form, recipe, net=bind_belief_net(net), guide=guide)


def _play(searcher: BeliefSearcher, configuration: RebelChoicesConfiguration, seed: int) -> PlayedAverage:
    is_fixed = isinstance(searcher, AverageSearcher)  # every playthrough is the same
    count = 1 if is_fixed else configuration.playthroughs
    return measure_playthroughs(searcher, count, rng=np.random.default_rng([seed, 61]))


def _points(curve: str, found: PlayedAverage, configuration: RebelChoicesConfiguration, seed: int) -> Iterator[Point]:
    yield Point(panel=UPPER, curve=curve, x=configuration.examples, y=found.exploitability, run=seed)
    if found.playthroughs > 1:
        yield Point(panel=LOWER, curve=curve, x=configuration.examples, y=found.lower, run=seed)


def conclude(configuration: RebelChoicesConfiguration, measured: Measured) -> Conclusion:
    """Returns every choice beside the preset's own, and verdicts on what the thesis states."""
    shown = [SAID[name] for name in configuration.choices if name] + [
        TESTS[name] for name in configuration.tests if name
    ]
    rows: list[dict[str, Any]] = []
    for label in shown:
        runs = measured.runs(UPPER, label, configuration.examples)
        lower = measured.at(LOWER, label, configuration.examples)
        seconds = measured.at(SECONDS, label, configuration.examples)
        rows.append(
            {
                "choice": label,
                "exploitability": round(float(np.mean(runs)), 4) if runs else None,
                "deviation": round(float(np.std(runs, ddof=1)), 4) if len(runs) > 1 else None,
                "at least": None if lower is None else round(lower, 4),
                "CPU seconds": None if seconds is None else round(seconds, 1),
            }
        )
    claims = [
        _compare(configuration, measured, worse, statement, source)
        for worse, statement, source in (
            (SAID["random"], "values learnt from any beliefs are worse than those of self-play", "Fig. 5.9"),
            (
                TESTS[AVERAGES],
                "averages that are played and believed are worse than random iterations",
                "section 5.3.4",
            ),
            (SAID["fp"], "fictitious play learns worse than CFR-D", "Table 5.7"),
        )
    ]
    preset = find_preset(configuration.preset)
    notes = (
        f"{configuration.game}, preset {configuration.preset} with {configuration.examples:,} examples in place of "
        f"{preset.examples:,}: differences of long trainings may be others.",
        f"Tested by {preset.test.iterations} iterations of {configuration.test_rule} unless a choice names its own.",
        f"Over {configuration.playthroughs:,} playthroughs, which say too much: `at least` is what best responses to "
        "the others gain on each eighth. Means over seeds; `at least` and seconds are medians.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _compare(
    configuration: RebelChoicesConfiguration, measured: Measured, worse: str, statement: str, source: str
) -> Claim:
    """Returns a verdict by the runs of every seed: undecided where they disagree or hardly differ."""
    ratios = measured.run_ratios(UPPER, worse, PRESET, configuration.examples)
    verdict = judge(None if not ratios else ratios[0] > 1.0)
    if ratios and ratios[0] < MARGIN and ratios[-1] > 1.0 / MARGIN:
        verdict = Verdict.UNDECIDED
    ours = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return Claim(statement=statement, source=source, verdict=verdict, ours=f"times as exploitable: {ours or 'nothing'}")


REBEL_CHOICES: Final = Study(
    name="rebel-choices",
    title="Values of beliefs by self-play: single choices changed",
    source="Brown 2020, thesis sections 5.3.3, 5.3.4 and 5.3.6, Fig. 5.9 and Table 5.7",
    x_label="examples",
    y_label="exploitability",
    sizes={
        Size.QUICK: RebelChoicesConfiguration(),
        Size.FULL: RebelChoicesConfiguration(examples=600_000, playthroughs=1024, seeds=3, choices=tuple(CHOICES)),
    },
    measure=measure,
    conclude=conclude,
    panels=(UPPER,),
)
