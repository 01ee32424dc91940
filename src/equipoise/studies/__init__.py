# SPDX-License-Identifier: Apache-2.0
"""Experiments: what they are made of, and the named studies that compute published figures and numbers again."""

from typing import TYPE_CHECKING

from equipoise.core.lazy import lazy_names

if TYPE_CHECKING:
    from equipoise.studies.comparisons import Comparison, compare, compare_means
    from equipoise.studies.curves import Panel, measure_curves
    from equipoise.studies.orderings import Ordering, judge_ordering, sign_test
    from equipoise.studies.registry import STUDIES, find_study
    from equipoise.studies.report import write_result
    from equipoise.studies.reproduction import reproduce
    from equipoise.studies.sampled_races import Race, run_race
    from equipoise.studies.study import Claim, Conclusion, Measured, Point, Size, Step, Study, StudyResult, Verdict

__all__ = [
    "STUDIES",
    "Claim",
    "Comparison",
    "Conclusion",
    "Measured",
    "Ordering",
    "Panel",
    "Point",
    "Race",
    "Size",
    "Step",
    "Study",
    "StudyResult",
    "Verdict",
    "compare",
    "compare_means",
    "find_study",
    "judge_ordering",
    "measure_curves",
    "reproduce",
    "run_race",
    "sign_test",
    "write_result",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, __all__)
