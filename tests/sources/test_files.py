"""Files that are not what they should be: what is wrong is said, with the remedy, and nothing is written."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from evenhand import Cube, audit
from evenhand.errors import DataError, EvenhandError
from evenhand.sources.rows import load_files
from support.backends import BACKENDS
from support.refusals import arguments, refused

GOOD = {
    "race": ["Black", "White"] * 20,
    "sex": ["F", "F", "M", "M"] * 10,
    "y": [0, 1, 1, 0] * 10,
    "p": [1, 0, 1, 0] * 10,
    "s": [0.2, 0.7, 0.9, 0.4] * 10,
    "w": [1.0] * 40,
    "c": [1] * 40,
}
ROLES = {"label": "y", "prediction": "p", "sensitive": "race"}


def _whole() -> dict[str, bytes]:
    """Some good files as bytes, to be spoiled."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            kind: BACKENDS[kind](GOOD, Path(folder)).read_bytes() for kind in ("csv", "parquet", "feather", "jsonl")
        }


def _spoiled(kind: str, **columns: list[str]) -> bytes:
    """A good file with café in it, of which the last letter is not UTF-8."""
    with tempfile.TemporaryDirectory() as folder:
        content = BACKENDS[kind]({**GOOD, **columns}, Path(folder)).read_bytes()
    assert "café".encode() in content
    return content.replace("café".encode(), b"caf\xff\xff")


def _stream() -> bytes:
    """A stream of Arrow, which has no end of its own."""
    table, page = pyarrow.table(GOOD), io.BytesIO()
    with pyarrow.ipc.new_stream(page, table.schema) as stream:
        stream.write_table(table)
    return page.getvalue()


WHOLE = _whole()
LONG = WHOLE["csv"] + b"".join(WHOLE["csv"].splitlines(keepends=True)[1:]) * 20_000
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(64)

BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "empty.parquet": (b"", "is empty"),
    "blank.csv": (b"\n \n", "is empty"),
    "mark.csv": (b"\xef\xbb\xbf", "is empty"),
    "open.csv": (
        b'race,y,"p\n' + b"Black,1,1\n" * 20_000,
        r"first lines of .* cannot be read as CSV: .*quote left open",
    ),
    "empty.csv.gz": (gzip.compress(b""), "is empty"),
    "header.csv": (b"race,y,p\n", "there are no rows to count"),
    "first.csv": (b"\nrace,y,p\na,1,1\n", "begins with an empty line: the first line must name the columns"),
    "nameless.csv": (b"Black,1,1\nWhite,0,0\n", "is not a column"),
    "short.csv": (WHOLE["csv"] + b"Black,F", r"cannot be read as CSV.*Expected Number of Columns: 7 Found: 2"),
    "long.csv": (WHOLE["csv"] + b"a,b,1,1,1,1,1,1,1\r\n", r"cannot be read as CSV.*Expected Number of Columns: 7"),
    "quote.csv": (b'race,y,p\n"Black,1,1\nWhite,0,0\n', r"cannot be read as CSV: .*Line: 2"),
    "ends.csv": (b"race,y,p\r\nBlack,1,1\nWhite,0,0\r\n", r"its lines end in different ways"),
    "cut.csv.gz": (gzip.compress(WHOLE["csv"])[:-30], r"cannot be read.*ended before"),
    "longcut.csv.gz": (gzip.compress(LONG)[:-3000], r"cannot be read"),
    "plain.csv.gz": (WHOLE["csv"], "Not a gzipped file"),
    "gzipped.csv": (gzip.compress(WHOLE["csv"]), r"is gzipped, not CSV\. Let its name end in \.gz"),
    "parquet.csv": (WHOLE["parquet"], r"is a Parquet file, not CSV\. Name it \.parquet"),
    "arrow.csv": (WHOLE["feather"], r"is an Arrow file, not CSV"),
    "png.csv": (PNG, r"is a picture, not CSV"),
    "excel.csv": (b"PK\x03\x04" + bytes(64), r"a zip archive or an Excel sheet, not CSV\. .*save it as CSV"),
    "binary.csv": (b"race\0y\0p", r"holds null bytes"),
    "utf16.csv": (WHOLE["csv"].decode().encode("utf-16"), r"is UTF-16 text, not CSV\. Save it as UTF-8"),
    "utf16le.csv": (WHOLE["csv"].decode().encode("utf-16-le"), r"save it as UTF-8"),
    "latin1.csv": ("race,y,p\nGröße,1,1\nWhite,0,0\n".encode("latin-1"), r"is not UTF-8 text: save it as UTF-8"),
    "latelatin1.csv": (LONG + "é,F,1,1,1,1,1\r\n".encode("latin-1"), r"(?i)utf-8|unicode"),
    "text.parquet": (WHOLE["csv"], r"is not Parquet, whatever its suffix says"),
    "cut.parquet": (WHOLE["parquet"][:-20], r"is cut short: its end is missing"),
    "hole.parquet": (
        WHOLE["parquet"][:8] + bytes(200) + WHOLE["parquet"][208:],
        r"cannot be read as Parquet|no rows|missing",
    ),
    "text.feather": (WHOLE["csv"], r"is not Arrow"),
    "cut.feather": (WHOLE["feather"][:-20], r"is cut short"),
    "cut.jsonl": (WHOLE["jsonl"][:-9], r"cannot be read as JSON lines.*Malformed JSON"),
    "text.jsonl": (WHOLE["csv"], r"cannot be read as JSON lines.*Malformed JSON"),
    "array.jsonl": (b'[{"race": "a", "y": 1, "p": 1}]', r"must hold a JSON object \{\.\.\.\} in every line"),
    "numbers.jsonl": (b"1\n2\n", r"must hold a JSON object"),
    "mark.jsonl": (b"\xef\xbb\xbf" + WHOLE["jsonl"], r"begins with a byte-order mark: save it as UTF-8 without one"),
    "lists.jsonl": (
        b'{"race": {"a": 1}, "y": 1, "p": 1}\n',
        r"'race' holds lists or other values that cannot name a group",
    ),
    "parquet.jsonl": (WHOLE["parquet"], r"is a Parquet file, not JSON lines"),
    "sheet.xlsx": (b"PK\x03\x04", r"cannot be read as an Excel file: BadZipFile"),
    "nosuffix": (WHOLE["csv"], r"'' is not a suffix that is read here"),
    "data.parquet.gz": (
        gzip.compress(WHOLE["parquet"]),
        r"'\.gz' is not a suffix that is read here.*also gzipped, as \.csv\.gz",
    ),
    "deep.jsonl": (
        WHOLE["jsonl"] + b'{"race": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1, "p": 1}\n',
        r"the files hold '\[\[.*…', which is nested too deeply or too long for a value",
    ),
    "objects.jsonl": (
        b'{"race": ' + b'{"a":' * 9000 + b"1" + b"}" * 9000 + b', "y": 1, "p": 1}\n',
        "nested too deeply",
    ),
    "digits.jsonl": (b'{"race": ' + b"9" * 5000 + b', "y": 1, "p": 1}\n', "nested too deeply or too long"),
    "surrogate.jsonl": (b'{"race": "\\ud800", "y": 1, "p": 1}\n', "cannot be read as JSON lines: .*surrogate"),
    "latin1.jsonl": (b'{"race": "\xff", "y": 1, "p": 1}\n', "cannot be read as JSON lines: .*UTF-8"),
    "latin1key.jsonl": (b'{"race": "a", "y": 1, "p": 1, "\xff": 1}\n', "cannot be read as JSON lines: .*UTF-8"),
    "twice.jsonl": (b'{"race": "a", "y": 1, "p": 1, "p": 0}\n{"race": "b", "y": 1, "p": 1}\n', "columns named 'p'"),
    "pretty.jsonl": (b'{\n"race": "a", "y": 1, "p": 1}\n', "cannot be read as JSON lines"),
    "object.jsonl.gz": (
        gzip.compress(b'{"race": "' + b"x" * 50_000_000 + b'", "y": 1, "p": 1}\n'),
        'cannot be read as JSON lines: .*"maximum_object_size"',
    ),
    "line.csv.gz": (gzip.compress(b"race,y,p\n" + b"x" * 50_000_000), "cannot be read as CSV: field larger than"),
    "zeros.csv.gz": (gzip.compress(b"race,y,p\n" + bytes(50_000_000)), "null bytes"),
    "rest.csv.gz": (gzip.compress(WHOLE["csv"]) + b"rest", "cannot be read: Not a gzipped file"),
    "late.csv": (WHOLE["csv"] * 2000 + b"\r\nWhite,F,1,1,1,1,1\n", "lines end in different ways"),
    "stream.arrow": (_stream(), "is not Arrow, whatever its suffix says"),
    "name.arrow": (_spoiled("feather", café=["x"] * 40), "cannot be read as Arrow: .*utf-8"),
    "name.parquet": (_spoiled("parquet", café=["x"] * 40), "cannot be read as Parquet: .*unicode"),
    "value.parquet": (_spoiled("parquet", race=["café", "b"] * 20), "cannot be read as Parquet: .*UTF8"),
    "header.parquet": (WHOLE["parquet"][:8] + WHOLE["parquet"][-8:], "cannot be read as Parquet"),
    "middle.parquet": (WHOLE["parquet"][:300] + WHOLE["parquet"][-12:], "cannot be read as Parquet"),
    "middle.feather": (WHOLE["feather"][:300] + WHOLE["feather"][-12:], "cannot be read as Arrow"),
    "holes.feather": (WHOLE["feather"][:8] + bytes(600) + WHOLE["feather"][-8:], "cannot be read as Arrow"),
    "twice.csv": (b"race,y,p,race\nBlack,1,1,a\nWhite,0,0,b\n", r"several columns named 'race'; rename them"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(name, tmp_path, capsys):
    content, message = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(EvenhandError, match=message) as caught:
        audit(path, **ROLES)
    assert "LINE 1" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert re.search(message, refused([str(path), *arguments(ROLES)], tmp_path / "audit.json", capsys))
    assert [path.name for path in tmp_path.iterdir()] == [name]


ODD_FILES = {
    "mark.csv": b"\xef\xbb\xbfrace,y,p\na,1,1\nb,0,0\n",
    "quoted.csv": b'\xef\xbb\xbf"race","y","p"\n"a",1,1\n"b",0,0\n',
    "return.csv": b"race,y,p\ra,1,1\rb,0,0\r",
    "open.csv": b"race,y,p\r\na,1,1\r\nb,0,0",
    "blank.csv": b"race,y,p\n\na,1,1\n\nb,0,0\n\n",
    "capitals.csv": b"race,y,p,Race,P\na,1,1,x,0\nb,0,0,y,1\n",
    "unused.csv": b"race,y,p,z,z,,\na,1,1,1,2,,\nb,0,0,1,2,,\n",
    "wide.csv": b"race,y,p,"
    + b",".join(b"c%d" % i for i in range(20_000))
    + b"\na,1,1"
    + b",0" * 20_000
    + b"\nb,0,0"
    + b",0" * 20_000,
    "parts.csv.gz": gzip.compress(b"race,y,p\na,1,1\n") + gzip.compress(b"b,0,0\n"),
    "blank.jsonl": b'\n{"race": "a", "y": 1, "p": 1}\r\n\n{"race": "b", "y": 0, "p": 0, "": 1}',
    "unused.jsonl": b'{"race": "a", "y": 1, "p": 1, "z": 1, "z": 2}\n{"race": "b", "y": 0, "p": 0, "z": '
    + b"[" * 9000
    + b"]" * 9000
    + b"}\n",
    "<script>\nalert(1).csv": b"race,y,p\na,1,1\nb,0,0\n",
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_odd_files_are_read(name, tmp_path):
    (tmp_path / name).write_bytes(ODD_FILES[name])
    expected = Cube.count({"race": ["a", "b"], "y": [1, 0], "p": [1, 0]}, **ROLES)
    assert Cube.count(tmp_path / name, **ROLES) == expected
    assert list(map(str, load_files(tmp_path / name, ["p"])["p"])) == ["1", "0"]


DAMAGED = """
import random, sys
from pathlib import Path
import evenhand as eh
from evenhand.sources.rows import load_files

path, seen = Path(sys.argv[1]), set()
content, bits = path.read_bytes(), random.Random(0)
for _ in range(60):
    damaged = bytearray(content)
    for _ in range(bits.choice((1, 1, 3, 20))):
        damaged[bits.randrange(len(damaged))] ^= 1 << bits.randrange(8)
    path.write_bytes(damaged[: bits.randrange(len(damaged))] if bits.random() < 0.2 else damaged)
    for read in (lambda: eh.Cube.count(path, prediction="p", score="s", sensitive="race"), lambda: load_files(path)):
        try:
            read()
        except eh.EvenhandError as error:
            seen.add("LONG" if len(str(error)) > 700 else "refused")
print(*seen)
"""


@pytest.mark.parametrize("kind", ["csv", "csv-gz", "jsonl", "parquet", "feather", "arrow-file"])
def test_a_damaged_file_crashes_nothing(kind, tmp_path):
    """In a program of its own, because a crash would end this one."""
    made = BACKENDS[kind](GOOD, tmp_path)
    done = subprocess.run([sys.executable, "-c", DAMAGED, str(made)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")


def test_paths_that_are_no_files(tmp_path, capsys):
    for name in ("decisions.csv", "a.parquet"):
        (tmp_path / name).write_bytes(WHOLE["csv"])
    (tmp_path / "folder").mkdir()
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    for path, message in {
        tmp_path / "decision.csv": r"there is no file .*In that folder, did you mean 'decisions\.csv'\?",
        tmp_path / "*.tsv": r"there is no file",
        tmp_path / "gone.csv": r"there is no file",
        tmp_path / "nowhere" / "x.csv": r"there is no file",
        tmp_path / "folder": r"is a folder: name its files, such as '.*\*\.parquet'",
        tmp_path / ("x" * 300 + ".csv"): r"there is no file",
        "https://example.com/x.csv": r"is not a path: only files are read; download it first",
        "race,y,p\na,1,1\n" * 500: r"there is no file",
        "~nobody-of-that-name/x.csv": r"there is no file",
    }.items():
        with pytest.raises(DataError, match=message):
            audit(path, **ROLES)
        assert re.search(message, refused([str(path), *arguments(ROLES)], tmp_path / "audit.json", capsys))
    both = [tmp_path / "decisions.csv", tmp_path / "a.parquet"]
    with pytest.raises(DataError, match=r"of different formats: 'csv', 'parquet'; pass one at a time"):
        audit(both, **ROLES)
    (tmp_path / "other.csv").write_text("race,y\na,1\n")
    with pytest.raises(DataError, match="the files have different columns"):
        audit([both[0], tmp_path / "other.csv"], **ROLES)
    with pytest.raises(DataError, match="is an array, but the data is in a file"):
        audit(both[0], **{**ROLES, "label": [1, 0]})


def test_bad_cube_files(tmp_path):
    cube = Cube.count(GOOD, **ROLES)
    with pytest.raises(DataError, match="there is no file"):
        Cube.load(tmp_path / "x.cube")
    for name, content, message in (
        ("text", b"race,y\n", "is not a cube"),
        ("table", WHOLE["parquet"], "is a Parquet file but not a cube"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=message):
            Cube.load(tmp_path / name)
    cube.save(tmp_path / "good.cube")
    for name, header, message in (("new", b'{"version": 99}', "has cube version 99"), ("bad", b"{}", "damaged cube")):
        table = pyarrow.parquet.read_table(tmp_path / "good.cube")
        pyarrow.parquet.write_table(table.replace_schema_metadata({b"evenhand_cube": header}), tmp_path / name)
        with pytest.raises(DataError, match=message):
            Cube.load(tmp_path / name)
    with pytest.raises(DataError, match="cannot be written"):
        cube.save(tmp_path / "nowhere" / "x.cube")
