# SPDX-License-Identifier: Apache-2.0
"""Any turn-based game of OpenSpiel as one of ours; simultaneous ones through OpenSpiel's own conversion.

OpenSpiel is optional (`pip install 'equipoise[games]'`) and imported only when such a game is made. Its rules
are taken as they are: what OpenSpiel does not promise (attained utility bounds, public states) is not
promised here.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from equipoise.core.checks import check_text
from equipoise.core.errors import ConfigError, InvalidStateError, MissingExtraError, UnknownNameError
from equipoise.games.base import CHANCE, TERMINAL, ActionClass, GameSpec, derived, illegal_action, no_returns
from equipoise.games.parameters import ParameterRow, format_value, parse_value

__all__ = ["PREFIX", "OpenSpielGame", "OpenSpielState", "load_openspiel", "openspiel_parameter_rows"]

PREFIX = "openspiel:"
FILE = "filename"  # a parameter without which games that are read from files do not exist
UNCOPYABLE = frozenset({"morpion_solitaire"})  # games that OpenSpiel 2.0 crashes on where it copies a state


@dataclasses.dataclass(frozen=True, slots=True)
class OpenSpielState:
    """The actions so far, chance included, with OpenSpiel's state beside them; equal histories are equal."""

    history: tuple[int, ...]
    inner: Any = dataclasses.field(compare=False, repr=False)  # pyspiel.State, never changed in place


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OpenSpielGame:
    """A game of OpenSpiel behind the `Game` protocol; made by `load_openspiel`.

    >>> OpenSpielGame(short_name="kuhn_poker").spec.num_players
    2
    """

    short_name: str
    settings: tuple[tuple[str, Any], ...] = ()  # parameters that differ from OpenSpiel's defaults
    spec: GameSpec = derived()
    _game: Any = derived()  # pyspiel.Game
    _is_perfect_information: bool = derived()
    _has_infostate_string: bool = derived()

    def __post_init__(self) -> None:
        game = _load(self.short_name, dict(self.settings))
        pyspiel = _import_pyspiel()
        game_type = game.get_type()
        information = pyspiel.GameType.Information
        object.__setattr__(self, "_game", game)
        object.__setattr__(self, "_is_perfect_information", game_type.information == information.PERFECT_INFORMATION)
        object.__setattr__(self, "_has_infostate_string", game_type.provides_information_state_string)
        if not self._has_infostate_string and not self._is_perfect_information:
            raise ConfigError(f"{PREFIX}{self.short_name} is not supported: no information state strings")
        spec = GameSpec(
            name=f"{PREFIX}{self.short_name}",
            version=1,
            num_players=game.num_players(),
            parameters=dict(self.settings),
            is_zero_sum=game_type.utility == pyspiel.GameType.Utility.ZERO_SUM,
            min_utility=game.min_utility(),
            max_utility=game.max_utility(),
            max_length=game.max_game_length() + game.max_chance_nodes_in_history(),
        )
        object.__setattr__(self, "spec", spec)

    def initial_state(self) -> OpenSpielState:
        """Returns OpenSpiel's initial state."""
        return OpenSpielState((), self._game.new_initial_state())

    def actor(self, state: OpenSpielState) -> int:
        """Returns the player to move, `CHANCE` or `TERMINAL`."""
        if state.inner.is_terminal():
            return TERMINAL
        return CHANCE if state.inner.is_chance_node() else int(state.inner.current_player())

    def legal_actions(self, state: OpenSpielState) -> tuple[int, ...]:
        """Returns the acting player's actions, ascending."""
        if state.inner.is_terminal() or state.inner.is_chance_node():
            return ()
        return tuple(sorted(state.inner.legal_actions()))

    def chance_outcomes(self, state: OpenSpielState) -> tuple[tuple[int, float], ...]:
        """Returns the outcomes of positive probability, ascending."""
        if not state.inner.is_chance_node():
            return ()
        return tuple(sorted(outcome for outcome in state.inner.chance_outcomes() if outcome[1] > 0))

    def apply(self, state: OpenSpielState, action: int) -> OpenSpielState:
        """Returns the state after an action, on a copy of OpenSpiel's state."""
        if action not in state.inner.legal_actions():  # at a chance node, OpenSpiel lists the outcomes here
            raise illegal_action(self, state, action)
        return OpenSpielState((*state.history, action), state.inner.child(action))

    def returns(self, state: OpenSpielState) -> tuple[float, ...]:
        """Returns each player's total reward at the end."""
        if not state.inner.is_terminal():
            raise no_returns(self, state)
        return tuple(state.inner.returns())

    def infostate(self, state: OpenSpielState, player: int) -> str:
        r"""Returns OpenSpiel's information state on one line, with `\n` for its line breaks.

        Off turn the public state follows it, if there is one: OpenSpiel's strings often leave out what
        a player sees while others act.
        """
        if not self._has_infostate_string:
            return self.public_state(state)
        text: str = state.inner.information_state_string(player)
        text = _escape(text)
        if self.actor(state) == player or not self._has_public_states():
            return text
        return f"{text} [{self.public_state(state)}]"

    def public_state(self, state: OpenSpielState) -> str:
        """Returns what everybody has seen, and who moves; `InvalidStateError` if OpenSpiel cannot tell."""
        if self._is_perfect_information:
            return f"{' '.join(map(str, state.history))} ({self._turn(state)})"
        observation = _public_observation(str(self._game))
        if observation is None:
            raise InvalidStateError(
                f"{self.spec.name} has no public states: OpenSpiel offers no public observation of it"
            )
        return f"{_escape(observation.string_from(state.inner, 0))} ({self._turn(state)})"

    def action_name(self, state: OpenSpielState, action: int) -> str:
        """Returns OpenSpiel's words for an action or a chance outcome."""
        return _escape(str(state.inner.action_to_string(state.inner.current_player(), action)))

    @property
    def is_perfect_information(self) -> bool:
        """Returns whether the game hides nothing."""
        return self._is_perfect_information

    @property
    def num_actions(self) -> int:
        """Returns how many actions OpenSpiel tells apart."""
        return int(self._game.num_distinct_actions())

    def planes(self, state: OpenSpielState) -> npt.NDArray[np.float32]:
        """Returns OpenSpiel's observation as numbers, as the player to move has it."""
        if not self._game.get_type().provides_observation_tensor:
            raise ConfigError(f"{self.spec.name} has no observations in numbers")
        return np.array(state.inner.observation_tensor(max(self.actor(state), 0)), np.float32)

    def action_class(self, state: OpenSpielState, action: int) -> ActionClass:
        """Returns the class that OpenSpiel's word for the action suggests, `OTHER` if none."""
        if state.inner.is_chance_node():
            return ActionClass.OTHER
        word = self.action_name(state, action).split(" ")[-1].lower()
        classes = {"fold": ActionClass.FOLD, "call": ActionClass.CALL, "check": ActionClass.CALL}
        return classes.get(word, ActionClass.RAISE if word in {"bet", "raise"} else ActionClass.OTHER)

    def describe(self, state: OpenSpielState) -> str:
        """Returns OpenSpiel's text of the state on one line."""
        return _escape(str(state.inner))

    def _has_public_states(self) -> bool:
        return self._is_perfect_information or _public_observation(str(self._game)) is not None

    def _turn(self, state: OpenSpielState) -> str:
        actor = self.actor(state)
        return {CHANCE: "chance moves", TERMINAL: "over"}.get(actor, f"player {actor} moves")


def load_openspiel(text: str, **parameters: Any) -> OpenSpielGame:
    """Returns an OpenSpiel game by its text, such as `goofspiel(num_cards=4)`, and further parameters.

    >>> import equipoise
    >>> round(equipoise.solve(load_openspiel("kuhn_poker"), method="lp").game_value, 4)
    -0.0556
    """
    check_text("an OpenSpiel game", text)
    short_name, settings = _parse(text)
    defaults = _game_type(short_name).parameter_specification
    for key, value in parameters.items():
        settings[key] = value
    for key, value in settings.items():
        if key not in defaults:
            allowed = f"it has {', '.join(sorted(defaults))}" if defaults else "it has none"
            raise ConfigError(f"{PREFIX}{short_name} has no parameter {key!r}; {allowed}")
        kind = type(defaults[key])
        if kind in (bool, int, float, str):
            settings[key] = parse_value(key, value, kind)
    return OpenSpielGame(short_name=short_name, settings=tuple(sorted(settings.items())))


def openspiel_parameter_rows(text: str) -> tuple[ParameterRow, ...]:
    """Returns the parameters that OpenSpiel lists for a game; it gives them no descriptions."""
    short_name, _ = _parse(text)
    kinds = {bool: "true or false", int: "an integer", float: "a number", str: "text"}
    return tuple(
        ParameterRow(
            name=key,
            type=kinds.get(type(default), "a game"),
            default=format_value(default),
            description="see OpenSpiel",
        )
        for key, default in sorted(_game_type(short_name).parameter_specification.items())
    )


def _import_pyspiel() -> ModuleType:
    try:
        return importlib.import_module("pyspiel")
    except ImportError:
        raise MissingExtraError("open_spiel", "games", "an openspiel: game") from None


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    pyspiel = _import_pyspiel()
    short_name = text.partition("(")[0].strip()
    _game_type(short_name)
    try:
        settings = dict(pyspiel.game_parameters_from_string(text.strip()))
    except pyspiel.SpielError as error:
        raise ConfigError(f"OpenSpiel does not understand {text!r}: {error}") from None
    settings.pop("name", None)
    return short_name, settings


def _game_type(short_name: str) -> Any:
    types = {game_type.short_name: game_type for game_type in _import_pyspiel().registered_games()}
    if short_name not in types:
        raise UnknownNameError("OpenSpiel game", short_name, types)
    return types[short_name]


def _load(short_name: str, settings: dict[str, Any]) -> Any:
    """Returns the turn-based pyspiel game; raises `ConfigError` for what no tree can hold."""
    pyspiel = _import_pyspiel()
    if short_name in UNCOPYABLE:
        raise ConfigError(f"{PREFIX}{short_name} is not supported: OpenSpiel crashes where it copies a state of it")
    if _game_type(short_name).parameter_specification.get(FILE) == "" and not settings.get(FILE):
        raise ConfigError(f"{PREFIX}{short_name} is read from a file: {PREFIX}{short_name}({FILE}=PATH)")
    try:
        game = pyspiel.load_game(short_name, settings)
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
    except (RuntimeError, LookupError, ValueError, MemoryError) as error:  # OpenSpiel's own, and what C++ throws in it
        raise ConfigError(f"OpenSpiel cannot load {short_name}: {error}") from None
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise ConfigError(f"{PREFIX}{short_name} is not supported: it is a mean-field game")
    if game.get_type().chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ConfigError(f"{PREFIX}{short_name} is not supported: it hides the probabilities of chance")
    return game


@functools.cache
def _public_observation(game_text: str) -> Any:
    """Returns OpenSpiel's observer of public information with perfect recall, or None if there is none."""
    pyspiel = _import_pyspiel()
    observation = importlib.import_module("open_spiel.python.observation")
    kind = pyspiel.IIGObservationType(perfect_recall=True, public_info=True, private_info=pyspiel.PrivateInfoType.NONE)
    try:
        return observation.make_observation(pyspiel.load_game(game_text), kind)
    except (pyspiel.SpielError, RuntimeError):
        return None


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
