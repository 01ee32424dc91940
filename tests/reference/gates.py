# SPDX-License-Identifier: Apache-2.0
"""Gates above a subgame as the thesis writes them, and CFR below one: the twin of native/root_gate.hpp."""

import math

import numpy as np

from equipoise.kernels.gates import GateKind
from tests.reference.cfr import regret_matching
from tests.reference.public import ReferencePublicCFR


def normal_below(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


class ReferenceGate:
    """What a gate remembers, and what it lets in; `alternative` is conditional on being there, as in the thesis."""

    def __init__(self, kind, mass, alternative, deviation, prior, share):
        self.kind, self.mass, self.alternative, self.deviation = kind, mass, alternative, deviation
        self.prior, self.share = prior, share
        self.regret = np.zeros((mass.size, 2))
        self.choice = np.zeros(mass.size)
        self.seen = []
        possible = mass > 0
        self.enters = np.full(mass.size, 0.5)
        if kind is GateKind.MAXMARGIN:
            self.enters = np.where(possible, 1.0 / (possible.sum() * np.where(possible, mass, 1.0)), 0.0)

    def reach(self):
        return self.share * self.enters + (1.0 - self.share) * self.prior

    def add(self, stored, instant, discount, kernel):
        updated = np.where(stored > 0, discount.positive, discount.negative) * stored + instant
        return np.maximum(updated, 0.0) if kernel.floors_regrets else updated

    def update(self, cfv, discount, kernel):
        possible = self.mass > 0
        mass = np.where(possible, self.mass, 1.0)
        if self.kind is GateKind.RESOLVING:
            for k, value in enumerate(cfv):
                values = np.array([value, self.mass[k] * self.alternative[k]])
                sigma = regret_matching(self.regret[k])
                self.regret[k] = self.add(self.regret[k], values - sigma @ values, discount, kernel)
                self.enters[k] = regret_matching(self.regret[k])[0]
            return
        value = cfv / mass
        if self.kind is GateKind.MAXMARGIN:
            gain = (value - self.alternative)[possible]
            sigma = regret_matching(self.choice[possible])
            self.choice[possible] = self.add(self.choice[possible], gain - sigma @ gain, discount, kernel)
            self.enters[possible] = regret_matching(self.choice[possible]) / mass[possible]
            return
        self.seen.append(value)
        for k in np.flatnonzero(possible):
            if self.kind is GateKind.BEST_RESPONSE:
                self.enters[k] = normal_below((value[k] - self.alternative[k]) / self.deviation[k])
                continue
            t = len(self.seen)
            mine = np.array([seen[k] for seen in self.seen])
            variance = max(mine.var(), 1e-300)
            eta = math.sqrt(math.log(2)) / (3 * math.sqrt(variance) * math.sqrt(t))
            spread = math.sqrt(self.deviation[k] ** 2 + 8 / (math.pi * (eta * t) ** 2))
            self.enters[k] = normal_below((mine.mean() - self.alternative[k]) / spread)


class ReferenceGatedCFR(ReferencePublicCFR):
    """CFR from a public state on, the searcher's reach given, the opponent's let in by a gate."""

    def __init__(self, game, rule, root, searcher, searcher_reach, gate, *, is_alternating=True):
        self.root, self.searcher, self.searcher_reach, self.gate = root, searcher, searcher_reach, gate
        super().__init__(game, rule, is_alternating=is_alternating)
        self.strategy = {}
        for table in (self.regret, self.average, self.last, self.values, self.payoffs):
            table.clear()
        self.discover(root)

    def root_reaches(self):
        reaches = [self.searcher_reach, self.gate.reach()]
        return reaches if self.searcher == 0 else reaches[::-1]

    def collect(self, player):
        cfv, reach = {}, {}
        self.root_value = self.value(self.root, player, self.root_reaches(), cfv, reach)
        return cfv, reach, (self.root_value if player != self.searcher else None)

    def update(self, cfv, reach, root_value=None):
        super().update(cfv, reach)
        if root_value is not None:
            self.gate.update(root_value, self.rule.discounts(self.t), self.rule.kernel)

    def iterate(self, num_iterations):
        for _ in range(num_iterations):
            self.t += 1
            if self.is_alternating:
                for player in self.players:
                    self.update(*self.collect(player))
            else:
                for found in [self.collect(player) for player in self.players]:
                    self.update(*found)
