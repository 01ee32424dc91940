# SPDX-License-Identifier: Apache-2.0
"""CFR variants as data: what each iteration multiplies, adds and plays.

A rule never traverses a tree. The kernels are specialised on `KernelRule` and read one row of discounts an iteration.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import numbers
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_number
from equipoise.core.errors import ConfigError
from equipoise.core.formatting import show_given
from equipoise.kernels.arithmetic import EXACT_EXPONENTS, power, powers
from equipoise.kernels.calls import check_integer
from equipoise.kernels.rules import Fallback, KernelRule, PolicyMap

__all__ = [
    "CFR",
    "DCFR",
    "CFRPlus",
    "DCFRPlus",
    "Discounts",
    "Hedge",
    "LinearCFR",
    "LinearCFRPlus",
    "NormalHedge",
    "Optimistic",
    "PredictiveCFRPlus",
    "Rule",
    "ScheduledDCFR",
    "Thresholded",
    "check_rule",
    "tabulate_discounts",
]


class Discounts(NamedTuple):
    """What iteration t does to the stored sums before its own contribution is added."""

    positive: float = 1.0  # factor on positive regrets
    negative: float = 1.0  # factor on negative regrets
    average_decay: float = 1.0  # factor on the strategy sum
    average_weight: float = 1.0  # weight of iteration t in the strategy sum
    eta_scale: float = 1.0  # Hedge alone: eta = eta_scale * sqrt(ln n) / scale(I)
    # what is played at t + 1: nothing below threshold / n^2, for Hedge times sqrt(ln n), but the most probable
    threshold: float = 0.0


@runtime_checkable
class Rule(Protocol):
    """A CFR variant as a value.

    >>> rule: Rule = CFRPlus()
    >>> rule.name, rule.discounts(2).average_weight
    ('cfr+', 1.0)
    """

    @property
    def name(self) -> str:
        """Returns the variant's name with its numbers, as reports print it."""
        ...

    @property
    def kernel(self) -> KernelRule:
        """Returns what kernels are specialised on."""
        ...

    def discounts(self, t: int) -> Discounts:
        """Returns the factors and weights of iteration t, from 1."""
        ...


def tabulate_discounts(rule: Rule, first_t: int, num_iterations: int) -> npt.NDArray[np.float64]:
    """Returns `[B, 6]` one row of discounts per iteration, in the order that kernels read."""
    check_integer("num_iterations", num_iterations, 0)
    if isinstance(rule, DCFR):
        return rule.tabulate(first_t, num_iterations)
    rows = map(rule.discounts, range(first_t, first_t + num_iterations))
    # one flat iterator: NumPy takes twice as long over a list of tuples, and small trees sweep in microseconds
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.float64, num_iterations * len(Discounts._fields))
    return flat.reshape(num_iterations, len(Discounts._fields))


def discount_factor(u: float, exponent: float) -> float:
    """Returns u^e / (u^e + 1), with its limits at infinite exponents: 1 (no discount) and 0 (forget).

    >>> discount_factor(1.0, 0.0), discount_factor(4.0, 0.5), discount_factor(1.0, float("-inf"))
    (0.5, 0.6666666666666666, 0.0)
    """
    if exponent == math.inf:
        return 1.0
    if exponent == -math.inf:
        return 0.0
    if u == 0.0:
        return 0.0 if exponent > 0 else (0.5 if exponent == 0 else 1.0)
    if exponent * math.log(u) > 700.0:  # the power would overflow, the factor is 1 to the last bit
        return 1.0
    grown = power(u, exponent)
    return grown / (grown + 1.0)


def _discount_factors(u: npt.NDArray[np.float64], exponent: float) -> npt.NDArray[np.float64]:
    """Returns `discount_factor` of each u."""
    if math.isinf(exponent):
        return np.full(u.size, discount_factor(1.0, exponent))
    if exponent not in EXACT_EXPONENTS:
        return np.fromiter((discount_factor(each, exponent) for each in u.tolist()), np.float64, u.size)
    grown = powers(u, exponent)
    factors: npt.NDArray[np.float64] = grown / (grown + 1.0)
    return factors


def format_exponent(value: float) -> str:
    """Returns an exponent as reports print it, every digit that matters included.

    >>> format_exponent(1.5), format_exponent(float("-inf")), format_exponent(2.0), format_exponent(1 / 3)
    ('1.5', '-inf', '2', '0.3333333333333333')
    """
    return repr(float(value)).removesuffix(".0")


def check_regret_exponents(alpha: float, beta: float) -> None:
    """Raises `ConfigError` unless regrets can be discounted by these exponents."""
    check_number("alpha", alpha)
    check_number("beta", beta)
    if math.isnan(alpha) or alpha == -math.inf:
        raise ConfigError(f"alpha must be a number above -inf, got {alpha}")
    if math.isnan(beta):
        raise ConfigError(f"beta must be a number, got {beta}")


def check_average_exponent(name: str, value: float) -> None:
    """Raises `ConfigError` unless iterations can be weighed by this exponent."""
    check_number(name, value)
    if not 0 <= value < math.inf:
        raise ConfigError(f"{name} must be at least 0 and finite, got {value}")


def check_rule(name: str, rule: Rule) -> None:
    """Raises `ConfigError` unless a rule is given, and not its name or class."""
    if isinstance(rule, type) or not isinstance(rule, Rule):
        raise ConfigError(f"{name} must be a rule such as DCFR(), got {show_given(rule)}")


def check_whole(name: str, value: int) -> None:
    """Raises `ConfigError` unless the value is a whole number that is not negative."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{name} must be a whole number of at least 0, got {value}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DCFR:
    """Discounted CFR; every rule between CFR and CFR+ is one of its settings.

    Paper: Brown & Sandholm 2019, "Solving Imperfect-Information Games via Discounted Regret Minimization",
        arXiv:1809.04040 [BS19].
    Symbols: t -> t (from 1); alpha, beta, gamma -> the fields; R -> regret_sum.
    Departs from the paper: the factors of iteration t-1 are applied before iteration t is added, which is the same
        product (its Lemma 5); exponents may be infinite.
    Checked by: tests/solvers/test_rules.py, tests/solvers/test_convergence.py.

    >>> DCFR(alpha=1.5, beta=0.5, gamma=2).name
    'dcfr(1.5,0.5,2)'
    >>> import equipoise
    >>> equipoise.solve("kuhn", DCFR(), iterations=100).exploitability < 0.01
    True
    """

    alpha: float = 1.5  # exponent on positive regrets; inf: never discounted
    beta: float = 0.0  # exponent on negative regrets; inf: never discounted, -inf: forgotten
    gamma: float = 2.0  # exponent of the average's weights, at least 0
    fallback: Fallback = Fallback.UNIFORM  # what is played when no regret is positive

    def __post_init__(self) -> None:
        check_regret_exponents(self.alpha, self.beta)
        check_average_exponent("gamma", self.gamma)

    @property
    def name(self) -> str:
        """Returns the rule's common name where it has one, else its exponents; and the fallback unless uniform."""
        exponents = (self.alpha, self.beta, self.gamma)
        name = _COMMON_NAMES.get(exponents, f"dcfr({','.join(map(format_exponent, exponents))})")
        return name if self.fallback is Fallback.UNIFORM else f"{name}-{self.fallback.name.lower()}"

    @property
    def kernel(self) -> KernelRule:
        """Returns regret matching, floored at zero if negative regrets are forgotten."""
        return KernelRule(floors_regrets=self.beta == -math.inf, fallback=self.fallback)

    def discounts(self, t: int) -> Discounts:
        """Returns the factors of iteration t."""
        u = t - 1.0  # discounts apply to the sums before iteration t is added
        return Discounts(
            positive=discount_factor(u, self.alpha),
            negative=discount_factor(u, self.beta),
            average_decay=power(u / t, self.gamma),
        )

    def tabulate(self, first_t: int, num_iterations: int) -> npt.NDArray[np.float64]:
        """Returns `[B, 6]` what `discounts` does for many iterations, the same bits in a tenth of the time."""
        rows = np.tile(np.array(Discounts()), (num_iterations, 1))
        t = np.arange(first_t, first_t + num_iterations, dtype=np.float64)
        rows[:, 0] = _discount_factors(t - 1.0, self.alpha)
        rows[:, 1] = _discount_factors(t - 1.0, self.beta)
        rows[:, 2] = powers((t - 1.0) / t, self.gamma)
        return rows


def CFR(*, fallback: Fallback = Fallback.UNIFORM) -> DCFR:
    """Returns plain CFR: nothing is discounted, iterations weigh the same.

    >>> CFR().name
    'cfr'
    """
    return DCFR(alpha=math.inf, beta=math.inf, gamma=0.0, fallback=fallback)


def CFRPlus(*, gamma: float = 2.0, fallback: Fallback = Fallback.UNIFORM) -> DCFR:
    """Returns CFR+: negative regrets are forgotten; the average is linear (`gamma=1`) or quadratic (2).

    >>> CFRPlus().name
    'cfr+'
    """
    return DCFR(alpha=math.inf, beta=-math.inf, gamma=gamma, fallback=fallback)


def LinearCFR(*, fallback: Fallback = Fallback.UNIFORM) -> DCFR:
    """Returns linear CFR: regrets and average of iteration t weigh t.

    >>> LinearCFR().name
    'lcfr'
    """
    return DCFR(alpha=1.0, beta=1.0, gamma=1.0, fallback=fallback)


def LinearCFRPlus(*, fallback: Fallback = Fallback.UNIFORM) -> DCFR:
    """Returns LCFR+: linear weights and forgotten negative regrets; slower than either parent.

    >>> LinearCFRPlus().name
    'lcfr+'
    """
    return DCFR(alpha=1.0, beta=-math.inf, gamma=1.0, fallback=fallback)


_COMMON_NAMES = {
    (math.inf, math.inf, 0.0): "cfr",
    (math.inf, -math.inf, 1.0): "cfr+linear",
    (math.inf, -math.inf, 2.0): "cfr+",
    (1.0, 1.0, 1.0): "lcfr",
    (1.0, -math.inf, 1.0): "lcfr+",
    (1.5, 0.0, 2.0): "dcfr",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DCFRPlus:
    """DCFR+ of Supremus: DCFR's regrets with a delayed linear average.

    Paper: Zarick et al. 2020, "Unlocking the Potential of Deep Counterfactual Value Networks", section 4.1.
    Symbols: d -> delay; alpha, beta as in DCFR; exponent 1 in the paper -> average_exponent.
    Departs from the paper: until the delay has passed, where the paper has no average, it is the last iterate.
    Checked by: tests/solvers/test_rules.py.

    >>> DCFRPlus(delay=10).name
    'dcfr+(10)'
    """

    alpha: float = 1.5  # exponents on regrets as in DCFR
    beta: float = 0.0
    delay: int = 100  # iterations that the average leaves out
    average_exponent: float = 1.0  # weight of iteration t is max(0, t - delay) to this power, at least 0

    def __post_init__(self) -> None:
        check_regret_exponents(self.alpha, self.beta)
        check_whole("delay", self.delay)
        check_average_exponent("average_exponent", self.average_exponent)

    @property
    def name(self) -> str:
        """Returns the name with the delay where it is not the paper's, with all numbers where others are not."""
        if self == DCFRPlus(delay=self.delay):
            return "dcfr+" if self == DCFRPlus() else f"dcfr+({self.delay})"
        settings = (self.alpha, self.beta, self.delay, self.average_exponent)
        return f"dcfr+({','.join(map(format_exponent, settings))})"

    @property
    def kernel(self) -> KernelRule:
        """Returns regret matching."""
        return KernelRule(floors_regrets=self.beta == -math.inf)

    def discounts(self, t: int) -> Discounts:
        """Returns the factors of iteration t."""
        u = t - 1.0
        # decay 0 up to t = delay + 1: the sum holds the last iterate alone
        decay = power((u - self.delay) / (t - self.delay), self.average_exponent) if t > self.delay + 1 else 0.0
        return Discounts(
            positive=discount_factor(u, self.alpha),
            negative=discount_factor(u, self.beta),
            average_decay=decay,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledDCFR:
    """Discounted CFR whose exponents move evenly from a first to a last value and then stay.

    Paper: for the idea Zhang, McAleer & Sandholm 2024, "Faster Game Solving via Hyperparameter Schedules",
        arXiv:2404.09097.
    Symbols: t -> t; n -> horizon; alpha, beta, gamma -> pairs of what they begin and end with.
    Departs from the paper: values and shape are ours, chosen on a few rivers; the paper's were not compared.
    Checked by: tests/solvers/test_rules.py.

    >>> ScheduledDCFR().exponents(150)
    (1.75, -0.25, 6.5)
    >>> import equipoise
    >>> equipoise.solve("kuhn", ScheduledDCFR(), iterations=100).exploitability < 0.01
    True
    """

    alpha: tuple[float, float] = (1.0, 2.5)  # exponents on positive regrets, finite
    beta: tuple[float, float] = (0.0, -0.5)  # exponents on negative regrets, finite
    gamma: tuple[float, float] = (10.0, 3.0)  # exponents of the average's weights, at least 0 and finite
    horizon: int = 300  # iteration from which on the last values hold, at least 1

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            pair = getattr(self, name)
            if not isinstance(pair, tuple) or len(pair) != 2:  # first and last
                raise ConfigError(f"{name} must be a pair of numbers, got {show_given(pair)}")
            for value in pair:
                check_number(name, value)
                if not math.isfinite(value):
                    raise ConfigError(f"{name} of a schedule must be finite, got {value}")
        check_average_exponent("gamma", min(self.gamma))
        check_integer("horizon", self.horizon, 1)

    @property
    def name(self) -> str:
        """Returns the name with all numbers unless they are the usual ones."""
        if self == ScheduledDCFR():
            return "scheduled"
        numbers = (*self.alpha, *self.beta, *self.gamma, self.horizon)
        return f"scheduled({','.join(map(format_exponent, numbers))})"

    @property
    def kernel(self) -> KernelRule:
        """Returns regret matching."""
        return KernelRule()

    def exponents(self, t: int) -> tuple[float, float, float]:
        """Returns alpha, beta and gamma of iteration t."""
        share = min(t / self.horizon, 1.0)
        alpha, beta, gamma = (first + (last - first) * share for first, last in (self.alpha, self.beta, self.gamma))
        return alpha, beta, gamma

    def discounts(self, t: int) -> Discounts:
        """Returns the factors of iteration t."""
        alpha, beta, gamma = self.exponents(t)
        return DCFR(alpha=alpha, beta=beta, gamma=gamma).discounts(t)


@dataclasses.dataclass(frozen=True, slots=True)
class Optimistic:
    """Another rule whose last instantaneous regret counts twice when the next strategy is formed.

    Paper: [BS19] section "Optimistic CFR Variants".
    Symbols: R_mod = R + r^T -> regret_sum + last_regret.
    Departs from the paper: nothing.
    Checked by: tests/solvers/test_rules.py.

    >>> Optimistic(DCFR()).name
    'optimistic-dcfr'
    """

    base: Rule

    def __post_init__(self) -> None:
        check_rule("base", self.base)

    @property
    def name(self) -> str:
        """Returns the base rule's name with a prefix; PCFR+ by its own."""
        return "pcfr+" if self.base == CFRPlus() else f"optimistic-{self.base.name}"

    @property
    def kernel(self) -> KernelRule:
        """Returns the base rule's kernel with optimism."""
        return dataclasses.replace(self.base.kernel, is_optimistic=True)

    def discounts(self, t: int) -> Discounts:
        """Returns the base rule's factors."""
        return self.base.discounts(t)


def PredictiveCFRPlus() -> Optimistic:
    """Returns PCFR+: CFR+ with quadratic averaging that predicts each regret by the last one.

    Paper: Farina, Kroer & Sandholm 2021, "Faster Game Solving via Predictive Blackwell Approachability", AAAI.
    Symbols: prediction m^t = last counterfactual values, so that the predicted regret is last_regret.
    Departs from the paper: nothing; with this prediction it is CFR+ under `Optimistic`.
    Checked by: tests/solvers/test_rules.py.

    >>> PredictiveCFRPlus().name
    'pcfr+'
    """
    return Optimistic(CFRPlus())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NormalHedge:
    """Another rule's weights with NormalHedge in place of regret matching.

    Paper: [BS19] section "NormalHedge for CFR Variants"; Chaudhuri, Freund & Hsu 2009.
    Symbols: c_t -> solved for at every information state by bisection.
    Departs from the paper: nothing.
    Checked by: tests/solvers/test_rules.py, tests/solvers/test_policy_maps.py.

    >>> NormalHedge(base=LinearCFR()).name
    'normal-hedge-lcfr'
    """

    base: Rule = dataclasses.field(default_factory=CFR)

    def __post_init__(self) -> None:
        check_rule("base", self.base)
        if self.base.discounts(1).threshold > 0:
            raise ConfigError(
                f"thresholds are known for Hedge and regret matching, got {self.base.name} in NormalHedge"
            )

    @property
    def name(self) -> str:
        """Returns the base rule's name with a prefix."""
        return "normal-hedge" if self.base == CFR() else f"normal-hedge-{self.base.name}"

    @property
    def kernel(self) -> KernelRule:
        """Returns the base rule's kernel with NormalHedge."""
        return dataclasses.replace(self.base.kernel, policy_map=PolicyMap.NORMAL_HEDGE)

    def discounts(self, t: int) -> Discounts:
        """Returns the base rule's factors."""
        return self.base.discounts(t)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Hedge:
    """CFR with Hedge (exponential weights) at every information state.

    Paper: Brown 2020, thesis sections 2.3.3 and 3.4.3 [B20].
    Symbols: eta -> eta_scale * sqrt(ln n) / scale(I); VAR(I)_t -> the second of value_moments over t.
    Departs from the paper: the running deviation is clamped below at 1e-9 of the payoff range, because before two
        values differ it is zero.
    Checked by: tests/solvers/test_rules.py, tests/solvers/test_policy_maps.py, tests/solvers/test_holdem.py.

    >>> import equipoise
    >>> equipoise.solve("kuhn", Hedge(), iterations=100).exploitability < 0.1
    True
    """

    horizon: int | None = None  # iterations planned, at least 1, for the fixed-horizon step; None: the experiments'
    # variance-scaled step

    def __post_init__(self) -> None:
        if self.horizon is not None:
            check_integer("horizon", self.horizon, 1)

    @property
    def name(self) -> str:
        """Returns the name with the horizon where one is given."""
        return f"hedge({self.horizon})" if self.horizon else "hedge"

    @property
    def kernel(self) -> KernelRule:
        """Returns Hedge; its variance is tracked unless the horizon is fixed."""
        return KernelRule(policy_map=PolicyMap.HEDGE, tracks_variance=not self.horizon)

    def discounts(self, t: int) -> Discounts:
        """Returns uniform weights and the step of iteration t."""
        if self.horizon:
            return Discounts(eta_scale=math.sqrt(2.0 / self.horizon))
        # [B20] 3.4.3: eta_t = sqrt(ln n) / (3 sqrt(VAR) sqrt(t)); the 3 is part of the kernel's scale
        return Discounts(eta_scale=1.0 / math.sqrt(t))


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholded:
    """Another rule with dynamic thresholding: improbable actions are not played, and more of them come back as t grows.

    The cut strategy is what is played: regrets and the average follow from it. Hedge with zeros is what pruning needs.

    Paper: Brown 2020, thesis section 3.4 [B20], Theorems 8 and 9 for Hedge and regret matching without discounts.
    Symbols: C -> factor; t -> the iteration that plays the strategy, t + 1 where `discounts(t)` is asked; |A(I)| -> n.
    Departs from the paper: the most probable actions are never cut, as large factors would have it in early iterations;
        rules that discount or predict may be thresholded too, without a theorem.
    Checked by: tests/solvers/test_thresholding.py, tests/solvers/test_cfr.py, tests/solvers/test_public_cfr.py.

    >>> Thresholded(Hedge()).name
    'thresholded(2)-hedge'
    """

    base: Rule
    factor: float = 2.0  # by which the bound on regrets grows, at least 1 (nothing is cut) and finite

    def __post_init__(self) -> None:
        check_number("factor", self.factor)
        check_rule("base", self.base)
        if not 1 <= self.factor < math.inf:
            raise ConfigError(f"factor must be at least 1 and finite, got {self.factor}")
        if self.base.kernel.policy_map is PolicyMap.NORMAL_HEDGE:
            raise ConfigError(f"thresholds are known for Hedge and regret matching, got rule {self.base.name}")
        if self.base.discounts(1).threshold > 0:
            raise ConfigError(f"a rule has one threshold, and rule {self.base.name} has its own")

    @property
    def name(self) -> str:
        """Returns the base rule's name with a prefix and the factor."""
        return f"thresholded({format_exponent(self.factor)})-{self.base.name}"

    @property
    def kernel(self) -> KernelRule:
        """Returns the base rule's kernel: thresholds are part of the discounts."""
        return self.base.kernel

    def discounts(self, t: int) -> Discounts:
        """Returns the base rule's factors, and the threshold of the strategy that iteration t + 1 plays."""
        if self.kernel.policy_map is PolicyMap.HEDGE:
            constant = (self.factor - 1.0) / math.sqrt(2.0)  # [B20] Theorem 8
        else:
            constant = (self.factor - 1.0 / self.factor) / 2.0  # Theorem 9: (C^2 - 1) / 2C
        return self.base.discounts(t)._replace(threshold=constant / math.sqrt(t + 1.0))
