# SPDX-License-Identifier: Apache-2.0
"""Blueprints to search below, asked alike whatever their layout: Leduc's public tree, flop hold'em's two trees."""

import functools

import numpy as np

from equipoise.games.holdem.betting_tree import NodeKind
from equipoise.games.registry import make_game
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.nested import NestedSearch
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver
from equipoise.search.settings import SearchSettings
from equipoise.solvers.best_response import evaluate
from equipoise.trees.derive import derive_public_game
from equipoise.trees.holdem.places import HoldemPlace
from equipoise.trees.public import build_public_tree
from equipoise.trees.public_edges import find_children
from equipoise.trees.vector import TreeStrategy
from tests.search.blueprints import random_strategy
from tests.search.fixtures import second_round
from tests.search.layouts import flop_game

LEDUC = build_public_tree(derive_public_game(make_game("leduc")))
UNIFORM = PublicProfile(LEDUC, LEDUC.legal_share)  # its parts serve all
FLOP_CHIPS = 1200.0  # from losing everything to winning everything
GROUNDS = ["leduc-1", "leduc-2", "public", "holdem"]


class Ground:
    """A blueprint on a public tree, and the places where a round opens."""

    rounding = 1e-12  # of values, as a share of all chips

    def __init__(self, profile, rounds, chips):
        self.profile, self.rounds, self.chips = profile, rounds, chips
        self.unit = chips / LEDUC.utility_range  # as much of all chips as one of Leduc's
        self.own = TreeStrategy(profile.tree, self.table)  # what is played, as a response to estimate by

    @property
    def table(self):
        return self.profile.strategy

    @property
    def places_to_search(self):
        """Returns where searches of a whole strategy begin: where a round opens."""
        return self.rounds

    def place(self, number):
        """Returns one of the places where a round opens, by its share of them."""
        return self.rounds[number * len(self.rounds) // 30]

    def solver(self, place, searcher, method, **options):
        """Returns a search that has not begun."""
        subgame = self.profile.subgame(place, searcher)
        return SubgameSolver(subgame, pose(self.profile, subgame, searcher, method), **options)

    def search(self, place, searcher, method, iterations):
        """Returns what a search finds."""
        settings = SearchSettings(method=method, iterations=iterations, early_iterations=iterations)
        search = NestedSearch(self.profile, searcher, settings)
        return search.search(search.begin(), place, is_there=True)

    def search_at(self, places, searcher, method, iterations):
        """Returns the table in which the searcher plays what searches found."""
        found = self.table.copy()
        for place in places:
            self.write(place, self.search(place, searcher, method, iterations), found)
        return found

    def price(self, table, searcher):
        """Returns what the opponent's best response earns from a table."""
        return evaluate(self.profile.tree, table).best_response_values[1 - searcher]

    def replace(self, table):
        """Returns the ground with another blueprint."""
        return Ground(PublicProfile(self.profile.tree, table, like=self.profile), self.rounds, self.chips)

    def below(self, place):
        """Returns the decisions right below one."""
        tree = self.profile.tree
        return [child for child in find_children(tree, place).tolist() if tree.actor[child] >= 0]

    def decisions(self, tree):
        """Returns the places of a tree of this layout at which somebody decides."""
        return np.flatnonzero(tree.actor >= 0).tolist()

    def write(self, place, result, out):
        result.subgame.part.insert(result.strategy, out, players=(result.searcher,))


class HoldemGround(Ground):
    """The same on a hold'em tree."""

    rounding = 1e-7  # strategies are given out in single precision

    def solver(self, place, searcher, method, **options):
        return super().solver(place, searcher, method, watched=(0,), **options)  # public trees watch their roots

    @property
    def table(self):
        return self.profile.strategy.sums

    @property
    def places_to_search(self):
        return self.rounds[::4]  # exact gifts take a tree for each action

    def replace(self, table):
        return HoldemGround(HoldemProfile(TreeStrategy(self.profile.tree, table)), self.rounds, self.chips)

    def below(self, place):
        nodes = self.profile.betting.nodes
        children = [nodes[child] for child in nodes[place.node].children]
        return [HoldemPlace(child.index, place.board) for child in children if child.kind is NodeKind.DECISION]

    def decisions(self, tree):
        return [HoldemPlace(node, board) for board in tree.boards for node in tree.decisions]

    def write(self, place, result, out):
        tree, found = self.profile.tree, result.stage.profile
        index = tree.boards.index(place.board)
        for inner, decision in result.subgame.tree.decisions.items():
            if decision.player == result.searcher:
                rows = found.probabilities(HoldemPlace(inner, place.board))
                out[tree.cells(index, place.node + inner)] = rows[tree.hands[index][decision.player]]


@functools.cache
def ground(name):
    """Returns one of `GROUNDS`."""
    if name.startswith("leduc"):
        profile = PublicProfile(LEDUC, random_strategy(LEDUC, int(name[-1])), like=UNIFORM)
        return Ground(profile, second_round(LEDUC), LEDUC.utility_range)
    game = flop_game()
    rounds = second_round(game.tree)
    if name == "public":
        return Ground(game.public, rounds, FLOP_CHIPS)
    places = [game.place(node) for node in rounds]
    boards = set(game.holdem.tree.boards)
    return HoldemGround(game.holdem, [place for place in places if place.board in boards], FLOP_CHIPS)
