"""What of a URL may be shown: where something is, never how to get in."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PLACE = re.compile(r"(\[[0-9a-fA-F:.]*\]|[^:/]*)(:\d+)?(/.*)?")
_SECRETS = re.compile("pass|secret|token|key|credential", re.IGNORECASE)


def without_secrets(argument: str) -> str:
    """An argument of the command line with the URL in it cut to what may be shown: no user, no password, no options.

    >>> without_secrets("--database=postgresql://ann:secret@db.example/loans?sslpassword=x")
    '--database=postgresql://db.example/loans'
    """
    found = _URL.search(argument)
    return argument if found is None else argument[: found.start()] + shown(argument[found.start() :])


def shown(url: str) -> str:
    """Where the database is; where it cannot be told from a password, nothing but its kind."""
    scheme, _, rest = url.partition("://")
    place, _, options = rest.partition("?")
    place = place.rpartition("@")[2].partition("#")[0]
    return f"{scheme}://{place if _PLACE.fullmatch(place) and '@' not in options else '…'}"


def secrets_of(url: str) -> set[str]:
    """The passwords and keys in a URL, as they stand there and decoded."""
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query)
    except ValueError:
        return {url}
    found = {value for name, value in options if _SECRETS.search(name)}
    for text in (parts.password, parts.netloc.rpartition("@")[0].partition(":")[2]):
        found |= {text, unquote(text)} if text else set()
    return {text for text in found if text}
