# SPDX-License-Identifier: Apache-2.0
"""Rounds solved from their beginning by sampling: against exact solutions, fixed decisions, choices."""

from __future__ import annotations

import copy
import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest

from equipoise.abstraction.blueprints import BlueprintSpec, StoredBlueprint, make_deals, save_blueprint
from equipoise.agents.holdem.images import HandImages
from equipoise.agents.holdem.rounds import _find_leaf
from equipoise.core.errors import ConfigError, GameTooLargeError, InvalidStateError
from equipoise.games.holdem import parse_board, parse_menu, parse_range
from equipoise.games.holdem.betting import CALL, Street
from equipoise.games.holdem.betting_tree import NodeKind, betting_tree
from equipoise.games.holdem.cards import parse_card, parse_deck
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.kernels.round_search import RoundKernel
from equipoise.search.holdem.round_tree import RoundLine, build_round
from equipoise.search.holdem.rounds import (
    Kept,
    RoundQuestion,
    RoundSettings,
    SolvedRound,
    follow_nearest,
    plan_behind,
    solve_round,
    solve_to_end,
)
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from equipoise.solvers.cfr import CFRSolver
from equipoise.trees.holdem.flat_betting import MenuByPlayers
from equipoise.trees.holdem.locks import NodeLock
from equipoise.trees.holdem.tree import build_holdem_tree
from tests.reference.round_search import Round
from tests.reference.sampling import Xoshiro

ROYAL = parse_deck("royal")
SPEC = BlueprintSpec(stacks=(3000,) * 3, deck="royal", menu="100%; cap: 1", abstraction="percentile", buckets=(6, 6, 6))
MENUS = MenuByPlayers.parse("100%, a; cap: 2")


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> StoredBlueprint:
    path = tmp_path_factory.mktemp("blueprint") / "three.eq"
    trainer = BlueprintTrainer(SPEC.betting, cards(), SPEC.num_buckets, BlueprintConfig(period=500, snapshot_every=500))
    trainer.train(2_000)
    save_blueprint(path, SPEC, trainer, {})
    return StoredBlueprint(path)


@functools.cache
def cards():
    return make_deals(SPEC)


def parse_hand(text: str) -> list[int]:
    return [parse_card(text[:2], ROYAL), parse_card(text[2:], ROYAL)]


def walk_to(blueprint: StoredBlueprint, *steps: int):
    """Returns the image at the beginning of a round."""
    return HandImages(blueprint).at(steps, np.random.default_rng(0))


def solve(blueprint, steps, board, *, line=(), folded=(), fixed=None, settings=None, menus=MENUS, ranges=None):
    """Returns a round solved, with all hands of everybody who is left unless ranges are given."""
    begun = walk_to(blueprint, *steps)
    out = {seat for seat, is_folded in enumerate(begun.state.is_folded) if is_folded} | set(folded)
    images = HandImages(blueprint)
    tree = build_round(
        blueprint.betting.rules,
        menus,
        RoundLine(begun.state, line, frozenset(out)),
        begun,
        follow=images.follow,
        place=_find_leaf,
    )
    if ranges is None:
        ranges = np.array([np.full(ROYAL.num_hands, float(seat not in out)) for seat in range(3)])
    return solve_round(
        RoundQuestion(begun.state, board, ranges, line, fixed or {}),
        tree,
        plan_behind(blueprint),
        cards(),
        settings=settings or RoundSettings(deals=2_000, periods=10),
        rng=np.random.default_rng(1),
    )


RIVER = (350, 1, 0, -1, 1, 1, -1, 1, 1, -1)  # the button raises, the small blind calls, checks to the river
TURN = RIVER[:7]
THREE = (350, 1, 1, -1, 1, 1, 1, -1)  # everybody is left on the turn


def exploit(begun, board, solved: SolvedRound, menu: str, *, is_uniform_later: bool = False) -> float:
    """Returns what best responses win against a round of two players, as a share of the pot.

    Args:
        begun: its beginning.
        board: there.
        solved: what is played.
        menu: of an exact tree with the same bets.
        is_uniform_later: whether both play all actions alike on later streets; else there are none.
    """
    pot = sum(begun.state.committed)
    everybody = parse_range("random", ROYAL)
    spot = HoldemSpot(
        board=board, pot=pot, stacks=(2650, 2650), ranges=(everybody, everybody), menu=parse_menu(menu), deck=ROYAL
    )
    betting = betting_tree(spot.betting_rules, spot.menu)
    offset = begun.state.price - pot // 2
    blocked = hands_of(ROYAL).blocked(board)
    own, later, paths = {}, [], {0: ()}
    for node in betting.nodes:
        for action, child in zip(node.actions, node.children, strict=False):
            paths[child] = (*paths[node.index], action if action <= CALL else action + offset)
        if node.kind is not NodeKind.DECISION:
            paths |= dict.fromkeys(node.children, ()) if node.kind is NodeKind.STREET_END else {}
        elif node.state.street == begun.state.street:
            assert solved.actions(paths[node.index]) == tuple(a if a <= CALL else a + offset for a in node.actions)
            lock = NodeLock(node=node.index, strategy=solved.rows(paths[node.index])[~blocked])
            own.setdefault(node.state.actor, []).append(lock)
        else:
            later.append(NodeLock(node=node.index, strategy=np.full(len(node.actions), 1 / len(node.actions))))
    assert is_uniform_later or not later
    found = 0.0
    for player in (0, 1):
        locks = [*own[player], *later]
        solver = CFRSolver(build_holdem_tree(spot, locks=locks, betting=betting), locks=locks)
        solver.iterate(1)
        found += solver.evaluate().best_response_values[1 - player]
    return found / 2 / pot


@pytest.mark.parametrize(
    ("steps", "cards_on_table", "line", "folded", "kept"),
    [
        (THREE, "TcJdQhAs", (), (), {}),
        (THREE, "TcJdQhAs", (1, 837, 0), (2,), {(): Kept((1, 1400), np.tile([0.0, 1.0], (ROYAL.num_hands, 1)))}),
        ((*THREE, 1, 1, 1, -1), "TcJdQhAsTd", (), (), {}),
        ((), "", (), (), {}),
    ],
    ids=["turn", "turn with folds and fixed rows", "river", "before the flop"],
)
def test_it_learns_bit_by_bit_what_its_twin_learns(
    blueprint: StoredBlueprint, steps, cards_on_table, line, folded, kept
) -> None:
    """Regrets, averages, the generator and the count of nodes, from random regrets, ranges and unlike stacks' pots."""
    rng = np.random.default_rng(5)
    out = {seat for seat, is_out in enumerate(walk_to(blueprint, *steps).state.is_folded) if is_out} | set(folded)
    ranges = rng.random((3, ROYAL.num_hands)) * (rng.random((3, ROYAL.num_hands)) < 0.7)
    ranges[sorted(out)] = 0.0
    board = parse_board(cards_on_table) if cards_on_table else ()
    one_deal = RoundSettings(deals=1, periods=1)
    solved = solve(blueprint, steps, board, line=line, folded=folded, fixed=kept, ranges=ranges, settings=one_deal)
    kernel = solved.kernel
    twin = Round(
        betting=kernel.betting,
        plan=plan_behind(blueprint),
        cards=cards(),
        deck=ROYAL.cards,
        board=board,
        street=blueprint.betting.rules.first_street + (len(board) - 2 if board else 0),
        ranges=kernel.ranges,
        num_rollouts=2,
        bias=3.0,
    )
    kernel.regrets[:] = rng.normal(0.0, 300.0, kernel.regrets.shape).astype(np.float32)
    kernel.averages[:] = rng.random(kernel.averages.shape).astype(np.float32)
    begin = np.cumsum([table.size for table in twin.regrets])[:-1]
    for own, theirs in ((kernel.regrets, twin.regrets), (kernel.averages, twin.averages)):
        for table, part in zip(theirs, np.split(own, begin), strict=True):
            table[:] = part.reshape(table.shape)
    words = np.array([3, 1, 4, 1], np.uint64)
    generator = Xoshiro(words)
    touched = kernel.train(words, 12, num_rollouts=2, bias=3.0)
    for _ in range(12):
        twin.iterate(generator)
    assert words.tolist() == generator.words
    assert touched == twin.touched
    kernel.end_period(0.5, 0.75)
    twin.end_period(0.5, 0.75)
    assert np.array_equal(kernel.regrets, np.concatenate([table.reshape(-1) for table in twin.regrets]))
    assert np.array_equal(kernel.averages, np.concatenate([table.reshape(-1) for table in twin.averages]))


def test_a_river_of_two_is_near_to_exact(blueprint: StoredBlueprint) -> None:
    board = parse_board("TcJdQhAsTd")
    shares = []
    for deals in (2_000, 300_000):
        solved = solve(blueprint, RIVER, board, settings=RoundSettings(deals=deals, periods=30))
        shares.append(exploit(walk_to(blueprint, *RIVER), board, solved, "100%, a; cap: 2"))
    assert shares[1] < 0.012
    assert shares[1] < shares[0] / 3


def test_what_follows_the_round_is_played_as_the_blueprint_does(blueprint: StoredBlueprint) -> None:
    """Turns whose rivers are uniform, which a blueprint that was never trained plays, against an exact tree."""
    board = parse_board("TcJdQhAs")
    untrained = copy.copy(blueprint)
    untrained.start = np.full_like(blueprint.start, -1)
    settings = RoundSettings(deals=400_000, periods=40, bias=1.0)
    solved = solve(untrained, TURN, board, settings=settings, menus=MenuByPlayers.parse(SPEC.menu))
    share = exploit(walk_to(untrained, *TURN), board, solved, SPEC.menu, is_uniform_later=True)
    assert share < 0.006


def test_hands_choose_for_themselves_how_the_blueprint_goes_on(blueprint: StoredBlueprint) -> None:
    """A royal flush does not lean to folds, and others choose otherwise."""
    board = parse_board("TsJsQsAd")
    untrained = copy.copy(blueprint)
    untrained.start = np.full_like(blueprint.start, -1)
    solved = solve(untrained, TURN, board, settings=RoundSettings(deals=20_000, bias=50.0))
    kernel, arrays = solved.kernel, solved.tree.arrays
    width = int(arrays.width[0])
    rows = kernel.regrets[: kernel.num_hands * width].reshape(-1, width)
    first = int(arrays.leaf_offset[0, 0])
    choices = rows[:, first : first + 4]
    best = choices[hands_of(ROYAL).index(*parse_hand("KsAs"))]
    assert best[1] < best[[0, 2, 3]].min()
    held = ~hands_of(ROYAL).blocked(board)
    assert len(set(choices[held].argmax(axis=1).tolist())) > 1
    assert (arrays.leaf_offset[:, 1] == -1).all()  # who has folded chooses nothing


def test_fixed_decisions_are_followed_and_learn_nothing(blueprint: StoredBlueprint) -> None:
    board = parse_board("TcJdQhAsTd")
    given = Kept((1, 1150), np.tile([0.25, 0.75], (ROYAL.num_hands, 1)))
    solved = solve(blueprint, RIVER, board, line=(1150, 3000), fixed={(): given})
    offered = solved.actions(())
    assert offered == (1, 1150, 3000)
    assert np.allclose(solved.rows(()), given.at(offered))
    width = int(solved.tree.arrays.width[0])
    regrets = solved.kernel.regrets[: ROYAL.num_hands * width].reshape(-1, width)
    assert not regrets[:, :3].any()
    assert solved.kernel.regrets.any()


def test_what_others_did_is_added_where_they_did_it(blueprint: StoredBlueprint) -> None:
    board = parse_board("TcJdQhAs")
    solved = solve(blueprint, THREE, board, line=(1, 837, 0), folded={2})
    assert solved.actions((1,)) == (1, 837, 1400, 3000)
    assert solved.actions((1, 837)) == (0,)  # who has folded by now did nothing else
    assert solved.actions((1, 1400)) == (0,)
    assert solved.actions(()) == (1, 1400, 3000)
    assert solved.actions((1, 1)) == (1,)
    assert solved.actor((1, 837, 0)) == 0
    np.testing.assert_allclose(solved.rows((1, 837, 0)).sum(axis=1), 1.0)
    np.testing.assert_allclose(solved.rows((1, 837)), 1.0)
    assert follow_nearest(solved, (1, 850, 0)) == (1, 837, 0)
    assert follow_nearest(solved, (1, 1, 500)) == (1, 1)


def test_three_players_do_not_fold_the_best_hand(blueprint: StoredBlueprint) -> None:
    board = parse_board("TsJsQsAdTd")
    solved = solve(blueprint, (*THREE, 1, 1, 1, -1), board, settings=RoundSettings(deals=10_000))
    best = hands_of(ROYAL).index(*parse_hand("KsAs"))
    path = (1400,)
    assert solved.rows(path)[best, solved.actions(path).index(0)] < 0.02
    assert not len(solved.tree.arrays.leaf_node)
    assert len(solved.tree.arrays.side_pots) == 0


def test_the_same_generator_gives_the_same_bits(blueprint: StoredBlueprint) -> None:
    board = parse_board("TcJdQhAs")
    first, second = (solve(blueprint, THREE, board) for _ in range(2))
    assert np.array_equal(first.kernel.regrets, second.kernel.regrets)
    hurried = solve(blueprint, THREE, board, settings=RoundSettings(deals=50_000_000, periods=1000, seconds=0.1))
    np.testing.assert_allclose(hurried.rows(()).sum(axis=1), 1.0)


def test_ends_of_unlike_stacks_have_side_pots(tmp_path: Path) -> None:
    spec = dataclasses.replace(SPEC, stacks=(300, 1000, 600))
    trainer = BlueprintTrainer(spec.betting, make_deals(spec), spec.num_buckets, BlueprintConfig())
    save_blueprint(tmp_path / "three.eq", spec, trainer, {})
    solved = solve(StoredBlueprint(tmp_path / "three.eq"), (), (), menus=MenuByPlayers.parse("a; cap: 2"))
    assert len(solved.tree.arrays.side_pots) > 0
    committed = solved.tree.arrays.side_pots
    assert (np.array([len(set(row)) for row in committed.tolist()]) > 1).all()


def test_what_cannot_be_solved_is_refused(blueprint: StoredBlueprint) -> None:
    board = parse_board("TcJdQhAs")
    begun = walk_to(blueprint, *THREE)
    with pytest.raises(GameTooLargeError, match="more than 10 nodes"):
        build_round(
            blueprint.betting.rules,
            MENUS,
            RoundLine(begun.state),
            begun,
            follow=HandImages(blueprint).follow,
            place=_find_leaf,
            most_nodes=10,
        )
    one = np.zeros((3, ROYAL.num_hands))
    one[:, 0] = 1.0  # everybody holds the same two cards
    with pytest.raises(InvalidStateError, match="do not fit together"):
        solve(blueprint, THREE, parse_board("JdQhAsKs"), ranges=one)
    for wrong in ({"deals": 0}, {"bias": 0.0}, {"seconds": -1.0}):
        with pytest.raises(ConfigError):
            RoundSettings(**wrong)
    solved = solve(blueprint, THREE, board)
    with pytest.raises(ConfigError, match="bias"):
        solved.kernel.train(np.ones(4, np.uint64), 1, bias=-1.0)
    with pytest.raises(ConfigError, match="factor"):
        solved.kernel.end_period(1.0, 2.0)
    far = dataclasses.replace(solved.tree.arrays, leaf_node=solved.tree.arrays.leaf_node + 10_000_000)
    with pytest.raises(ConfigError, match="leaves"):
        RoundKernel(
            far,
            plan_behind(blueprint),
            cards(),
            board=np.array(board, np.uint8),
            street=Street.TURN,
            ranges=np.ones(one.shape),
        )


def test_two_players_solve_to_the_end_with_the_bets_that_were_made(blueprint: StoredBlueprint) -> None:
    begun = walk_to(blueprint, *TURN)
    everybody = np.array([np.full(ROYAL.num_hands, float(seat != 1)) for seat in range(3)])
    given = Kept((1, 1150), np.tile([0.5, 0.5], (ROYAL.num_hands, 1)))
    question = RoundQuestion(begun.state, parse_board("TcJdQhAs"), everybody, (1, 837, 1999), {(): given})
    solved = solve_to_end(question, ROYAL, parse_menu("100%; cap: 1"), big_blind=100, iterations=5)
    assert solved.actions(()) == (1, 837, 1150)
    assert np.allclose(solved.rows(())[~hands_of(ROYAL).blocked(parse_board("TcJdQhAs"))], [0.5, 0.0, 0.5])
    assert 1999 in solved.actions((1, 837))
    assert (solved.actor((1,)), solved.actor((1, 837, 1))) == (2, -1)
    assert follow_nearest(solved, (1, 840, 1999)) == (1, 837, 1999)
