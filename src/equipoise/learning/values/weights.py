# SPDX-License-Identifier: Apache-2.0
"""Trained value networks: weights, configuration and a card that says where they come from, in one file.

Reading and asking them needs no torch. Names and shapes of weights are those of the torch modules.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from equipoise.core.errors import CheckpointError, ConfigError
from equipoise.core.formatting import brief_repr
from equipoise.core.tensor_files import load_tensors, save_tensors
from equipoise.kernels.value_nets import LayerArrays
from equipoise.learning.values.configuration import ValueNetConfig

__all__ = ["StoredNet"]

FORMAT: Final = "equipoise value network"
FORMAT_VERSION: Final = "1"

SingleArray = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredNet:
    """A network as it is kept.

    >>> from pathlib import Path
    >>> import equipoise
    >>> paths = sorted((Path(equipoise.__file__).parent / "weights").rglob("*.safetensors"))
    >>> "command" in StoredNet.load(paths[0]).card
    True
    """

    config: ValueNetConfig
    tensors: Mapping[str, SingleArray]  # by name, as torch has them
    card: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # what it is, data, losses, command, commit

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        expected = expected_shapes(self.config)
        missing, foreign = sorted(expected.keys() - self.tensors.keys()), sorted(self.tensors.keys() - expected.keys())
        if missing or foreign:
            raise ConfigError(f"weights must be those of the network, got {foreign or 'none'} and not {missing}")
        for name, shape in expected.items():
            if self.tensors[name].shape != shape:
                raise ConfigError(f"{name} must have shape {shape}, got {self.tensors[name].shape}")
            if not np.isfinite(self.tensors[name]).all():
                raise ConfigError(f"{name} must be finite")

    def save(self, path: str | os.PathLike[str], *, dtype: npt.DTypeLike = np.float32) -> None:
        """Writes the network, weights as floats of 16 or 32 bits."""
        with np.errstate(over="ignore"):
            tensors = {name: tensor.astype(dtype) for name, tensor in self.tensors.items()}
        for name, tensor in tensors.items():
            if not np.isfinite(tensor).all():
                raise CheckpointError(f"cannot write {path}: {name} is too large for {np.dtype(dtype)}")
        config, card = json.dumps(self.config.as_dict()), json.dumps(dict(self.card))
        save_tensors(path, tensors, {"format": FORMAT, "version": FORMAT_VERSION, "config": config, "card": card})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Returns the network in a file, weights as floats of 32 bits."""
        tensors, metadata = load_tensors(path)
        kind, version = metadata.get("format"), metadata.get("version")
        if kind != FORMAT:
            raise CheckpointError(f"{path} holds {kind or 'weights of some other program'}, expected an {FORMAT}")
        if version != FORMAT_VERSION:
            raise CheckpointError(f"{path} has version {version} of the format, expected {FORMAT_VERSION}")
        try:
            config = ValueNetConfig.from_dict(json.loads(metadata["config"]))
            card = json.loads(metadata["card"])
            singles = {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()}
            return cls(config=config, tensors=singles, card=card)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is no {FORMAT}: {error}") from None

    def layers(self) -> list[LayerArrays]:
        """Returns the weights as the native module takes them."""
        out = []
        for place in range(self.config.layers + 1):
            is_hidden = place < self.config.layers
            weight = np.ascontiguousarray(self.tensors[f"trunk.weight.{place}"].T)
            slope = np.ascontiguousarray(self.tensors[f"trunk.slope.{place}"]) if is_hidden else None
            bias = np.ascontiguousarray(self.tensors[f"trunk.bias.{place}"])
            out.append(LayerArrays(weight, bias, slope, self.config.is_residual and is_hidden and place > 0))
        return out


def expected_shapes(config: ValueNetConfig) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of a network's weights by name.

    >>> list(expected_shapes(ValueNetConfig(layers=1)))
    ['trunk.weight.0', 'trunk.bias.0', 'trunk.slope.0', 'trunk.weight.1', 'trunk.bias.1']
    """
    sizes = [config.num_inputs, *[config.hidden] * config.layers, config.num_outputs]
    shapes: dict[str, tuple[int, ...]] = {}
    for place in range(config.layers + 1):
        shapes[f"trunk.weight.{place}"] = (sizes[place + 1], sizes[place])
        shapes[f"trunk.bias.{place}"] = (sizes[place + 1],)
        if place < config.layers:
            shapes[f"trunk.slope.{place}"] = (sizes[place + 1],)
    return shapes
