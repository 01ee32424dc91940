# SPDX-License-Identifier: Apache-2.0
"""How a command of a page is really run in a test: gaps filled, and less of the same work.

Only amounts are cut (iterations, hands, repeats, boards, samples, seconds); command, options and files stay.
"""

import re
import shlex

from tests.docs.blocks import split_command

# what stands for the reader's own: a file of the scratch folder, or a name
FILLED = {
    "GAME": "kuhn",
    "G": "kuhn",
    "NAME": "kuhn",
    "FILE": "kuhn.eq",
    "FILE...": "kuhn.eq",
    "[FILE...]": "kuhn.eq",
    "[NAME]": "kuhn",
    "SPOT.toml": "spot.toml",
    "spot.toml": "spot.toml",
    "SPOT": "spot.toml",
    "RANGE": "QQ+",
    "STATE": ":",
    "AGENT": "call",
    "A": "call",
    "B": "uniform",
    "OUT": "out.csv",
    "PICTURE": "picture.png",
    "YOURS": "call",
    "dcfr,YOURS": "dcfr,cfr+",
}
BY_COMMAND = {  # where the same word stands for something else
    "blueprint": {"FILE": "blueprint.eq"},
    "lines": {"FILE": "turn.eq"},
    "export": {"FILE": "turn.eq"},
    "search": {"FILE": "leduc.eq", "STATE": "crc/Qs:", "...": "crc/Qs:"},
    "games": {"FILE": "kuhn.efg"},
    "reproduce": {"[NAME]": "coin-toss", "NAME": "coin-toss", "YOURS": "coin-toss"},
    "optimise": {"GAME": "leduc", "NAMES": "raise_sizes", "SPOT.toml": "examples/spots/river.toml"},
    "report": {"DIR": "report"},
    "train": {"DIR": "nets"},
    "bench": {"FILE": "peers.toml"},
}
# amounts by the beginning of a command: options that replace its own
AMOUNTS = {
    "solve": {},
    "report": {"--iterations": "1", "--menu": "50%; cap: 1", "--boards": "Ks7h2d, Qs8h3d"},
    "blueprint": {"--iterations": "50", "--buckets": "2"},
    "train blueprint": {"--estimate": None},
    "train values": {"--samples": "24", "--steps": "4"},
    "train pog": {"--examples": "64", "--seeds": "1", "--simulations": "4", "--hours": "0.001"},
    "train deep-cfr": {"--iterations": "2", "--traversals": "20", "--hours": "0.001"},
    "train rebel": {"--examples": "64", "--playthroughs": "2", "--hours": "0.001"},
    "bench tabular": {
        "--games": "kuhn",
        "--repeats": "1",
        "--seconds": "0.01",
        "--engines": "equipoise",
        "--sizes": "quick",
    },
    "bench holdem": {"--repeats": "1", "--seconds": "0.01", "--longest": "0.1", "--threads": "1"},
    "bench responses": {"--count": "20", "--repeats": "1"},
    "bench matches": {"--seconds": "0.01", "--workers": "1", "--deck": "royal"},
    "bench values": {"--seconds": "0.01", "--iterations": "2", "--workers": "1"},
    "bench page": {"--clients": "2", "--iterations": "5", "--repeats": "1", "--threads": "1", "--no-browser": None},
    "bench search": {"--repeats": "1", "--river-pots": "4000", "--turn-pots": "none", "--threads": "1"},
    "bench decisions": {"--hands": "1", "--agent": "supremus:leaves=equity,iterations=2,seconds=0"},
    "bench beliefs": {"--seconds": "0.01"},
    "bench first-evening": {"--no-readme": None, "--longest": "1"},
}
SETTINGS = {  # of studies
    "games": "leduc-6",
    "seeds": "1",
    "buckets": "4",
    "spots": "1",
    "num_values": "1,2",
    "blueprint_iterations": "100",
    "search_iterations": "50",
    "holdem_iterations": "20",
    "holdem_resets": "10",
    "share_reset": "10",
    "sampled_sweeps": "4",
}
SETTINGS_OF = {  # of one study, where the same word means something else
    "pog-boards": {"games": "4"},
    "pog-glasses": {"games": "glasses-a,glasses-b", "simulations": "25", "seeds": "1"},
    "pog-leduc": {"simulations": "25", "seeds": "1"},
    "pog-scaling": {"simulations": "10,20", "games": "2"},
    "scotland-yard": {"simulations": "10", "opponent": "10", "games": "2"},
    "supremus-lbr": {"hands": "2,1"},
    "supremus-match": {"hands": "2"},
}
MOST = {"--hands": 50, "-n": 50, "--num-responses": 5, "--repeats": 1, "--iterations": 500, "--target": None}
LONG = (
    "train",
    "bench",
    "blueprint",
    "export turn.eq --out",
    "export turn.eq --values",
    "lbr",
    "report",
    "evaluate deepstack",
    "pushfold",
    "optimise examples/spots",
)
ENDLESS = ("serve", "dealer")  # until Ctrl-C, or until players come


def fill_command(line):
    """Returns the words of a command with every gap filled."""
    words = split_command(line.replace("A|B", "A"))
    own = BY_COMMAND.get(words[0], {}) if words else {}
    return [own.get(word, FILLED.get(word, word)) for word in words]


def shorten_command(words):
    """Returns a command that does less of the same."""
    if words[0] == "reproduce":
        least = SETTINGS | SETTINGS_OF.get(words[1], {}) if len(words) > 1 else {}
        return [_cut_setting(word, least) for word in words if word != "--full"]
    amounts = dict(AMOUNTS.get(" ".join(words[:2]), AMOUNTS.get(words[0], {})))
    if words[0] == "solve" and any(word.startswith("uct:") for word in words):
        words, amounts = [re.sub(r"^uct:\d+", "uct:50", word) for word in words], {"--iterations": "3"}
    if words[0] == "solve" and any(word.endswith(".toml") or word == "--from" for word in words):
        amounts = {"--iterations": "3"}
    if words[0] == "report" and not any(word.endswith(".toml") for word in words):
        amounts = {}
    for option, most in MOST.items():
        if most is not None and option in words and words[words.index(option) + 1].isdigit():
            given = int(words[words.index(option) + 1])
            amounts.setdefault(option, str(min(given, most)))
    kept, skips = [], False
    for word in words:
        if skips:
            skips = False
        elif word in amounts:
            skips = amounts[word] is not None
        else:
            kept.append(word)
    return [*kept, *(part for pair in amounts.items() for part in pair if part is not None)]


def _cut_setting(word, least):
    """Returns a setting of a study with the least of it, if that is known."""
    name, equals, _ = word.partition("=")
    return f"{name}={least[name]}" if equals and name in least else word


def is_long(words):
    """Returns whether even the shortened command takes too long for the suite."""
    if words[0] == "reproduce" and len(words) > 1:
        return words[1] != "coin-toss"
    # by a command of the page that is long
    is_trained = any(word.startswith(("rebel:dice", "deep-cfr:deep-leduc")) for word in words)
    starts = any(" ".join(words).startswith(start) for start in LONG)
    return is_trained or (starts and words != ["bench", "--signature"])


def is_endless(words):
    """Returns whether a command goes on until somebody ends it."""
    return words[0] in ENDLESS


def format_command(words):
    """Returns words as they would be typed."""
    return shlex.join(["equipoise", *words])
