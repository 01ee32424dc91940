# SPDX-License-Identifier: Apache-2.0
"""What a Python module defines, by reading its text: each definition with a hash, and with what it uses of ours.

It is for `studies.sources`; nothing is imported or run. Annotations, comments, docstrings and what only type checkers
see count for nothing. A class that is only asked about (`isinstance`, `issubclass`, `cast`, a pattern, a union) is not
used: where nothing else makes one, the answer is no whatever the class says. What is done if the answer is yes is used
under that condition.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["BODY", "PACKAGE", "WHOLE", "Conditions", "Definition", "ModuleText", "Use", "hash_text", "scan_module"]

PACKAGE: Final = "equipoise"
BODY: Final = "<body>"  # what runs whenever a module is imported
WHOLE: Final = "*"  # all that a module defines
ASKING: Final = {"isinstance": 1, "issubclass": 1, "cast": 0}  # which argument is a class that is asked about
IGNORED: Final = frozenset(("__all__", "__slots__"))
LENGTH: Final = 16  # letters of a hash
TABLE_LINE: Final = re.compile(r'"[^"]+":\s*"equipoise[\w.]*:\w+",?')  # names of things that are loaded when asked for

Conditions = tuple[tuple[tuple[str, ...], ...], ...]
_Definers = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Use(NamedTuple):
    """A name that a definition mentions: what it is bound to there, and the attributes that are asked of it."""

    name: str
    attributes: tuple[str, ...] = ()
    prefix: str = ""  # of an attribute whose name is put together
    given: Conditions = ()  # only where there are values of one class of each group


class Definition(NamedTuple):
    """What a module says of one of its names."""

    digest: str
    uses: frozenset[Use]
    words: frozenset[str]  # of its texts


class ModuleText(NamedTuple):
    """A module as its text has it."""

    definitions: Mapping[str, Definition]  # by name; `BODY` is one of them
    imports: Mapping[str, frozenset[tuple[str, str]]]  # module and name ("": the module itself), by what they are here
    needed: frozenset[str]  # modules that are imported for what importing does
    homes: Mapping[str, str]  # of names that a package loads when they are asked for
    classes: frozenset[str]  # of which all values come from naming them or a class below them: no protocols


class _Parts(NamedTuple):
    texts: list[str]
    uses: set[Use]
    words: set[str]

    def add(self, node: ast.stmt, lines: list[str]) -> None:
        first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", []))])
        self.texts.extend(line for line in lines[first - 1 : node.end_lineno] if line)
        reader = _Reader()
        reader.read(node)
        self.uses.update(reader.uses)
        self.words.update(reader.words)

    def close(self) -> Definition:
        return Definition(hash_text("\n".join(self.texts)), frozenset(self.uses), frozenset(self.words))


@functools.cache
def scan_module(text: str) -> ModuleText:
    """Returns what a module defines and imports.

    >>> found = scan_module("from equipoise.games import leduc; SIZE = 2; deal = leduc.Leduc")
    >>> sorted(found.definitions), max(found.definitions["deal"].uses).attributes
    (['<body>', 'SIZE', 'deal'], ('Leduc',))
    """
    tree = ast.parse(text)
    lines = _strip(text, tree)
    parts: dict[str, _Parts] = {BODY: _Parts([], set(), set())}
    for node in tree.body:
        for name in _names_of(node):
            parts.setdefault(name, _Parts([], set(), set())).add(node, lines)
    imports, needed, homes = _find_imports(tree)
    classes = frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef) and not _is_protocol(node))
    definitions = {name: found.close() for name, found in parts.items()}
    return ModuleText(definitions, imports, frozenset(needed), homes, classes)


def hash_text(text: str) -> str:
    """Returns a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _names_of(node: ast.stmt) -> list[str]:
    """Returns the names that a statement of a module defines, the body's where it does something else."""
    if isinstance(node, _Definers):
        return [BODY if any(_is_registering(decorator) for decorator in node.decorator_list) else node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    flat = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if flat and all(isinstance(target, ast.Name) for target in flat):
        return [target.id for target in flat if isinstance(target, ast.Name) and target.id not in IGNORED]
    plain = isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) or _is_text(node) or _is_for_checkers(node)
    return [] if plain else [BODY]


def _is_registering(decorator: ast.expr) -> bool:
    """Returns whether what is decorated is put on a list somewhere, where others find it without its name."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute | ast.Name) and "register" in ast.unparse(called).split(".")[-1]


def _is_protocol(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def _strip(text: str, tree: ast.Module) -> list[str]:
    """Returns a module's lines without comments, docstrings and lines of tables of names."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | _Definers) and node.body and _is_text(node.body[0]):
            first, last = node.body[0].lineno, int(node.body[0].end_lineno or 0)
            lines[first - 1 : last] = [""] * (last - first + 1)
    return ["" if TABLE_LINE.fullmatch(line.strip()) else line.rstrip() for line in lines]


class _Reader:
    """Collects what a statement uses and which words its texts have: of what is run, under which conditions."""

    def __init__(self) -> None:
        self.uses: set[Use] = set()
        self.words: set[str] = set()
        self.imports: list[ast.Import | ast.ImportFrom] = []

    def read(self, node: ast.AST, given: Conditions = ()) -> None:
        """Reads a node and what is in it that is run."""
        if _is_for_checkers(node):
            assert isinstance(node, ast.If)
            self._read_all(node.orelse, given)
        elif isinstance(node, ast.If | ast.IfExp):
            self.read(node.test, given)
            body = node.body if isinstance(node.body, list) else [node.body]
            self._read_all(body, given + _find_conditions(node.test))
            self._read_all(node.orelse if isinstance(node.orelse, list) else [node.orelse], given)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for value in node.values:
                self.read(value, given)
                given += _find_conditions(value)
        elif isinstance(node, ast.match_case):
            self.read(node.pattern, given)
            if node.guard is not None:
                self.read(node.guard, given)
            self._read_all(node.body, given + _find_conditions(node.pattern))
        elif (chain := _read_chain(node)) is not None:
            self.uses.add(Use(chain[0], chain[1:], given=given))
        elif isinstance(node, ast.Call) and (asked := _read_asked(node)) is not None:
            self.uses.add(asked._replace(given=given))
            self._read_all(node.args[1:], given)
        else:
            self._read_other(node, given)

    def _read_other(self, node: ast.AST, given: Conditions) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.words.update(re.findall(r"[A-Za-z_]\w*", node.value))
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.imports.append(node)
        skipped = _find_skipped(node)
        self._read_all([part for part in ast.iter_child_nodes(node) if id(part) not in skipped], given)

    def _read_all(self, nodes: Sequence[ast.AST], given: Conditions) -> None:
        for node in nodes:
            self.read(node, given)


def _find_skipped(node: ast.AST) -> set[int]:
    """Returns which parts of a node are not run, or only ask what kind a value is."""
    if isinstance(node, _Definers):
        first = node.body[0]
        return ({id(first)} if _is_text(first) else set()) | {id(getattr(node, "returns", None))}
    if isinstance(node, ast.AnnAssign | ast.arg):
        return {id(node.annotation)}
    if isinstance(node, ast.MatchClass):
        return {id(node.cls)}
    if isinstance(node, ast.Subscript) and _is_kind(node.slice):
        return {id(node.slice)}
    if isinstance(node, ast.BinOp) and _is_kind(node):
        return {id(node.left), id(node.right)}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return set()
    if node.func.id == "TypeVar":
        return {id(part) for part in ast.iter_child_nodes(node)}
    place = ASKING.get(node.func.id, len(node.args))
    return {id(part) for part in node.args[place : place + 1]}


def _is_kind(node: ast.AST) -> bool:
    """Returns whether an expression can only be one of types: names as classes have them, with | between."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_kind(node.left) and _is_kind(node.right)
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Name) and node.id[:1].isupper() and not node.id.isupper()


def _find_conditions(test: ast.AST) -> Conditions:
    """Returns the classes of which something must be for a test to hold: one of each group."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return tuple(group for value in test.values for group in _find_conditions(value))
    if isinstance(test, ast.MatchClass):
        chain = _read_chain(test.cls)
        return ((chain,),) if chain else ()
    if isinstance(test, ast.Call) and getattr(test.func, "id", None) in ("isinstance", "issubclass"):
        group = _list_kinds(test.args[1])
        return (group,) if group else ()
    return ()


def _list_kinds(node: ast.AST) -> tuple[tuple[str, ...], ...]:
    """Returns the classes of `A | B` or `(A, B)`, none where there is anything else."""
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else node.elts if isinstance(node, ast.Tuple) else []
    if not parts:
        chain = _read_chain(node)
        return (chain,) if chain else ()
    found = [_list_kinds(part) for part in parts]
    return tuple(chain for chains in found for chain in chains) if all(found) else ()


def _read_chain(node: ast.AST) -> tuple[str, ...] | None:
    """Returns the names of `name.attribute.attribute`."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def _read_asked(call: ast.Call) -> Use | None:
    """Returns what `getattr(name, f"prefix_{...}")` asks for."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1):
        return None
    owner, asked = call.args[:2]
    if not (isinstance(owner, ast.Name) and isinstance(asked, ast.JoinedStr) and asked.values):
        return None
    first = asked.values[0]
    known = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return Use(owner.id, (), str(first.value)) if known and isinstance(first, ast.Constant) else None


def _find_imports(tree: ast.Module) -> tuple[dict[str, frozenset[tuple[str, str]]], set[str], dict[str, str]]:
    """Returns what names are bound to by imports, within functions too, the modules imported bare, and homes."""
    found: dict[str, set[tuple[str, str]]] = {}
    needed: set[str] = set()
    reader = _Reader()
    reader.read(tree)
    for node in reader.imports:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name) and alias.asname:
                    found.setdefault(alias.asname, set()).add((alias.name, ""))
                elif _is_ours(alias.name):
                    needed.add(alias.name)
        elif node.module and _is_ours(node.module):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add((node.module, alias.name))
    homes = {
        alias.asname or alias.name: part.module
        for node in tree.body
        if _is_for_checkers(node) and isinstance(node, ast.If)
        for part in node.body
        if isinstance(part, ast.ImportFrom) and part.module
        for alias in part.names
    }
    return {name: frozenset(targets) for name, targets in found.items()}, needed, homes


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")
