"""The table [data] of a policy file: how data is read, in the words of `evenhand.audit`, so that a call names only the
data. It holds names of columns and settings; nothing in it is run and no file is named in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.core.files import read_text
from evenhand.errors import CallError, DataError, Problems, nearest, short_path, shorten
from evenhand.sources.roles import ARGUMENTS, DEFAULTS, SINGLE
from evenhand.verdicts.policy import SHIPPED

TABLE = "data"
MOST_BYTES = 1_000_000
_MOST_POINTS = 2000  # tomllib keeps every beginning of a key such as a.b.c, which of a long one takes all memory
_COLUMNS = ("sensitive", "control")
_NONE = "none"  # TOML has no null

_EXAMPLES = {
    "label": '"repaid"',
    "prediction": '"approved"',
    "score": '"risk"',
    "cutoff": "0.5",
    "sensitive": '["race", "sex"]',
    "control": '["department"]',
    "positive": "1",
    "weight": '"weight"',
    "count": '"count"',
    "na": '["NA", "?"]',
    "bands": "{ age = [0, 25, 45, 200] }",
    "labels": '{ sex = { 1 = "male", 2 = "female" } }',
    "where": '["age >= 18"]',
}


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The keys of a TOML file; `what` it is read as is for the errors."""
    import tomllib

    where = repr(short_path(path))
    text = read_text(path, what, MOST_BYTES)
    if text.count(".") > _MOST_POINTS:
        raise DataError(f"{where} holds {text.count('.'):,} points, more than {_MOST_POINTS:,}, so it is not {what}.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DataError(f"{where} is nested too deeply for {what}.") from None
    except ValueError as error:
        raise DataError(f"{where} is not valid TOML: {shorten(str(error), 200)}.") from None


def names_a_file(policy: str) -> bool:
    """Whether a policy is given as a file: it ends as one does, or is there."""
    path = Path(policy)
    try:
        return path.suffix.lower() == ".toml" or path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def data_table(policy: Any) -> dict[str, Any]:
    """The arguments in the table [data] of the file that `policy` names; none where it is anything but a file."""
    if not isinstance(policy, (str, Path)) or policy in SHIPPED:
        return {}
    path = Path(policy)
    if isinstance(policy, str) and not names_a_file(policy):
        return {}  # policy_file.resolve() says what there is
    return check_table(read_toml(path, "a policy").get(TABLE, {}), repr(short_path(path)))


def check_table(table: Any, where: str) -> dict[str, Any]:
    """The arguments in a table [data], as a reader takes them; all that is wrong is said at once, with the file."""
    if not isinstance(table, Mapping):
        raise CallError(f"{where}: {TABLE} must be a table, [{TABLE}], with keys such as sensitive.")
    problems, found = Problems(), {}
    for key, value in table.items():
        if key not in ARGUMENTS:
            problems.add(f"{where}: {shorten(key)!r} is not a key of [{TABLE}]; {nearest(key, ARGUMENTS)}")
        elif key in SINGLE and not isinstance(value, str):
            problems.add(f"{where}: {key} in [{TABLE}] must be the name of a column, such as {_example(key)}.")
        elif key in _COLUMNS and not _are_texts(value):
            problems.add(f"{where}: {key} in [{TABLE}] must be one name or a list of names, such as {_example(key)}.")
        elif isinstance(DEFAULTS[key], bool) and not isinstance(value, bool):
            problems.add(f"{where}: {key} in [{TABLE}] must be true or false.")
        else:
            found[key] = _without_none(key, value)
    problems.raise_if_any(CallError)
    return found


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(part, str) for part in value))


def _example(key: str) -> str:
    return f"{key} = {_EXAMPLES.get(key, '…')}"


def _without_none(key: str, value: Any) -> Any:
    if key == "bands" and isinstance(value, Mapping):
        return {name: None if edges == _NONE else edges for name, edges in value.items()}
    return value


def template() -> list[str]:
    """The table as comments, for a new file."""
    said = [
        "# How data is read, so that a command names only the data: evenhand audit decisions.csv. Named evenhand.toml,",
        "# this file is found beside the data or in the working directory. An option of a command beats it.",
        f"# [{TABLE}]",
    ]
    return [*said, *(f"# {key} = {example}" for key, example in _EXAMPLES.items())]
