"""Every kind of data that is read, made from one table of plain lists: in memory, and as files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

Columns = dict[str, list[Any]]
Maker = Callable[[Columns, Path], Any]


def _is_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def _is_whole(values: list[Any]) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values if value is not None)


def _numpy(columns: Columns, _folder: Path) -> Any:
    found = {}
    for name, values in columns.items():
        array = np.array(values, dtype=object)
        found[name] = array if None in values or _is_text(values) else np.array(values)
    return found


def _masked(columns: Columns, _folder: Path) -> Any:
    def mask(values: list[Any]) -> Any:
        filler = next((value for value in values if value is not None), 0)
        filled = [filler if value is None else value for value in values]
        return np.ma.MaskedArray(filled, mask=[value is None for value in values])

    return {name: mask(values) for name, values in columns.items()}


def _pandas(columns: Columns, _folder: Path, text: Any = None) -> Any:
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    if text is None:
        return frame
    return frame.astype({name: text for name, values in columns.items() if text == "object" or _is_text(values)})


def _pandas_nullable(columns: Columns, _folder: Path) -> Any:
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()}).convert_dtypes()


def _pandas_arrow(columns: Columns, _folder: Path) -> Any:
    return _pandas_nullable(columns, _folder).convert_dtypes(dtype_backend="pyarrow")


def _pandas_index(columns: Columns, folder: Path) -> Any:
    frame = _pandas(columns, folder)
    return frame.set_axis([f"row {i % 7}" for i in reversed(range(len(frame)))])


def _pandas_multiindex(columns: Columns, folder: Path) -> Any:
    frame = _pandas(columns, folder)
    return frame.set_axis(pd.MultiIndex.from_arrays([[i % 3 for i in range(len(frame))], range(len(frame))]))


def _polars(columns: Columns, _folder: Path, text: Any = None, whole: Any = None) -> Any:
    frame = pl.DataFrame({name: pl.Series(name, values, strict=False) for name, values in columns.items()})
    if text is not None:
        for name, values in columns.items():
            if _is_text(values):
                dtype = pl.Enum(sorted({v for v in values if v is not None})) if text is pl.Enum else text
                frame = frame.with_columns(frame[name].cast(dtype))
    if whole is not None:
        frame = frame.with_columns([frame[name].cast(whole) for name in columns if _is_whole(columns[name])])
    return frame


def _arrow(columns: Columns, _folder: Path, text: Any = None) -> Any:
    return pa.table({name: pa.array(v, type=text if _is_text(v) else None) for name, v in columns.items()})


def _arrow_dictionary(columns: Columns, folder: Path) -> Any:
    table = _arrow(columns, folder)
    return pa.table({name: table[name].combine_chunks().dictionary_encode() for name in table.column_names})


def _arrow_chunked(columns: Columns, folder: Path) -> Any:
    table = _arrow(columns, folder)
    return pa.concat_tables([table.slice(start, 5) for start in range(0, table.num_rows, 5)])


def _arrow_batch(columns: Columns, folder: Path) -> Any:
    return _arrow(columns, folder).combine_chunks().to_batches()[0]


def csv_text(columns: Columns, delimiter: str = ",", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    page = io.StringIO(newline="")
    writer = csv.writer(page, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return page.getvalue()


def json_lines(columns: Columns) -> str:
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)


def _text_file(columns: Columns, folder: Path, name: str, text: Callable[[Columns], str]) -> Path:
    path = folder / name
    path.write_bytes((gzip.compress if name.lower().endswith(".gz") else bytes)(text(columns).encode()))
    return path


def _parquet(columns: Columns, folder: Path) -> Path:
    pyarrow.parquet.write_table(_arrow(columns, folder), folder / "data.parquet", row_group_size=7)
    return folder / "data.parquet"


def _parquet_duckdb(columns: Columns, folder: Path) -> Path:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", _arrow(columns, folder))
    target = str(folder / "duckdb.parquet").replace("'", "''")
    connection.execute(f"COPY given TO '{target}' (FORMAT parquet)")
    return folder / "duckdb.parquet"


def _parquet_polars(columns: Columns, folder: Path) -> Path:
    _polars(columns, folder, text=pl.Categorical).write_parquet(folder / "polars.pq")
    return folder / "polars.pq"


def _feather(columns: Columns, folder: Path) -> Path:
    pyarrow.feather.write_feather(_arrow(columns, folder), str(folder / "data.feather"))
    return folder / "data.feather"


def _arrow_file(columns: Columns, folder: Path) -> Path:
    table = _arrow_dictionary(columns, folder)
    with pa.ipc.new_file(str(folder / "data.arrow"), table.schema) as file:
        file.write_table(table)
    return folder / "data.arrow"


def _parts(columns: Columns, folder: Path, maker: Maker, suffix: str) -> list[Path]:
    """The rows dealt out to three files."""
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    for i in range(3):
        made = maker({name: values[i::3] for name, values in columns.items()}, folder)
        made.rename(parts / f"part-{i}{suffix}")
    return sorted(parts.iterdir())


def _glob(columns: Columns, folder: Path, maker: Maker, suffix: str) -> str:
    _parts(columns, folder, maker, suffix)
    return str(folder / "parts" / f"part-*{suffix}")


_csv = partial(_text_file, name="data.csv", text=csv_text)
_jsonl = partial(_text_file, name="data.jsonl", text=json_lines)

IN_MEMORY: dict[str, Maker] = {
    "lists": lambda columns, _: columns,
    "tuples": lambda columns, _: {name: tuple(values) for name, values in columns.items()},
    "numpy": _numpy,
    "numpy-masked": _masked,
    "pandas": _pandas,
    "pandas-object": partial(_pandas, text="object"),
    "pandas-string-python": partial(_pandas, text="string[python]"),
    "pandas-string-pyarrow": partial(_pandas, text="string[pyarrow]"),
    "pandas-category": partial(_pandas, text="category"),
    "pandas-nullable": _pandas_nullable,
    "pandas-arrow": _pandas_arrow,
    "pandas-index": _pandas_index,
    "pandas-multiindex": _pandas_multiindex,
    "polars": _polars,
    "polars-categorical": partial(_polars, text=pl.Categorical),
    "polars-enum": partial(_polars, text=pl.Enum),
    "polars-int8": partial(_polars, whole=pl.Int8),
    "polars-uint16": partial(_polars, whole=pl.UInt16),
    "arrow": _arrow,
    "arrow-large": partial(_arrow, text=pa.large_string()),
    "arrow-dictionary": _arrow_dictionary,
    "arrow-chunked": _arrow_chunked,
    "arrow-batch": _arrow_batch,
}

FILES: dict[str, Maker] = {
    "csv": _csv,
    "csv-gz": partial(_text_file, name="data.csv.gz", text=csv_text),
    "csv-semicolon": partial(_text_file, name="semicolon.csv", text=partial(csv_text, delimiter=";")),
    "csv-pipe": partial(_text_file, name="pipe.txt", text=partial(csv_text, delimiter="|")),
    "csv-quoted": partial(_text_file, name="QUOTED.CSV", text=partial(csv_text, quoting=csv.QUOTE_ALL)),
    "tsv": partial(_text_file, name="data.tsv", text=partial(csv_text, delimiter="\t")),
    "tsv-gz": partial(_text_file, name="data.TSV.GZ", text=partial(csv_text, delimiter="\t")),
    "jsonl": _jsonl,
    "jsonl-gz": partial(_text_file, name="data.ndjson.gz", text=json_lines),
    "parquet": _parquet,
    "parquet-duckdb": _parquet_duckdb,
    "parquet-polars": _parquet_polars,
    "feather": _feather,
    "arrow-file": _arrow_file,
    "csv-glob": partial(_glob, maker=_csv, suffix=".csv"),
    "jsonl-glob": partial(_glob, maker=_jsonl, suffix=".jsonl"),
    "parquet-glob": partial(_glob, maker=_parquet, suffix=".parquet"),
    "parquet-paths": partial(_parts, maker=_parquet, suffix=".parquet"),
}

# Only newer versions of the libraries have these.
if hasattr(pl, "Int128"):
    IN_MEMORY["polars-int128"] = partial(_polars, whole=pl.Int128)
if hasattr(pa, "string_view"):
    IN_MEMORY["arrow-view"] = partial(_arrow, text=pa.string_view())


def _relation(columns: Columns, folder: Path) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(_arrow(columns, folder))


# Frames that an engine holds. Those that need a server or a cluster are in tests/engines.
LAZY: dict[str, Maker] = {
    "polars-lazy": lambda columns, folder: _polars(columns, folder).lazy(),
    "polars-lazy-categorical": lambda columns, folder: _polars(columns, folder, text=pl.Categorical).lazy(),
    "relation-duckdb": _relation,
}

BACKENDS: dict[str, Maker] = IN_MEMORY | FILES | LAZY
