"""What is tried, by class, and how: from one list of cases come the tests, the figures and what is known to fall."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from random import Random
from zlib import crc32

from evenhand.catalogue import ALIASES, METRICS
from fuzz import calls, commands, mutants
from fuzz.outcome import Outcome, attempt
from fuzz.values import NONSENSE, TEXTS, VALUES
from support.profiles import is_thorough

TO_BE_NAMED = frozenset(
    {"nan", "inf", "minus one", "ten billion", "400 digits", "class", "object", "complex", "datetime", "function"}
)
"""Values that are wrong in themselves, and not for what is in them: a refusal has to name the parameter or the value."""


@dataclass(frozen=True)
class Place:
    """Where a hostile value goes: one option, one parameter of one function, or one file that a command reads."""

    group: str
    owner: str
    """The command or the function."""
    name: str
    values: tuple[str, ...]

    @property
    def spelled(self) -> str:
        return f"{self.owner} {self.name}".strip()


def of_options() -> list[Place]:
    return [Place("options", each.command, each.name, tuple(TEXTS)) for each in commands.places()]


def of_parameters() -> list[Place]:
    found = []
    for name in calls.public():
        group = "parameters of metrics" if name in METRICS or name in ALIASES else "parameters of functions"
        found += [Place(group, name, slot, tuple(VALUES)) for slot in calls.slots(name)]
    return found


def of_files() -> list[Place]:
    numbers = tuple(str(number) for number in range(mutants.EACH))
    return [Place(kind.group, kind.name, "", numbers) for kind in mutants.KINDS]


def every_place() -> list[Place]:
    return [*of_options(), *of_parameters(), *of_files()]


def by_owner(places: Iterable[Place]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place.owner, []).append(place)
    return found


# --- trying them


class Attempts:
    """Tries values in places, in a scratch folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with chdir(folder):
            self._prepare()

    def _prepare(self) -> None:
        mutants.prepare()
        self.bases = calls.bases()
        self.options = {(each.command, each.name): each for each in commands.places()}
        self.kinds = {kind.name: kind for kind in mutants.KINDS}
        self.before = commands.inputs()

    def __call__(self, place: Place, value: str) -> Outcome:
        with chdir(self.folder):
            return self._ways()[place.group](place, value)

    def _ways(self) -> dict[str, Callable[[Place, str], Outcome]]:
        return {
            "options": self._option,
            "parameters of metrics": self._parameter,
            "parameters of functions": self._parameter,
            "data files": self._file,
            "saved files": self._file,
            "policies and graphs": self._file,
        }

    def _option(self, place: Place, value: str) -> Outcome:
        found = commands.attempt(self.options[place.owner, place.name].called(TEXTS[value]))
        if commands.inputs() == self.before:
            return found
        mutants.prepare()
        self.before = commands.inputs()
        return Outcome("fell", "an input was overwritten")

    def _parameter(self, place: Place, value: str) -> Outcome:
        base = self.bases[place.owner]
        given = VALUES[value]()
        # The parameter, or the value itself: its beginning, its kind.
        words = (place.name.lstrip("*"), repr(given)[1:9], type(given).__name__)
        return attempt(
            base.replaced(place.name, given),
            named=words if value in TO_BE_NAMED else (),
            nonsense=value in NONSENSE and place.name not in base.anything,
            also=base.also,
        )

    def _file(self, place: Place, value: str) -> Outcome:
        kind = self.kinds[place.owner]
        bad = Path(f"bad-{kind.file}")
        bad.write_bytes(kind.mutant(Path(kind.file).read_bytes(), int(value)))
        found = commands.attempt(kind.arguments(str(bad)))
        if found.kind == "result" and kind.same and commands.run(kind.arguments(str(bad)))[:2] != self._good(kind):
            return Outcome("fell", "a damaged file gave another answer")
        return found

    def _good(self, kind: mutants.Kind) -> tuple[int, str]:
        """The exit code and the output of the file as it was saved."""
        return commands.run(kind.arguments(kind.file))[:2]


def chosen(places: list[Place], few: int) -> list[tuple[Place, str]]:
    """Every case of these places; in the fast profile only a few of them, always the same."""
    cases = [(place, value) for place in places for value in place.values]
    if is_thorough() or len(cases) <= few:
        return cases
    return Random(crc32(places[0].spelled.encode())).sample(cases, few)


# --- what is known to fall

Case = tuple[str, str, str]
"""Group, place and value."""

KNOWN = Path(__file__).parent / "known.txt"


def known() -> dict[Case, str]:
    """The cases that are known to fall, and what happens; of mutants, which differ by library, the value is `*`."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    parts = [line.split(" | ", 3) for line in lines if line and not line.startswith("#")]
    return {(group, place, value): why for group, place, value, why in parts}


def line(place: Place, value: str, found: Outcome) -> str:
    """The line of `known.txt` for a case that falls."""
    why = " ".join(found.why.split())[:120]
    return f"{place.group} | {place.spelled} | {_shown(place, value)} | {why}"


def _shown(place: Place, value: str) -> str:
    return value if place.name else "*"


def falls(attempts: Attempts, places: list[Place], few: int) -> tuple[list[str], list[str]]:
    """Try these places: what falls and is not known to, and what is known to fall and did not."""
    listed, fell, new = known(), set(), []
    cases = chosen(places, few)
    for place, value in cases:
        found = attempts(place, value)
        case = (place.group, place.spelled, _shown(place, value))
        if not found.held:
            fell.add(case)
            new += [line(place, value, found)] if case not in listed else []
    tried = {(place.group, place.spelled, value) for place, value in cases}
    if is_thorough():
        tried |= {(place.group, place.spelled, "*") for place, _ in cases}
    return new, [" | ".join(case) for case in listed if case in tried and case not in fell]


def figures() -> dict[str, tuple[int, int]]:
    """By class, how many cases the thorough profile tries, and in how many the call held."""
    found: dict[str, tuple[int, int]] = {}
    listed = known()
    for place in every_place():
        tried, held = found.get(place.group, (0, 0))
        here = len(place.values)
        lost = sum(group == place.group and where == place.spelled for group, where, _ in listed)
        found[place.group] = tried + here, held + here - lost
    return found
