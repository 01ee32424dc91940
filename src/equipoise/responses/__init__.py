# SPDX-License-Identifier: Apache-2.0
"""Opponents that answer what they see: response functions, training against them (CFR-f), their guarantees."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.responses.against import AgainstSolver
    from equipoise.responses.domination import DominationResponse
    from equipoise.responses.exact import (
        AbstractBestResponse,
        BestResponse,
        LibraryResponse,
        RandomLibraryResponse,
        StaticResponse,
    )
    from equipoise.responses.guarantees import Guarantee, state_guarantee, state_iterates
    from equipoise.responses.hand_buckets import HandBuckets
    from equipoise.responses.mixtures import AverageResponse, DataBiasedResponse, MimicResponse, MixedResponse
    from equipoise.responses.notation import parse_response
    from equipoise.responses.outcomes import AgainstSolution, SeatOutcome, solve_against
    from equipoise.responses.protocol import Response, StatefulResponse
    from equipoise.responses.sampled import FBRResponse, FrequentistResponse, UCTResponse
    from equipoise.responses.values import ResponseValue, response_value

__all__ = [
    "AbstractBestResponse",
    "AgainstSolution",
    "AgainstSolver",
    "AverageResponse",
    "BestResponse",
    "DataBiasedResponse",
    "DominationResponse",
    "FBRResponse",
    "FrequentistResponse",
    "Guarantee",
    "HandBuckets",
    "LibraryResponse",
    "MimicResponse",
    "MixedResponse",
    "RandomLibraryResponse",
    "Response",
    "ResponseValue",
    "SeatOutcome",
    "StatefulResponse",
    "StaticResponse",
    "UCTResponse",
    "parse_response",
    "response_value",
    "solve_against",
    "state_guarantee",
    "state_iterates",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
