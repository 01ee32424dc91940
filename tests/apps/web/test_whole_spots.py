# SPDX-License-Identifier: Apache-2.0
"""Values of tables too large to be read at once; here every table counts as large."""

import json
import threading

import pytest

from equipoise import load
from equipoise.apps.web.errors import ApiError
from equipoise.apps.web.library import Library
from equipoise.apps.web.places import Places
from equipoise.apps.web.whole_spots import WholeSpot, Wish
from equipoise.core.errors import AbandonedError
from equipoise.kernels.holdem.sweeps import HoldemKernel
from equipoise.solvers.holdem import solved_spot
from equipoise.trees.holdem.places import HoldemPlace

SECONDS = 20


@pytest.fixture
def places(tmp_path, solved, monkeypatch):
    monkeypatch.setattr(solved_spot, "LARGEST_READ_BYTES", 0)
    library = Library(tmp_path, [solved / "turn.eq"], open_bytes=10**9, on_change=lambda: None)
    yield Places(library)
    library.close()


@pytest.fixture
def held_up(monkeypatch):
    """Holds sweeps up until told, and says that one has begun."""
    begun, may_go_on, real = threading.Event(), threading.Event(), HoldemKernel.slot_values

    def wait(self, *given, **named):
        begun.set()
        assert may_go_on.wait(SECONDS)
        return real(self, *given, **named)

    monkeypatch.setattr(HoldemKernel, "slot_values", wait)
    return begun, may_go_on


def test_values_of_a_large_file_are_those_of_the_library(places, solved):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solved_spot, "LARGEST_READ_BYTES", 10**9)
        known = json.loads(json.dumps(load(solved / "turn.eq").describe_place("x")))
    without = json.loads(places.describe_node("turn", "x", has_values=False))
    assert (without["has_values"], without["actions"][0]["ev"]) == (False, None)
    whole = json.loads(places.describe_node("turn", "x"))
    assert whole["has_values"]
    assert whole == {"solution": "turn", **known}
    assert json.loads(places.describe_node("turn", "x", has_values=False)) == whole  # found already
    cards = json.loads(places.describe_cards("turn", "x,x", has_values=False))
    assert (cards["has_values"], cards["cards"][0]["ev"]) == (False, [None, None])


def test_strategies_do_not_wait_for_values(places, held_up):
    begun, may_go_on = held_up
    asked = threading.Thread(target=places.describe_node, args=("turn", ""))
    asked.start()
    assert begun.wait(SECONDS)
    assert json.loads(places.describe_node("turn", "x", has_values=False))["kind"] == "decision"
    may_go_on.set()
    asked.join(SECONDS)
    assert json.loads(places.describe_node("turn", "", has_values=False))["has_values"]


def test_values_that_nobody_waits_for_are_given_up(places, held_up):
    begun, may_go_on = held_up
    wish, refused = Wish(), []

    def ask():
        with pytest.raises(ApiError) as error:
            places.describe_node("turn", "", wish=wish)
        refused.append(error.value.code)

    asked = threading.Thread(target=ask)
    asked.start()
    assert begun.wait(SECONDS)
    wish.leave()
    may_go_on.set()
    asked.join(SECONDS)
    assert refused == ["given_up"]
    assert json.loads(places.describe_node("turn", ""))["has_values"]  # the next one is answered


def test_the_newest_wish_comes_first_and_those_that_left_never(solved):
    whole, order, begun, may_go_on = WholeSpot(solved / "turn.eq"), [], threading.Event(), threading.Event()

    def ask(name, wish):
        def describe(_):
            order.append(name)
            begun.set()
            assert may_go_on.wait(SECONDS)
            return b""

        try:
            whole.answer(describe, wish)
        except AbandonedError:
            order.append(f"not {name}")

    wishes = {name: Wish() for name in ("first", "old", "left", "new")}
    threads = []
    for name, wish in wishes.items():
        threads.append(threading.Thread(target=ask, args=(name, wish)))
        threads[-1].start()
        assert begun.wait(SECONDS)
        while len(whole._waiting) < len(threads) - 1:
            pass
    wishes["left"].leave()
    threads[2].join(SECONDS)
    may_go_on.set()
    for thread in threads:
        thread.join(SECONDS)
    assert order == ["first", "not left", "new", "old"]
    whole.close()


def test_a_sweep_that_is_stopped_says_so_and_the_next_is_done(solved):
    with solved_spot.SolvedSpot(solved / "turn.eq") as spot:
        spot.kernel.stop()
        with pytest.raises(AbandonedError):
            spot.views.view(HoldemPlace(0, spot.spot.board))
        assert spot.views.view(HoldemPlace(0, spot.spot.board)).players[0].value > 0


def test_a_spot_is_closed_without_waiting_for_its_table(solved, monkeypatch):
    begun, may_go_on, closed, real = threading.Event(), threading.Event(), [], solved_spot.SolvedSpot.close

    def read(self):
        begun.set()
        assert may_go_on.wait(SECONDS)

    def close(self):
        closed.append(self.path)
        real(self)

    monkeypatch.setattr(solved_spot.SolvedSpot, "read_values", read)
    monkeypatch.setattr(solved_spot.SolvedSpot, "close", close)
    whole, refused = WholeSpot(solved / "turn.eq"), []

    def ask():
        with pytest.raises(AbandonedError):
            whole.answer(lambda _: b"", Wish())
        refused.append(True)

    asked = threading.Thread(target=ask)
    asked.start()
    assert begun.wait(SECONDS)
    whole.close()  # a wait would never end: only what follows lets the table be read
    assert not closed
    may_go_on.set()
    asked.join(SECONDS)
    assert (refused, len(closed)) == ([True], 1)


def test_tables_that_are_read_whole_count_among_what_is_open(tmp_path, solved, monkeypatch):
    monkeypatch.setattr(solved_spot, "LARGEST_READ_BYTES", 0)
    files = [solved / "river.eq", solved / "turn.eq"]
    with solved_spot.SolvedSpot(files[1]) as spot:
        table = spot.strategy_sum.num_bytes
    room = sum(path.stat().st_size for path in files) + table - 1
    library = Library(tmp_path, files, open_bytes=room, on_change=lambda: None)
    places = Places(library)
    for id in ("river", "turn"):
        places.describe_node(id, "", has_values=False)
    assert list(library._open) == ["river", "turn"]
    places.describe_node("turn", "")
    assert list(library._open) == ["turn"]
    assert library._num_open_bytes() == files[1].stat().st_size + table
    library.close()
