# SPDX-License-Identifier: Apache-2.0
"""Agents by name: the one table from text to agents.

An agent is written `NAME` or `NAME:SETTINGS`; what the settings are is the entry's own business. One of the user's own
is the name of its class, `module:Class` or `file.py:Class`, with or without `:OPTIONS`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from equipoise.agents.base import Agent
from equipoise.agents.boards import make_uct_agent
from equipoise.agents.bot_programs import digest_bot, limit_bot, make_bot
from equipoise.agents.bots import MACHINES, Machine
from equipoise.agents.bots.playing import digest_machine, game_of_machine, limit_machine, make_machine_agent
from equipoise.agents.continual import ContinualAgent
from equipoise.agents.deep_cfr import digest_deep_cfr_run, game_of_deep_cfr_run, make_deep_cfr_agent
from equipoise.agents.engines import limit_engine, make_gtp, make_uci
from equipoise.agents.files import (
    FileSearch,
    digest_of_file,
    game_of_file,
    load_agent,
    load_search_agent,
    load_translating_agent,
)
from equipoise.agents.holdem.blueprint import game_of_blueprint, make_blueprint_agent
from equipoise.agents.holdem.push_fold import PushFoldAgent
from equipoise.agents.hunt import make_hunt_agent
from equipoise.agents.ismcts import make_ismcts_agent
from equipoise.agents.leduc import make_leduc_agent
from equipoise.agents.own import make_own_agent
from equipoise.agents.pog import digest_pog_run, game_of_pog_run, make_mcts_agent, make_pog_agent
from equipoise.agents.rebel import digest_run, game_of_run, make_rebel_agent
from equipoise.agents.resolving import OPTIONS, digest_resolving, make_resolving_agent
from equipoise.agents.search import SearchWhen
from equipoise.agents.simple import ClassAgent, UniformAgent
from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, ParseError, UnknownNameError
from equipoise.core.own_code import parse_class_text
from equipoise.games.base import ActionClass, Game
from equipoise.games.board_moves import CHESS, GO
from equipoise.games.holdem.betting import Street
from equipoise.games.holdem.rules import ALL_RAISES, Holdem
from equipoise.games.holdem.spot_game import spot_of_game
from equipoise.games.leduc import Leduc
from equipoise.games.public import HasPublicForm
from equipoise.games.registry import parse_game, take_game
from equipoise.search.continual import ContinualSettings
from equipoise.search.ismcts import FinalPolicy, ISMCTSConfig
from equipoise.search.notation import parse_method
from equipoise.trees.derive import derive_public_game
from equipoise.trees.history import estimate_num_histories

__all__ = [
    "AGENTS",
    "AgentEntry",
    "AgentText",
    "describe_agents",
    "limit_seconds",
    "looks_like_agent",
    "make",
    "parse_agent",
]

MAX_HISTORIES: Final = 1_000_000  # of a game whose public form is found by listing them: some ten seconds
EXPENSIVE: Final = "expensive"
LONGEST_NUMBER: Final = 18  # digits
STREETS: Final = {street.name.lower(): street for street in Street}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent as it is typed."""

    make: Callable[[Game[Any], str], Agent]  # called with the game and what stands after the colon
    settings: str = ""  # how these are written; empty: the agent takes none
    has_file: bool = False  # they begin with a file, which says what is played
    is_optional: bool = False  # they may be left out
    game: Callable[[], Game[Any]] | None = None  # what is played unless another game is named
    game_of: Callable[[str], Game[Any]] | None = None  # what is played, as the settings say
    digest: Callable[[str], str | None] | None = None  # of what it plays with that no file in its settings says
    limit: Callable[[str, float], str] | None = None  # settings with so many seconds for a decision; None: has no limit
    description: str


def _make_ismcts(game: Game[Any], text: str) -> Agent:
    """Returns the agent of `SIMULATIONS[,C[,POLICY]]`; C is half the range of returns unless it is given."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ConfigError(f"ismcts takes simulations, C and a final policy, got {len(parts)} settings: {text!r}")
    try:
        num_simulations = int(parts[0])
        exploration = float(parts[1]) if len(parts) > 1 else game.spec.utility_range / 2
    except ValueError:
        raise ConfigError(f"simulations and C of ismcts must be numbers, as in 1000,13, got {text!r}") from None
    final = parts[2] if len(parts) > 2 else FinalPolicy.MAX_VISITS
    if final not in list(FinalPolicy):
        raise UnknownNameError("final policy", final, list(FinalPolicy))
    config = ISMCTSConfig(num_simulations=num_simulations, exploration=exploration, final=FinalPolicy(final))
    return make_ismcts_agent(game, config)


def _make_search(game: Game[Any], text: str) -> Agent:
    """Returns the agent of `PATH[,METHOD[,ITERATIONS[,WHEN]]]` and options, such as `from=turn`, in any place."""
    path, *parts = [part.strip() for part in text.split(",")]
    rest = [part for part in parts if part != EXPENSIVE and "=" not in part]
    if len(rest) > 3:
        raise ConfigError(f"search takes a file, a method, iterations and when, got {len(rest) + 1} settings: {text!r}")
    changes: dict[str, Any] = {"is_expensive": EXPENSIVE in parts}
    if rest:
        changes["method"] = parse_method(rest[0])
    if len(rest) > 1:
        changes["iterations"] = _parse_iterations(rest[1], text)
    if len(rest) > 2:
        if rest[2] not in list(SearchWhen):
            raise UnknownNameError("time to search", rest[2], list(SearchWhen))
        changes["when"] = SearchWhen(rest[2])
    for name, _, value in (part.partition("=") for part in parts if "=" in part):
        changes |= _parse_search_option(name, value, text)
    return load_search_agent(path, game, FileSearch(**changes))


def _parse_search_option(name: str, value: str, given: str) -> dict[str, Any]:
    """Returns what an option of a search of hold'em changes."""
    if name == "from":
        if value not in STREETS:
            raise UnknownNameError("street", value, STREETS)
        return {"first_street": STREETS[value]}
    if name == "early":
        return {"early_iterations": _parse_iterations(value, given)}
    raise UnknownNameError("option of a search", name, ("from", "early"))


def _make_continual(game: Game[Any], text: str) -> Agent:
    """Returns the agent of `[ITERATIONS]`."""
    if game.spec.num_players != 2:
        raise ConfigError(f"continual re-solving is for 2 players, and {game.spec.label} has {game.spec.num_players}")
    settings = ContinualSettings(iterations=_parse_iterations(text, text)) if text else ContinualSettings()
    if isinstance(game, HasPublicForm):
        return ContinualAgent(game.public_form(), search=settings)
    if isinstance(game, Holdem) and game.board and game.menu != ALL_RAISES:
        return ContinualAgent(spot_of_game(game), rules=game, search=settings)
    size = estimate_num_histories(game, rng=np.random.default_rng(0), num_probes=100)
    if size > MAX_HISTORIES:
        raise ConfigError(
            f"{game.spec.label} has no public form of its own, and some {size:,.0f} histories are too many to find it"
        )
    return ContinualAgent(derive_public_game(game), search=settings)


def _resolving_entry(name: str, description: str) -> AgentEntry:
    """Returns an agent that plays whole hands of hold'em, or of Leduc, by continual re-solving."""
    return AgentEntry(
        make=lambda game, text: (
            make_leduc_agent(name, game, text) if isinstance(game, Leduc) else make_resolving_agent(name, game, text)
        ),
        settings="OPTION=VALUE,...",
        is_optional=True,
        game=lambda: Holdem(menu=ALL_RAISES),
        digest=lambda text: digest_resolving(name, text),
        limit=lambda text, seconds: f"{text}{',' if text else ''}seconds={seconds:g}",
        description=f"{description}; OPTION is one of {', '.join(OPTIONS)}",
    )


def _machine_entry(machine: Machine) -> AgentEntry:
    """Returns a machine of chapter 6, which plays from the folder of its training."""
    options = (
        "" if machine.search is None else "[,iterations=N][,seconds=S][,menu=SIZES][,perturbation=X][,nested=false]"
    )
    return AgentEntry(
        make=lambda game, text: make_machine_agent(machine, game, text),
        settings=f"DIR{options}",
        game_of=lambda text: game_of_machine(machine, text),
        digest=lambda text: digest_machine(machine, text),
        limit=None if machine.search is None else limit_machine,
        description=f"hold'em heads-up as {machine.title}; DIR is of `train blueprint {machine.name}`",
    )


def _parse_iterations(text: str, given: str) -> int:
    if not text.isdecimal() or len(text) > LONGEST_NUMBER or int(text) < 1:
        got = f"{text[:LONGEST_NUMBER]!r} in {given[:80]!r}"
        raise ConfigError(f"iterations of a search must be a whole number of at least 1, got {got}")
    return int(text)


AGENTS: Mapping[str, AgentEntry] = {
    "uniform": AgentEntry(make=lambda _game, _text: UniformAgent(), description="every action as often"),
    "call": AgentEntry(make=lambda _game, _text: ClassAgent(ActionClass.CALL), description="always checks or calls"),
    "fold": AgentEntry(
        make=lambda _game, _text: ClassAgent(ActionClass.FOLD), description="folds to every bet, checks else"
    ),
    "raise": AgentEntry(
        make=lambda _game, _text: ClassAgent(ActionClass.RAISE),
        description="raises whenever it can, each size as often",
    ),
    "pushfold": AgentEntry(
        make=lambda game, _text: PushFoldAgent(game),
        description="hold'em heads-up by a push-or-fold chart: all in before the flop or not at all",
    ),
    "file": AgentEntry(
        make=lambda game, path: load_agent(path, game),
        settings="PATH",
        has_file=True,
        description="plays what `solve` wrote: a game's strategy, a spot, a blueprint",
    ),
    "ismcts": AgentEntry(
        make=_make_ismcts,
        settings="SIMULATIONS[,C[,POLICY]]",
        description="searches at every decision; POLICY is visits, max-visits (unless given) or max-value",
    ),
    "search": AgentEntry(
        make=_make_search,
        settings="PATH[,METHOD[,ITERATIONS[,WHEN]]][,from=STREET][,early=N][,expensive]",
        has_file=True,
        description="plays a file, solves what it comes to again as `search` does; WHEN: rounds, decisions or replies",
    ),
    "translate": AgentEntry(
        make=lambda game, path: load_translating_agent(path, game),
        settings="PATH",
        has_file=True,
        description="plays a file of hold'em and takes bets that it does not know for those it knows",
    ),
    "blueprint": AgentEntry(
        make=make_blueprint_agent,
        settings="PATH[,purify[=STREET]][,threshold=X]",
        has_file=True,
        game_of=game_of_blueprint,
        description="plays what `train blueprint` wrote, for two to six players; unknown bets are taken for known ones",
    ),
    "continual": AgentEntry(
        make=_make_continual,
        settings="ITERATIONS",
        is_optional=True,
        description="solves every decision again from what it found at the one before; needs no file",
    ),
    "bot": AgentEntry(
        make=make_bot,
        settings="COMMAND",
        digest=digest_bot,
        limit=limit_bot,
        description="a program of one's own in any language, asked in lines of JSON (docs/bots.md)",
    ),
    "uci": AgentEntry(
        make=make_uci,
        settings="[seconds=S,][nodes=N,][depth=D,][skill=K,]COMMAND",
        limit=limit_engine,
        game=lambda: parse_game(CHESS),
        description="an engine of chess that speaks UCI, such as uci:skill=0,stockfish; 0.1 s a move unless told",
    ),
    "gtp": AgentEntry(
        make=make_gtp,
        settings="[seconds=S,]COMMAND",
        limit=limit_engine,
        game=lambda: parse_game(f"{GO}(board_size=9)"),
        description="an engine of Go that speaks GTP, such as 'gtp:gnugo --mode gtp --level 1'",
    ),
    "rebel": AgentEntry(
        make=make_rebel_agent,
        settings="RUN[,iterations=N][,horizon=N]",
        game_of=game_of_run,
        digest=digest_run,
        description="plays a training of `train rebel` (a folder, or one of the package) by random iterations",
    ),
    "pog": AgentEntry(
        make=make_pog_agent,
        settings="RUN[,s=N][,c=X][,k=N][,alternating=true][,share=X][,seed=N][,sampled=N]",
        game_of=game_of_pog_run,
        digest=digest_pog_run,
        description="plays a training of `train pog` (a folder, or one of the package), searching every decision",
    ),
    "deep-cfr": AgentEntry(
        make=make_deep_cfr_agent,
        settings="RUN[,player=policy|values]",
        game_of=game_of_deep_cfr_run,
        digest=digest_deep_cfr_run,
        description="plays a training of `train deep-cfr` (a folder): the network of its average, or all iterations",
    ),
    "mcts": AgentEntry(
        make=make_mcts_agent,
        settings="RUN[,s=N][,sampled=N]",
        game_of=game_of_pog_run,
        digest=digest_pog_run,
        description="AlphaZero's search with a network of `train pog`, for games that hide nothing",
    ),
    "uct": AgentEntry(
        make=make_uct_agent,
        settings="SIMULATIONS[,C]",
        description="tree search with uniform playouts at every decision, for games that hide nothing",
    ),
    "hunt": AgentEntry(
        make=make_hunt_agent,
        settings="SIMULATIONS[,FEATURE=false...]",
        description="Scotland Yard by supposing where Mr. X is; FEATURE: one_tree, categories, coalition, greedy, "
        "filter",
    ),
    "supremus": _resolving_entry("supremus", "hold'em, solving each decision's street with values at its end"),
    "deepstack": _resolving_entry(
        "deepstack", "the same with DeepStack's menu and rule, rivers behind the turn solved in buckets"
    ),
    **{name: _machine_entry(machine) for name, machine in MACHINES.items()},
}


@dataclasses.dataclass(frozen=True, slots=True)
class AgentText:
    """An agent as text, which other processes can make for themselves; calling it makes the agent.

    >>> AgentText("call").name
    'call'
    """

    text: str

    def __post_init__(self) -> None:
        check_text("agent", self.text)
        _find_entry(self.text)

    @property
    def name(self) -> str:
        """Returns the text."""
        return self.text

    @property
    def game(self) -> Game[Any] | None:
        """Returns the game that the agent's file is for, or that the agent is made for; None if any will do."""
        path, (entry, settings) = self.path, _find_entry(self.text)
        if entry.game_of is not None:
            return entry.game_of(settings)
        if path is not None:
            return game_of_file(path)
        return None if entry.game is None else entry.game()

    @property
    def takes_seconds(self) -> bool:
        """Returns whether its decisions can have a limit of seconds."""
        return _find_entry(self.text)[0].limit is not None

    def limit(self, seconds: float) -> AgentText:
        """Returns the agent with so many seconds for a decision; itself if it has no such limit."""
        entry, settings = _find_entry(self.text)
        if entry.limit is None:
            return self
        return AgentText(f"{self.text.strip().partition(':')[0]}:{entry.limit(settings, seconds)}")

    def digest(self) -> str | None:
        """Returns a short hash over the content of the agent's file or over its networks, None if it has neither."""
        path, (entry, settings) = self.path, _find_entry(self.text)
        if path is not None:
            return digest_of_file(path)
        return None if entry.digest is None else entry.digest(settings)

    @property
    def path(self) -> str | None:
        """Returns the agent's file, None if it has none."""
        entry, settings = _find_entry(self.text)
        if not entry.has_file:
            return None
        return settings.partition(",")[0] if "," in entry.settings else settings

    def __call__(self, game: Game[Any]) -> Agent:
        """Returns the agent."""
        entry, settings = _find_entry(self.text)
        return entry.make(game, settings)


def limit_seconds(makers: Sequence[AgentText], seconds: float | None) -> list[AgentText]:
    """Returns agents of which those that can have so many seconds for a decision; None: as they are.

    >>> [maker.name for maker in limit_seconds([AgentText("call"), AgentText("supremus")], 2.0)]
    ['call', 'supremus:seconds=2']
    """
    if seconds is None:
        return list(makers)
    if not any(maker.takes_seconds for maker in makers):
        able = ", ".join(name for name, entry in AGENTS.items() if entry.limit is not None)
        raise ConfigError(f"none of these agents takes seconds for its decisions: {able} do")
    return [maker.limit(seconds) for maker in makers]


def parse_agent(text: str, game: Game[Any]) -> Agent:
    """Returns the agent that a text names.

    >>> from equipoise.games.registry import make_game
    >>> parse_agent("raise", make_game("kuhn")).name
    'raise'
    """
    return AgentText(text)(game)


def make(text: str, game: Game[Any] | str | None = None) -> Agent:
    """Returns the agent that a text names (`"search:turn.eq"`), for a game or for the one that its file is of.

    >>> make("call", "kuhn").name
    'call'
    """
    maker = AgentText(text)
    played = maker.game if game is None else take_game(game)
    if played is None:
        raise ConfigError(f"agent {text!r} plays any game: say which")
    return maker(played)


def looks_like_agent(text: str) -> bool:
    """Returns whether a text begins as an agent does: with a name of the table, or with a user's class.

    >>> looks_like_agent("call"), looks_like_agent("mine.py:Bluffer"), looks_like_agent("run.eq")
    (True, True, False)
    """
    return text.partition(":")[0] in AGENTS or parse_class_text(text) is not None


def describe_agents() -> str:
    """Returns every way to write an agent, for the help of commands."""
    return ", ".join([*(_write(name, entry) for name, entry in AGENTS.items()), "FILE.py:CLASS[:OPTIONS]"])


def _write(name: str, entry: AgentEntry) -> str:
    """Returns how an agent is written."""
    if not entry.settings:
        return name
    return f"{name}[:{entry.settings}]" if entry.is_optional else f"{name}:{entry.settings}"


def _find_entry(text: str) -> tuple[AgentEntry, str]:
    """Returns what makes the agent that a text names, and its settings."""
    name, colon, settings = text.strip().partition(":")
    if name not in AGENTS:
        if name.endswith(".eq"):
            raise ParseError(f"an agent that plays a file is written file:{text.strip()}, got {text!r}")
        return _own_entry(text, name)
    entry = AGENTS[name]
    if colon and not settings:
        raise ConfigError(f"nothing stands behind the colon of {text!r}")
    if bool(entry.settings) != bool(settings) and not entry.is_optional:
        raise ConfigError(f"this agent is written {_write(name, entry)}, got {text!r}")
    return entry, settings


def _own_entry(text: str, name: str) -> tuple[AgentEntry, str]:
    """Returns what makes an agent of the user's own, and its options."""
    own = parse_class_text(text)
    if own is None:
        raise UnknownNameError("agent", name, AGENTS)
    if not own.is_file and not own.can_be_found:
        raise ConfigError(f"{UnknownNameError('agent', name, AGENTS)} There is no module {own.where!r} either")
    if own.rest[:1] not in ("", ":"):
        raise ConfigError(f"options of an agent stand behind a colon, {own}:OPTIONS, got {text!r}")
    entry = AgentEntry(
        make=functools.partial(make_own_agent, own),
        settings="OPTIONS",
        is_optional=True,
        description="one of the user's",
    )
    return entry, own.rest[1:]
