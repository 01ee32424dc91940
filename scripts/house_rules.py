# SPDX-License-Identifier: Apache-2.0
"""Checks of this project's own that no linter offers: headers, suppression budget, exports, names, large files; sizes.

Failures exit with 1; the size report (STYLE: aims, not gates) is printed and never fails.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|pragma: no cover)")
SHAPE = re.compile(r"(?:# |// |`)\[([\w+*, ]+)\]")  # of an array, as comments and docstrings give it
FORBIDDEN_FILES = {"utils.py", "helpers.py", "common.py"}
LINES_PER_SUPPRESSION = 500
LONG_FILE, LONG_FUNCTION = 500, 60
LARGE_BYTES = 1_000_000
WEIGHTS = ROOT / "src" / "equipoise" / "weights"  # networks may be large
# what only some rooms may import; import-linter sees neither compiled modules nor packages that are not installed
LEARNING_ROOMS = {"learning", "agents", "evaluation", "distributed", "studies", "apps"}
CONFINED = {"equipoise._native": {"kernels"}, "torch": LEARNING_ROOMS, "ray": {"distributed"}}


def tracked_files() -> list[Path]:
    """Returns every file that git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [ROOT / line for line in listing.splitlines() if (ROOT / line).is_file()]


def check_headers(files: list[Path]) -> list[str]:
    """Returns the source files without an SPDX line near their top."""
    sources = [path for path in files if path.suffix in {".py", ".cpp", ".hpp"}]
    return [
        f"{path.relative_to(ROOT)}: no SPDX-License-Identifier line"
        for path in sources
        if "SPDX-License-Identifier: Apache-2.0" not in path.read_text(encoding="utf8")[:200]
    ]


def check_suppressions(files: list[Path]) -> list[str]:
    """Returns a complaint if suppressions exceed one per 500 lines, and each one without a reason."""
    sources = [path for path in files if path.suffix == ".py" and path.is_relative_to(ROOT / "src")]
    lines = [(path, number, line) for path in sources for number, line in enumerate(path.read_text().splitlines(), 1)]
    found = [(path, number, line) for path, number, line in lines if SUPPRESSION.search(line)]
    budget = max(1, len(lines) // LINES_PER_SUPPRESSION)
    problems = [
        f"{path.relative_to(ROOT)}:{number}: suppression without a reason (write `# noqa: CODE - why`)"
        for path, number, line in found
        if not re.search(r"(noqa: \w+(?:, ?\w+)*|type: ignore\[[\w-]+\])( |  #).*\w", line)
    ]
    if len(found) > budget:
        problems.append(f"{len(found)} suppressions in src, {budget} allowed (one per {LINES_PER_SUPPRESSION} lines)")
    return problems


def check_confined_imports(files: list[Path]) -> list[str]:
    """Returns imports of the native module, torch or ray outside the rooms that may have them."""
    problems = []
    for path in files:
        package = ROOT / "src" / "equipoise"
        if path.suffix != ".py" or not path.is_relative_to(package):
            continue
        room = path.relative_to(package).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            for name in imported_modules(node):
                for module, rooms in CONFINED.items():
                    if (name == module or name.startswith(module + ".")) and room not in rooms:
                        problems.append(f"{path.relative_to(ROOT)}:{node.lineno}: only {sorted(rooms)} import {module}")
    return problems


def imported_modules(node: ast.AST) -> list[str]:
    """Returns the full names that an import statement brings in."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def check_names(files: list[Path]) -> list[str]:
    """Returns files whose names say nothing."""
    return [f"{path.relative_to(ROOT)}: forbidden name" for path in files if path.name in FORBIDDEN_FILES]


def check_large_files(files: list[Path]) -> list[str]:
    """Returns files that a repository should not carry for ever."""
    return [
        f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes, at most {LARGE_BYTES:,} are kept in the repository"
        for path in files
        if path.stat().st_size > LARGE_BYTES and not path.is_relative_to(WEIGHTS)
    ]


def check_exports(files: list[Path]) -> list[str]:
    """Returns modules of src whose `__all__` is missing or names something they do not define."""
    problems = []
    for path in files:
        if path.suffix != ".py" or not path.is_relative_to(ROOT / "src"):
            continue
        tree = ast.parse(path.read_text(encoding="utf8"))
        has_definitions = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
        names = {name for node in tree.body for name in defined_names(node)}
        exported = exported_names(tree)
        if exported is None:
            if has_definitions:
                problems.append(f"{path.relative_to(ROOT)}: no __all__")
            continue
        problems += [f"{path.relative_to(ROOT)}: __all__ names {name!r}, not defined" for name in exported - names]
    return problems


def defined_names(node: ast.stmt) -> set[str]:
    """Returns the module-level names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.If):
        return {name for child in node.body + node.orelse for name in defined_names(child)}
    if isinstance(node, ast.Try):
        return {name for child in node.body for name in defined_names(child)}
    return set()


def exported_names(tree: ast.Module) -> set[str] | None:
    """Returns what a module's `__all__` lists, None if it has none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
            if not isinstance(node.value, ast.List | ast.Tuple):
                return None
            return {element.value for element in node.value.elts if isinstance(element, ast.Constant)}
    return None


def check_axes(files: list[Path]) -> list[str]:
    """Returns shapes with letters that docs/notation.md does not say the meaning of."""
    known = set(re.findall(r"^\| `(\w)` \|", (ROOT / "docs" / "notation.md").read_text(encoding="utf8"), re.MULTILINE))
    problems = []
    for path in files:
        if path.suffix not in {".py", ".cpp", ".hpp"} or path.is_relative_to(ROOT / "tests"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf8").splitlines(), 1):
            axes = {letter for shape in SHAPE.findall(line) for letter in re.findall(r"\b[A-Zn]\b", shape)}
            problems += [
                f"{path.relative_to(ROOT)}:{number}: no axis {letter} in docs/notation.md: name it there, or use a word"
                for letter in sorted(axes - known)
            ]
    return problems


def report_sizes(files: list[Path]) -> None:
    """Prints long files and functions: places to look again, not failures."""
    for path in files:
        if path.suffix != ".py" or path.is_relative_to(ROOT / "tests"):
            continue
        text = path.read_text(encoding="utf8")
        if text.count("\n") > LONG_FILE:
            sys.stdout.write(f"  long file: {path.relative_to(ROOT)} ({text.count(chr(10))} lines)\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno > LONG_FUNCTION:
                sys.stdout.write(f"  long function: {path.relative_to(ROOT)}:{node.lineno} {node.name}\n")


def main() -> int:
    """Runs every check and returns the exit code."""
    files = tracked_files()
    checks = (
        check_headers,
        check_suppressions,
        check_confined_imports,
        check_names,
        check_large_files,
        check_exports,
        check_axes,
    )
    problems = [problem for check in checks for problem in check(files)]
    for problem in problems:
        sys.stdout.write(problem + "\n")
    report_sizes(files)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
