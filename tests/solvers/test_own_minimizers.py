# SPDX-License-Identifier: Apache-2.0
"""Regret minimisers of users, written as a user would, give the iterates of the built-in rules."""

import dataclasses
import functools
import math

import numpy as np
import pytest

import equipoise
from equipoise.abstraction.solutions import open_solution
from equipoise.core.errors import ConfigError
from equipoise.games import make_game
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.own_minimizers import MinimizerSolver
from equipoise.solvers.rules import CFR, CFRPlus, Hedge
from equipoise.trees.history import build_history_tree
from equipoise.trees.perturbation import perturb_payoffs

HORIZON = 50


class RegretMatching:
    def __init__(self, site):
        self.regret = np.zeros(site.num_actions)
        self.strategy = np.full(site.num_actions, 1 / site.num_actions)

    def next_strategy(self):
        positive = np.maximum(self.regret, 0.0)
        if positive.sum() > 0:
            self.strategy = positive / positive.sum()
        else:
            self.strategy = np.full(self.regret.size, 1 / self.regret.size)
        return self.strategy

    def observe(self, values):
        self.regret += values - self.strategy @ values


class RegretMatchingPlus(RegretMatching):
    def observe(self, values):
        self.regret = np.maximum(self.regret + values - self.strategy @ values, 0.0)

    def average_weight(self, t):
        return t**2


class FixedHedge(RegretMatching):
    def __init__(self, site, horizon=HORIZON):
        super().__init__(site)
        self.eta = math.sqrt(2 / horizon) * math.sqrt(math.log(site.num_actions)) / max(site.payoff_range, 1e-150)

    def next_strategy(self):
        weights = np.exp(self.eta * (self.regret - self.regret.max()))
        self.strategy = weights / weights.sum()
        return self.strategy


@pytest.fixture(scope="module")
def trees():
    """Returns small games whose payoffs are a little off: where regrets tie exactly, the last bit would decide."""
    rng = np.random.default_rng(1)
    off = {
        name: perturb_payoffs(build_history_tree(equipoise.parse_game(name)), relative=0.01, rng=rng)
        for name in ("kuhn", "leduc(ranks=2,merge_suits=true,max_raises=1)")
    }
    three = build_history_tree(make_game("kuhn", players=3))
    utility = three.utility + 0.01 * rng.standard_normal(three.utility.shape)
    return {**off, "kuhn(players=3)": dataclasses.replace(three, utility=utility, is_zero_sum=False)}


@pytest.mark.parametrize("is_alternating", [True, False])
@pytest.mark.parametrize("name", ["kuhn", "leduc(ranks=2,merge_suits=true,max_raises=1)", "kuhn(players=3)"])
@pytest.mark.parametrize(
    ("own", "rule"),
    [(RegretMatching, CFR()), (RegretMatchingPlus, CFRPlus()), (FixedHedge, Hedge(horizon=HORIZON))],
    ids=["regret matching", "regret matching plus", "hedge"],
)
def test_iterates_are_those_of_the_built_in_rule(trees, name, own, rule, is_alternating):
    ours = MinimizerSolver(trees[name], own, is_alternating=is_alternating)
    native = CFRSolver(trees[name], rule, is_alternating=is_alternating)
    for _ in range(HORIZON):
        ours.iterate(1)
        native.iterate(1)
        np.testing.assert_allclose(ours.current_strategy(), native.current_strategy(), atol=1e-9)
    np.testing.assert_allclose(ours.average_strategy(), native.average_strategy(), atol=1e-10)
    assert ours.nodes_touched == native.nodes_touched


def test_solve_takes_the_class(tmp_path):
    solution = equipoise.solve("kuhn", RegretMatchingPlus, iterations=200)
    assert solution.game_value == pytest.approx(-1 / 18, abs=1e-3)
    assert solution.config.rule.endswith(":RegretMatchingPlus")
    solution.save(tmp_path / "own.eq")
    with open_solution(tmp_path / "own.eq") as saved:
        assert saved.table.row(0) == solution.strategy.row(0)


def test_of_a_run_of_something_that_has_no_name_the_strategy_is_read(tmp_path):
    solution = equipoise.solve("kuhn", functools.partial(FixedHedge, horizon=10), iterations=20)
    solution.save(tmp_path / "own.eq")
    with pytest.raises(
        equipoise.CheckpointError, match=r"own\.eq holds a run of a solver that no text names, which cannot"
    ):
        equipoise.load(tmp_path / "own.eq")
    loaded = equipoise.TabularStrategy.load(tmp_path / "own.eq")
    assert loaded.row(0) == solution.strategy.row(0)


@pytest.mark.parametrize("own", [RegretMatching, RegretMatchingPlus, FixedHedge])
def test_saved_runs_go_on_to_the_bit(own, tmp_path):
    whole = equipoise.solve("leduc", own, iterations=6)
    equipoise.solve("leduc", own, iterations=4).save(tmp_path / "own.eq")
    resumed = equipoise.load(tmp_path / "own.eq").resume(iterations=6)
    np.testing.assert_array_equal(resumed.strategy.probability, whole.strategy.probability)
    for theirs, ours in zip(resumed.run.solver.minimizers, whole.run.solver.minimizers, strict=True):
        for name, value in vars(ours).items():
            if name != "site":
                np.testing.assert_array_equal(getattr(theirs, name), value)
                assert type(getattr(theirs, name)) is type(value)


class Forgetful(RegretMatching):
    def __init__(self, site):
        super().__init__(site)
        self.rng = np.random.default_rng(0)


def test_what_cannot_be_saved_is_said_when_the_run_is_to_go_on(tmp_path):
    equipoise.solve("kuhn", Forgetful, iterations=4).save(tmp_path / "own.eq")
    loaded = equipoise.load(tmp_path / "own.eq")
    assert loaded.exploitability > 0
    with pytest.raises(ConfigError, match=r"the run cannot go on: Forgetful remembers rng, Generator: only numbers"):
        loaded.resume(iterations=8)


def test_memory_that_does_not_fit_is_refused(trees):
    saved = MinimizerSolver(trees["kuhn"], RegretMatching).state()
    fresh = MinimizerSolver(trees["kuhn"], RegretMatching)
    fresh.restore({name: value for name, value in saved.items() if not name.startswith("memory")})
    with pytest.raises(ConfigError, match="what the minimisers of RegretMatching remember is not saved with it"):
        fresh.iterate(1)


def test_solve_takes_arguments_and_functions():
    bound = equipoise.solve("kuhn", functools.partial(FixedHedge, horizon=10), iterations=10)
    made = equipoise.solve("kuhn", lambda site: FixedHedge(site, 10), iterations=10)
    other = equipoise.solve("kuhn", FixedHedge, iterations=10)
    assert bound.exploitability == made.exploitability != other.exploitability


class Silent(RegretMatching):
    def next_strategy(self):
        return [0.5, 0.4]


class WrongCount(RegretMatching):
    def next_strategy(self):
        return [1.0]


class NotANumber(RegretMatching):
    def next_strategy(self):
        return [float("nan"), 1.0]


class Words(RegretMatching):
    def next_strategy(self):
        return ["check", "bet"]


class Ragged(RegretMatching):
    def next_strategy(self):
        return [[0.5], [0.25, 0.25]]


class Complex(RegretMatching):
    def next_strategy(self):
        return np.array([0.5, 0.5j])


@pytest.mark.parametrize("own", [Silent, WrongCount, NotANumber, Words, Ragged, Complex])
def test_what_is_no_strategy_is_refused(own):
    with pytest.raises(ConfigError, match=rf"{own.__name__} must play 2 probabilities that sum to 1 at 'J:'"):
        equipoise.solve("kuhn", own, iterations=1)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, "much", None])
def test_what_is_no_weight_is_refused(weight):
    class Weighed(RegretMatching):
        def average_weight(self, t):
            return weight

    with pytest.raises(
        ConfigError, match="average_weight of Weighed must be at least 0 and finite in iteration 1, got"
    ):
        equipoise.solve("kuhn", Weighed, iterations=1)


def test_what_is_no_minimizer_is_refused():
    with pytest.raises(ConfigError, match="rule must be a rule such as DCFR"):
        equipoise.solve("kuhn", int, iterations=1)
    with pytest.raises(ConfigError, match="makes no regret minimiser: what it makes lacks next_strategy and observe"):
        equipoise.solve("kuhn", lambda site: site, iterations=1)


MINE = """
class Greedy:
    def __init__(self, site):
        self.site, self.total = site, [0.0] * site.num_actions
    def next_strategy(self):
        best = self.total.index(max(self.total))
        return [float(action == best) for action in range(self.site.num_actions)]
    def observe(self, values):
        self.total = [old + new for old, new in zip(self.total, values)]
"""


def test_the_command_line_takes_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy_minimizer.py").write_text(MINE)
    solution = equipoise.solve("kuhn", "greedy_minimizer.py:Greedy", iterations=100)
    assert solution.config.method == "own"
    assert solution.exploitability < 0.1  # fictitious play
    solution.save("greedy.eq")
    loaded = equipoise.load("greedy.eq")
    assert loaded.exploitability == solution.exploitability
    assert loaded.resume(iterations=200).progress[-1].iteration == 200
    with pytest.raises(ConfigError, match=r"method own needs a regret minimiser of yours"):
        equipoise.solve(make_game("kuhn"), method="own", iterations=1)
    with pytest.raises(ConfigError, match=r"is written file.py:Class, got 'dcfr'"):
        equipoise.solve("kuhn", "dcfr", method="own", iterations=1)
