"""The cover of an audit: what its makers say of it, and no number tells. It is the table [report] of a policy file.

A page, a form and a summary show it. Nothing in it changes what is computed or judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any

from evenhand.core.quantities import shown
from evenhand.errors import CallError, Problems, nearest, shorten

TABLE = "report"
"""The name of the table in a policy file."""
MOST_LETTERS = 10_000  # of one entry: a cover is read by people


def _entry(about: str, example: str, default: Any = "") -> Any:
    """A field: what it says, for a file and its errors, and an example of it in TOML."""
    return field(default=default, metadata={"about": about, "example": example})


@dataclass(frozen=True, repr=False)
class Cover:
    """What the makers of an audit say of it: all of it text, and all of it optional.

    It stands in the table [report] of a policy file, in `Policy(cover=...)` and in `Audit.cover`, and is shown above an
    audit, on the first page of a report and in forms.

    Attributes
    ----------
    title
        What the audit is called.
    purpose
        What the system is for, and who decides with it.
    system
        The name of the system or process that was audited.
    version
        Its version.
    author
        Who made the audit, such as the independent auditor.
    signer
        Who answers for it.
    date
        The day of the audit, as 2026-11-18 (or a `datetime.date`).
    data_source
        Where the data comes from, and which people and which time it covers.
    data_kind
        Whether the data is "historical" or "test" data, or what else it is.
    distribution_date
        The day on which the system was put to use.
    exclusion
        Why categories with few people are left out of the ratios, where they are.
    note
        A sentence of your own below the title.
    limits
        What the system, the data or the audit must not be used for: one sentence or several.

    >>> Cover(title="Loans, autumn", limits="Not for people under 18.")
    Cover(title='Loans, autumn', limits=('Not for people under 18.',))
    >>> Cover(version=2)
    Traceback (most recent call last):
    evenhand.errors.CallError: version=2 of the report must be text, such as "2.1".
    """

    title: str = _entry("What the audit is called.", '"Loans of the autumn campaign"')
    purpose: str = _entry("What the system is for, and who decides with it.", '"Ranks applications for a clerk."')
    system: str = _entry("The system or process that was audited, and its version.", '"Loan score"')
    version: str = _entry("", '"2.1"')
    author: str = _entry("Who made the audit.", '"Example Audits Ltd"')
    signer: str = _entry("Who answers for it.", '"A. Person, head of risk"')
    date: str = _entry("The day of the audit.", "2026-11-18")
    data_source: str = _entry("Where the data comes from: which people, which time.", '"Applications of 2025"')
    data_kind: str = _entry('The kind of data, such as "historical" or "test".', '"historical"')
    distribution_date: str = _entry("The day on which the system was put to use.", "2025-01-01")
    exclusion: str = _entry(
        "Why categories with few people are left out of the ratios, where they are.", '"Rates of so few people vary."'
    )
    note: str = _entry("A sentence of your own below the title.", '"For the board."')
    limits: tuple[str, ...] = _entry(
        "What the system, the data or the audit must not be used for.", '["Not for people under 18."]', ()
    )

    def __post_init__(self) -> None:
        problems = Problems()
        object.__setattr__(self, "limits", (self.limits,) if isinstance(self.limits, str) else _tuple(self.limits))
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name in ("date", "distribution_date") and isinstance(value, date):
                value = value.isoformat() if not isinstance(value, datetime) else value.date().isoformat()
                object.__setattr__(self, part.name, value)
            example = f"such as {part.metadata['example']}"
            for text in value if isinstance(value, tuple) else (value,):
                if not isinstance(text, str):
                    problems.add(f"{part.name}={shown(text)} of the {TABLE} must be text, {example}.")
                elif len(text) > MOST_LETTERS:
                    problems.add(f"{part.name} of the {TABLE} has {len(text):,} letters, more than {MOST_LETTERS:,}.")
        problems.raise_if_any(CallError)

    def __repr__(self) -> str:
        return f"Cover({', '.join(f'{name}={shorten(repr(value))}' for name, value in self.given().items())})"

    def given(self) -> dict[str, Any]:
        """What is not left empty, by name, in the order of the fields.

        Returns
        -------
        dict[str, Any]
            The entries: texts, and a tuple of texts for the limits.
        """
        told = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in told.items() if value}

    def updated(self, **entries: Any) -> Cover:
        """The cover with the entries that are not None in place of its own.

        Parameters
        ----------
        **entries
            Fields of a cover; None keeps what it has.

        Returns
        -------
        Cover
            The new cover.

        >>> Cover(title="Loans").updated(note="For the board.", title=None)
        Cover(title='Loans', note='For the board.')
        """
        return _made({**self.given(), **{name: value for name, value in entries.items() if value is not None}})


def make(entries: Any, where: str = "cover") -> Cover:
    """A cover from itself, a mapping or None; `where` it stands is for the errors.

    >>> make({"title": "Loans"})
    Cover(title='Loans')
    >>> make({"titel": "Loans"})
    Traceback (most recent call last):
    evenhand.errors.CallError: 'titel' is not a key of the report; did you mean 'title'?
    """
    if isinstance(entries, Cover):
        return entries
    if entries is None:
        return Cover()
    if not isinstance(entries, Mapping):
        raise CallError(f"{where}={shown(entries)} must be a Cover, or a table with keys such as title.")
    return _made(entries)


def _made(entries: Mapping[str, Any]) -> Cover:
    known = [part.name for part in fields(Cover)]
    problems = Problems()
    for name in entries:
        if name not in known:
            problems.add(f"{shorten(str(name))!r} is not a key of the {TABLE}; {nearest(str(name), known)}")
    problems.raise_if_any(CallError)
    return replace(Cover(), **entries)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)
