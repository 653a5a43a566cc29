"""The errors of the library, as a small tree.

EvenhandError                 the root of all; the message is for a person and names the remedy
├── CallError                 the call: an argument, or two that do not go together
│   ├── SignatureError        an argument that the function does not take; a TypeError too
│   └── UnknownKeyError       result[key]: there is nothing of that name; a KeyError too
├── DataError                 the data: a column, a value, a file
└── MissingDependencyError    an optional library is not installed; the message is the line to type
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class EvenhandError(Exception):
    """The root of all errors that the library raises on purpose. No message shows a password or a long value."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(cut_words(without_secrets(part)) if isinstance(part, str) else part for part in arguments))


class CallError(EvenhandError, ValueError):
    """An argument is wrong, or arguments contradict each other."""


class UnknownKeyError(CallError, KeyError):
    """A result has nothing under this key; the message names what it has."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError would show the message in quotes


class SignatureError(CallError, TypeError):
    """The function takes no argument of that name, or fewer by position."""


class DataError(EvenhandError, ValueError):
    """The data cannot be what the call says it is."""


class MissingDependencyError(EvenhandError, ImportError):
    """An optional library is needed for this and not installed."""


class Problems:
    """Collects what is wrong with a call, so that a caller with three mistakes learns of three.

    >>> problems = Problems()
    >>> problems.add("label='y' is not a column")
    >>> problems.add("weight is negative")
    >>> problems.raise_if_any(CallError)
    Traceback (most recent call last):
    evenhand.errors.CallError: 2 problems:
    - label='y' is not a column
    - weight is negative
    """

    def __init__(self) -> None:
        self.messages: list[str] = []

    def add(self, message: str) -> None:
        if message not in self.messages:
            self.messages.append(message)

    def raise_if_any(self, kind: type[EvenhandError] = CallError) -> None:
        if len(self.messages) == 1:
            raise kind(self.messages[0])
        if self.messages:
            lines = "\n".join(f"- {message}" for message in self.messages)
            raise kind(f"{len(self.messages)} problems:\n{lines}")


_on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within it, messages say what to type on the command line, not in Python."""
    token = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def as_typed(python: str, option: str) -> str:
    """What the caller would type: an argument in Python, an option on the command line.

    >>> as_typed("positive=", "--positive")
    'positive='
    >>> with on_command_line():
    ...     as_typed("positive=", "--positive")
    '--positive'
    """
    return option if _on_command_line.get() else python


# --- what is never shown

# Repetitions have an upper end, so that the search takes no longer than the text is long. Most texts hold no address,
# so patterns are compiled by the first that does: all of them together take as long as a finding.
_URL = r"([A-Za-z][A-Za-z0-9+.-]{1,30}):/+"  # one slash is what pathlib leaves of two
_PLACE = r"(?s)(\[[0-9a-fA-F:.]*\]|[^:/]*)(:\d+)?(/.*)?"
_AUTHORITY = r"(\[[0-9a-fA-F:.]*\]|[^:/?#\s'\"]*)(:\d*)?(?:[/?#\s'\")\]},.;]|$)"
_OPTION = r"(?i)[?&;#]\s{0,9}\w{0,30}(?:pass|pwd|secret|token|credential|key|auth)\w{0,30}\s{0,9}="
_SERVER = r"(?i)(?<![\w-])(?:host|hostaddr|port|dbname|database|server|service|user|uid)\s{0,9}="
_PASSWORD = r"(?i)(?:passw|pwd|secret|token|credential)\w{0,30}\s{0,9}="  # noqa: S105 - a pattern


def without_secrets(text: str) -> str:
    """A text in which an address that holds a user, a password or a key is cut to what may be shown.

    An address is a URL or pairs such as host=… password=…. Nobody knows where a password ends, so an address with one
    is taken to reach to the last @, or to the end of the text.

    >>> without_secrets("--database=postgresql://ann:secret@db.example/loans?sslpassword=x")
    '--database=postgresql://db.example/loans'
    >>> without_secrets("host=db.example password=secret"), without_secrets("https://example.org/?page=2")
    ('…', 'https://example.org/?page=2')
    """
    url, pairs = re.search(_URL, text) if ":/" in text else None, _pairs(text)
    if url is not None and (pairs is None or url.start() < pairs):
        rest = text[url.end() :]
        if "@" in rest or re.search(_OPTION, rest) or not re.match(_AUTHORITY, rest):
            text = text[: url.start()] + shown(text[url.start() :])
            pairs = _pairs(text)
    return text if pairs is None else text[:pairs] + "…"


def _pairs(text: str) -> int | None:
    """Where pairs such as host=… password=… begin, in any order."""
    if "=" not in text:
        return None
    server, password = re.search(_SERVER, text), re.search(_PASSWORD, text)
    return min(server.start(), password.start()) if server and password else None


def shown(url: str) -> str:
    """Where a database is: the URL without user, password and options; only its kind where these cannot be told apart.

    >>> shown("postgresql://ann:secret@db.example:5432/loans?sslmode=require"), shown("postgresql://ann:secret")
    ('postgresql://db.example:5432/loans', 'postgresql://…')
    """
    found = re.match(_URL, url)
    if found is None:
        return "…"
    place, _, options = url[found.end() :].partition("?")
    slashes = "/" * (found.group().count("/") - 2)
    place = slashes + place.rpartition("@")[2].partition("#")[0]
    return f"{found[1]}://{place if re.fullmatch(_PLACE, place) and '@' not in options else '…'}"


# --- values and names in a sentence


def listing(values: Iterable[object], most: int = 8) -> str:
    """Some values, quoted, in a sentence: 'a', 'b' and 3 more."""
    return join_names((shorten(repr(value)) for value in values), most)


def join_names(names: Iterable[str], most: int, *, mark: str = ", ", noun: str = "") -> str:
    """The first names, as they are, and how many more there are; `noun` says of what.

    Where a name has a comma itself, as the name of an intersection does, semicolons part them.

    >>> join_names(["a", "b", "c", "d"], 2), join_names(["a", "b", "c"], 2, mark="; ", noun="files")
    ('a, b and 2 more', 'a; b and 1 more files')
    >>> join_names(["a, x", "b, x"], 2)
    'a, x; b, x'
    """
    every = list(names)
    mark = "; " if mark == ", " and any(", " in name for name in every[:most]) else mark
    more = len(every) - most
    return mark.join(every[:most]) + (f" and {more:,} more{noun and ' ' + noun}" if more > 0 else "")


def either(words: Iterable[str]) -> str:
    """Words to choose from, in a sentence.

    >>> either(["csv", "json", "xml"])
    'csv, json or xml'
    """
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def check_kind(value: object, kind: type | tuple[type, ...], name: str, remedy: str) -> None:
    """Raise unless an argument is of a kind; `remedy` says what to pass.

    >>> check_kind(3, str, "title", "pass a text")
    Traceback (most recent call last):
    evenhand.errors.CallError: title is of type int: pass a text.
    """
    if not isinstance(value, kind):
        raise CallError(f"{name} is of type {type(value).__name__}: {remedy}.")


def shorten(text: str, most: int = 80) -> str:
    """A text cut to a length that fits into a message."""
    text = text if len(text) <= most else without_secrets(text)
    return text if len(text) <= most else text[: most - 1] + "…"


_WORD = r"\S{200,}"


def cut_words(text: str) -> str:
    """A message in which words of hundreds of characters, which only a value can have, are cut.

    >>> len(cut_words("label='" + "x" * 100_000 + "' is not a column."))
    97
    """
    return re.sub(_WORD, lambda word: shorten(word[0]), text)


def short_path(path: object, most: int = 80) -> str:
    """A long path without its beginning; its end is the name of the file."""
    text = without_secrets(str(path))
    return text if len(text) <= most else "…" + text[1 - most :]


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the nearest known names, else some of all known names.

    >>> nearest("Threshhold", ["control", "threshold", "thresholds"])
    "did you mean 'threshold' or 'thresholds'?"
    """
    known = list(known)
    folded = {candidate.casefold(): candidate for candidate in reversed(known)}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    alike = [difflib.SequenceMatcher(None, candidate, name.casefold()).ratio() for candidate in close]
    close = [candidate for candidate, ratio in zip(close, alike, strict=True) if ratio > alike[0] - 0.15]
    if close:
        return f"did you mean {' or '.join(repr(shorten(folded[candidate])) for candidate in close)}?"
    return f"there are: {listing(known)}." if known else "there are none."
