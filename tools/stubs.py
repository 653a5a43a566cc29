"""Write src/evenhand/__init__.pyi from the catalogue, so that editors and mypy know the functions of the metrics.

Run it as `make stubs`; a test fails when the file has drifted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand import _HOMES as HOMES
from evenhand.audits.audit import audit
from evenhand.audits.functions import FUNCTIONS, parameters
from evenhand.replicas import functions as replicas
from evenhand.sources import roles
from evenhand.sources.roles import shown_type

TARGET = Path(__file__).resolve().parent.parent / "src" / "evenhand" / "__init__.pyi"

# Of the arguments that judge; those that read data carry their types in ReadArguments.
TYPES = {
    "reference": "Any",
    "threshold": "float | None",
    "convention": 'Literal["fairlearn", "aif360", "aequitas", "virny", "exfairness"] | None',
    "judged_on": 'Literal["difference", "ratio"] | None',
    "aggregate": 'Literal["worst", "mean", "mean_abs"] | None',
    "min_group_size": "int | None",
    "confidence": "float | None",
    "interval": "str | None",
    "draws": "int | None",
    "random_state": "int | None",
}
TYPES |= {name: shown_type(hint).replace("'", '"') for name, hint in roles.TYPES.items()}

HEAD = """# Made by tools/stubs.py from the catalogue; do not edit.
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

{imports}

__all__: list[str]
"""


def stubs() -> str:
    """The text of the file."""
    homes = {**HOMES, "__version__": "core.version"}
    imports = {f"from evenhand.{home} import {name} as {name}" for name, home in homes.items() if name != "audit"}
    imports |= {f"from evenhand import {name} as {name}" for name in ("datasets", "mitigate")}
    imports |= {"from evenhand.replicas.fit import Kind", "from evenhand.sources.roles import Missing"}
    lines = [HEAD.replace("{imports}", "\n".join(sorted(imports, key=_order)))]
    lines += _audit()
    for name, function in FUNCTIONS.items():
        keywords = parameters(function.metric)  # type: ignore[attr-defined]
        typed = [f"    {key}: {_type(key, default)} = {_shown(default)}," for key, default in keywords.items()]
        lines += [f"def {name}(", "    data: Any = None,", "    *,", *typed, ") -> Finding: ..."]
    for name, function in replicas.FUNCTIONS.items():
        lines += _declaration(name, function)
    return "\n".join(lines) + "\n"


def _declaration(name: str, function: Callable[..., Any]) -> list[str]:
    """A function with one positional parameter and keywords, as its signature annotates them."""
    first, *keywords = inspect.signature(function).parameters.values()
    typed = [f"    {each.name}: {_double(each.annotation)} = {_shown(each.default)}," for each in keywords]
    return [f"def {name}(", f"    {first.name}: {first.annotation},", "    *,", *typed, ") -> Finding: ..."]


def _double(annotation: str) -> str:
    return annotation.replace("'", '"')


def _audit() -> list[str]:
    """audit() with every argument written out, and its docstring: where it is defined it takes them as one record."""
    signature = inspect.signature(audit)
    keywords = [each for each in signature.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    typed = [
        f"    {each.name}: {each.annotation}".replace("'", '"') + f" = {_shown(each.default)}," for each in keywords
    ]
    told = [f"    {line}".rstrip() for line in f'"""{inspect.getdoc(audit)}\n"""'.splitlines()]
    return ["def audit(", "    data: Any = None,", "    *,", *typed, f") -> {signature.return_annotation}:", *told, ""]


def _order(line: str) -> tuple[str, bool, str]:
    """As ruff sorts imports: by module, then constants, classes, functions."""
    _, module, _, name, *_ = line.split()
    return module, name[0].islower(), name


def _type(key: str, default: object) -> str:
    """An option that only some metrics take has the type of its default."""
    return TYPES.get(key) or type(default).__name__


def _shown(default: object) -> str:
    return '"' + default + '"' if isinstance(default, str) else repr(default)


if __name__ == "__main__":
    TARGET.write_text(stubs(), encoding="utf-8")
    print(f"wrote {TARGET.name} with {len(FUNCTIONS) + len(replicas.FUNCTIONS)} functions")
