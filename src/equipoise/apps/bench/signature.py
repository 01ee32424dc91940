# SPDX-License-Identifier: Apache-2.0
"""Short hashes over the bits of what the solvers compute: a commit that changes one changes results, and says so.

Runs are seeded and short. Their bits depend neither on the processor nor on the compiler nor on the number of threads:
every number comes from additions, multiplications, divisions and roots in a fixed order, in the core or in NumPy's
elementwise operations. What a library adds up or approximates as it likes best is not in them; docs/reproducibility.md
says where that is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from equipoise.games.holdem.cards import DECKS, parse_board
from equipoise.games.holdem.menu_notation import parse_menu
from equipoise.games.holdem.ranges import Range, parse_range
from equipoise.games.holdem.spot import HoldemSpot
from equipoise.games.registry import make_game
from equipoise.search.gadgets import Distribution, Maxmargin, Resolve, SoftGate, Unsafe
from equipoise.search.holdem.depth_limit import LeafChoices, limit_depth
from equipoise.search.holdem.profile import HoldemProfile
from equipoise.search.holdem.subgame import HoldemSubgame
from equipoise.search.ismcts import ISMCTSConfig, TreeISMCTS
from equipoise.search.posing import pose
from equipoise.search.public import PublicProfile
from equipoise.search.resolving import SubgameSolver, solve_subgame
from equipoise.solvers.best_response import Evaluation
from equipoise.solvers.cfr import CFRSolver
from equipoise.solvers.egt import EGTSolver
from equipoise.solvers.fictitious_play import FictitiousPlaySolver
from equipoise.solvers.holdem.mccfr import HoldemMCCFRSolver
from equipoise.solvers.mccfr import MCCFRConfig, MCCFRSolver, Scheme
from equipoise.solvers.pruning import PrunedSolver, Pruning, PruningKind
from equipoise.solvers.rules import (
    CFR,
    DCFR,
    CFRPlus,
    DCFRPlus,
    Hedge,
    LinearCFR,
    NormalHedge,
    PredictiveCFRPlus,
    Rule,
    Thresholded,
)
from equipoise.solvers.warm_start import warm_start
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.holdem.tree import HoldemTree, build_holdem_tree
from equipoise.trees.public import PublicTree, build_public_tree
from equipoise.trees.vector import TreeStrategy

__all__ = ["FAMILIES", "compute_signature", "sign_family"]

RULES: Final[tuple[Rule, ...]] = (
    CFR(),
    CFRPlus(),
    LinearCFR(),
    DCFR(),
    DCFR(alpha=1.7, beta=0.3, gamma=2.5),
    DCFRPlus(delay=3),
    PredictiveCFRPlus(),
    Hedge(),
    NormalHedge(base=LinearCFR()),
    Thresholded(Hedge()),
)
NUM_ITERATIONS: Final = 10
SEED: Final = 0
LENGTH: Final = 12  # letters of a hash

Part = npt.NDArray[np.generic] | int | float | Evaluation  # of what a family computes
Family = Callable[[int], Iterator[Part]]  # number of threads -> parts in a fixed order


def compute_signature(*, num_threads: int = 1) -> str:
    """Returns a line with the name and the hash of every family, then one over all of them.

    Args:
        num_threads: of runs that can have a team; the hashes are the same whatever it is.
    """
    lines = [f"{name} {sign_family(name, num_threads=num_threads)}" for name in FAMILIES]
    whole = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:LENGTH]
    return "\n".join([*lines, f"signature {whole}"])


def sign_family(name: str, *, num_threads: int = 1) -> str:
    """Returns the hash of what a family of solvers computes."""
    digest = hashlib.sha256()
    for part in FAMILIES[name](num_threads):
        digest.update(encode_part(part))
    return digest.hexdigest()[:LENGTH]


def encode_part(part: Part) -> bytes:
    """Returns the kind, shape and bits of numbers.

    >>> encode_part(1) == encode_part(1.0), encode_part(0.1 + 0.2) == encode_part(0.3)
    (False, False)
    """
    numbers = np.array([*part.values, *part.best_response_values] if isinstance(part, Evaluation) else part)
    numbers = numbers.astype(numbers.dtype.newbyteorder("<"))
    return f"{numbers.dtype.str}{numbers.shape}".encode() + numbers.tobytes()


def _tree_sizes(tree: HistoryTree) -> Iterator[int]:
    """Yields what a tree counts."""
    yield from (tree.size.num_histories, tree.size.num_terminals, tree.size.num_infosets, tree.size.num_sequences)


def _run_cfr(solver: CFRSolver[HistoryTree] | CFRSolver[PublicTree]) -> Iterator[Part]:
    """Yields the tables of a short run, and how good its average is."""
    solver.iterate(NUM_ITERATIONS)
    yield from (solver.tables.regret_sum, solver.tables.strategy_sum, solver.tables.strategy, solver.evaluate())


def _history(num_threads: int) -> Iterator[Part]:
    """Full-width CFR on history trees."""
    for name in ("kuhn", "leduc", "liars_dice"):
        tree = build_history_tree(make_game(name))
        yield from _tree_sizes(tree)
        for rule in RULES:
            yield from _run_cfr(CFRSolver(tree, rule, num_threads=num_threads))
        yield from _run_cfr(CFRSolver(tree, CFRPlus(), is_alternating=False, num_threads=num_threads))
    several = build_history_tree(make_game("kuhn", players=3))
    yield from _run_cfr(CFRSolver(several, CFRPlus(), num_threads=num_threads))


def _public(num_threads: int) -> Iterator[Part]:
    """The same on public trees; the second is large enough for a team."""
    for tree in (_public_tree("leduc"), _public_tree("leduc", max_raises=7)):
        yield from (tree.cells.num_cells, tree.actor.size)
        for rule in RULES:
            yield from _run_cfr(CFRSolver(tree, rule, num_threads=num_threads))
        yield from _run_cfr(CFRSolver(tree, CFRPlus(), is_alternating=False, num_threads=num_threads))


def _public_tree(name: str, **parameters: int) -> PublicTree:
    """Returns the public tree of a game."""
    return build_public_tree(derive_public_game(make_game(name, **parameters)))


def _turn() -> HoldemTree:
    """Returns a turn of twenty cards, whose suits are partly alike."""
    deck = DECKS["royal"]
    return build_holdem_tree(
        HoldemSpot(
            deck=deck,
            board=parse_board("ThJhQsKc", deck),
            pot=20,
            big_blind=2,
            stacks=(47, 47),
            menu=parse_menu("100%, a; turn cap: 2; river cap: 1"),
            ranges=(Range.random(deck), parse_range("AA:0.3,KK,QQ,TT,AhKh:0.91,AsJs:0.37,QJ", deck)),
        )
    )


def _river() -> HoldemTree:
    """Returns a river of thirty-six cards."""
    deck = DECKS["short"]
    return build_holdem_tree(
        HoldemSpot(
            deck=deck,
            board=parse_board("9cThJsQhKs"),
            pot=20,
            big_blind=2,
            stacks=(40, 40),
            menu=parse_menu("50%, 100%, a / 100%, a"),
            ranges=(Range.random(deck), parse_range("AA,KK,QQ,JJ,TT:0.5,AK:0.5,A9s,QJs,87s", deck)),
        )
    )


def _holdem(num_threads: int) -> Iterator[Part]:
    """Hold'em in all three precisions."""
    for tree in (_river(), _turn()):
        yield from (tree.arrays.num_cells, len(tree.boards))
        for dtype in (np.float64, np.float32, np.int16):
            # policy maps with steps of their own have no form in whole numbers
            for rule in RULES[:6] if dtype is np.int16 else RULES[:-1]:
                solver = CFRSolver(tree, rule, dtype=dtype, num_threads=num_threads)
                solver.iterate(NUM_ITERATIONS)
                yield from (solver.tables.regret_sum, solver.tables.strategy_sum, solver.evaluate())


def _search(num_threads: int) -> Iterator[Part]:
    """Subgames of Leduc behind every kind of gate, and of a river."""
    tree = _public_tree("leduc")
    solver = CFRSolver(tree, CFRPlus(), num_threads=num_threads)
    solver.iterate(3)
    profile = PublicProfile(tree, solver.average_strategy())
    node = next(int(n) for n in np.flatnonzero((tree.actor >= 0) & (tree.actor[tree.parent] == -1)) if n)
    for method in (
        Unsafe(),
        Resolve(),
        Resolve(share=0.2),
        Maxmargin(),
        Resolve(distribution=Distribution(deviation=0.5)),
        Resolve(distribution=Distribution(deviation=0.5, gate=SoftGate.BEST_RESPONSE)),
    ):
        yield solve_subgame(profile, node, 0, method, iterations=NUM_ITERATIONS).strategy
    river = _river()
    above = CFRSolver(river, CFRPlus(), dtype=np.float64, num_threads=num_threads)
    above.iterate(3)
    sums = above.tables.strategy_sum
    above_all, subgame = HoldemProfile(TreeStrategy(river, sums)), HoldemSubgame.of_tree(river, sums)
    for gate in (Resolve(share=0.5), Maxmargin()):
        problem = pose(above_all, subgame, 1, gate)
        inner = SubgameSolver(subgame, problem, dtype=np.float64, num_threads=num_threads)
        inner.iterate(NUM_ITERATIONS)
        yield from (inner.tables.regret_sum, inner.tables.strategy_sum)


def _leaves(num_threads: int) -> Iterator[Part]:
    """A turn that ends before its river."""
    tree = _turn()
    sums = np.random.default_rng(SEED).random(tree.arrays.num_cells)
    blueprint = TreeStrategy(tree=tree, sums=sums)
    for choices in (LeafChoices(), LeafChoices.both()):
        for dtype in (np.float64, np.float32, np.int16):
            limited = limit_depth(tree.spot, blueprint, 0, choices, dtype=dtype, num_threads=num_threads)
            solver = CFRSolver(
                limited.tree, DCFR(), dtype=np.float64, num_threads=num_threads, frontier=limited.frontier
            )
            solver.iterate(NUM_ITERATIONS)
            yield from (solver.tables.regret_sum, solver.tables.strategy_sum, solver.evaluate())


def _pruned(_: int) -> Iterator[Part]:
    """Walks that leave out what earns nothing."""
    tree = build_history_tree(make_game("leduc"))
    for kind in PruningKind:
        solver = PrunedSolver(tree, CFR(), pruning=Pruning(kind=kind))
        solver.iterate(2 * NUM_ITERATIONS)
        yield from (solver.regret_sum, solver.strategy_sum)
    hedge = PrunedSolver(tree, Thresholded(Hedge()), pruning=Pruning(kind=PruningKind.REGRET))
    hedge.iterate(2 * NUM_ITERATIONS)
    yield from (hedge.regret_sum, hedge.strategy_sum)


def _sampled(_: int) -> Iterator[Part]:
    """Sampled runs: what they visit, and what they learn from it."""
    tree = build_history_tree(make_game("leduc"))
    for scheme in Scheme:
        solver = MCCFRSolver(tree, MCCFRConfig(scheme=scheme), rng=np.random.default_rng(SEED))
        solver.iterate(20)
        yield from (solver.nodes_touched, solver.tables.regret_sum, solver.tables.strategy_sum)
    turn = _turn()
    for scheme in (Scheme.EXTERNAL, Scheme.PUBLIC_CHANCE):
        sampler = HoldemMCCFRSolver(turn, MCCFRConfig(scheme=scheme), rng=np.random.default_rng(SEED))
        sampler.iterate(20)
        yield from (sampler.nodes_touched, sampler.tables.regret_sum, sampler.tables.strategy_sum)


def _first_order(num_threads: int) -> Iterator[Part]:
    """The excessive gap technique and fictitious play."""
    tree = build_history_tree(make_game("leduc"))
    gap = EGTSolver(tree, num_threads=num_threads)
    gap.iterate(NUM_ITERATIONS)
    yield from (gap.realization, gap.mu, gap.evaluate())
    play = FictitiousPlaySolver(tree, num_threads=num_threads)
    play.iterate(NUM_ITERATIONS)
    yield from (play.average_strategy(), play.evaluate())


def _warm_start(num_threads: int) -> Iterator[Part]:
    """Runs that begin with a strategy."""
    tree = build_history_tree(make_game("leduc"))
    strategy = CFRSolver(tree, CFRPlus()).average_strategy()
    solver = CFRSolver(tree, CFRPlus(), num_threads=num_threads)
    warm_start(solver, strategy)
    yield from _run_cfr(solver)
    turn = _turn()
    holdem = CFRSolver(turn, CFRPlus(), dtype=np.float32, num_threads=num_threads)
    warm_start(holdem, np.random.default_rng(SEED).random(turn.arrays.num_cells).astype(np.float32))
    holdem.iterate(2)
    yield from (holdem.tables.regret_sum, holdem.tables.strategy_sum)


def _tree_search(_: int) -> Iterator[Part]:
    """Information-set Monte Carlo tree search."""
    tree = build_history_tree(make_game("leduc"))
    search = TreeISMCTS(tree, ISMCTSConfig(num_simulations=50), rng=np.random.default_rng(SEED))
    search.search(np.arange(0, tree.num_actions.size, 7))
    yield from (search.tables.visits, search.tables.return_sum, search.tables.random_words)


FAMILIES: Final[Mapping[str, Family]] = {
    "history": _history,
    "public": _public,
    "holdem": _holdem,
    "search": _search,
    "leaves": _leaves,
    "pruned": _pruned,
    "sampled": _sampled,
    "first-order": _first_order,
    "warm-start": _warm_start,
    "ismcts": _tree_search,
}
