# SPDX-License-Identifier: Apache-2.0
"""Study `coin-toss`: what each method of search makes of the thesis's smallest example."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import numpy as np

from equipoise.games.coin_toss import CoinToss
from equipoise.search.gadgets import Distribution, Given, Maxmargin, Method, Reach, Resolve, SoftGate, Unsafe
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import solve_subgame
from equipoise.solvers.best_response import evaluate
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, judge
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

__all__ = ["COIN_TOSS", "CoinTossConfiguration"]

SECTION: Final = "sections 5.1.1 to 5.1.3"
BLUEPRINT: Final = {  # Figure 5.2
    "heads|sell or play": (1 / 4, 3 / 4),
    "tails|sell or play": (1 / 2, 1 / 2),
    "guess": (1 / 2, 1 / 4, 1 / 4),
}
GUESSES: Final = ("heads", "tails", "forfeit")
VALUE: Final = "value of a best response"
OPTIMAL: Final = Given(np.array([0.5, -0.5]))  # what selling pays
METHODS: Final[dict[str, Method]] = {
    "unsafe": Unsafe(),
    "resolve": Resolve(),
    "maxmargin": Maxmargin(),
    "reach-maxmargin": Maxmargin(reach=Reach()),
    "maxmargin, equilibrium values": Maxmargin(alternatives=OPTIMAL),
    "distribution, Hedge": Resolve(distribution=Distribution(deviation=0.25)),
    "distribution, CFR-BR": Resolve(distribution=Distribution(deviation=0.25, gate=SoftGate.BEST_RESPONSE)),
}
EXPECTED: Final = {  # guesses, value of the game to the opponent, whether the thesis prints it
    "unsafe": ((1.0, 0.0, 0.0), 0.75, True),
    "maxmargin": ((5 / 8, 3 / 8, 0.0), 3 / 8, True),
    "reach-maxmargin": ((1 / 2, 1 / 2, 0.0), 1 / 4, False),
    "maxmargin, equilibrium values": ((1 / 4, 3 / 4, 0.0), 0.0, True),
}
STATED: Final = {name: (*guesses, value) for name, (guesses, value, is_printed) in EXPECTED.items() if is_printed}
TOLERANCE: Final = 0.01


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CoinTossConfiguration:
    """How long each subgame is solved."""

    iterations: int = 5000


def make_blueprint() -> tuple[PublicProfile, int]:
    """Returns the blueprint of Figure 5.2 and the node at which player 1 guesses."""
    tree = build_public_tree(derive_public_game(CoinToss()))
    strategy = tree.legal_share.copy()
    for infoset, label in enumerate(tree.infoset_labels):
        strategy[tree.sequence_cell[tree.infoset_start[infoset] : tree.infoset_start[infoset + 1]]] = BLUEPRINT[label]
    return PublicProfile(tree, strategy), tree.public_labels.index("guess")


def measure(configuration: CoinTossConfiguration) -> Iterator[Step]:
    """Yields what is guessed, and what a best response earns, method by method."""
    blueprint, node = make_blueprint()
    for index, (name, method) in enumerate(METHODS.items()):
        result = solve_subgame(blueprint, node, 1, method, iterations=configuration.iterations)
        subgame = blueprint.subgame(node)
        out = blueprint.strategy.copy()
        subgame.part.insert(result.strategy, out, players=(1,))
        guesses = result.strategy[subgame.tree.sequence_cell].tolist()
        points = [Point(panel=guess, curve=name, x=1, y=share) for guess, share in zip(GUESSES, guesses, strict=True)]
        value = evaluate(blueprint.tree, out).best_response_values[0]
        points.append(Point(panel=VALUE, curve=name, x=1, y=value))
        yield Step(fraction=(index + 1) / len(METHODS), text=name, points=tuple(points))


def conclude(configuration: CoinTossConfiguration, measured: Measured) -> Conclusion:
    """Returns guesses and values, and a verdict on each that the text prints."""
    rows, claims = [], []
    for name in METHODS:
        ours = {panel: measured.at(panel, name, 1) for panel in (*GUESSES, VALUE)}
        known = [value for value in ours.values() if value is not None]
        row = {panel: None if value is None else round(value, 4) for panel, value in ours.items()}
        rows.append({"method": name, **row})
        if name not in EXPECTED:
            continue
        guesses, value, is_printed = EXPECTED[name]
        is_near = [abs(one - other) <= TOLERANCE for one, other in zip(known, (*guesses, value), strict=False)]
        listed = ", ".join(f"{share:g}" for share in guesses)
        claims.append(
            Claim(
                statement=f"{name} guesses {listed}; the opponent can then get {value:g}",
                source=SECTION if is_printed else f"{SECTION}, by calculation",
                verdict=judge(all(is_near) if known else None),
                ours=", ".join(f"{one:.3f}" for one in known) or "nothing",
            )
        )
    notes = (
        "Section 5.1.3 prints heads 3/4, tails 1/4 as the better strategy of this game: that of section 5.1.1, 1/4 and "
        "3/4, is right, as the best responses show.",
        "Forfeiting pays 1, which the blueprint's printed values imply.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


COIN_TOSS: Final = Study(
    name="coin-toss",
    title="Search in Coin Toss",
    source="Brown 2020, thesis section 5.1, Figs. 5.1 to 5.3",
    x_label="",
    y_label="probability, value",
    sizes={Size.QUICK: CoinTossConfiguration(), Size.FULL: CoinTossConfiguration(iterations=100_000)},
    measure=measure,
    conclude=conclude,
    is_log_y=False,
    printed={
        panel: {name: [(1, figures[place])] for name, figures in STATED.items()}
        for place, panel in enumerate((*GUESSES, VALUE))
    },
)
