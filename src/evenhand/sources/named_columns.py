"""The columns that arguments name, or pass as arrays, each with what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from evenhand.core.frames import kind_of, readable
from evenhand.errors import Problems, listing, nearest, shorten


def single(
    role: str, value: Any, names: Sequence[str] | None, arrays: dict[str, Any], problems: Problems
) -> str | None:
    """The column of a role that has one: its name, or of an array, which is added to `arrays`, what it is called."""
    if value is None:
        return None
    if isinstance(value, str):
        if names is None:
            problems.add(f"{role}={shorten(value)!r} names a column, but there is no data: pass data, or an array.")
        elif value not in names:
            problems.add(f"{role}={shorten(value)!r} is not a column; {nearest(value, names)}")
        return value
    arrays[role] = one_column(f"{role}=", value, problems)
    return _own_name(arrays[role]) or _only_name(value) or role


def several(  # noqa: PLR0912 - one branch for each way to name columns
    role: str, value: Any, names: Sequence[str] | None, arrays: dict[str, Any], problems: Problems
) -> tuple[str, ...]:
    """The columns of a role that may have several, by name; arrays are added to `arrays`."""
    if value is None:
        return ()
    value = readable(value)
    parts: dict[str, Any] = {}
    value = listed(value, names)
    if isinstance(value, str):
        parts = {value: value}
    elif isinstance(value, Mapping):
        parts = {str(name): part for name, part in value.items()}
    elif _is_table(value):
        columns = list(getattr(value, "column_names", None) or value.columns)
        if len(set(map(str, columns))) < len(columns):
            problems.add(f"{role}= has several columns of one name ({listing(columns)}); rename them.")
            return ()
        parts = {str(name): value[name] for name in columns}
    elif names is not None and isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        parts = {item: item for item in value}
        if len(parts) < len(value):
            problems.add(f"{role}= names a column twice: {listing(value)}.")
    elif getattr(value, "ndim", 1) == 2 and np.shape(value)[1] == 1:
        parts = {role: value}
    elif getattr(value, "ndim", 1) == 2 or (isinstance(value, (list, tuple)) and value and _is_array(value[0])):
        problems.add(f"{role}= is a table without names: pass a mapping {{name: array}} or a dataframe.")
        return ()
    else:
        parts = {_own_name(value) or role: value}
    if not parts:
        problems.add(f"{role}= is empty: name at least one column.")
    for name, part in parts.items():
        if isinstance(part, str):
            single(role, part, names, arrays, problems)
            if part != name:
                problems.add(f"{role}={{{name!r}: {part!r}}}: a column keeps its own name; pass {role}={part!r}.")
        else:
            arrays[f"{role}:{name}"] = one_column(f"{role}=", part, problems)
    return tuple(parts)


def listed(value: Any, names: Sequence[str] | None) -> Any:
    """Names of columns with "race,sex" as two, where all of these are columns and none has that name itself.

    >>> listed("race,sex", ["race", "sex"]), listed(["a,b", "c"], ["a,b", "c", "a", "b"])
    (['race', 'sex'], ['a,b', 'c'])
    """
    texts = [value] if isinstance(value, str) else value
    if names is None or not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        return value
    found: list[str] = []
    for text in texts:
        parts = [part.strip() for part in text.split(",")]
        several = len(parts) > 1 and text not in names and all(part in names for part in parts)
        found += parts if several else [text]
    return value if len(found) == len(texts) else found


def one_column(what: str, value: Any, problems: Problems) -> Any:
    """A column with one value for each row, as something that has a length; () after a problem was added."""
    value = _only_column(readable(value))
    if _is_table(value):
        problems.add(f"{what} is a whole table ({type(value).__name__}): pass one column of it.")
    elif isinstance(value, (str, bytes, Mapping, Set)) or not hasattr(value, "__iter__"):
        problems.add(
            f"{what} is {shorten(repr(value))}: pass the name of a column, as text, or an array with one value for "
            "each row."
        )
    elif getattr(value, "ndim", 1) != 1:
        problems.add(f"{what} has {value.ndim} dimensions: pass one value for each row.")
    else:
        return value if hasattr(value, "__len__") else list(value)
    return ()


def _only_column(value: Any) -> Any:
    """The column of a table that has one, or of an array (n, 1); anything else as it is."""
    if not _is_table(value) and hasattr(value, "__array__") and np.shape(value)[1:] == (1,):
        return (value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)).reshape(-1)
    name = _only_name(value)
    return value if name is None else value[name]


def _only_name(value: Any) -> Any:
    """The name of the column of a table in memory that has one; else None."""
    if kind_of(value) is None or type(value).__name__ == "LazyFrame" or not _is_table(value):
        return None
    names = list(getattr(value, "column_names", None) or value.columns)
    return names[0] if len(names) == 1 else None


def is_column(value: Any) -> bool:
    """Is it one value for each row, and not a table, a file or something counted?

    >>> is_column([1, 0]), is_column(np.array([[1], [0]])), is_column({"a": [1]}), is_column("a.csv"), is_column([{}])
    (True, True, False, False, False)
    """
    value = _only_column(readable(value))
    if isinstance(value, (str, bytes, Mapping)) or hasattr(type(value), "columns") or _is_table(value):
        return False
    if isinstance(value, (list, tuple)):
        return not any(isinstance(part, Mapping) or _is_table(part) for part in value[:1])
    plain = getattr(getattr(value, "dtype", None), "names", None) is None
    return plain and getattr(value, "ndim", 1) == 1 and (hasattr(value, "__iter__") or hasattr(value, "__array__"))


def _is_table(value: Any) -> bool:
    # Of the class: to name its columns, a lazy table would have to be resolved.
    return hasattr(type(value), "columns") or hasattr(value, "columns") or hasattr(value, "column_names")


def _is_array(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _own_name(value: Any) -> str | None:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) and name else None


def check_twice(roles: Mapping[str, Sequence[str]], arrays: Mapping[str, Any], problems: Problems) -> None:
    """Add a problem for each column of the data that plays two roles."""
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if role in arrays or f"{role}:{name}" in arrays:
                continue
            if name in seen and seen[name] != role:
                problems.add(f"column {shorten(name)!r} plays two roles, {seen[name]} and {role}: give each its own.")
            seen.setdefault(name, role)
