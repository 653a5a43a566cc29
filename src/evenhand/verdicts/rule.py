"""The rule behind a policy: which texts it follows, when they were read, and what it does not cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from evenhand.core.quantities import shown
from evenhand.errors import CallError, Problems, nearest, shorten

TABLE = "rule"
"""The name of the table in a policy file."""


@dataclass(frozen=True, repr=False)
class Rule:
    """Where a policy comes from. It is no legal advice: it says what was read, and what was not.

    Attributes
    ----------
    name
        What the policy is called in the package.
    title
        Whose rule it is, and about what.
    asks
        What the texts ask for, and what the policy does about it.
    sources
        The texts that were read.
    read
        The day on which they were read; rules change after it.
    unchecked
        What was not to be had, or was read only in the words of others.
    not_covered
        What the texts ask for that no audit of counts can give, or this policy leaves out.

    >>> from evenhand import Policy
    >>> Policy.named("nyc-ll144").rule.read
    '2026-11-18'
    """

    name: str = ""
    title: str = ""
    asks: str = ""
    sources: tuple[str, ...] = ()
    read: str = ""
    unchecked: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Rule({self.name!r})"

    def __post_init__(self) -> None:
        if isinstance(self.read, date):
            object.__setattr__(self, "read", self.read.isoformat())
        for part in fields(self):
            value = getattr(self, part.name)
            listed = isinstance(part.default, tuple)
            if listed:
                value = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
                object.__setattr__(self, part.name, value)
            texts = value if listed and isinstance(value, tuple) else (value,)
            for text in texts:
                if not isinstance(text, str):
                    raise CallError(f"{part.name}={shown(text)} of the {TABLE} must be text.")


def make(entries: Any) -> Rule | None:
    """A rule from itself, a mapping, or nothing.

    >>> make({"nam": "x"})
    Traceback (most recent call last):
    evenhand.errors.CallError: 'nam' is not a key of the rule; did you mean 'name'?
    """
    if entries is None or isinstance(entries, Rule):
        return entries
    if not isinstance(entries, Mapping):
        raise CallError(f"{TABLE}={shown(entries)} must be a table with keys such as sources.")
    known = [part.name for part in fields(Rule)]
    problems = Problems()
    for name in entries:
        if name not in known:
            problems.add(f"{shorten(str(name))!r} is not a key of the {TABLE}; {nearest(str(name), known)}")
    problems.raise_if_any(CallError)
    return Rule(**entries)
