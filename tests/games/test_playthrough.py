# SPDX-License-Identifier: Apache-2.0
"""Random games and the text they are written as."""

import collections

import numpy as np
import pytest

from equipoise.games import TERMINAL, format_playthrough, make_game, sample_action
from equipoise.games.playthrough import random_playthrough


class StuckGenerator:
    """Draws the largest number below one, always."""

    def random(self):
        return np.nextafter(1.0, 0.0)


def test_playthrough_runs_from_the_start_to_an_end():
    game = make_game("leduc")

    path = list(random_playthrough(game, rng=np.random.default_rng(0)))

    assert path[0][0] == game.initial_state()
    assert game.actor(path[-1][0]) == TERMINAL
    assert path[-1][1] is None


def test_outcomes_come_with_their_probabilities():
    game = make_game("liars_dice", dice=2, faces=2)
    rng = np.random.default_rng(0)

    counts = collections.Counter(sample_action(game, game.initial_state(), rng=rng) for _ in range(4000))

    assert [counts[hand] / 4000 for hand in range(3)] == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


@pytest.mark.parametrize("name", ["liars_dice", "leduc", "tic_tac_toe"])
def test_largest_draw_takes_the_last_action(name):
    game = make_game(name)
    root = game.initial_state()
    actions = game.legal_actions(root) or [outcome for outcome, _ in game.chance_outcomes(root)]

    assert sample_action(game, root, rng=StuckGenerator()) == actions[-1]


def test_same_seed_writes_the_same_text():
    game = make_game("kuhn")

    texts = {format_playthrough(game, rng=np.random.default_rng(5)) for _ in range(2)}

    assert len(texts) == 1


def test_game_without_public_states_can_be_written():
    pytest.importorskip("pyspiel")

    text = format_playthrough(make_game("openspiel:matrix_rps"), rng=np.random.default_rng(0))

    assert "public state: none" in text
