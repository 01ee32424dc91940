# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from equipoise.core.errors import ConfigError
from equipoise.games.registry import make_game
from equipoise.responses.against import AgainstSolver
from equipoise.responses.exact import BestResponse, StaticResponse
from equipoise.responses.mixtures import DataBiasedResponse, MimicResponse, MixedResponse, trust_counts
from equipoise.responses.on_tree import OnTree
from equipoise.responses.outcomes import report_seats
from equipoise.responses.sampled import UCTResponse
from equipoise.solvers.rules import CFRPlus
from equipoise.trees.cache import load_or_build_public_tree
from equipoise.trees.history import build_history_tree
from tests.reference.response_oracles import best_value_against_mix

KUHN = build_history_tree(make_game("kuhn"))
LEDUC = build_history_tree(make_game("leduc", merge_suits=True))
ON_KUHN, ON_LEDUC = OnTree(KUHN), OnTree(LEDUC)


def random_strategy(seed, on_tree):
    return on_tree.kernel.normalize(np.random.default_rng(seed).exponential(size=on_tree.kernel.num_table_cells))


def mix_value(on_tree, strategy, model, probability, seat):
    """Returns the value of `f o^p BR` in terms of its parts."""
    static = on_tree.value(on_tree.combine(strategy, model, 1 - seat), seat)
    best, _ = on_tree.kernel.best_response(1 - seat, on_tree.kernel.realize(strategy))
    return probability * static - (1 - probability) * best


@pytest.mark.parametrize("form", ["history", "vector"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_mixture_earns_the_mixture(form, seat):
    tree = LEDUC if form == "history" else load_or_build_public_tree(make_game("leduc", merge_suits=True))
    on_tree = OnTree(tree)
    strategy, model = random_strategy(1, on_tree), random_strategy(2, on_tree)
    response = MixedResponse(tree, StaticResponse(tree, model), BestResponse(tree), 0.3)
    answer = response.respond(strategy, 1 - seat, np.random.default_rng(0))
    assert on_tree.value(answer, seat) == pytest.approx(mix_value(on_tree, strategy, model, 0.3, seat), abs=1e-12)
    assert response.deterministic
    assert response.is_pretty_good
    uct = MixedResponse(LEDUC, StaticResponse(LEDUC, random_strategy(2, ON_LEDUC)), UCTResponse(LEDUC, 10), 0.3)
    assert not uct.deterministic
    assert not uct.is_pretty_good


@pytest.mark.parametrize("probability", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seat", [0, 1])
def test_restricted_nash_comes_to_its_linear_program(probability, seat):
    # P8: corollary 1
    model = random_strategy(5, ON_KUHN)
    plan = ON_KUHN.kernel.realize(model)[ON_KUHN.own_cells[1 - seat]]
    optimum = best_value_against_mix(KUHN, plan, probability, seat)
    response = MixedResponse(KUHN, StaticResponse(KUHN, model), BestResponse(KUHN), probability)
    solver = AgainstSolver(KUHN, response, seat=seat)
    solver.iterate(400)
    (outcome,) = report_seats(solver)
    assert outcome.guarantee.theorem == "Theorem 6"
    assert optimum - outcome.epsilon - 1e-9 <= outcome.average_value.mean <= optimum + 1e-9
    assert outcome.epsilon < 0.08
    value = mix_value(ON_KUHN, solver.average_strategy(), model, probability, seat)
    assert outcome.average_value.mean == pytest.approx(value)


@pytest.mark.parametrize("is_sampled", [False, True])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_mimic_stands_in_for_the_best_response(is_sampled, seat):
    # P8: theorem 13
    model = random_strategy(5, ON_KUHN)
    plan = ON_KUHN.kernel.realize(model)[ON_KUHN.own_cells[1 - seat]]
    optimum = best_value_against_mix(KUHN, plan, 0.4, seat)
    mimic = MimicResponse(KUHN, StaticResponse(KUHN, model), 0.4, seat=1 - seat, is_sampled=is_sampled)
    solver = AgainstSolver(KUHN, mimic, seat=seat, seed=1)
    solver.iterate(2000)
    value = mix_value(ON_KUHN, solver.average_strategy(), model, 0.4, seat)
    assert optimum - 0.04 < value <= optimum + 1e-9
    (outcome,) = report_seats(solver)
    assert outcome.average_value is None
    assert outcome.guarantee.theorem == "Theorem 13"
    assert (mimic.num_updates == 2000) is not is_sampled
    assert mimic.num_updates > 1000


@pytest.mark.parametrize("is_sampled", [False, True])
def test_mimics_go_on_to_the_bit(is_sampled):
    def begin():
        model = StaticResponse(LEDUC, random_strategy(3, ON_LEDUC))
        mimic = MimicResponse(LEDUC, model, 0.5, seat=1, is_sampled=is_sampled, rule=CFRPlus())
        return AgainstSolver(LEDUC, mimic, seat=0, seed=9)

    whole, first, second = begin(), begin(), begin()
    whole.iterate(25)
    first.iterate(11)
    second.restore({name: np.array(array) for name, array in first.state().items()})
    second.iterate(14)
    np.testing.assert_array_equal(second.average_strategy(), whole.average_strategy())
    whole.response.reset()
    assert whole.response.num_updates == 0
    assert not whole.response.tables.regret_sum.any()


@pytest.mark.parametrize("seat", [0, 1])
def test_data_biased_responses_are_the_best_of_their_kind(seat):
    rng = np.random.default_rng(0)
    strategy, model = random_strategy(1, ON_LEDUC), random_strategy(2, ON_LEDUC)
    trust = rng.random(LEDUC.num_actions.size)
    response = DataBiasedResponse(LEDUC, model, trust)
    best = ON_LEDUC.value(response.respond(strategy, seat, rng), seat)
    follows = np.ones(model.size)
    follows[LEDUC.sequence_infoset() >= 0] = np.repeat(trust, LEDUC.num_actions)
    for seed in range(20):
        rival = follows * model + (1 - follows) * random_strategy(seed, ON_LEDUC)
        assert ON_LEDUC.value(ON_LEDUC.combine(strategy, rival, seat), seat) <= best + 1e-12
    other = response.respond(random_strategy(7, ON_LEDUC), seat, rng)
    assert ON_LEDUC.value(ON_LEDUC.combine(strategy, other, seat), seat) <= best + 1e-12


def test_trust_turns_a_response_into_its_model_or_a_best_response():
    strategy, model, rng = random_strategy(1, ON_LEDUC), random_strategy(2, ON_LEDUC), np.random.default_rng(0)
    size = LEDUC.num_actions.size
    answer = DataBiasedResponse(LEDUC, model, np.zeros(size)).respond(strategy, 0, rng)
    np.testing.assert_array_equal(answer, BestResponse(LEDUC).respond(strategy, 0, rng))
    answer = DataBiasedResponse(LEDUC, model, np.ones(size)).respond(strategy, 0, rng)
    np.testing.assert_allclose(answer, ON_LEDUC.combine(strategy, model, 0))


def test_trust_grows_with_what_was_seen():
    counts = np.zeros(ON_LEDUC.kernel.num_cells)
    counts[LEDUC.first_sequence[3]] = 4
    counts[LEDUC.first_sequence[3] + 1] = 1
    counts[LEDUC.first_sequence[5] + 1] = 400
    trust = trust_counts(LEDUC, counts, most=0.8)
    assert trust[[2, 3, 5]].tolist() == pytest.approx([0.0, 0.4, 0.8])
    assert np.count_nonzero(trust) == 2


def test_bad_input_is_refused():
    static = StaticResponse(KUHN, random_strategy(1, ON_KUHN))
    with pytest.raises(ConfigError, match=r"from 0 to 1, got 1\.5"):
        MixedResponse(KUHN, static, static, 1.5)
    mimic = MimicResponse(KUHN, static, 0.5, seat=1)
    with pytest.raises(ConfigError, match="made for seat 1 cannot play in seat 0"):
        mimic.respond(random_strategy(1, ON_KUHN), 0, np.random.default_rng(0))
    with pytest.raises(ConfigError, match="give the seat of the learner"):
        AgainstSolver(KUHN, mimic)
    with pytest.raises(ConfigError, match="trust must be a probability for each of 12 information sets"):
        DataBiasedResponse(KUHN, random_strategy(1, ON_KUHN), np.full(12, 2.0))
