"""Names for coded values, from the argument labels=: 1 and 2 of a column as male and female."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.core.quantities import shown
from evenhand.errors import Problems, nearest, shorten
from evenhand.sources.spelling import canonical, spelling

Labels = Mapping[str, Mapping[str, str]]


def read_labels(
    labels: Any, attributes: Sequence[str], names: Sequence[str] | None, banded: Iterable[str], problems: Problems
) -> dict[str, dict[str, str]]:
    """The names of the values of each attribute, by the spelling of the value. A column that is not an attribute is
    left out, because a book of codes is often of more columns than one audit uses."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping) or not all(isinstance(part, Mapping) for part in labels.values()):
        problems.add(f"labels={shown(labels)} must name the column, such as {{'sex': {{1: 'male', 2: 'female'}}}}.")
        return {}
    found: dict[str, dict[str, str]] = {}
    for column, part in labels.items():
        known = list(dict.fromkeys([*attributes, *(names or ())]))
        if str(column) not in known:
            problems.add(
                f"labels= names {shorten(str(column))!r}, which is not a column; {nearest(str(column), known)}"
            )
        if str(column) in attributes and str(column) in banded:
            problems.add(f"{shorten(str(column))!r} is in both bands= and labels=: a band has its own name; give one.")
        for code, name in part.items():
            if code is None or not isinstance(name, str) or not name.strip():
                problems.add(
                    f"labels= for {shorten(str(column))!r}: {shown(code)} is called {shown(name)}; a value that is not "
                    "missing is given a name, as in {1: 'male'}."
                )
                break
            if str(column) in attributes:
                found.setdefault(str(column), {})[spelling(code)] = name
    return found


def label_of(value: object, names: Mapping[str, str]) -> str:
    """The name of a value: that of its code, or how the value is spelled. The codes 1, 1.0, "1" and True are one.

    >>> label_of(1.0, {"1": "male"}), label_of("2.0", {"2": "female"}), label_of(9, {"1": "male"})
    ('male', 'female', '9')
    """
    text = spelling(value)
    return names.get(text) or names.get(canonical(value)) or text


def united_codes(parts: Iterable[Labels]) -> dict[str, dict[str, str]]:
    """The names of codes in several cubes; a code that two of them name differently has none.

    >>> united_codes([{"sex": {"1": "male", "2": "female"}}, {"sex": {"1": "man"}}, {}])
    {'sex': {'2': 'female'}}
    """
    found: dict[str, dict[str, set[str]]] = {}
    for part in parts:
        for column, names in part.items():
            for code, name in names.items():
                found.setdefault(column, {}).setdefault(code, set()).add(name)
    return {
        column: {code: next(iter(names)) for code, names in codes.items() if len(names) == 1}
        for column, codes in found.items()
    }


def named_reference(
    reference: Any, labels: Any, attributes: Sequence[str], groups: Iterable[Sequence[str | None]] = ()
) -> Any:
    """A reference group by its name, where it was given by its code; anything else stays as it is.

    One value is the reference of every attribute that has it, as a code or, among these `groups`, as a name.

    >>> labels = {"sex": {1: "male"}}
    >>> named_reference(1, labels, ["sex"]), named_reference("male", labels, ["sex"])
    ({'sex': 'male'}, 'male')
    >>> named_reference({"sex": "1", "race": "white"}, labels, ["sex", "race"])
    {'sex': 'male', 'race': 'white'}
    """
    if not isinstance(labels, Mapping) or reference is None:
        return reference
    spelled = {
        str(column): {spelling(code): name for code, name in part.items()}
        for column, part in labels.items()
        if str(column) in attributes and isinstance(part, Mapping)
    }
    if isinstance(reference, (tuple, list)) and len(reference) == len(attributes):
        reference = dict(zip(attributes, reference, strict=True))
    if isinstance(reference, Mapping):
        return {column: _named(value, spelled.get(str(column), {})) for column, value in reference.items()}
    coded = {column: name for column, part in spelled.items() if (name := _named(reference, part)) != reference}
    if not coded:
        return reference
    known = [{group[i] for group in groups} for i, _ in enumerate(attributes)]
    plain = {name: reference for i, name in enumerate(attributes) if groups and spelling(reference) in known[i]}
    return {**plain, **coded}


def _named(value: Any, names: Mapping[str, str]) -> Any:
    text = spelling(value)
    return value if value is None or text in names.values() else names.get(text, names.get(canonical(value), value))
