# SPDX-License-Identifier: Apache-2.0
"""Self-play in hold'em on 52 cards: layers, examples, single iterations, networks in torch and NumPy, turn endgames."""

import dataclasses

import numpy as np
import pytest

from equipoise.core.errors import CheckpointError, ConfigError, UnknownNameError
from equipoise.games.holdem.betting import Stage, Street, initial_betting
from equipoise.games.holdem.cards import FULL_DECK, parse_board
from equipoise.games.holdem.hands import hands_of
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.ranges import Range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.learning.columns import ColumnMemory
from equipoise.learning.rebel.holdem.iterations import IterationSums, begin_with_proposals
from equipoise.learning.rebel.holdem.nets import (
    BeliefLeaves,
    Layer,
    LayerNets,
    find_layers,
    make_configs,
    make_one_config,
    show_states,
)
from equipoise.learning.rebel.holdem.play import HoldemSelfPlay, _ask, _Leaf, _spot_after
from equipoise.learning.rebel.holdem.playthroughs import make_test_spot, measure_turn_endgame
from equipoise.learning.rebel.holdem.settings import (
    HOLDEM_PRESETS,
    HoldemRebelSettings,
    NetForm,
    change_holdem_settings,
    find_holdem_preset,
)
from equipoise.learning.rebel.settings import BeliefSource
from equipoise.learning.values.configuration import NetStage
from equipoise.learning.values.weights import StoredNet
from equipoise.search.holdem.equity_leaves import EquityLeaves
from equipoise.search.holdem.leaves import HoldemRest, HoldemState
from equipoise.search.leaves import ResolvedLeaves
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.rules import LinearCFR
from equipoise.trees.holdem.tree import plan_holdem_tree
from tests.learning.list_pool import ListPool

torch = pytest.importorskip("torch", reason="training needs torch")
from equipoise.learning.rebel.holdem.training import HoldemRebelTrainer, SeenNet  # noqa: E402 - torch is there
from equipoise.learning.values.trunk import copy_weights  # noqa: E402 - torch is there

SMALL = dataclasses.replace(
    HOLDEM_PRESETS["turn-endgame"],
    menu="100%; cap: 1",
    iterations=4,
    late_iterations=4,
    last_iterations=4,
    test_iterations=8,
    leaves=3,
    cells=4,
    potential=2,
    hidden=8,
    layers=2,
    examples=24,
    cycle=12,
    capacity=64,
    batch=4,
    reuse=2.0,
)
ALL_STREETS = dataclasses.replace(
    HOLDEM_PRESETS["holdem"],
    menu="100%; cap: 1",
    iterations=2,
    late_iterations=2,
    last_iterations=2,
    warm_start=1,
    policies=2,
    leaves=2,
    deals=2,
    hidden=8,
    layers=1,
    examples=12,
    cycle=6,
    capacity=64,
    batch=4,
    reuse=1.0,
)


def begun(settings):
    """Returns self-play with networks that know nothing."""
    play = HoldemSelfPlay(settings)
    play.search_with(HoldemRebelTrainer(settings).nets(), settings.iterations)
    return play


@pytest.fixture(scope="module")
def examples():
    return begun(SMALL).generate(12, rng=np.random.default_rng(5)).values


def test_six_layers_from_the_end_of_the_first_round_to_the_start_of_the_last():
    layers = find_layers(Street.PREFLOP)
    names = ["preflop-end", "flop", "flop-end", "turn", "turn-end", "river"]
    assert [layer.name for layer in layers] == names
    assert [Layer.of(layer.number) for layer in layers] == list(layers)


def test_examples_are_of_the_turns_end_and_the_rivers_start(examples):
    assert set(examples["layer"].tolist()) == {4, 5}
    turn = sorted(parse_board("3s7hTdKs", FULL_DECK))
    ends, starts = (examples["board"][examples["layer"] == number] for number in (4, 5))
    assert (np.sort(ends)[:, 1:] == turn).all()
    assert (ends == -1).sum() == len(ends)
    assert (starts >= 0).all()


def test_ranges_add_up_to_one_and_values_to_nothing(examples):
    ranges, values = (examples[name].astype(np.float64) for name in ("range", "value"))
    assert ranges.sum(axis=2) == pytest.approx(1.0, abs=2e-3)  # kept in 16 bits
    hands = hands_of(FULL_DECK)
    for row in range(len(ranges)):
        is_blocked = hands.blocked([card for card in examples["board"][row].tolist() if card >= 0])
        assert not values[row][:, is_blocked].any()
        assert abs((ranges[row] * values[row]).sum()) < 0.02  # of a pot


def test_hands_that_nobody_holds_are_worth_what_they_would_win():
    """A network is asked about all hands: it must not learn that those outside a range are worth nothing."""
    settings = dataclasses.replace(SMALL, test_stack=600, menu="100%, a; cap: 2")
    turn = make_test_spot(settings)
    is_left = ~hands_of(FULL_DECK).blocked((*turn.board, 0))
    drawn = (np.random.default_rng(4).random((2, 1326)) < 0.3) & is_left
    ranges = drawn / drawn.sum(axis=1, keepdims=True)
    state = initial_betting(turn.betting_rules)._replace(stage=Stage.DEAL)
    river = _spot_after(turn, _Leaf((), state, ranges), (*turn.board, 0))
    learnt = HoldemSelfPlay(dataclasses.replace(settings, last_iterations=256))._solve(river, 0, None).value
    oracle = ResolvedLeaves(HoldemRest(dataclasses.replace(river, ranges=turn.ranges)), iterations=256)
    root = HoldemState((), initial_betting(river.betting_rules), river.board)
    known = _ask(oracle, [root], ranges[None])[0]
    outside = ~drawn & is_left
    assert np.abs(known[outside]).mean() > 0.2
    assert np.abs(learnt - known)[outside].mean() < 0.02


def test_rivers_are_solved_until_their_values_hardly_move():
    settings = dataclasses.replace(HOLDEM_PRESETS["turn-endgame"], menu="100%, a; cap: 2")
    play, rng = HoldemSelfPlay(settings), np.random.default_rng(3)
    turn = make_test_spot(settings)
    ranges = [Range(rng.random(turn.deck.num_hands), FULL_DECK) for _ in (0, 1)]
    river = dataclasses.replace(turn, board=(*turn.board, 0), ranges=tuple(ranges))
    learnt = play._solve(river, 0, rng).value
    long = HoldemSelfPlay(dataclasses.replace(settings, last_iterations=1_000))._solve(river, 0, rng).value
    assert np.abs(learnt - long).mean() < 0.01  # of a pot, with 99 of them behind


def test_the_same_seed_plays_the_same(examples):
    again = begun(SMALL).generate(12, rng=np.random.default_rng(5)).values
    assert all(np.array_equal(again[name], examples[name]) for name in examples)


def test_single_iterations_add_up_to_the_sums_of_the_average():
    spot = HoldemSpot(
        board=parse_board("3s7hTdKs2c", FULL_DECK),
        pot=200,
        stacks=(300, 300),
        ranges=(Range.random(FULL_DECK), Range.random(FULL_DECK)),
        menu=parse_menu("100%"),
        big_blind=100,
        deck=FULL_DECK,
    )
    tree = plan_holdem_tree(spot, merges_suits=False).build()
    run = IterationSums(CFRSolver(tree, LinearCFR(), dtype=np.float64))
    single = [run.at(t) for t in (1, 2, 3)]
    parts = sum(t * each for t, each in zip((1, 2, 3), single, strict=True))
    whole = run.solver.average_sums
    assert parts / parts.sum() == pytest.approx(whole / whole.sum(), abs=1e-12)
    assert tree.normalize(single[0], 0, 0) == pytest.approx(1.0 / len(tree.betting.root.actions))  # begins uniformly
    assert not np.allclose(tree.normalize(single[1], 0, 0), tree.normalize(single[2], 0, 0))


def test_sizes_are_perturbed_alike_wherever_they_are_offered():
    play = HoldemSelfPlay(dataclasses.replace(SMALL, menu="50%, 100%, a / 100%, a"))
    rng = np.random.default_rng(0)
    menus = [play._perturb(rng) for _ in range(20)]
    sizes = np.array([[size.amount for size in menu.rounds[2][0].sizes[0][:2]] for menu in menus])
    assert np.abs(sizes - [50.0, 100.0]).max() <= 10.0
    assert sizes.std(axis=0).min() > 2.0
    assert all(menu.rounds[2][0].sizes[1][0].amount == menu.rounds[2][0].sizes[0][1].amount for menu in menus)
    still = HoldemSelfPlay(dataclasses.replace(SMALL, perturbation=0.0))
    assert format_menu(still._perturb(rng)) == format_menu(still.menu)


def test_any_beliefs_in_place_of_those_of_self_play():
    play = begun(dataclasses.replace(SMALL, beliefs=BeliefSource.RANDOM))
    found = play.generate(2, rng=np.random.default_rng(0)).values
    assert found["layer"].tolist() == [4, 5]
    assert np.count_nonzero(found["range"][0][0]) > 1100  # hands that the board leaves


def test_one_network_learns_all_six_layers_without_a_table_of_all_ins():
    trainer = HoldemRebelTrainer(ALL_STREETS)
    records = list(trainer.run())
    assert records[-1].examples >= 12
    assert set(trainer.memory.columns["layer"][: len(trainer.memory)].tolist()) == set(range(6))
    assert list(trainer.stored_nets()) == ["layers", "policy"]
    shares = trainer.policies.columns["policy"][: len(trainer.policies)]
    assert shares.dtype == np.uint8
    played = shares.sum(axis=1, dtype=np.int64)
    assert np.abs(played[played > 0] - 255).max() <= 2  # steps are rounded, action by action


def test_searches_begin_with_what_is_proposed():
    trainer = HoldemRebelTrainer(ALL_STREETS)
    guide = trainer.nets().guide
    spot = make_test_spot(SMALL)
    tree = plan_holdem_tree(dataclasses.replace(spot, board=(*spot.board, 0)), merges_suits=False).build()
    solver = CFRSolver(tree, LinearCFR(), dtype=np.float64)
    begin_with_proposals(solver, guide, 3)
    proposed = tree.normalize(solver.average_sums, 0, 0)
    assert np.ptp(proposed[:, 0]) > 0.05  # a new network says something of every hand
    assert tree.normalize(IterationSums(solver).at(4), 0, 0) == pytest.approx(proposed, abs=1e-9)
    assert solver.iteration == 4


def test_trainings_with_policies_go_on_to_the_bit():
    settings = dataclasses.replace(ALL_STREETS, first="turn", board="3s7hTdKs", most_pot=1_000)
    whole, part, rest = (HoldemRebelTrainer(settings) for _ in range(3))
    list(whole.run())
    part.run_cycle()
    rest.restore(part.state())
    list(rest.run())
    for key, tensor in whole.stored_nets()["policy"].tensors.items():
        assert np.array_equal(tensor, rest.stored_nets()["policy"].tensors[key])


def test_searches_before_the_flop_are_kept_for_hands_that_begin_alike(monkeypatch):
    settings = dataclasses.replace(ALL_STREETS, least_stack=5_000, most_stack=5_000)
    play, searched = begun(settings), []
    solve = play._solve
    monkeypatch.setattr(play, "_solve", lambda spot, *rest: searched.append(spot.board) or solve(spot, *rest))
    play.generate(12, rng=np.random.default_rng(0))
    assert searched.count(()) == 1
    play.search_with(play.nets, 2)  # other networks: nothing is kept
    play.generate(6, rng=np.random.default_rng(0))
    assert searched.count(()) == 2


def test_one_network_says_the_same_in_torch_and_numpy():
    config = make_one_config(hidden=8, layers=2)
    net = SeenNet(config, generator=torch.Generator().manual_seed(0))
    leaves = BeliefLeaves(StoredNet(config=config, tensors=copy_weights(net)))
    spot = make_test_spot(SMALL)
    play = HoldemSelfPlay(dataclasses.replace(SMALL, beliefs=BeliefSource.RANDOM))
    play.search_with(begun(SMALL).nets, 1)
    some = play.generate(2, rng=np.random.default_rng(1)).values
    seen = show_states(
        config, some["layer"], some["board"].astype(np.int64), some["ratio"], some["range"].astype(np.float64)
    )
    said = net(*map(torch.from_numpy, seen)).detach().numpy()
    assert np.abs((said * seen.shares).sum(axis=(1, 2))).max() < 1e-5
    found = _ask_end(leaves, spot, some["range"][:1].astype(np.float64), float(some["ratio"][0]))
    assert found == pytest.approx(said[0], abs=2e-5)


def _ask_end(leaves, spot, ranges, ratio):
    """Returns `[2, H]` what leaves say of the turn's end with so many pots behind."""
    state = initial_betting(spot.betting_rules)
    stack = ratio * 2 * state.committed[0]
    state = state._replace(stage=Stage.DEAL, stacks=(stack, stack))
    return _ask(leaves, [HoldemState((), state, tuple(spot.board))], ranges)[0]


def test_half_of_what_is_remembered_is_forgotten_the_oldest_first():
    memory = ColumnMemory(4, {"value": ((), np.int32)})
    memory.append({"value": np.arange(6, dtype=np.int32)})
    memory.keep_newest(2)
    assert memory.columns["value"][: len(memory)].tolist() == [4, 5]
    memory.append({"value": np.array([9], np.int32)})
    assert memory.columns["value"][: len(memory)].tolist() == [4, 5, 9]


def test_a_training_goes_on_to_the_bit():
    whole, part = HoldemRebelTrainer(SMALL), HoldemRebelTrainer(SMALL)
    list(whole.run())
    part.run_cycle()
    rest = HoldemRebelTrainer(SMALL)
    rest.restore(part.state())
    list(rest.run())
    for name, stored in whole.stored_nets().items():
        for key, tensor in stored.tensors.items():
            assert np.array_equal(tensor, rest.stored_nets()[name].tensors[key])


def test_workers_play_with_the_weights_that_they_are_sent():
    trainer = HoldemRebelTrainer(SMALL)
    records = list(trainer.run(pool=ListPool(1)))
    assert records[-1].examples >= SMALL.examples


def test_play_by_equity_leaves_is_measured_and_more_playthroughs_say_less():
    settings = dataclasses.replace(SMALL, test_stack=1_000, test_iterations=8)
    ends = EquityLeaves(FULL_DECK)
    few, more = (
        measure_turn_endgame(settings, ends, count, rng=np.random.default_rng(2)).exploitability for count in (1, 4)
    )
    assert 0.0 < more < few


def test_turns_that_begin_with_proposals_are_measured_too():
    settings = dataclasses.replace(ALL_STREETS, first="turn", board="3s7hTdKs", test_stack=1_000, test_iterations=4)
    nets, rng = HoldemRebelTrainer(settings).nets(), np.random.default_rng(2)
    found = measure_turn_endgame(settings, EquityLeaves(FULL_DECK), 1, rng=rng, guide=nets.guide)
    assert found.exploitability > 0.0
    with pytest.raises(ConfigError, match="these begin with the preflop"):
        make_test_spot(ALL_STREETS)


def test_networks_of_a_folder_are_found_by_layer(tmp_path):
    trainer = HoldemRebelTrainer(SMALL)
    with pytest.raises(CheckpointError, match=r"has no turn-end\.safetensors yet"):
        LayerNets.load(SMALL, tmp_path)
    for name, stored in trainer.stored_nets().items():
        stored.save(tmp_path / f"{name}.safetensors")
    assert list(LayerNets.load(SMALL, tmp_path).stored) == ["turn-end", "river"]
    with pytest.raises(ConfigError, match="turn-end is not one of this training"):
        LayerNets.load(dataclasses.replace(SMALL, hidden=16), tmp_path)


def test_curves_are_the_networks_of_hold_em_that_come_with_the_package():
    configs = make_configs(SMALL)
    assert configs["turn-end"].stage is NetStage.END
    assert configs["river"].potential_cells == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"first": "river"}, "river"),
        ({"first": "preflop", "board": ""}, "nets must be `one`"),
        ({"board": "3s7hTd"}, "begins with 4 cards"),
        ({"test_board": "3s7hTd"}, "the test begins with 4 cards"),
        ({"most_pot": 100}, "most_pot"),
        ({"least_stack": 50}, "stacks"),
        ({"perturbation": 0.6}, "perturbation"),
        ({"warm_start": 2}, "nets must be `one`"),
        ({"warm_start": 4}, "warm_start"),
        ({"menu": "10%, 20%, 30%, 40%, 50%, 60%, 70%, 80%"}, "10 actions at most, expected 9 or fewer"),
        ({"exploration": 1.5}, "exploration must lie between 0 and 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, said):
    with pytest.raises(ConfigError, match=said):
        dataclasses.replace(SMALL, **changes)


def test_settings_are_read_as_they_were_written():
    assert HoldemRebelSettings.from_dict(SMALL.as_dict()) == SMALL
    with pytest.raises(ConfigError, match="has no colour"):
        HoldemRebelSettings.from_dict({"colour": 1})
    assert change_holdem_settings(SMALL, {"nets": "one"}).nets is NetForm.ONE
    with pytest.raises(UnknownNameError):
        change_holdem_settings(SMALL, {"colour": "red"})
    with pytest.raises(UnknownNameError):
        find_holdem_preset("small")
