"""Options that several commands share: how data is read, from where, how it is judged, and what is printed.

The options that say how data is read are made from `ReadArguments`, so that they have the names, types and defaults of
`evenhand.audit`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

from evenhand.cli.arguments import typed
from evenhand.cli.help import PHRASES
from evenhand.cli.numbers import BINS, NUMBER, PEOPLE
from evenhand.cli.targets import DATABASE_VARIABLE
from evenhand.cli.values import bands, paths
from evenhand.cube import merge
from evenhand.cube.cube import Cube
from evenhand.cube.merge import CUBE_SUFFIX
from evenhand.errors import CallError, listing
from evenhand.sources.roles import ARGUMENTS, TYPES
from evenhand.verdicts.data_table import TABLE, read_toml

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(options: Sequence[Decorator]) -> Decorator:
    """One decorator for several options, which help lists in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# --- how data is read


def role_option(name: str, **changes: Any) -> Decorator:
    """The option of an argument of `ReadArguments`; `changes` are settings of click that this command has otherwise."""
    argument = ARGUMENTS[name]
    words = PHRASES.get(name, argument.help)
    settings: dict[str, Any] = {"help": words, "multiple": argument.multiple, "metavar": argument.metavar}
    if argument.values > 1:
        settings["nargs"] = argument.values
    if TYPES[name] is bool:
        settings["is_flag"] = True
    elif not argument.multiple:
        settings["type"] = _option_type(TYPES[name])
        if argument.default is not None:
            settings |= {"default": argument.default, "show_default": True}
    return click.option(f"--{name.replace('_', '-')}", **{**settings, **changes})


def _option_type(hint: Any) -> Any:
    """The type of an option, from the type of the argument: the first that click knows."""
    if hint in (int, float):
        return BINS if hint is int else NUMBER
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    return next((kind for part in get_args(hint) if (kind := _option_type(part)) is not str), str)


_WITH_OPTION = [name for name, argument in ARGUMENTS.items() if argument.help]
_POSITIVE_OF_ONE_ROLE = {
    f"positive_{role}": click.option(
        f"--positive-{role}", multiple=True, help=f"Say which value of the {role} alone counts as positive."
    )
    for role in ("label", "prediction")
}
_AFTER_POSITIVE = _WITH_OPTION.index("positive") + 1

role_options = together(
    [
        *map(role_option, _WITH_OPTION[:_AFTER_POSITIVE]),
        *_POSITIVE_OF_ONE_ROLE.values(),
        *map(role_option, _WITH_OPTION[_AFTER_POSITIVE:]),
    ]
)
skip_bad_option = click.option(
    "--skip-bad", is_flag=True, help="Leave out files that cannot be read, and say so in the notes."
)


def shared_role_options(*left_out: str) -> Decorator:
    """The options of `role_options` without some, which a command has otherwise or not at all."""
    names = [name for name in _WITH_OPTION if name not in left_out]
    return together([*map(role_option, names), *_POSITIVE_OF_ONE_ROLE.values()])


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The values of `role_options` as `Cube.count` takes them; what a command leaves out is in the table [data] of a
    settings file, where there is one."""
    read = {**_typed(options), **_from_table(options)}
    if not read["sensitive"]:
        raise click.UsageError("Missing option '--sensitive'.")
    return read


def _from_table(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the table [data] that no option of the command replaces."""
    context = click.get_current_context()
    options_of = {"positive": ("positive", *_POSITIVE_OF_ONE_ROLE)}

    def typed_here(name: str) -> bool:
        sources = (context.get_parameter_source(option) for option in options_of.get(name, (name,)))
        return ParameterSource.COMMANDLINE in sources

    return {name: value for name, value in options.get(TABLE, {}).items() if not typed_here(name)}


def _typed(options: dict[str, Any]) -> dict[str, Any]:
    named = [name for name in _WITH_OPTION if name in options]
    read = {name: list(options[name]) if ARGUMENTS[name].multiple else options[name] for name in named}
    return {
        **read,
        "score_range": options["score_range"] or None,
        **({"control": read["control"] or None} if "control" in read else {}),
        # A list, because a value that was named may stand for one class among many.
        "positive": {
            role: list(options[f"positive_{role}"] or options["positive"]) or 1 for role in ("label", "prediction")
        },
        "bands": bands(options["bands"]),
        **({} if options["labels"] is None else {"labels": read_toml(Path(options["labels"]), "a book of codes")}),
    }


@contextmanager
def rows_of(files: tuple[str, ...], options: dict[str, Any]) -> Iterator[Any]:
    """The rows that a command names, as a reader takes them: files of data, or a table of a database."""
    if _names_database(options, files):
        with _opened(options) as frame:
            yield frame
    else:
        with paths(files) as found:
            yield found


def cube_of(files: tuple[str, ...], options: dict[str, Any]) -> Cube:
    """The cube of the data that a command names: files of data, files of cubes, or a table of a database."""
    with counted(files, options) as (cube, _):
        return cube


Counted = tuple[Cube, tuple[Any, dict[str, Any]] | None]
"""A cube, and the data and the arguments that it was counted from; None of cubes."""


@contextmanager
def counted(files: tuple[str, ...], options: dict[str, Any]) -> Iterator[Counted]:
    """The same cube, and the data and arguments that it was counted from, while they can be read; None of cubes."""
    if _names_database(options, files):
        roles = arguments(options)
        with _opened(options) as frame:
            yield Cube.count(frame, **roles), (frame, roles)
    elif are_cubes(files):
        refuse_roles()
        yield merge.merge_files(files, skip_bad=options["skip_bad"], clusters=options["clusters"]), None
    else:
        with paths(files) as found:
            check_roles(found, options)
            roles = arguments(options)
            yield merge.count_files(found, roles, skip_bad=options["skip_bad"]), (found, roles)


def check_roles(files: Sequence[Any], options: dict[str, Any]) -> None:
    """Show what the files hold where a call does not say which column is what."""
    roles = {**_typed(options), **_from_table(options)}
    missing = [] if roles["sensitive"] else ["the attribute that makes the groups (--sensitive)"]
    if all(roles[role] is None for role in ("label", "prediction", "score")):
        missing.append("what was decided or happened (--prediction, --score or --label)")
    if missing:
        from evenhand.cli.columns import ask_for_roles

        ask_for_roles(files, roles, missing)


def are_cubes(files: tuple[str, ...]) -> bool:
    """Do the files hold cubes? Cubes and data together are refused."""
    cubes = [name for name in files if Path(name).suffix == CUBE_SUFFIX]
    if cubes and len(cubes) < len(files):
        other = next(name for name in files if name not in cubes)
        raise CallError(f"{cubes[0]!r} is a cube and {other!r} is not: count that one first, with evenhand cube.")
    return bool(cubes)


def refuse_roles() -> None:
    """Refuse options that say how to count where the counts are in cubes: they would have no effect."""
    context = click.get_current_context()
    names = [*(name for name in _WITH_OPTION if name != "clusters"), *_POSITIVE_OF_ONE_ROLE]
    said = [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if said:
        options = listing([f"--{name.replace('_', '-')}" for name in said]).replace("'", "")
        raise CallError(f"a cube is counted already, so {options} cannot be given: the cube keeps how it was counted.")


# --- a database in place of files

database_options = together(
    [
        click.option(
            "--database",
            metavar="URL",
            help="Read a database in place of files: duckdb:///x.db, sqlite:///x.db, postgresql://host/name. "
            f"Set {DATABASE_VARIABLE} instead to keep the URL out of the command.",
        ),
        click.option("--table", metavar="NAME", help="Read this table of the database."),
        click.option("--query", metavar="SQL", help="Read the result of this query, in place of a whole table."),
    ]
)


def database_source(options: dict[str, Any]) -> tuple[str, ...]:
    """What the report calls data from a database."""
    if options["table"] is not None:
        return (options["table"],)
    return ("a database query",) if options["query"] is not None else ()


def _names_database(options: dict[str, Any], files: tuple[str, ...]) -> bool:
    """Is the data in a database? Files and a database together are refused, and so is neither."""
    named = any(options[name] is not None for name in ("database", "table", "query"))
    if named and files:
        raise CallError("files and a database are read one at a time: leave out the files, or --database.")
    if not named and not files:
        raise click.UsageError("Missing argument 'FILES...', or --database with --table.")
    return named


def _opened(options: dict[str, Any]) -> AbstractContextManager[Any]:
    """The frame that the options name, while its database is open."""
    url = typed(options["database"]) or os.environ.get(DATABASE_VARIABLE)
    if not url:
        raise CallError(f"--table and --query need --database, or its URL in {DATABASE_VARIABLE}.")
    if (options["table"] is None) == (options["query"] is None):
        raise CallError("with --database, give either --table or --query.")
    from evenhand.sources.database import open_table

    return open_table(url, table=options["table"], query=typed(options["query"]))


# --- how it is judged

policy_option = click.option(
    "--policy", metavar="POLICY", help="Judge by this policy: a TOML file, or a name such as four-fifths or nyc-ll144."
)
threshold_option = click.option(
    "--threshold", multiple=True, metavar="METRIC=NUMBER", help="Replace a metric's threshold; may be repeated."
)
min_group_size_option = click.option(
    "--min-group-size", type=PEOPLE, help="Show smaller groups, but let no pass rest on them."
)
intersections_option = click.option(
    "--intersections/--no-intersections", default=None, help="Combine all attributes, or none; by default up to three."
)


def reference_option(help: str = "Compare the others with this group.") -> Decorator:
    """Which group is the reference; the values that stand for other references differ by command."""
    return click.option("--reference", multiple=True, metavar="[COLUMN=]VALUE", help=help)


def confidence_option(help: str = "Make intervals of this confidence (default 0.95).") -> Decorator:
    """The confidence; the statement that it applies to differs by command."""
    return click.option("--confidence", type=NUMBER, help=help)


# --- what is printed

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code gives the verdict.")
