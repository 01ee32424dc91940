# SPDX-License-Identifier: Apache-2.0
"""`check_game` passes every game of ours, and catches a game for each law that it breaks."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import InvalidGameError, InvalidStateError
from equipoise.games import CHANCE, TERMINAL, check_game, game_names, make_game, parse_game
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc

SMALL_GAMES = [  # every one small enough to be enumerated
    "coin_toss",
    "coin_toss(sell_heads=-0.5,sell_tails=2,subgames=2)",
    "dcfr_slow_2x2",
    "glasses(rounds=2)",
    "glasses(board=glasses-b,rounds=2,reveals=1,double_moves=1,fugitive_tickets=1,0,0,1)",
    "goofspiel(cards=4)",
    "goofspiel(cards=4,reveal_bids=false,payoff=win_loss)",
    "goofspiel(cards=3,prizes=random,payoff=half_difference)",
    "goofspiel(cards=3,prizes=random,reveal_bids=false,auto_last=false)",
    "goofspiel(cards=3,prizes=descending,auto_last=false)",
    "goofspiel(cards=2)",
    "kuhn",
    "kuhn(players=3)",
    "leduc",
    "leduc(merge_suits=true)",
    "leduc(suits=1,max_raises=1)",
    "leduc(ranks=2,merge_suits=true,max_raises=3)",
    "leduc(max_raises=0)",
    "leduc(merge_suits=true,stack=5)",
    "leduc5(first_sizes=0.5,2,second_sizes=1)",
    "leduc_nolimit(merge_suits=true)",
    "lemonade_stand",
    "lemonade_stand(points=2,players=2)",
    "lemonade_stand(points=5,players=4)",
    "leduc_nolimit(merge_suits=true,ante=100,first_sizes=1,second_sizes=1,stack=1200)",
    "leduc_nolimit(merge_suits=true,first_sizes=0.33,0.34,second_sizes=3,stack=7.5,max_raises=2)",
    "liars_dice(dice=1,faces=3)",
    "liars_dice(dice=2,faces=2)",
    "matrix",
    "matrix(payoffs=0;1;-1000000)",
    "matrix(payoffs=3,0;5,1,column_payoffs=3,5;0,1,row_names=silent,talk)",
    "phantom_tic_tac_toe(rows=2,columns=2)",
    "phantom_tic_tac_toe(rows=2,columns=3)",
    "rock_paper_scissors",
    "rps_plus",
    "tic_tac_toe(rows=2,columns=2)",
    "tic_tac_toe(rows=2,columns=3)",
]


@pytest.mark.parametrize("text", SMALL_GAMES)
def test_every_history_of_a_small_game_conforms(text):
    report = check_game(parse_game(text), rng=np.random.default_rng(1))

    assert report.is_complete
    assert report.has_public_states


@pytest.mark.parametrize("name", game_names())
def test_random_games_of_every_registered_game_conform(name):
    check_game(make_game(name), rng=np.random.default_rng(2), max_states=500, num_playthroughs=40)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.floats(-9, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_any_matrix_game_conforms(payoffs):
    check_game(make_game("matrix", payoffs=payoffs), rng=np.random.default_rng(0))


def test_report_counts_what_was_seen():
    report = check_game(make_game("kuhn"), rng=np.random.default_rng(0))

    assert (report.num_histories, report.num_terminals, report.num_infosets) == (58, 30, (6, 6))
    assert (report.longest, report.min_utility, report.max_utility) == (5, -2.0, 2.0)
    assert report.num_public_states == 11  # two deals, four decisions, five ends


def test_large_game_is_played_at_random():
    report = check_game(make_game("tic_tac_toe"), rng=np.random.default_rng(0), max_states=10, num_playthroughs=3)

    assert not report.is_complete
    assert 10 + 3 * 6 <= report.num_histories <= 10 + 3 * 10


def with_spec(**changes):
    """Returns Kuhn with another spec."""

    class Changed(Kuhn):
        def __post_init__(self):
            Kuhn.__post_init__(self)
            object.__setattr__(self, "spec", dataclasses.replace(self.spec, **changes))

    return Changed()


class StrangeActor(Kuhn):
    def actor(self, state):
        return 2 if state.public == "p" else state.actor


class DescendingActions(Kuhn):
    def legal_actions(self, state):
        return Kuhn.legal_actions(self, state)[::-1]


class NoActions(Kuhn):
    def legal_actions(self, state):
        return ()


class ActionsAtTheEnd(Kuhn):
    def legal_actions(self, state):
        return (0, 1) if state.actor == TERMINAL else Kuhn.legal_actions(self, state)


class ActionsByHiddenCard(Kuhn):
    def legal_actions(self, state):
        legal = Kuhn.legal_actions(self, state)
        return legal[:1] if state.cards[1:] == (2,) else legal


class UnevenChance(Kuhn):
    def chance_outcomes(self, state):
        return tuple((card, probability * 0.9) for card, probability in Kuhn.chance_outcomes(self, state))


class ImpossibleOutcome(Kuhn):
    def chance_outcomes(self, state):
        outcomes = Kuhn.chance_outcomes(self, state)
        return ((0, 0.0), *((card, 1 / (len(outcomes) - 1)) for card, _ in outcomes[1:])) if outcomes else ()


class UnsortedChance(Kuhn):
    def chance_outcomes(self, state):
        return Kuhn.chance_outcomes(self, state)[::-1]


class ChanceWithoutTurn(Kuhn):
    def chance_outcomes(self, state):
        return Kuhn.chance_outcomes(self, state) if state.actor == CHANCE else ((0, 1.0),)


class Forgetful(Kuhn):
    """Its description changes with every action applied."""

    count = 0

    def apply(self, state, action):
        Forgetful.count += 1
        return Kuhn.apply(self, state, action)

    def describe(self, state):
        return f"{Forgetful.count} actions"


class Wavering(Kuhn):
    """Applies the same action differently each time."""

    count = 0

    def apply(self, state, action):
        Wavering.count += 1
        return Kuhn.apply(self, state, action)._replace(bets="p" * Wavering.count)


class AcceptsAnything(Kuhn):
    def apply(self, state, action):
        return Kuhn.apply(self, state, action if action in self.legal_actions(state) or state.actor < 0 else 0)


class RaisesTheWrongError(Kuhn):
    def apply(self, state, action):
        allowed = self.legal_actions(state) or dict(self.chance_outcomes(state))
        if action not in allowed:
            raise KeyError(action)
        return Kuhn.apply(self, state, action)


class InfostateOnTurnOnly(Kuhn):
    def infostate(self, state, player):
        if state.actor != player:
            raise InvalidStateError("not on turn")
        return Kuhn.infostate(self, state, player)


class TwoLineInfostate(Kuhn):
    def infostate(self, state, player):
        return Kuhn.infostate(self, state, player).replace(":", "\n")


class ForgetsTheFirstRound(Leduc):
    def infostate(self, state, player):
        card, _, public = Leduc.infostate(self, state, player).partition("|")
        return card + public[public.find("/") :] if "/" in public else card + "|" + public

    def public_state(self, state):
        return state.public[state.public.find("/") :] if "/" in state.public else state.public


class PublicHand(Kuhn):
    def public_state(self, state):
        return f"{state.cards} {state.public}"


class SilentPublic(Kuhn):
    def public_state(self, state):
        return ""


class SameNames(Kuhn):
    def action_name(self, state, action):
        return "act"


class NoClass(Kuhn):
    def action_class(self, state, action):
        return "raise"


class EverybodyWins(Kuhn):
    def returns(self, state):
        return tuple(abs(value) for value in Kuhn.returns(self, state))


class HighStakes(Kuhn):
    def returns(self, state):
        return tuple(3 * value for value in Kuhn.returns(self, state))


class OneReturn(Kuhn):
    def returns(self, state):
        return Kuhn.returns(self, state)[:1]


class EarlyReturns(Kuhn):
    def returns(self, state):
        return Kuhn.returns(self, state) if state.actor == TERMINAL else (0.0, 0.0)


BROKEN_GAMES = [
    (StrangeActor(), "actor: got 2"),
    (DescendingActions(), "legal actions: got"),
    (NoActions(), "legal actions: got"),
    (ActionsAtTheEnd(), "legal actions: .* nobody acts"),
    (ActionsByHiddenCard(), "one infostate, one list of actions"),
    (UnevenChance(), "chance: got"),
    (ImpossibleOutcome(), "chance: got"),
    (UnsortedChance(), "chance: got"),
    (ChanceWithoutTurn(), "chance: .* chance does not move"),
    (Forgetful(), "pure apply: the state changed"),
    (Wavering(), "pure apply: .* applied twice"),
    (AcceptsAnything(), "illegal actions: .* accepted"),
    (RaisesTheWrongError(), "illegal actions: .* raised KeyError"),
    (InfostateOnTurnOnly(), "infostate: .*not on turn"),
    (TwoLineInfostate(), "infostate: .* one line"),
    (ForgetsTheFirstRound(ranks=2, max_raises=1, merge_suits=True), "perfect recall"),
    (PublicHand(), "one infostate, one public state"),
    (SilentPublic(), "one public actor"),
    (SameNames(), "action names"),
    (NoClass(), "action class"),
    (EverybodyWins(), "zero-sum"),
    (HighStakes(), "utility range: returns"),
    (OneReturn(), "returns: got"),
    (EarlyReturns(), "returns: .* not ended"),
    (with_spec(max_length=4), "maximum length: 5 actions, declared 4"),
    (with_spec(max_utility=3.0), "utility range: declared .* attained"),
    (with_spec(min_utility=-3.0), "utility range: declared .* attained"),
    (with_spec(num_players=3), "returns: got"),
]


@pytest.mark.parametrize(("game", "law"), BROKEN_GAMES, ids=lambda value: type(value).__name__)
def test_broken_law_is_named(game, law):
    with pytest.raises(InvalidGameError, match=rf"^\w+ breaks the law of {law}"):
        check_game(game, rng=np.random.default_rng(0))


def test_unattained_range_may_be_allowed():
    check_game(with_spec(max_utility=3.0), rng=np.random.default_rng(0), is_range_attained=False)


class ManyFaults(EverybodyWins):
    """Four laws at once, and rules that raise."""

    def action_name(self, state, action):
        return "act"

    def infostate(self, state, player):
        if state.public == "pb":
            raise LookupError("lost")
        return Kuhn.infostate(self, state, player)

    def chance_outcomes(self, state):
        return tuple((card, probability * 0.9) for card, probability in Kuhn.chance_outcomes(self, state))


def test_all_laws_that_are_broken_are_reported_at_once():
    with pytest.raises(InvalidGameError) as caught:
        check_game(ManyFaults(), rng=np.random.default_rng(0))

    violations = caught.value.violations
    assert {one.law for one in violations} == {"chance", "action names", "infostate", "pure apply", "zero-sum"} | {
        "apply",
        "utility range",
    }
    assert len(str(caught.value).splitlines()) == len(violations)
    (first, *_) = [one for one in violations if one.law == "zero-sum"]
    assert (first.detail, first.state) == ("returns (1.0, 1.0) do not sum to 0", "cards J Q, bets pp")
    assert "it raised LookupError: lost; state: cards J Q, bets pb" in str(caught.value)
    assert str(caught.value).count("breaks the law of action names") == 3  # then they are counted
    assert "times more)" in str(caught.value)


def test_a_spec_that_cannot_be_found_is_a_finding():
    class NoSpec(Kuhn):
        @property
        def spec(self):
            raise LookupError("nowhere")

    with pytest.raises(InvalidGameError, match="NoSpec breaks the law of spec: it raised LookupError: nowhere"):
        check_game(object.__new__(NoSpec), rng=np.random.default_rng(0))


def test_an_endless_game_ends_at_its_declared_length():
    class Endless(Kuhn):
        def apply(self, state, action):
            return (
                Kuhn.apply(self, state, action)._replace(actor=0)
                if state.actor >= 0
                else Kuhn.apply(self, state, action)
            )

    with pytest.raises(InvalidGameError, match="maximum length: 6 actions, declared 5"):
        check_game(Endless(), rng=np.random.default_rng(0))
