"""What became of a hostile call: a result, a refusal in plain words, or a fall, with the reason why it is one."""

from __future__ import annotations

import os
import re
import resource
import signal
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.errors import EvenhandError
from fuzz.values import OwnError

SECONDS = 60
"""How long one call may take; the calls they start from take some hundredths of a second."""

SPARE = 3 * 2**30
"""How much more memory one call may ask for, in bytes."""

LONGEST = 3_000
"""How many characters a message may have: a value of 20,000 is cut in it."""


@dataclass(frozen=True)
class Outcome:
    kind: Literal["result", "refused", "fell"]
    why: str = ""

    @property
    def held(self) -> bool:
        return self.kind != "fell"


class TookTooLongError(BaseException):
    """Past every `except Exception` of the code that is tried."""


@contextmanager
def limits(seconds: int = SECONDS, spare: int = SPARE) -> Iterator[None]:
    """Within it, a call that takes too long or asks for too much memory raises an error, and so does a warning."""

    def ring(*_: Any) -> None:
        raise TookTooLongError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, ring)
    resource.setrlimit(resource.RLIMIT_AS, (_in_use() + spare, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _in_use() -> int:
    """The address space of this process, in bytes; where /proc is not, a guess on the safe side."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 16 * 2**30


def attempt(
    call: Callable[[], Any], *, named: tuple[str, ...] = (), nonsense: bool = False, also: tuple[type, ...] = ()
) -> Outcome:
    """Make the call. A refusal must have one of the words in `named`; `also` are errors that the call documents."""
    try:
        with limits():
            call()
    except EvenhandError as error:
        why = fault(str(error), named)
        return Outcome("fell", f"{why}: {error!s:.200}") if why else Outcome("refused", str(error))
    except (OwnError, *also) as error:
        return Outcome("refused", str(error))
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        if _is_of_an_estimator(error):
            return Outcome("refused", str(error))
        return Outcome("fell", f"{type(error).__name__}: {error!s:.160}")
    except TookTooLongError:
        return Outcome("fell", f"no answer in {SECONDS} s")
    except BaseException as error:  # whatever it is, it is counted
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome("fell", f"{type(error).__name__}: {error!s:.160}")
    return Outcome("fell", "taken without a word") if nonsense else Outcome("result")


def _is_of_an_estimator(error: Exception) -> bool:
    """Was it raised by scikit-learn, about data or an estimator that the caller handed on to it?"""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = max(i for i, name in enumerate([*files, ""]) if f"{os.sep}evenhand{os.sep}" in name or i == 0)
    return any(f"{os.sep}sklearn{os.sep}" in name for name in files[ours + 1 :])


# What a message of Python or of a library says, and a sentence for a person does not.
BARE = re.compile(
    r"Traceback|'NoneType'|object is not|object has no attribute|unhashable|not subscriptable"
    r"|required positional|invalid literal for|cannot convert|Errno|\bdtype\b.*\bufunc\b"
)


def fault(text: str, named: tuple[str, ...] = ()) -> str | None:
    """What is wrong with the text of a refusal, or None."""
    if not text.strip():
        return "an error without a word"
    if len(text) > LONGEST:
        return f"a message of {len(text):,} characters"
    if found := BARE.search(text):
        return f"the words of Python ({found[0]})"
    if hidden := unseen(text):
        return f"characters that a terminal acts on ({', '.join(sorted(hex(ord(mark)) for mark in hidden))})"
    if named and not any(mentions(text, word) for word in named):
        return f"{named[0]} is not named"
    return None


def unseen(text: str) -> set[str]:
    return {mark for mark in text if mark != "\n" and unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


def mentions(text: str, name: str) -> bool:
    """Is the parameter named, as itself or in words: `min_group_size`, "min group size"?"""
    return bool(re.search(re.escape(name).replace("_", "[_ -]"), text, re.IGNORECASE))
