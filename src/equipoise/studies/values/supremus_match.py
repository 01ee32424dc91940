# SPDX-License-Identifier: Apache-2.0
"""Study `supremus-match`: what an agent with value networks wins of simple agents, a blueprint, and DeepStack."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from equipoise.abstraction.bucketed_strategy import BucketedStrategy, BucketRecipe
from equipoise.agents.notation import AgentText, limit_seconds
from equipoise.core.errors import ConfigError
from equipoise.core.reporting import Reporter
from equipoise.evaluation.matches import ChunkPlayer, MatchConfig
from equipoise.games.holdem.rules import Holdem
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.registry import parse_game
from equipoise.runs.matches import MatchRequest, make_player
from equipoise.solvers.holdem.bucketed import BucketedSolver
from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, Verdict, judge
from equipoise.studies.values.kept_games import name_file, play_in_parts
from equipoise.studies.values.supremus_lbr import read_agent
from equipoise.trees.holdem.bucketed import build_bucketed_tree

__all__ = ["SUPREMUS_MATCH", "SupremusMatchConfiguration"]

WON: Final = "won (mbb/g)"  # panels
MEANS: Final = "means"
WIDTHS: Final = "half intervals"
HANDS: Final = "hands"
LUCK: Final = "times that deals scatter less by AIVAT"
ENDED: Final = "stopped by precision"
LAST: Final = 0  # abscissa of what all games so far say
BLUEPRINT: Final = "blueprint"  # as typed: the file of the settings
OWN: Final = "own"  # as typed: guesses that the study makes
GUESSED_MENU: Final = "a"  # the fewest bets: AIVAT is right whatever is guessed
GUESSED_BUCKETS: Final = BucketRecipe(sizes=(None, 10, 10, 10))
GUESSED_ITERATIONS: Final = 200
WANTED: Final = ("call", "uniform", "pushfold")  # that an agent worth its name beats
SEED: Final = 16


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SupremusMatchConfiguration:
    """Who plays, and how long."""

    # `;` stands for a comma; with the networks that come along
    agent: str = "supremus:seconds=0;iterations=50;menu=100%;a"
    opponents: tuple[str, ...] = ("call",)  # `blueprint` plays the file below, bets it does not know translated
    hands: tuple[int, ...] = (8,)  # at most, for each opponent; two to a deal
    precisions: tuple[float, ...] = (0.0,)  # mbb/g that an interval reaches to each side when a match stops; 0: none
    # for a decision of agents that search, against each opponent or all; 0: what their texts say
    seconds: tuple[float, ...] = (0.0,)
    blueprint: str = ""  # a file of hold'em in buckets
    guesses: str = ""  # a file of the same kind, coarser: games are scored by AIVAT; `own` makes one in the folder
    game: str = "holdem(menu=all)"
    keep: str = ""  # a folder: games are kept there, and a study that was interrupted goes on
    workers: int = 1
    chunk: int = 2  # deals between two looks at the clock

    def __post_init__(self) -> None:
        if not len(self.opponents) == len(self.hands) == len(self.precisions):
            raise ConfigError(f"each of {len(self.opponents)} opponents needs a number of hands and a precision")
        if len(self.seconds) not in (1, len(self.opponents)):
            raise ConfigError(f"seconds must be one for all or one for each of {len(self.opponents)} opponents")
        if min(self.hands) < 4 or min(self.precisions) < 0 or not min(self.seconds) >= 0:
            raise ConfigError(f"hands must be at least 4, precisions and seconds not negative, got {self.hands}")
        if BLUEPRINT in self.opponents and not self.blueprint:
            raise ConfigError("the opponent blueprint needs its file: the parameter blueprint=FILE")
        if self.guesses == OWN and not self.keep:
            raise ConfigError("guesses of one's own need a folder: the parameter keep=DIR")
        if not isinstance(parse_game(self.game), Holdem):
            raise ConfigError(f"game must be hold'em, got {self.game}")
        for opponent in (self.agent, *self.opponents):
            AgentText(self.write(opponent))

    def limit(self, opponent: str) -> float | None:
        """Returns seconds for a decision in a match, None for what the agents' texts say."""
        return self.seconds[self.opponents.index(opponent) % len(self.seconds)] or None

    def write(self, agent: str) -> str:
        """Returns an agent's text."""
        return f"translate:{self.blueprint}" if agent == BLUEPRINT else read_agent(agent)


def measure(configuration: SupremusMatchConfiguration) -> Iterator[Step]:
    """Yields what the agent has won so far, chunk by chunk."""
    game = parse_game(configuration.game)
    assert isinstance(game, Holdem)
    total, done = sum(configuration.hands), 0
    for opponent, hands, precision in zip(
        configuration.opponents, configuration.hands, configuration.precisions, strict=True
    ):
        yield Step(fraction=done / total, text=f"{opponent}: getting ready")
        guesses = find_guesses(configuration, game)
        play, config = _make_player(configuration, game, opponent, hands, precision, guesses)
        file = name_file("match", play.names[0], opponent, "aivat" if configuration.guesses else "chips")
        games = play_in_parts(
            play, config, label=game.spec.label, keep=configuration.keep, name=file, workers=configuration.workers
        )
        for result in games:
            found = result.estimate().scale(1000.0 / game.big_blind)
            points = (
                Point(panel=WON, curve=opponent, x=result.num_hands, y=found.mean),
                Point(panel=MEANS, curve=opponent, x=LAST, y=found.mean),
                Point(panel=WIDTHS, curve=opponent, x=LAST, y=found.half_width),
                Point(panel=HANDS, curve=opponent, x=LAST, y=result.num_hands),
                Point(panel=LUCK, curve=opponent, x=LAST, y=result.times_less() or 1.0),
                Point(panel=ENDED, curve=opponent, x=LAST, y=float(result.stopped_by == "precision")),
            )
            said = f"{opponent}, {result.num_hands:,} hands: {found.mean:+,.0f} ± {found.half_width:,.0f} mbb/g"
            yield Step(fraction=min((done + result.num_hands) / total, 0.999), text=said, points=points)
        done += hands
    yield Step(fraction=1.0, text="done")


def find_guesses(configuration: SupremusMatchConfiguration, game: Holdem) -> Path | None:
    """Returns the file by which games are scored, None by chips; one of the study's own is made if it is not there."""
    if configuration.guesses != OWN:
        return Path(configuration.guesses) if configuration.guesses else None
    path = Path(configuration.keep) / name_file("guesses", game.spec.label)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        spot = spot_of_game(dataclasses.replace(game, menu=GUESSED_MENU))
        tree = build_bucketed_tree(spot, GUESSED_BUCKETS.build(spot))
        solver = BucketedSolver(tree, rng=np.random.default_rng(SEED))
        solver.iterate(GUESSED_ITERATIONS)
        BucketedStrategy.of(solver, GUESSED_BUCKETS).save(path, {"iteration": solver.iteration, "seed": SEED})
    return path


def _make_player(
    configuration: SupremusMatchConfiguration,
    game: Holdem,
    opponent: str,
    hands: int,
    precision: float,
    guesses: Path | None,
) -> tuple[ChunkPlayer, MatchConfig]:
    """Returns who plays the deals, and how many."""
    makers = [AgentText(configuration.write(text)) for text in (configuration.agent, opponent)]
    request = MatchRequest(
        hands=2 * -(-hands // 2),
        precision=precision or None,
        seed=SEED,
        aivat=guesses,
    )
    play = make_player(request, game, limit_seconds(makers, configuration.limit(opponent)), Reporter())
    config = dataclasses.replace(play.config, deals_per_chunk=configuration.chunk)
    return dataclasses.replace(play, config=config), config  # type: ignore[type-var]  # players are dataclasses


def conclude(configuration: SupremusMatchConfiguration, measured: Measured) -> Conclusion:
    """Returns what the agent wins of everybody."""
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    for opponent, hands in zip(configuration.opponents, configuration.hands, strict=True):
        mean, width, played, luck, ended = (
            measured.at(panel, opponent, LAST) for panel in (MEANS, WIDTHS, HANDS, LUCK, ENDED)
        )
        rows.append(
            {
                "opponent": opponent,
                "hands": None if played is None else int(played),
                "wins (mbb/g)": mean,
                "± 95 %": width,
                "scatter less": luck if configuration.guesses else None,
                "paper": None,
            }
        )
        is_over = played is not None and (played >= hands or bool(ended))
        claims.append(_judge(opponent, mean if is_over else None, width, played))
    notes = (
        f"{configuration.agent} plays; seats swapped on the same cards; intervals of 95 %; all-ins by expectation.",
        "Scored by AIVAT." if configuration.guesses else "Scored by chips: -p guesses=FILE scores by AIVAT.",
        "The paper's opponent, Slumbot (Supremus +176 ± 44 mbb/g, its DeepStack -63 ± 40), is out of reach: a "
        "blueprint of our own stands for it.",
    )
    return Conclusion(rows=tuple(rows), claims=tuple(claims), notes=notes)


def _judge(opponent: str, mean: float | None, width: float | None, played: float | None) -> Claim:
    """Returns the verdict on an opponent being beaten; against those of equal strength it is what it is."""
    is_true, ours = None, "nothing, or not to the end"
    if mean is not None and width is not None and played is not None:
        is_true, ours = mean > width, f"{mean:+,.0f} ± {width:,.0f} mbb/g in {played:,.0f} hands"
    verdict = judge(is_true)
    if opponent == BLUEPRINT:
        statement = "value networks and search beat an abstraction-based agent without search, the blueprint"
        source = "section 4.4, against Slumbot"
        if verdict is Verdict.DENIED and mean is not None and width is not None and abs(mean) <= width:
            verdict = Verdict.UNDECIDED
    elif opponent.partition(":")[0] in WANTED:
        statement, source = f"beats {opponent}, an interval wholly above 0", "wanted here"
    else:
        statement, source = f"what it wins of {opponent}", "the paper has no such match"
        verdict = Verdict.NOT_MEASURED if is_true is None else Verdict.NOT_STATED
    return Claim(statement=statement, source=source, verdict=verdict, ours=ours)


SUPREMUS_MATCH: Final = Study(
    name="supremus-match",
    title="Matches of an agent with value networks",
    source="Zarick et al. 2020, section 4.4; opponents are our own",
    x_label="hands",
    y_label="mbb/g",
    sizes={
        Size.QUICK: SupremusMatchConfiguration(),
        Size.FULL: SupremusMatchConfiguration(
            agent="supremus:seconds=0",
            opponents=("call", "uniform", "pushfold", "deepstack:seconds=0"),  # the last with as many iterations
            hands=(5000, 5000, 5000, 1000),
            precisions=(100.0, 100.0, 100.0, 0.0),
            seconds=(0.5, 0.5, 0.5, 0.0),
            game="holdem(menu=all)",
            chunk=5,
        ),
    },
    measure=measure,
    conclude=conclude,
    panels=(WON,),
    is_log_y=False,
    seed=SEED,
)
