# SPDX-License-Identifier: Apache-2.0
"""Leduc's second round: what networks see of it, situations and their values, networks as leaves of searches."""

import dataclasses

import numpy as np
import pytest

from equipoise.agents.continual import ContinualAgent
from equipoise.core.errors import ConfigError
from equipoise.evaluation.assembly import measure_seeds
from equipoise.games.registry import format_game, parse_game
from equipoise.learning.values.bucket_net import BucketNet, BucketTensors
from equipoise.learning.values.bucket_states import BucketPlan, find_pair_inputs
from equipoise.learning.values.chain import ValueChain
from equipoise.learning.values.configuration import NetKind, ValueNetConfig
from equipoise.learning.values.leduc import LeducSource, LeducStates, find_leduc
from equipoise.learning.values.leduc_search import MetSource, leduc_leaves, leduc_settings
from equipoise.learning.values.net_files import NetFile
from equipoise.learning.values.presets import LIMIT_LEDUC, NO_LIMIT_CARDS, NO_LIMIT_LEDUC, Preset, find_preset
from equipoise.learning.values.settings import TrainingSettings
from equipoise.learning.values.small_games import SmallGameValues
from equipoise.learning.values.weights import StoredNet
from equipoise.search.beliefs import PublicBelief
from equipoise.search.leaves import ResolvedLeaves, ZeroLeaves, batch_beliefs
from equipoise.solvers.rules import DCFR
from equipoise.trees.derive import derive_public_game
from equipoise.trees.public import build_public_tree

torch = pytest.importorskip("torch")

LIMIT, CARDS = find_leduc(LIMIT_LEDUC), find_leduc(NO_LIMIT_CARDS)


def node_of(tree, label):
    return list(tree.public_labels).index(label)


def make_net(game, *, seed=0, **changes):
    """Returns a network with weights as they are drawn, and so that it says something."""
    num_buckets = game.ranks * (1 if game.merge_suits else game.suits)
    fields = {"kind": NetKind.BUCKET, "game": format_game(game), "buckets": num_buckets, "hidden": 16, "layers": 2}
    config = ValueNetConfig(**fields | changes)
    return BucketNet(config, generator=torch.Generator().manual_seed(seed))


def draw_reaches(count, size, seed=3):
    return np.random.default_rng(seed).random((count, 2, size)) ** 4


# --- public states ---


def test_pots_are_those_that_the_game_reaches():
    assert sorted(LeducStates(LIMIT).find(state).pot for state in openings(LIMIT)) == [2.0, 6.0, 10.0]
    found = sorted(
        (LeducStates(CARDS).find(state).pot, LeducStates(CARDS).find(state).ratio) for state in openings(CARDS)
    )
    assert found == [(200.0, 5.5), (600.0, 1.5), (1800.0, pytest.approx(1 / 6))]


def openings(game):
    public, states = derive_public_game(game), LeducStates(game)
    number = {public.public_state(state): state for state in range(public.num_public_states)}
    return [number[label] for label in states.labels()]


def test_a_showdown_takes_as_much_as_it_pays_and_pairs_win():
    states = LeducStates(CARDS)
    state = states.find(openings(CARDS)[0])
    first, second = (np.argsort(own) for own in state.bucket)
    equity = state.equity[np.ix_(first, second)]
    assert (equity == -equity.T).all()
    assert (equity[-1, :-1] == 0.5).all()  # the pair
    assert (state.matching[np.ix_(first, second)] == 1.0 - np.eye(5)).all()


def test_only_where_the_second_round_begins_is_anything_known():
    with pytest.raises(ConfigError, match="second round begins"):
        LeducStates(LIMIT).find(0)


def test_the_public_card_does_not_matter():
    """Values by bucket are the same whatever card lies there."""
    public = derive_public_game(CARDS)
    tree, states = build_public_tree(public), LeducStates(CARDS, public)
    drawn = np.random.default_rng(1).dirichlet(np.ones(5), 2)
    found = []
    for label in ("cc/Js:", "cc/Qh:", "cc/Kh:"):
        node = node_of(tree, label)
        state = states.find(tree.states[node])
        orders = [np.argsort(own) for own in state.bucket]
        reach = [np.zeros(5), np.zeros(5)]
        for own, order, share in zip(reach, orders, drawn, strict=True):
            own[order] = share
        belief = PublicBelief(reach=(reach[0], reach[1]), joint=public.joint_weights(tree.states[node]))
        values = ResolvedLeaves(tree, iterations=300).evaluate(batch_beliefs([tree.states[node]], [belief]))
        found.append([own[0][order] for own, order in zip(values.cfv, orders, strict=True)])
    assert found[1] == pytest.approx(np.array(found[0]), abs=1e-9)
    assert found[2] == pytest.approx(np.array(found[0]), abs=1e-9)


def test_other_games_have_no_such_networks():
    with pytest.raises(ConfigError, match="for Leduc"):
        find_leduc("kuhn")
    with pytest.raises(ConfigError, match="curve networks are for hold'em"):
        ValueNetConfig(game="leduc")


# --- situations ---


def test_a_shard_follows_from_its_number():
    source = LeducSource(game=CARDS, per_shard=6, iterations=50, even_share=0.5)
    once, again, other = source.make(2), source.make(2), source.make(3)
    assert all((once[name] == again[name]).all() for name in once)
    assert (once["range"] != other["range"]).any()
    assert source.config["game"] == NO_LIMIT_CARDS


def test_values_are_those_of_a_solved_leaf():
    public = derive_public_game(LIMIT)
    tree, source = build_public_tree(public), LeducSource(game=LIMIT, iterations=200, per_shard=4)
    shard = source.make(0)
    labels = LeducStates(LIMIT, public).labels()
    leaves = ResolvedLeaves(tree, iterations=200, rule=DCFR(gamma=source.gamma))
    for part, ranges, value in zip(shard["part"], shard["range"].astype(float), shard["value"], strict=True):
        node = node_of(tree, labels[part])
        joint = public.joint_weights(tree.states[node])
        belief = PublicBelief(reach=(ranges[0], ranges[1]), joint=joint)
        found = leaves.evaluate(batch_beliefs([tree.states[node]], [belief])).cfv
        unit = joint.max() * source.parts[part].state.pot
        assert value == pytest.approx(np.concatenate(found) / unit, abs=1e-5)
        assert (ranges * value).sum() == pytest.approx(0.0, abs=1e-5)


def test_even_ranges_hold_the_cards_of_a_rank_alike():
    source = LeducSource(game=CARDS, per_shard=5, iterations=2, even_share=1.0)
    shard = source.make(0)
    for part, ranges in zip(shard["part"], shard["range"], strict=True):
        for own, bucket in zip(ranges, source.parts[part].state.bucket, strict=True):
            by_bucket = own[np.argsort(bucket)]
            assert by_bucket[0] == by_bucket[1]
            assert by_bucket[2] == by_bucket[3]
            assert own.sum() == pytest.approx(1.0, abs=1e-6)


def test_other_pots_lie_between_the_ante_and_the_stack():
    source = LeducSource(game=CARDS, num_pots=3)
    assert [part.state.pot for part in source.parts] == pytest.approx([566.67, 1300.0, 2033.33], abs=0.1)
    with pytest.raises(ConfigError, match="need a stack"):
        LeducSource(game=LIMIT, num_pots=3)


# --- networks ---


@pytest.mark.parametrize("changes", [{}, {"adds_equity": False, "times_mass": False, "takes_roots": False}])
def test_networks_say_the_same_without_torch_and_sum_to_zero(changes):
    source = LeducSource(game=CARDS)
    net = make_net(CARDS, **changes)
    plan = source.states().take(np.arange(40) % 3)
    inputs = find_pair_inputs(net.config, plan, draw_reaches(40, 5))
    with torch.no_grad():
        expected = net(BucketTensors.of(inputs)).numpy()
    found = SmallGameValues(net.store()).values(inputs)
    assert found == pytest.approx(expected, abs=2e-6)
    assert (inputs.range * found).sum(axis=(1, 2)) == pytest.approx(np.zeros(40), abs=1e-6)


def test_suits_of_another_name_get_the_same_values():
    """The two cards of a rank change places, in both ranges: so do their values, to the bit."""
    source, net = LeducSource(game=CARDS), SmallGameValues(make_net(CARDS).store())
    plan = source.states().take([0])
    swap = {0: 1, 1: 0, 2: 2, 3: 3, 4: 4, 5: 5}
    reach = draw_reaches(1, 5)
    places = [[list(own).index(swap[bucket]) for bucket in own] for own in plan.bucket[0].tolist()]
    other = np.stack([[reach[0, player, place] for player, place in enumerate(places)]])
    once, again = net.evaluate(plan, reach), net.evaluate(plan, other)
    assert all((again[0, player] == once[0, player, place]).all() for player, place in enumerate(places))
    assert (once != again).any()


def test_a_player_who_never_comes_is_worth_nothing_to_the_other():
    net = SmallGameValues(make_net(LIMIT).store())
    plan = LeducSource(game=LIMIT).states().take([1])
    reach = draw_reaches(1, 3)
    reach[0, 0] = 0.0
    found = net.evaluate(plan, reach)
    assert np.isfinite(found).all()
    assert (found[0, 1] == 0.0).all()
    assert (found[0, 0] != 0.0).any()


def test_values_grow_with_reaches():
    net, plan = SmallGameValues(make_net(LIMIT).store()), LeducSource(game=LIMIT).states()
    reach = draw_reaches(3, 3)
    assert net.evaluate(plan, 0.25 * reach) == pytest.approx(0.25 * net.evaluate(plan, reach), rel=1e-5)


def test_padding_beyond_private_states_is_worth_nothing():
    state = LeducSource(game=LIMIT).parts[0].state
    wide = LeducSource(game=CARDS).parts[0].state
    plan = BucketPlan.of([state, wide], np.arange(6))
    net = SmallGameValues(make_net(CARDS).store())
    reach = draw_reaches(2, 5)
    reach[0, :, 3:] = 0.0
    assert (net.evaluate(plan, reach)[0, :, 3:] == 0.0).all()


def test_a_network_of_another_game_is_refused():
    net = make_net(LIMIT).store()
    with pytest.raises(ConfigError, match=r"made for leduc\(merge_suits=true\), not for leduc_nolimit"):
        leduc_leaves(net, find_leduc(NO_LIMIT_LEDUC))
    few = dataclasses.replace(make_net(LIMIT, buckets=2).store())
    with pytest.raises(ConfigError, match="2 buckets"):
        leduc_leaves(few, LIMIT)


# --- searches ---


def exploit(game, leaves, iterations):
    agent = ContinualAgent(derive_public_game(game), search=leduc_settings(leaves, iterations=iterations))
    return measure_seeds(agent, game, seeds=(0,), is_public=True).mean


def test_what_leaves_say_decides_how_good_a_search_is():
    tree = build_public_tree(derive_public_game(LIMIT))
    exact, nothing = (exploit(LIMIT, leaves, 60) for leaves in (ResolvedLeaves(tree, iterations=60), ZeroLeaves()))
    assert exploit(LIMIT, None, 60) < exact < 0.1 < nothing / 3


def test_a_network_that_knows_nothing_is_exploited():
    drawn = make_net(LIMIT, hidden=64)
    with torch.no_grad():
        drawn.trunk.bias[-1][:3] = torch.tensor([3.0, 0.0, -3.0])
    assert exploit(LIMIT, leduc_leaves(drawn.store(), LIMIT), 60) > 5.0 * exploit(LIMIT, None, 60)


def test_situations_that_searches_meet(tmp_path):
    make_net(LIMIT).store().save(tmp_path / "limit.safetensors")
    source = MetSource(
        net=NetFile.at(tmp_path / "limit.safetensors"), game=LIMIT, iterations=100, per_shard=8, moved_share=0.5
    )
    shard, again = source.make(4), source.make(4)
    assert all((shard[name] == again[name]).all() for name in shard)
    assert shard["range"].sum(axis=2) == pytest.approx(np.ones((8, 2)), abs=1e-6)
    assert (shard["range"] * shard["value"]).sum(axis=(1, 2)) == pytest.approx(np.zeros(8), abs=1e-5)
    assert source.config["source"].startswith("limit@")


def test_a_chain_of_two_networks_is_trained_and_goes_on(tmp_path):
    small = [
        dataclasses.replace(
            find_preset("leduc").find(name),
            samples=40,
            met=40 if name == "limit" else 0,
            per_shard=20,
            held_out=20,
            settings=TrainingSettings(steps=30, batch=16, validate_every=10),
        )
        for name in ("limit-random", "limit")
    ]
    chain = ValueChain(tmp_path, Preset("leduc", "small", tuple(small)))
    for recipe in small:
        for filling in chain.fillings(recipe):
            for number in range(filling.num_shards):
                chain.shards(filling).write(number, filling.source.make(number))
        trainer = chain.trainer(recipe)
        records = list(chain.train(recipe, trainer, command="train", is_over=lambda: False))
        assert records[-1].errors is not None
        assert chain.trainer(recipe).is_done
    stored = StoredNet.load(chain.weights_of("limit"))
    assert "second round" in stored.card["what"]
    assert set(stored.card["data"]) == {"limit-random-held-out", "limit-random", "limit-met"}
    assert leduc_leaves(stored, LIMIT).net.config.game == LIMIT_LEDUC


def test_games_are_written_as_they_are_read():
    for recipe in find_preset("leduc").recipes:
        assert format_game(parse_game(recipe.config.game)) == recipe.config.game
