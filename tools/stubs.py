"""Write src/evenhand/__init__.pyi from the catalogue, so that editors and mypy know the functions of the metrics.

Run it as `make stubs`; a test fails when the file has drifted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand import _HOMES as HOMES
from evenhand import metrics
from evenhand.audits.audit import audit
from evenhand.audits.functions import FUNCTIONS
from evenhand.replicas import functions as replicas

TARGET = Path(__file__).resolve().parent.parent / "src" / "evenhand" / "__init__.pyi"
METRICS = TARGET.with_name("metrics.pyi")

MODULES = ("datasets", "fairlearn", "metrics", "mitigate", "plots", "testing")
ONLY_TYPES = {
    "Kind": "replicas.fit",
    "Missing": "sources.read_arguments",
    "ColumnLike, ColumnsLike, DataLike": "core.arrays",
    "FamiliarKeywords": "core.familiar",
}
"""What signatures speak of, and where it is."""

HEAD = """# Made by tools/stubs.py from the catalogue; do not edit.
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

{imports}

__all__: list[str]
"""


def stubs() -> str:
    """The text of the file."""
    homes = {**HOMES, "__version__": "core.version"}
    imports = {f"from evenhand.{home} import {name} as {name}" for name, home in homes.items() if name != "audit"}
    imports |= {f"from evenhand import {name} as {name}" for name in MODULES}
    imports |= {f"from evenhand.{home} import {name}" for name, home in ONLY_TYPES.items()}
    lines = [HEAD.replace("{imports}", "\n".join(sorted(imports, key=_order)))]
    lines += _audit()
    for name, function in FUNCTIONS.items():
        lines += [*_signature(name, function), ") -> Finding: ..."]
    for name, function in replicas.FUNCTIONS.items():
        lines += [*_signature(name, function), ") -> Finding: ..."]
    return "\n".join(lines) + "\n"


def metric_stubs() -> str:
    """The text of the file of `evenhand.metrics`: every metric, as the package declares it."""
    imports = [f"from evenhand import {name} as {name}" for name in sorted(metrics.names())]
    return "\n".join([HEAD.partition("\n")[0], *imports, "", "__all__: list[str]", ""])


def _signature(name: str, function: Callable[..., Any]) -> list[str]:
    """The beginning of a function as its signature annotates it; one that reads data takes familiar names too."""
    lines, starred = [f"def {name}("], False
    every = inspect.signature(function).parameters
    for each in every.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            lines, starred = [*lines, "    *,"], True
        default = "" if each.default is inspect.Parameter.empty else f" = {_shown(each.default)}"
        lines.append(f"    {each.name}: {_double(each.annotation)}{default},")
    familiar = ["    **familiar: Unpack[FamiliarKeywords],"] if "y_pred" in every else []
    return [*lines, *familiar]


def _double(annotation: str) -> str:
    return annotation.replace("'", '"')


def _audit() -> list[str]:
    """audit() with every argument written out, and its docstring: where it is defined it takes them as one record."""
    told = [f"    {line}".rstrip() for line in f'"""{inspect.getdoc(audit)}\n"""'.splitlines()]
    return [*_signature("audit", audit), f") -> {inspect.signature(audit).return_annotation}:", *told, ""]


def _order(line: str) -> tuple[str, bool, str]:
    """As ruff sorts imports: by module, then constants, classes, functions."""
    _, module, _, name, *_ = line.split()
    return module, name[0].islower(), name


def _shown(default: object) -> str:
    return '"' + default + '"' if isinstance(default, str) else repr(default)


if __name__ == "__main__":
    TARGET.write_text(stubs(), encoding="utf-8")
    METRICS.write_text(metric_stubs(), encoding="utf-8")
    print(f"wrote {TARGET.name} with {len(FUNCTIONS) + len(replicas.FUNCTIONS)} functions")
