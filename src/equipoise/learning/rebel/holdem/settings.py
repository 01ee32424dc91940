# SPDX-License-Identifier: Apache-2.0
"""How values of beliefs are learnt in heads-up hold'em, with each choice of the thesis a switch, and presets of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, Final, Self, get_type_hints

from equipoise.core.errors import ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.parameters import parse_value
from equipoise.kernels.calls import check_integer
from equipoise.learning.rebel.settings import BeliefMethod, BeliefSource, read_fields
from equipoise.solvers.rule_notation import parse_rule

__all__ = [
    "BIG_BLIND",
    "HOLDEM_PRESETS",
    "HoldemRebelSettings",
    "NetForm",
    "change_holdem_settings",
    "find_holdem_preset",
]


class NetForm(enum.StrEnum):
    """What networks the layers of a hand have."""

    CURVES = "curves"  # one each, that reads hands by their strength; not before the flop
    ONE = "one"  # one for all layers, that sees every hand for itself, as in the thesis


COUNTS: Final = (  # settings that are at least 1
    *("iterations", "late_iterations", "last_iterations", "test_iterations", "leaves", "hidden", "layers"),
    *("examples", "cycle", "capacity", "batch", "checks", "check_playthroughs", "playthroughs", "test_stack"),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HoldemRebelSettings:
    """Everything about a training in hold'em.

    Paper: Brown 2020, PhD thesis, sections 5.3.5, 5.3.10 and 6.7.
    Symbols: epsilon -> exploration; T -> iterations.
    Departs from the paper: the rule is any of CFR by regret matching; networks have PReLU units without layer norm,
        their loss is Huber's, rates fall as a cosine of the step; many leaves are drawn from one search; strategies are
        learnt at some decisions of a search.
    Checked by: tests/learning/rebel/test_holdem.py.
    """

    first: str = "turn"  # street with which hands begin; before it everybody checks or calls
    board: str = ""  # with which it begins; drawn at random if empty
    least_stack: int = 5_000  # chips of each player before the hand, drawn between both on a scale of logarithms
    most_stack: int = 25_000
    most_pot: int = 200  # chips in it where the first street begins, 200 of them at least; not before the flop
    menu: str = "50%, 100%, a / 100%, a; cap: 2"
    perturbation: float = 0.1  # pots by which sizes are changed at most, for each hand anew
    nets: NetForm = NetForm.CURVES
    has_all_in_table: bool = True  # whether hands are shown down at once where nobody has chips left
    beliefs: BeliefSource = BeliefSource.SELF_PLAY
    method: BeliefMethod = BeliefMethod.CFR_D  # or one of CFR-AVG: which beliefs ends of a round are asked about
    rule: str = "lcfr"
    iterations: int = 64  # of each search of self-play, in each of which both players are updated
    late_iterations: int = 128  # once the networks know something
    late_from: float = 0.5  # share of examples from which on
    last_iterations: int = (
        256  # of rivers, which ask no network: after 64 values are 3 % of the pot off, after 256 0.9 %
    )
    test_iterations: int = 128  # of either round
    exploration: float = 0.25  # share of uniform play of one player
    uniform_draws: float = 0.5  # share of iterations drawn alike
    leaves: int = 16  # that are drawn from each search of the first street
    deals: int = 0  # cards, or sets of three, that the value of a street's end is a mean over; 0: all
    caches_first: bool = False  # whether the search of a first street is kept for hands that begin alike
    warm_start: int = 0  # iterations that strategies of a network of policies count for; 0: there is none
    policies: int = 4  # decisions of each search whose strategies that network learns
    quantises: bool = True  # whether these are remembered in steps of 1 / 255
    cells: int = 24  # of strength, of curves
    potential: int = 6  # of potential, of curves before the river
    hidden: int = 128
    layers: int = 3
    examples: int = 20_000
    cycle: int = 256
    capacity: int = 10_000
    reuse: float = 8.0
    batch: int = 64
    rate: float = 2e-3
    final_rate: float = 0.02
    average_decay: float = 0.995
    loss_bend: float = 0.1  # pots where Huber's loss bends
    dropped_at: float = 0.2  # share of examples at which some are forgotten
    dropped_share: float = 0.5  # of those that are remembered, the oldest
    test_board: str = "3s7hTdKs"  # of the test, if hands begin with the turn
    test_stack: int = 20_000
    checks: int = 2
    check_playthroughs: int = 4
    playthroughs: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        for name in COUNTS:
            check_integer(name, getattr(self, name), 1, 1 << 30)
        check_integer("deals", self.deals, 0)
        check_integer("seed", self.seed, 0, 1 << 40)
        for name in ("exploration", "uniform_draws", "late_from", "final_rate", "average_decay", "dropped_at"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")
        if not 0.0 <= self.dropped_share <= 1.0 or not 0.0 <= self.perturbation < 0.5:
            raise ConfigError(
                "dropped_share must lie between 0 and 1 and perturbation below 0.5, got "
                f"{self.dropped_share} and {self.perturbation}"
            )
        for name in ("reuse", "rate"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be positive, got {getattr(self, name)}")
        if not BIG_BLIND < self.least_stack <= self.most_stack or self.test_stack <= BIG_BLIND:
            raise ConfigError(
                f"stacks must ascend from above {BIG_BLIND}, got {self.least_stack} and {self.most_stack}"
            )
        if not 2 * BIG_BLIND <= self.most_pot < 2 * self.least_stack:
            raise ConfigError(f"most_pot must be from {2 * BIG_BLIND} to what stacks make, got {self.most_pot}")
        parse_rule(self.rule)
        if self.most_actions > MOST_ACTIONS:
            raise ConfigError(f"the menu offers {self.most_actions} actions at most, expected {MOST_ACTIONS} or fewer")
        shortest = min(self.iterations, self.late_iterations, self.test_iterations)
        check_integer("warm_start", self.warm_start, 0, shortest - 1)
        check_integer("policies", self.policies, 1)
        if self.warm_start and self.nets is not NetForm.ONE:
            raise ConfigError("a network of policies sees every hand for itself: nets must be `one`")
        self._check_method()
        self._check_street()

    def _check_method(self) -> None:
        if self.method is BeliefMethod.FP:
            raise ConfigError("hold'em is searched by cfr-d, cfr-avg or modified-cfr-avg, got fp")
        if self.method is not BeliefMethod.CFR_D and self.warm_start:
            raise ConfigError(f"searches that begin with proposals are of cfr-d: warm_start must be 0 by {self.method}")

    def _check_street(self) -> None:
        names = [street.name.lower() for street in Street][:-1]
        if self.first not in names:
            raise UnknownNameError("first street", self.first, names)
        if self.nets is NetForm.CURVES and self.street is Street.PREFLOP:
            raise ConfigError("before the flop hands have no order of strength: nets must be `one` there")
        wanted = self.street.num_board_cards
        if self.board and len(parse_board(self.board)) != wanted:
            raise ConfigError(f"the {self.first} begins with {wanted} cards, got the board {self.board}")
        if self.street is Street.TURN and len(parse_board(self.test_board)) != wanted:
            raise ConfigError(f"the test begins with {wanted} cards, got the board {self.test_board}")

    @property
    def street(self) -> Street:
        """Returns where hands begin."""
        return Street[self.first.upper()]

    @property
    def most_actions(self) -> int:
        """Returns the most actions of a decision: folding, calling and all sizes."""
        rounds = [own for pair in parse_menu(self.menu).rounds for own in pair]
        return 2 + max(len(sizes) for own in rounds for sizes in (*own.sizes, own.donk or (), ()))

    @property
    def steps(self) -> int:
        """Returns the steps of a whole training."""
        return int(self.examples * self.reuse / self.batch)

    def iterations_at(self, examples: int) -> int:
        """Returns how long self-play searches once so many examples are made."""
        return self.iterations if examples < self.late_from * self.examples else self.late_iterations

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON knows them."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Returns what `as_dict` gave."""
        return read_fields(
            cls, fields, {"nets": NetForm, "beliefs": BeliefSource, "method": BeliefMethod}, "a training in hold'em"
        )


BIG_BLIND: Final = 100  # chips
MOST_ACTIONS: Final = 9  # of a decision

HOLDEM_PRESETS: Final[Mapping[str, HoldemRebelSettings]] = {
    # four minutes of a core: small batches, for a training of few examples needs many steps
    "turn-endgame": HoldemRebelSettings(
        board="3s7hTdKs",
        most_pot=2_000,
        iterations=32,
        late_iterations=64,
        test_iterations=64,
        leaves=8,
        cells=16,
        hidden=64,
        examples=6_000,
        reuse=16.0,
        batch=16,
        rate=4e-3,
        playthroughs=16,
    ),
    # the thesis's hold'em, for larger machines: epochs of 2,560,000 examples, twelve million remembered
    "holdem": HoldemRebelSettings(
        first="preflop",
        menu="50%, 75%, 100%, 150%, 200%, a / 50%, 100%, 200%, a; cap: 3",
        nets=NetForm.ONE,
        has_all_in_table=False,
        iterations=256,
        late_iterations=256,
        test_iterations=256,
        leaves=1,
        deals=64,
        caches_first=True,
        warm_start=15,
        hidden=1_536,
        layers=6,
        examples=1_000_000_000,
        cycle=2_560_000,
        capacity=12_000_000,
        reuse=1.0,
        batch=1_024,
        rate=3e-4,
        loss_bend=1.0,
        dropped_at=0.0512,  # 20 epochs,
    ),
}


def find_holdem_preset(name: str) -> HoldemRebelSettings:
    """Returns the settings of a preset."""
    if name not in HOLDEM_PRESETS:
        raise UnknownNameError("preset", name, HOLDEM_PRESETS)
    return HOLDEM_PRESETS[name]


def change_holdem_settings(settings: HoldemRebelSettings, changes: Mapping[str, str]) -> HoldemRebelSettings:
    """Returns settings with some of them as they are typed.

    >>> change_holdem_settings(HOLDEM_PRESETS["turn-endgame"], {"exploration": "0.5"}).exploration
    0.5
    """
    kinds = get_type_hints(HoldemRebelSettings)
    kinds = {field.name: kinds[field.name] for field in dataclasses.fields(HoldemRebelSettings)}
    if unknown := [name for name in changes if name not in kinds]:
        raise UnknownNameError("setting", unknown[0], tuple(kinds))
    return dataclasses.replace(
        settings, **{name: parse_value(name, text, kinds[name]) for name, text in changes.items()}
    )
