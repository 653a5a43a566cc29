"""Excel sheets: the first sheet of a workbook as a table of text, read by openpyxl.

Only values are read, as a CSV of the sheet would have them. A formula counts by the value that was saved with it; one
without such a value is an error, because the cell would be taken as missing.
"""

from __future__ import annotations

import itertools
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evenhand.errors import DataError, MissingDependencyError, short_path
from evenhand.sources.files.formats import UNTYPED, Column, Table, check_same, identifier
from evenhand.sources.spelling import spelling

_MOST_BYTES = 1 << 30  # of a workbook when it is unpacked
_TOGETHER = 5000  # rows that are handed over at once
_NUMBERS = itertools.count()
_EXPORT = "save the sheet as CSV (UTF-8) in the spreadsheet program, and read that"


def open_sheets(paths: Sequence[Path], connection: Any) -> Table:
    """The first sheets of some workbooks as one table."""
    try:
        import openpyxl
    except ImportError:
        raise MissingDependencyError(
            f"Excel files are read with openpyxl: pip install 'evenhand[excel]'; or {_EXPORT}."
        ) from None
    sheets = [_sheet(path, openpyxl) for path in paths]
    headers = [tuple(map(str, next(sheet, ()))) for sheet in sheets]
    for path, header in zip(paths, headers, strict=True):
        if not header:
            raise DataError(f"{short_path(path)!r} is empty: its first sheet has no row.")
    check_same(headers)
    names = headers[0]
    table = f"sheet_{next(_NUMBERS)}"
    columns = [identifier(f"c{i}") for i in range(len(names))]
    connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(f'{name} VARCHAR' for name in columns)})")
    filled = f"INSERT INTO {table} SELECT {', '.join('unnest(?::VARCHAR[])' for _ in columns)}"
    for sheet in sheets:
        while rows := list(itertools.islice(sheet, _TOGETHER)):
            connection.execute(filled, [list(column) for column in zip(*rows, strict=True)])
    reached = {title: Column(name, UNTYPED) for title, name in zip(names, columns, strict=True)}
    return Table(table, reached, frozenset(name for name, times in Counter(names).items() if times > 1))


def _sheet(path: Path, openpyxl: Any) -> Iterator[tuple[str | None, ...]]:
    """The names of the columns of a sheet, then its rows as text."""
    shown = repr(short_path(path))
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > _MOST_BYTES:
            raise DataError(f"{shown} unpacks to more than {_MOST_BYTES >> 30} GB: {_EXPORT}.")
        values, formulas = (
            openpyxl.load_workbook(path, read_only=True, data_only=only, keep_links=False) for only in (True, False)
        )
        if not values.worksheets:
            raise DataError(f"{shown} has no sheet with cells.")
        both = zip(values.worksheets[0].iter_rows(), formulas.worksheets[0].iter_rows(), strict=True)
        yield from _rows(both, shown)
    except (DataError, GeneratorExit):
        raise
    except Exception as error:  # a damaged workbook fails in any way
        raise DataError(f"{shown} cannot be read as an Excel file: {type(error).__name__}. Else {_EXPORT}.") from None


def _rows(both: Iterator[tuple[Any, Any]], shown: str) -> Iterator[tuple[str | None, ...]]:
    width = 0
    for number, (values, formulas) in enumerate(both, 1):
        for value, formula in zip(values, formulas, strict=True):
            if value.value is None and formula.value is not None:
                raise DataError(
                    f"{shown}: row {number} holds a formula without a saved value: open it in a spreadsheet program "
                    f"and save it; or {_EXPORT}."
                )
        texts = [_text(cell) for cell in values]
        if not width:
            if not any(texts):
                raise DataError(f"{shown} begins with an empty row: the first row must name the columns.")
            while texts[-1] is None:
                texts.pop()
            if None in texts:
                raise DataError(f"{shown}: a column in the first row has no name: give it one.")
            width = len(texts)
        elif not any(text is not None for text in texts):
            continue
        elif any(text is not None for text in texts[width:]):
            raise DataError(f"{shown}: row {number} has cells to the right of the columns that have a name.")
        yield (*texts[:width], *[None] * (width - len(texts)))


def _text(cell: Any) -> str | None:
    """The value of a cell as a CSV would have it; an error such as #N/A is missing."""
    value = cell.value
    if value is None or getattr(cell, "data_type", "") == "e" or value == "":
        return None
    if isinstance(value, datetime) and value == datetime(value.year, value.month, value.day):
        return str(value.date())
    return spelling(value)
