"""The source of the package as text: each module by its name, and what it imports. Nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from conftest import ROOT

PACKAGE = ROOT / "src" / "evenhand"

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
"""Every module by its name below the package, which is "" itself, and its file."""


@cache
def text(module: str) -> str:
    return MODULES[module].read_text(encoding="utf-8")


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(text(module))


@dataclass(frozen=True)
class Import:
    """`where` is the function that imports, "" at module level; imports for type checkers only do not run."""

    target: str
    where: str
    types_only: bool


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Every import of a module of ours."""

    def visit(node: ast.AST, where: str, inside: bool, types_only: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            name, within, typed = where, inside, types_only
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{where}.{child.name}" if where else child.name
                within = inside or not isinstance(child, ast.ClassDef)
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                typed = True
            for target in targets(child):
                yield Import(target, name if within else "", typed)
            yield from visit(child, name, within, typed)

    return tuple(visit(tree(module), "", False, False))


def targets(node: ast.AST) -> list[str]:
    """The modules of ours that a statement imports."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute here"
        # "from evenhand import roles" imports a module, "from evenhand.sources.roles import assign" a name of one.
        known = [f"{node.module}.{alias.name}".removeprefix("evenhand.") for alias in node.names]
        names = [
            f"evenhand.{name}" if name in MODULES and str(node.module).startswith("evenhand") else str(node.module)
            for name in known
        ]
    else:
        return []
    return [name.removeprefix("evenhand").lstrip(".") for name in names if name.partition(".")[0] == "evenhand"]
