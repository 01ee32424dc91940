# SPDX-License-Identifier: Apache-2.0
"""The self-improver, from a log to a blueprint that does better against who bets what it lacked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.agents.base import Agent, Observation
from equipoise.agents.holdem.blueprint import BlueprintAgent, Sharpening, game_of_blueprint
from equipoise.agents.notation import make
from equipoise.evaluation.play import play_game
from equipoise.games.holdem.acpc import format_log_line
from equipoise.games.holdem.rules import Holdem

SPEC = """stacks = [1000, 1000]
deck = "royal"
abstraction = "percentile"
buckets = [10, 10, 10]
menu = "25%, 300%, a; cap: 2"
"""


class OddSizes:
    """Raises to the same total whenever nobody has raised before the flop, checks and calls else."""

    name = "odd"

    def begin_game(self, seat: int) -> None:
        pass

    def observe(self, observation: Observation) -> None:
        pass

    def act(self, observation: Observation, *, rng: np.random.Generator) -> int:
        is_first = "r" not in observation.public_state and ":" not in observation.public_state
        return 310 if is_first and 310 in observation.actions else 1


def play(game: Holdem, agents: Sequence[Agent], num_deals: int, log: Path | None = None) -> list[float]:
    """Returns what the first agent wins, each deal from both seats; hands of seat 1 are written down."""
    won, lines = [], []
    for number in range(num_deals):
        results = []
        for seat in (0, 1):
            states = []
            returns = play_game(
                game,
                [agents[seat], agents[1 - seat]],
                chance=np.random.default_rng([1, number]),
                rng=np.random.default_rng([2, number, seat]),
                expects_all_ins=False,
                on_state=states.append,
            )
            results.append(returns[seat])
            names = ("mine", "odd") if seat == 0 else ("odd", "mine")
            lines.append(format_log_line(game, states[-1], 2 * number + seat, names))
        won.append(sum(results) / 2)
    if log is not None:
        log.write_text("\n".join(lines))
    return won


def test_tonights_blueprint_knows_what_todays_lacked(equipoise, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    old, new, log = tmp_path / "old", tmp_path / "new", tmp_path / "match.log"
    much = ["--deals", "3000", "-t", "1", "-q"]
    assert equipoise("train", "blueprint", str(tmp_path / "spec.toml"), "-o", str(old), *much).code == 0
    game = game_of_blueprint(str(old / "blueprint.eq"))
    play(game, [make(f"blueprint:{old / 'blueprint.eq'}", game), OddSizes()], 30, log)
    command = ["improve", str(old / "blueprint.eq"), "--log", str(log), "--me", "mine", "-o", str(new)]
    told = equipoise(*command, "--estimate")
    assert told.code == 0
    assert "new: 105% of the pot as raise 1, bet most" in told.err
    assert not new.exists()
    assert equipoise(*command, *much).code == 0
    before, after = (StoredBlueprint(folder / "blueprint.eq") for folder in (old, new))
    assert 310 in after.actions(0)
    assert 310 not in before.actions(0)
    agent = BlueprintAgent(after, Sharpening())
    image = agent.images.at((310,), np.random.default_rng(0))
    assert image.is_alike  # nothing is translated any more
    assert not BlueprintAgent(before, Sharpening()).images.at((310,), np.random.default_rng(0)).is_alike
    assert sum(play(game, [agent, OddSizes()], 5)) != 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--log", "nothing.phh"], "cannot read nothing.phh"),
        (["--log", "{log}", "--me", "nobody"], "has players mine, odd, got --me nobody"),
        (["--log", "{log}", "--me", "mine", "--me", "odd"], "no opponent bet a size that"),
        (["--log", "{broken}"], "a hand of a log looks like"),
        (["--log", "{empty}"], "has no hands"),
    ],
)
def test_logs_that_are_of_no_use_are_refused(equipoise, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    out = tmp_path / "old"
    equipoise("train", "blueprint", str(tmp_path / "spec.toml"), "-o", str(out), "--deals", "100", "-t", "1", "-q")
    game = game_of_blueprint(str(out / "blueprint.eq"))
    files = {name: tmp_path / f"{name}.log" for name in ("log", "broken", "empty")}
    play(game, [make("call", game), OddSizes()], 2, files["log"])
    files["broken"].write_text("STATE:what\n")
    files["empty"].write_text("# nothing\n")
    given = [word.format(**{name: str(path) for name, path in files.items()}) for word in words]
    refused = equipoise("improve", str(out / "blueprint.eq"), *given, "-o", str(tmp_path / "new"))
    assert refused.code == 2
    assert message in refused.err
