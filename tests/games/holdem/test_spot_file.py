# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core.errors import ConfigError, ParseError
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import MENUS, format_menu, parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.holdem.spot_file import SpotFile, SpotLock, format_spot, load_spot, parse_spot
from equipoise.games.holdem.targets import Target, TargetUnit, format_target, parse_target

SPOT = """
board = "Ks7h2d5c"
pot = 200
stacks = 900
big_blind = 10
menu = "50%, 100%, a / 100%, a"
rule = "dcfr"
precision = "float32"
target = "0.5% pot"
iterations = 500
threads = 2

[ranges]
oop = "QQ+, AKs, AQo:0.5"
ip = "22+, A2s+"
"""


def change(old, new, text=SPOT):
    assert old in text
    return text.replace(old, new)


def test_a_spot_as_players_write_it():
    file = parse_spot(SPOT)
    assert file.spot.board == parse_board("Ks7h2d5c")
    assert (file.spot.pot, file.spot.stacks, file.spot.big_blind) == (200, (900, 900), 10)
    assert file.spot.ranges == (parse_range("QQ+, AKs, AQo:0.5"), parse_range("22+, A2s+"))
    assert file.spot.menu == MENUS["libratus"]
    assert (file.rule, file.precision, file.iterations, file.threads) == ("dcfr", "float32", 500, 2)
    assert file.target == Target(0.5, TargetUnit.POT)
    assert file.target.chips(file.spot) == 1.0


def test_first_and_second_are_out_of_and_in_position():
    other = change("oop =", "first =", change("ip =", "second ="))
    assert parse_spot(other) == parse_spot(SPOT)


def test_stacks_may_differ_and_decks_be_short():
    file = parse_spot(
        'board = "KsThJdQc"\npot = 20\nstacks = [30, 40]\ndeck = "short"\n[ranges]\noop = "AA"\nip = "random"\n'
    )
    assert file.spot.stacks == (30, 40)
    assert file.spot.deck == DECKS["short"]
    assert file.target is None


@pytest.mark.parametrize(
    ("table", "notation"),
    [
        ('menu = {sizes = "50%, a"}', "50%, a"),
        ('menu = {sizes = "50%, a", cap = 3}', "50%, a; cap: 3"),
        ('menu = {river = "75%, a", sizes = "50%"}', "50%; river: 75%, a"),
        (
            'menu = {river = {ip = {cap = 1, donk = "none"}, oop = "33%", sizes = "75%"}, sizes = "50%", merge = "9%"}',
            "50%; merge: 9%; river: 75%; river oop: 33%; river ip cap: 1; river ip donk: none",
        ),
        ('menu = {ip = "50%", oop = {sizes = "33%", donk = "none"}}', "ip: 50%; oop: 33%; oop donk: none"),
        ('menu = {sizes = "a", limp = "none"}', "push_fold"),
        ('menu = "libratus"', "libratus"),
    ],
)
def test_menus_by_street_and_player(table, notation):
    assert parse_spot(change('menu = "50%, 100%, a / 100%, a"', table)).spot.menu == parse_menu(notation)


def test_ranges_may_be_files_of_weights(tmp_path):
    weights = np.random.default_rng(1).random(1326)
    (tmp_path / "weights.txt").write_text("\n".join(map(repr, weights.tolist())))
    (tmp_path / "spot.toml").write_text(change('"22+, A2s+"', '{file = "weights.txt"}'))
    file = load_spot(tmp_path / "spot.toml")
    assert file.spot.ranges[1] == Range(weights)
    assert parse_spot(format_spot(file)) == file


PREFLOP = """
stacks = [40, 50]
big_blind = 4
small_blind = 1
ante = 1
bet_sizes = [4, 8]
max_raises = [0, 4]
last_street = "turn"
deck = "royal"
target = "10% pot"
"""


def test_a_spot_before_the_flop():
    spot = parse_spot(PREFLOP).spot
    everything = Range.random(DECKS["royal"])
    assert (spot.board, spot.pot, spot.ranges) == ((), 0, (everything, everything))
    assert (spot.small_blind, spot.ante, spot.bet_sizes, spot.max_raises) == (1, 1, (4, 8), (0, 4))
    assert (spot.last_street, spot.menu) == (Street.TURN, MENUS["limit"])
    assert parse_spot('board = ""\n' + PREFLOP) == parse_spot(PREFLOP)


def test_before_the_flop_blinds_and_antes_are_the_pot():
    file = parse_spot(PREFLOP)
    spot = file.spot
    assert (spot.paid, spot.behind, spot.root_pot) == ((5, 2), (35, 48), 7)
    assert file.target.chips(spot) == pytest.approx(0.7)
    after = parse_spot(SPOT).spot
    assert (after.paid, after.behind, after.root_pot) == ((100, 100), (900, 900), 200)
    assert (spot.name, after.name) == ("preflop", "turn Ks7h2d5c")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"small_blind = 1\n": "", "ante = 1\n": ""},
        {"bet_sizes = [4, 8]\n": 'menu = "preflop: 3x, a; flop: 50%, a; turn: a"\n', "max_raises = [0, 4]\n": ""},
        {"target": '[ranges]\noop = "AA, KQs:0.5"\nip = "TT+"\n[menu]\nsizes = "min"\n#'},
    ],
)
def test_spots_before_the_flop_are_written_as_they_are_read(changes):
    text = PREFLOP
    for old, new in changes.items():
        text = change(old, new, text)
    assert parse_spot(format_spot(parse_spot(text))) == parse_spot(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stacks = [40, 50]", "", "the spot has no stacks; is the file cut short"),
        ("stacks = [40, 50]", "stacks = 40\npot = 7", "has a pot and no board.* Before the flop leave out the pot"),
        ("small_blind = 1", "small_blind = 5", "small_blind must be between 0 and the big blind 4, got 5"),
        ("small_blind = 1", "small_blind = 0.00001", "amounts have at most four decimals, got"),
        (
            "small_blind = 1",
            'small_blind = "half"',
            "small_blind: must be chips, or big blinds as in '5.5bb', got 'half'",
        ),
        ("ante = 1", "ante = -1", "ante: must be positive, got -1"),
        ("bet_sizes = [4, 8]", "bet_sizes = [4, 0]", "bet_sizes: must be positive, got 0"),
        ("bet_sizes = [4, 8]", "bet_sizes = []", "bet_sizes: must be one number, or up to four from before the flop"),
        ("max_raises = [0, 4]", "max_raises = [-1]", "max_raises: must be whole numbers from 0, got -1"),
        ("max_raises = [0, 4]", "max_raises = [1, 2, 3, 4, 5]", "max_raises: must be one number, or up to four"),
        ('"turn"', '"preflop"', 'last_street: must be "flop", "turn", "river", .* got \'preflop\''),
        ('"turn"', "3", "last_street: must be .* got 3"),
        ('"turn"', "[]", r"last_street: must be .* got \[\]"),
        ("target", '[ranges]\nfirst = "AA"\nsecond = "KK"\n#', "ranges: unknown field 'first'"),
        ("target", '[ranges]\noop = "AA"\n#', "the spot has no ranges.ip"),
    ],
)
def test_wrong_fields_before_the_flop_are_named(old, new, message):
    with pytest.raises(ParseError, match=message):
        parse_spot(change(old, new, PREFLOP))


RAKED = change(
    "[ranges]",
    """rake = {rate = 0.05, cap = 30}
[[locks]]
line = "check, bet 50%"
hands = "QQ+"
play = {fold = 0.25, call = 0.75}
[ranges]""",
)


def test_rake_and_locks():
    file = parse_spot(RAKED)
    assert (file.spot.rake_rate, file.spot.rake_cap) == (0.05, 30.0)
    assert file.locks == (SpotLock(line="check, bet 50%", hands="QQ+", play={"fold": 0.25, "call": 0.75}),)
    assert parse_spot(format_spot(file)) == file
    assert math.isinf(parse_spot(change(", cap = 30", "", RAKED)).spot.rake_cap)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pot =", "pott =", "unknown field 'pott'; did you mean pot"),
        ("oop =", "opp =", "ranges: unknown field 'opp'; did you mean"),
        ("ip =", "second =", "ranges: unknown field 'oop'"),
        ('board = "Ks7h2d5c"\n', "", "the spot has a pot and no board; is the file cut short"),
        ('"Ks7h2d5c"', '" "', "the spot has a pot and no board"),
        ("threads = 2", "small_blind = 5", "small_blind: is paid before the flop, and the spot has a board"),
        ("threads = 2", "ante = 1", "ante: is paid before the flop"),
        ("Ks7h2d5c", "Ks7h2d5", "board: a board is a row of cards"),
        ("Ks7h2d5c", "Ks7hKs5c", "board: a board's cards are different, got Ks twice"),
        ("Ks7h2d5c", "Ks7h", "board: a board has 0, 3, 4 or 5 cards, got 2"),
        ("Ks7h2d5c", "Ks7h2d1c", "board: a card is a rank"),
        ('"Ks7h2d5c"', "7", "board: must be a text in quotes, got 7"),
        ("pot = 200", 'pot = "5.5"', "pot: must be chips, or big blinds as in '5.5bb', got '5.5'"),
        ("pot = 200", 'pot = "-5bb"', "pot: must be chips, or big blinds"),
        ("big_blind = 10", 'big_blind = "1bb"', "big_blind: must be a number of chips, the unit of amounts"),
        ("stacks = 900\nbig_blind = 10", "stacks = 900.5", "stacks: 900.5 is no whole number of chips; write big"),
        ("pot = 200", "pot = 0", "pot: must be positive, got 0"),
        ("pot = 200", "pot = true", "pot: must be a number, got True"),
        ("pot = 200", "pot = nan", "pot: must be a number, got nan"),
        ("pot = 200", "pot = inf", "pot: must be whole chips, got inf"),
        ("pot = 200", f"pot = {10**400}", "pot: must be a number of a sensible size, got 1000"),
        ("pot = 200", f"pot = 0x{'f' * 5000}", "pot: must be a number of a sensible size, got a number of thousands"),
        ("pot = 200", f"pot = {'9' * 5000}", "the spot is no TOML that can be read: Exceeds the limit"),
        ("pot = 200", f"pot = {'[' * 20_000}", "the spot is no TOML that can be read: maximum recursion depth"),
        ("pot = 200", "pot = 1e13", "pot: must be at most 1,000,000,000,000 chips, got 1"),
        ("stacks = 900", f"stacks = {2**63}", "stacks: must be at most 1,000,000,000,000 chips, got 9223"),
        ("stacks = 900", "stacks = 0", "stacks: must be positive, got 0"),
        ("stacks = 900", "stacks = [900, 0]", "stacks: must be positive, got 0"),
        ("stacks = 900", "stacks = [1, 2, 3]", "stacks: must be one number of chips, or two"),
        ("stacks = 900", "stacks = []", "stacks: must be one number of chips, or two"),
        ("big_blind = 10", "big_blind = -1", "big_blind: must be positive"),
        ("big_blind = 10", 'deck = "shrot"', "deck: a deck is full, short"),
        ('"QQ+, AKs, AQo:0.5"', '""', "ranges.oop: a range needs at least one entry"),
        ('"QQ+, AKs, AQo:0.5"', '"QQQ"', "ranges.oop: range entry 'QQQ'"),
        ('"QQ+, AKs, AQo:0.5"', "3", "ranges.oop: must be a text in quotes, got 3"),
        ('"QQ+, AKs, AQo:0.5"', '"random:0"', "ranges: the range oop is empty"),
        ('"QQ+, AKs, AQo:0.5"', '"Ks7h"', "ranges: the board Ks7h2d5c blocks every hand of the range oop"),
        (
            '"QQ+, AKs, AQo:0.5"',
            '"QQ:1e-200"',
            "ranges: the weights of the ranges oop and ip are too small .* 1e-200 and 1",
        ),
        ('"QQ+, AKs, AQo:0.5"', '{file = "x"}', "ranges.oop: must be a range such as"),
        ('oop = "QQ+, AKs, AQo:0.5"\n', "", "the spot has no ranges.oop; is the file cut short"),
        ('"50%, 100%, a / 100%, a"', '"libratos"', "menu: unknown menu 'libratos'; did you mean libratus"),
        ('"50%, 100%, a / 100%, a"', '"50"', "menu: bet size '50' is not understood"),
        ('"50%, 100%, a / 100%, a"', '"min"', "menu never closes"),
        (
            '"50%, 100%, a / 100%, a"',
            f'"50%; cap: {"9" * 5000}"',
            "menu: cap must be a whole number such as 4, got '999",
        ),
        ('"50%, 100%, a / 100%, a"', '"flop: 50%"', "menu has no sizes for turn oop"),
        ('"50%, 100%, a / 100%, a"', "50", "menu: must be a text such as"),
        ('"50%, 100%, a / 100%, a"', '{rivr = "50%"}', "menu: unknown field 'rivr'; did you mean river"),
        ('"50%, 100%, a / 100%, a"', "{river = 50}", "menu: river must be a text such as"),
        ('"50%, 100%, a / 100%, a"', "{river = {cap = true}}", "menu: river.cap must be a text"),
        ('"50%, 100%, a / 100%, a"', "{river = {cap = {}}}", "menu: river.cap must be a text, got a table"),
        ('"50%, 100%, a / 100%, a"', "{river = {merge = 3}}", "menu: river: unknown field 'merge'"),
        ('"0.5% pot"', '"0.5 pots"', "target: a target is written 0.5% pot, 20 mbb or 3 chips"),
        ('"0.5% pot"', "-1", "target: a target is written"),
        ('"0.5% pot"', "[]", "target: must be a number"),
        ("iterations = 500", "iterations = 0", "iterations: must be a whole number from 1, got 0"),
        ("iterations = 500", "seconds = 0", "seconds: must be positive and finite, got 0"),
        ("threads = 2", 'threads = "2"', "threads: must be a whole number from 1, got '2'"),
        ("threads = 2", "rake = 0.05", "rake: must be a table"),
        ("threads = 2", "rake = {rate = 5}", "rake.rate: must be a share of the pot"),
        ("threads = 2", "rake = {cap = 5}", "rake.rate: is missing"),
        ("threads = 2", "rake = {rate = 0.05, cap = -1}", "rake.cap: must not be negative"),
        ("threads = 2", "locks = 3", "locks: must be a list of tables"),
        ("threads = 2", "locks = [3]", r"locks\[0\]: must be a table with line and play"),
        ("threads = 2", 'locks = [{line = "check"}]', r"locks\[0\]: has no play"),
        ("[ranges]\n", 'ranges = "AA"\n[rangs]\n', "unknown field 'rangs'; did you mean ranges"),
        ('"Ks7h2d5c"', '"Ks7h2d5c', "the spot is not TOML"),
    ],
)
def test_wrong_fields_are_named_with_what_they_have(old, new, message):
    with pytest.raises(ParseError, match=message):
        parse_spot(change(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("check, bet 50%", "bet 70%", r"locks\[0\].line: line step 'bet 70%' is none of the actions at the root"),
        ("check, bet 50%", "check, check", r"locks\[0\].line: nobody acts after 'check, check', it is a street end"),
        ("fold = 0.25", "check = 0.25", r"locks\[0\].play: line step 'check' is none of the actions after"),
        ("fold = 0.25", "c = 0.25", r"locks\[0\].play: names one action twice"),
        ("fold = 0.25", "fold = 0.3", r"locks\[0\].play: must be shares from 0 to 1 that sum to 1"),
        ("play = {fold = 0.25, call = 0.75}", "play = 1", r"locks\[0\].play: must be a table"),
        ('"QQ+"', '"KsKd:0"', r"locks\[0\].hands: the player's range on this board has no hand"),
        ("hands =", "hand =", r"locks\[0\]: unknown field 'hand'; did you mean hands"),
    ],
)
def test_wrong_locks_are_named(old, new, message):
    with pytest.raises(ParseError, match=message):
        parse_spot(change(old, new, RAKED))


@pytest.mark.parametrize("share", range(0, 100, 3))
def test_files_cut_short_are_refused_or_whole(share):
    cut = RAKED[: len(RAKED) * share // 100]
    with pytest.raises(ParseError, match=r"cut short|: "):
        parse_spot(cut)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0.5 " * 1325, "weights.txt must have 1,326 weights, .* got 1,325; is the file cut short"),
        ("0.5 " * 1325 + "x", "weight 1326 of weights.txt must be a number from 0 to 1, got 'x'"),
        ("0.5 " * 1325 + "2", "weights of a range are 0 to 1, got 2.0 for AsAh"),
        (None, "cannot read .*weights.txt: no such file"),
    ],
)
def test_wrong_files_of_weights_are_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "weights.txt").write_text(content)
    with pytest.raises(ParseError, match="ranges.ip: " + message):
        parse_spot(change('"22+, A2s+"', '{file = "weights.txt"}'), folder=tmp_path)


def test_files_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "spot.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParseError, match="is not text"):
        load_spot(tmp_path / "spot.toml")
    with pytest.raises(ParseError, match=r"cannot read .*: is a directory"):
        load_spot(Path(tmp_path))
    with pytest.raises(ParseError, match=r"ranges.ip: cannot read .*x00.*: embedded null byte"):
        parse_spot(change('"22+, A2s+"', r'{file = "a\u0000b"}'), folder=tmp_path)
    with pytest.raises(ParseError, match=r"cannot read '~nobody.here/spot.toml': could not determine home"):
        load_spot("~nobody.here/spot.toml")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("0.5%", Target(0.5, TargetUnit.POT)),
        ("0.5 % of the pot", Target(0.5, TargetUnit.POT)),
        ("10mbb", Target(10, TargetUnit.MBB)),
        ("1e-3 chips", Target(0.001)),
        ("3", Target(3.0)),
    ],
)
def test_targets(text, target):
    assert parse_target(text) == target
    assert parse_target(format_target(target)) == target


def test_targets_in_chips():
    spot = parse_spot(SPOT).spot
    assert Target(20, TargetUnit.MBB).chips(spot) == pytest.approx(0.2)
    assert Target(0.5, TargetUnit.CHIPS).chips(spot) == 0.5


@pytest.mark.parametrize("text", ["", "%", "5 bb", "1.2.3%", "-1", "nan", "1e999"])
def test_wrong_targets(text):
    with pytest.raises(ValueError, match="target"):
        parse_target(text)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_spot_can_be_written_and_read(data):
    deck = DECKS["small"]
    cards = data.draw(st.permutations(deck.cards))[: data.draw(st.integers(3, 5))]
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    ranges = Range(rng.random(deck.num_hands), deck), Range(rng.integers(1, 3, deck.num_hands) / 2, deck)
    chips = st.integers(1, 10**6)
    file = SpotFile(
        spot=HoldemSpot(
            board=tuple(cards),
            pot=2 * data.draw(chips),
            stacks=(data.draw(chips), data.draw(chips)),
            big_blind=data.draw(st.integers(1, 1000)),
            ranges=ranges,
            deck=deck,
            rake_rate=data.draw(st.sampled_from([0.0, 0.05])),
            menu=parse_menu(
                data.draw(st.sampled_from(["libratus", "33%, a; river donk: none", "50%; turn ip cap: 2"]))
            ),
        ),
        rule=data.draw(st.none() | st.just("dcfr(1.5,0,2)")),
        target=data.draw(st.none() | st.builds(Target, st.floats(0, 1e6), st.sampled_from(TargetUnit))),
        iterations=data.draw(st.none() | st.integers(1, 10**9)),
        seconds=data.draw(st.none() | st.floats(1e-3, 1e6)),
    )
    assert parse_spot(format_spot(file)) == file


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ('pot = "5.5bb"\nstacks = "97.5 BB"', (550, 9750, 100)),
        ('pot = "5.5bb"\nstacks = 975\nbig_blind = 10', (550, 9750, 100)),  # 55 chips: no half of them is whole
        ("pot = 5.5\nstacks = 97.5\nbig_blind = 1", (550, 9750, 100)),
        ("pot = 201\nstacks = 900\nbig_blind = 10", (2010, 9000, 100)),
        ("pot = 200\nstacks = 900\nbig_blind = 10", (200, 900, 10)),
    ],
)
def test_amounts_are_taken_as_they_are_written(amounts, expected):
    spot = parse_spot(f'board = "Ks7h2d5c"\n{amounts}\nranges = {{oop = "AA", ip = "QQ"}}').spot
    assert (spot.pot, spot.stacks[0], spot.big_blind) == expected


def test_whatever_counts_chips_is_cut_with_them():
    text = (
        'board = "Ks7h2d5c"\npot = 5.5\nstacks = 97.5\nbig_blind = 1\nmenu = "3c, a; river donk: 2c"\n'
        'target = "0.1 chips"\nrake = {rate = 0.05, cap = 3}\nranges = {oop = "AA", ip = "QQ"}'
    )
    file = parse_spot(text)
    assert format_menu(file.spot.menu) == "300c, a; river donk: 200c"
    assert file.target is not None
    assert file.target.amount == 10
    assert file.spot.rake_cap == 300
    assert parse_spot(format_spot(file)) == file


def test_titles_and_seats_are_kept():
    file = parse_spot(change("pot = 200", 'pot = 200\ntitle = "Single raised"\nseats = ["BB", "BTN"]'))
    assert (file.title, file.seat_names, file.name) == ("Single raised", ("BB", "BTN"), "Single raised (turn Ks7h2d5c)")
    assert parse_spot(format_spot(file)) == file
    assert (parse_spot(SPOT).seat_names, parse_spot(SPOT).name) == (("oop", "ip"), "turn Ks7h2d5c")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("title = 3", "title: must be a text"),
        ('title = ""', "title: must be a line of 1 to 80"),
        ('title = "a\\nb"', "title: must be a line"),
        ('seats = "BB"', "seats: must name both players"),
        ('seats = ["BB"]', "seats: must name both players"),
        ('seats = ["BB", "BB"]', "seats: must be two names"),
        ('seats = ["BB", 3]', "seats: must be a text"),
    ],
)
def test_titles_and_seats_that_cannot_be(line, message):
    with pytest.raises(ParseError, match=message):
        parse_spot(change("pot = 200", f"pot = 200\n{line}"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"board": "Ks7h2d"}, "board must be cards as .*, got 'Ks7h2d'"),
        ({"board": None}, "board must be cards as .*, got None"),
        ({"ranges": None}, "ranges must be two as .*, got None"),
        ({"ranges": ("AA", "KK")}, r"ranges must be two as .*, got \('AA', 'KK'\)"),
        ({"stacks": 3}, "stacks must be two numbers of chips, got 3"),
    ],
)
def test_a_spot_of_other_things_is_refused(changed, message):
    fields = {
        "board": parse_board("Ks7h2d5c"),
        "ranges": (Range.random(), Range.random()),
        "stacks": (30, 30),
        **changed,
    }
    with pytest.raises(ConfigError, match=message):
        HoldemSpot(**fields)
