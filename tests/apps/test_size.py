# SPDX-License-Identifier: Apache-2.0
"""What a spot takes, which menu it gets that names none, and what happens when it takes too much."""

import dataclasses
import re

import pytest

from equipoise.apps.display import ConsoleReporter, make_console
from equipoise.core import memory
from equipoise.core.errors import GameTooLargeError
from equipoise.games.holdem.menu_notation import format_menu, parse_menu
from equipoise.games.holdem.spot_file import parse_spot
from equipoise.runs import sizing
from equipoise.runs.request import RunRequest
from equipoise.runs.spot_run import prepare_spot

SPOT = """
board = "Ks7h2d"
pot = "5.5bb"
stacks = "97.5bb"
iterations = 1
ranges = {oop = "AA, KQs, 77", ip = "QQ, AKs, 22, 87s"}
"""

TURN = SPOT.replace("Ks7h2d", "Ks7h2d5c")


@pytest.fixture
def spot(tmp_path):
    path = tmp_path / "spot.toml"
    path.write_text(SPOT)
    return path


@pytest.fixture
def free(monkeypatch):
    """Returns a function that sets how many bytes of memory are free."""

    def set_free(num_bytes):
        monkeypatch.setattr(memory, "available_bytes", lambda: num_bytes)

    return set_free


def test_sizes_are_listed_from_many_bets_to_few(equipoise, spot):
    choices = equipoise("size", spot, "--json").json["choices"]
    assert {row["precision"] for row in choices} == {"float32", "int16"}
    full = [row["bytes"] for row in choices if row["precision"] == "float32"]
    assert full == sorted(full, reverse=True)
    assert all(row["seconds_per_iteration"] > 0 for row in choices)
    assert [row["is_taken"] for row in choices].count(True) == 1


def test_a_menu_of_ones_own_comes_first(equipoise, spot):
    choices = equipoise("size", spot, "--menu", "60%, a", "--json").json["choices"]
    assert choices[0]["menu"] == "60%, a"
    assert choices[0]["is_taken"]


def test_a_table_has_a_command_to_paste(equipoise, spot):
    shown = equipoise("size", spot).out
    assert "float32" in shown
    assert f"equipoise solve {spot} --menu" in shown


def test_a_dry_run_solves_nothing(equipoise, spot, tmp_path):
    out = tmp_path / "out.eq"
    assert "To paste" in equipoise("solve", spot, "--dry-run", "--out", out).out
    assert not out.exists()
    assert equipoise("solve", "kuhn", "--dry-run").out == ""


def test_games_have_no_size(equipoise):
    assert "kuhn is a game" in equipoise("size", "kuhn").err


@pytest.mark.parametrize(("share", "place"), [(4.0, 0), (1.5, 1)])
def test_the_default_menu_fits_the_free_memory(free, share, place):
    file = parse_spot(SPOT)
    _, _, largest = next(sizing.list_sizes(file, num_threads=1))
    free(int(share * largest))
    chosen = sizing.choose_menu(file)
    assert chosen.spot.menu == sizing.MENUS_BY_SIZE[place]
    assert not chosen.chooses_menu


def test_menus_that_cannot_even_be_planned_are_passed_over(free):
    file = parse_spot(SPOT)
    _, _, largest = next(sizing.list_sizes(file, num_threads=1))
    free(largest // 20)
    assert sizing.choose_menu(file).spot.menu in sizing.MENUS_BY_SIZE[2:]
    assert max(size for _, _, size in sizing.list_sizes(file, num_threads=1)) < largest


def test_menus_that_were_said_stay(free):
    free(1)
    said = parse_spot("menu = '40%, a'\n" + SPOT)
    assert format_menu(sizing.choose_menu(said).spot.menu) == "40%, a"


def test_a_run_goes_on_with_the_menu_that_it_began_with(equipoise, spot, free, tmp_path):
    spot.write_text(TURN)
    out = tmp_path / "out.eq"
    file = parse_spot(TURN)
    least = min(size for _, precision, size in sizing.list_sizes(file, num_threads=1) if precision == "float32")
    free(3 * least)
    said = re.search(r"no menu is given: '(.*)' fits", equipoise("solve", spot, "--out", out).err)
    free(10_000_000_000)
    assert format_menu(sizing.choose_menu(file).spot.menu) != said.group(1)
    assert equipoise("solve", spot, "--out", out, "--resume", "-n", "2").code == 0


def test_what_takes_more_than_half_of_the_memory_is_refused_with_smaller_choices(free, equipoise, spot):
    file = dataclasses.replace(parse_spot(SPOT), chooses_menu=False)
    sizes = [size for _, precision, size in sizing.list_sizes(file) if precision == "float32"]
    free(int(1.5 * sizes[0]))
    with pytest.raises(GameTooLargeError, match=r"are available\. Smaller: `menu` '.*' `precision` (int16|float32) \("):
        prepare_spot(file, RunRequest(), ConsoleReporter(make_console(is_quiet=True)))
    run = prepare_spot(file, RunRequest(), ConsoleReporter(make_console(is_quiet=True), is_confirmed=True))
    assert run.file.spot.menu == parse_menu("libratus")
    free(sizes[0] // 2)
    with pytest.raises(GameTooLargeError, match="are available"):  # nobody can go on with more than there is
        prepare_spot(file, RunRequest(), ConsoleReporter(make_console(is_quiet=True), is_confirmed=True))


def test_a_menu_that_cannot_even_be_planned_is_refused_with_smaller_choices(free, equipoise, spot):
    spot.write_text("menu = '50%, 100%, a / 100%, a'\n" + SPOT)
    free(280_000_000)
    refused = equipoise("solve", spot)
    assert refused.code == 2
    assert re.search(r"at the least, needs .* are available\. Smaller: --menu '.*' --precision ", refused.err)
    listed = equipoise("size", spot)
    assert "at the least, needs" in listed.err
    assert "To paste:" in listed.out
    assert listed.code == 0


def test_old_spellings_of_a_line_of_play_are_understood(equipoise, spot, tmp_path):
    out = tmp_path / "out.eq"
    spot.write_text("menu = '100%'\n" + TURN)
    equipoise("solve", spot, "--out", out)
    shown = {equipoise("show", out, option, "check").out for option in ("--line", "--node", "--state")}
    assert len(shown) == 1
    assert "ip acts" in shown.pop()
    assert equipoise("show", out, "--quiet").out == ""
    missing = equipoise("search", out)
    assert missing.code == 2
    assert "--line is missing" in missing.err
    assert "--node" not in equipoise("show", "--help").out
