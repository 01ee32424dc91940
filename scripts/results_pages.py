# SPDX-License-Identifier: Apache-2.0
"""The pages of results: what `equipoise reproduce NAME --out docs/results` left as JSON, as tables and pictures.

A number on these pages comes from such a file and from nowhere else; the file says what was run, by which command and
which commit.
"""

from __future__ import annotations

import collections
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_cells import escape_cell, format_table

from equipoise.studies.registry import STUDIES, find_study
from equipoise.studies.report import draw_result, format_cell
from equipoise.studies.study import Size, StudyResult, Verdict

__all__ = ["format_command", "load_results", "write_result_pages"]

LEAD = """\
Every study computes a published figure or table again and says what its numbers make of each statement of the text.
Rows say which size was run, and verdicts are verdicts on that size: of a quick one, which takes seconds to minutes,
`undecided` often means too few repetitions, and `not measured` that a statement is about the published size. The pages
of methods tell what full sizes gave.
"""


def load_results(folder: Path) -> dict[str, StudyResult]:
    """Returns the stored results, by study."""
    texts = [path.read_text(encoding="utf8") for path in sorted(folder.glob("*.json"))]
    results = [StudyResult.from_json(json.loads(text)) for text in texts]
    return {result.study: result for result in results}


def write_result_pages(folder: Path, *, draws: bool = True) -> None:
    """Writes beside the stored results a page for each and the page of them all; draws pictures that are not there.

    Args:
        folder: of the stored results.
        draws: else pages have the pictures that there are.
    """
    results = load_results(folder)
    for name, result in results.items():
        picture, stored = folder / f"{name}.png", folder / f"{name}.json"
        if draws and (not picture.exists() or picture.stat().st_mtime < stored.stat().st_mtime):
            draw_result(find_study(name), result, picture)
        _write(folder / f"{name}.md", _format_result(result, has_picture=picture.exists()))
    _write(folder / "index.md", _format_index(results))
    for path in [*folder.glob("*.md"), *folder.glob("*.png")]:
        if path.stem not in results and path.name != "index.md":  # its result is gone
            path.unlink()


def format_command(result: StudyResult) -> str:
    """Returns what to type for a result, settings that were changed included."""
    words = ["equipoise", "reproduce", result.study]
    if result.size == Size.FULL:
        words.append("--full")
    elif result.size != Size.QUICK:
        usual = find_study(result.study).sizes[Size.QUICK]
        changed = {key: value for key, value in result.configuration.items() if value != _as_json(getattr(usual, key))}
        words += [f"-p {key}={_format_setting(value)}" for key, value in changed.items()]
    return " ".join(words)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _format_setting(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _format_index(results: Mapping[str, StudyResult]) -> str:
    rows = []
    for name, study in STUDIES.items():
        result = results.get(name)
        what = escape_cell(f"{study.title} ({study.source})")
        if result is None:
            rows.append([name, what, "not kept here", "", f"`equipoise reproduce {name}`"])
        else:
            size = f"{result.size}{', partial' if result.is_partial else ''}"
            rows.append([f"[{name}]({name}.md)", what, size, _count_verdicts(result), f"`{format_command(result)}`"])
    lines = ["# Results", "", LEAD]
    lines += format_table(["study", "what it computes again", "size", "verdicts", "command"], rows)
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *results, "```", ""])


def _count_verdicts(result: StudyResult) -> str:
    counts = collections.Counter(claim.verdict for claim in result.conclusion.claims)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])


def _format_result(result: StudyResult, *, has_picture: bool) -> str:
    settings = ", ".join(f"{key} {_format_setting(value)}" for key, value in result.configuration.items())
    lines = [f"# {result.title}", "", f"{result.source}.", ""]
    lines += [f"- Command: `{format_command(result)}`"]
    lines += [
        f"- Size: {result.size}{', interrupted before its end' if result.is_partial else ''}; {escape_cell(settings)}"
    ]
    lines += [f"- Equipoise {result.origin['version']}, commit `{result.origin['commit']}`, seed {result.seed}"]
    lines += [f"- Stored as `docs/results/{result.study}.json`", ""]
    if has_picture:
        lines += [f"![{result.title}]({result.study}.png)", ""]
    conclusion = result.conclusion
    if conclusion.rows:
        cells = [[escape_cell(format_cell(value)) for value in row.values()] for row in conclusion.rows]
        lines += ["## Numbers", "", *format_table([escape_cell(key) for key in conclusion.rows[0]], cells), ""]
    if conclusion.claims:
        claims = [
            [str(claim.verdict), escape_cell(f"{claim.statement} ({claim.source})"), escape_cell(claim.ours)]
            for claim in conclusion.claims
        ]
        lines += ["## What the text states", "", *format_table(["verdict", "claim", "ours"], claims), ""]
    if conclusion.notes:
        lines += ["## Notes", "", *(f"- {escape_cell(note)}" for note in conclusion.notes), ""]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf8") != text:  # what stays is not built again
        path.write_text(text, encoding="utf8")
