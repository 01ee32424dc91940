# SPDX-License-Identifier: Apache-2.0
"""One call from the name of a study to its result."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from equipoise.core.checks import check_callable, check_flag, check_path
from equipoise.core.files import StrPath
from equipoise.core.interruption import first_ctrl_c
from equipoise.runs.progress_display import ProgressDisplay
from equipoise.studies.registry import find_study
from equipoise.studies.report import check_output_directory, write_result
from equipoise.studies.study import Size, Study, StudyResult

__all__ = ["configure_study", "reproduce"]


def reproduce(
    name: str,
    *,
    full: bool = False,
    data: StrPath | None = None,
    out: StrPath | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    progress: bool = False,
    **settings: Any,
) -> StudyResult:
    """Returns a published figure or table computed again: ours beside the paper's, with a verdict on its claims.

    Ctrl-C returns what was measured so far, marked as partial.

    Args:
        name: of a study, as `equipoise reproduce` lists them and `equipoise.studies.STUDIES` has them.
        full: as large as published; else in seconds.
        data: directory of the data that a study needs.
        out: directory into which NAME.json, .png and .txt are written.
        on_progress: called with the share done and what comes now.
        progress: whether to show how far it is: a bar on a terminal, a picture in a notebook.
        settings: of the study, in place of its own: values, or texts as behind `--param`.

    >>> reproduce("coin-toss").study
    'coin-toss'
    """
    check_flag("full", full)
    check_flag("progress", progress)
    check_callable("on_progress", on_progress)
    for path in (data, out):
        if path is not None:
            check_path(path)
    study = find_study(name)
    changes = {key: _as_text(value) for key, value in settings.items()}
    configuration = configure_study(study, is_full=full, changes=changes, data=data)
    if out is not None:
        check_output_directory(Path(out), study.name)
    interrupted = threading.Event()
    with contextlib.ExitStack() as stack:
        display = stack.enter_context(ProgressDisplay(study.name)) if progress else None
        stack.enter_context(first_ctrl_c(interrupted.set))

        def tell(share: float, step: str) -> None:
            if display is not None:
                display.update(share, step, is_last=share >= 1)
            if on_progress is not None:
                on_progress(share, step)

        result = study.run(configuration, tell, interrupted.is_set)
    if out is not None:
        write_result(study, result, Path(out))
    return result


def configure_study(study: Study[Any], *, is_full: bool, changes: Mapping[str, str], data: StrPath | None) -> Any:
    """Returns what a study measures: one of its sizes, or what has come of it by changes.

    Args:
        study: which.
        is_full: as large as published.
        changes: of settings, as text.
        data: directory of the data that it needs.
    """
    size = Size.FULL if is_full else Size.QUICK
    asked = dict(changes) if data is None else {**changes, "data": str(data)}
    return study.configure(size, asked) if asked else size


def _as_text(value: Any) -> str:
    """Returns a setting as it would be typed.

    >>> _as_text((1, 2)), _as_text("leduc")
    ('1,2', 'leduc')
    """
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
