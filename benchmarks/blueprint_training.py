# SPDX-License-Identifier: Apache-2.0
"""Prints how many nodes and traversals a second blueprints are trained at, beside a plain loop in Python.

Seconds are those of the processor, of all threads together, after a warm-up; tables begin at the first visit, and their
size is printed, as small ones fit into caches. The plain loop is the twin in tests/reference, which agrees to the bit
with the core: one recursion over the same tree and deals. Run it from the top of a checkout.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import equipoise
from equipoise.abstraction.blueprints import SPECS, BlueprintSpec, make_deals
from equipoise.games.holdem.betting import initial_betting
from equipoise.solvers.blueprints.trainer import BlueprintConfig, BlueprintTrainer
from tests.reference.blueprint_clusters import Tables
from tests.reference.sampling import Xoshiro

# published by their authors, on machines and menus of their own
PUBLISHED = (("best open figure for six players, on another menu", "2,600 traversals a second"),)


def measure(name: str, spec: BlueprintSpec, *, num_threads: int, warm_up: float, seconds: float) -> None:
    """Prints the rates of a training with so many threads."""
    trainer = BlueprintTrainer(
        spec.betting, make_deals(spec), spec.num_buckets, BlueprintConfig(walk_every=4), num_threads=num_threads
    )
    spend(trainer, warm_up)
    deals, touched = trainer.num_deals, trainer.num_touched
    spent = spend(trainer, seconds)
    traversals = (trainer.num_deals - deals) * len(spec.stacks)
    report(f"{name}, {num_threads} thread{'s' * (num_threads > 1)}", trainer.num_touched - touched, traversals, spent)
    sys.stdout.write(f"    tables of {trainer.num_bytes / 1e9:.2f} GB\n")


def spend(trainer: BlueprintTrainer, seconds: float) -> float:
    """Trains for about so many seconds of the processor; returns how many it was."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        trainer.train(2000)
    return time.process_time() - began


def measure_plainly(name: str, spec: BlueprintSpec, *, seconds: float) -> None:
    """Prints the rates of the plain loop."""
    posted = initial_betting(spec.rules).committed
    twin = Tables(
        spec.betting.arrays, posted, spec.num_buckets, make_deals(spec), scale=1.0, floor=-(10**9), walked_streets=0
    )
    twin.random, twin.deck = Xoshiro([1, 2, 3, 4]), spec.cards.cards
    rng = np.random.default_rng(0)
    began, num_deals = time.process_time(), 0
    while time.process_time() - began < seconds:
        cards = rng.permutation(spec.cards.cards)[: 5 + 2 * len(posted)]
        twin.look_up(cards[:5], cards[5:].tolist())
        for twin.me, paid in enumerate(posted):
            twin.traverse(0, paid)
        num_deals += 1
    report(f"{name}, plain loop", twin.touched, num_deals * len(posted), time.process_time() - began)


def report(name: str, touched: int, traversals: int, seconds: float) -> None:
    """Prints a line."""
    sys.stdout.write(
        f"{name}: {touched / seconds / 1e6:.3f} million nodes and {traversals / seconds:,.0f} traversals a second\n"
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warm-up", type=float, default=20.0, help="processor seconds before anything counts")
    parser.add_argument("--seconds", type=float, default=20.0, help="processor seconds of each measurement")
    parser.add_argument("--specs", default="heads-up,six-open", help=f"of {', '.join(SPECS)}")
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    sys.stdout.write(f"equipoise {equipoise.__version__}, {platform.processor() or platform.machine()}\n")
    for name in options.specs.split(","):
        for num_threads in map(int, options.threads.split(",")):
            measure(
                name,
                SPECS[name],
                num_threads=num_threads,
                warm_up=options.warm_up * num_threads,
                seconds=options.seconds,
            )
        measure_plainly(name, SPECS[name], seconds=min(options.seconds, 10.0))
    for who, rate in PUBLISHED:
        sys.stdout.write(f"{who}: {rate}\n")


if __name__ == "__main__":
    main()
