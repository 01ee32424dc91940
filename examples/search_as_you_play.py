# SPDX-License-Identifier: Apache-2.0
"""Solves what comes up again while it is played: without a strategy of the whole game, and behind an unplanned bet."""

import numpy as np

from equipoise import make_game
from equipoise.agents import ContinualAgent
from equipoise.evaluation.assembly import assemble_public_strategy
from equipoise.games.holdem import Range, parse_board, parse_deck, parse_menu
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.search.continual import ContinualSettings
from equipoise.search.gadgets import Maxmargin, Resolve, Unsafe
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.profiles import Reply
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.tree import build_holdem_tree
from equipoise.trees.public import build_public_tree
from equipoise.trees.vector import TreeStrategy

# every decision searched from what the search before it found; the tree is only for the exact price
game = derive_public_game(make_game("kuhn"))
tree = build_public_tree(game)
price = {}
for name, method in (("gate", Resolve(share=0.2)), ("believing", Unsafe())):
    agent = ContinualAgent(game, search=ContinualSettings(method=method, iterations=300))
    table = assemble_public_strategy(agent, game, rng=np.random.default_rng(0))
    price[name] = evaluate(tree, table.to_tree(tree)).exploitability
    print(f"Kuhn poker, {name:9}: exploitable by {price[name]:.4f}")
assert price["gate"] < 0.01 < price["believing"]

# a river solved for bets of a third of the pot and all-in; the opponent bets the pot
deck = parse_deck("9TJQKA/cdhs")
spot = HoldemSpot(
    deck=deck,
    board=parse_board("9cThJsQhKs", deck),
    pot=20,
    big_blind=2,
    stacks=(60, 60),
    ranges=(Range.random(deck), Range.random(deck)),
    menu=parse_menu("33%, a"),
)
solver = CFRSolver(build_holdem_tree(spot))
solver.iterate(300)
policy = TreeStrategy(solver.tree, solver.tables.strategy_sum)
search = NestedSearch(HoldemProfile(policy), searcher=1, settings=SearchSettings(method=Maxmargin()))
begin = search.begin()
found = search.search(begin, begin.place, Reply(30))
assert found is not None
assert found.stage is not None
fold, call, *raises = found.stage.profile.probabilities(found.stage.place)[found.possible].mean(axis=0)
print(f"reply to a bet of the pot: {fold:.0%} fold, {call:.0%} call, {sum(raises):.0%} raise")
print(f"whatever the opponent holds, the bet costs it at least {found.least_margin:.2f} chips")
assert found.least_margin > 0
