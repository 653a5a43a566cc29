"""Signs that an encoding lacks: every sign of ours has a stand-in, names stay apart, and print() never raises."""

from __future__ import annotations

import ast
import io
import unicodedata
from contextlib import redirect_stdout
from dataclasses import fields, is_dataclass

import pytest

import evenhand as eh
from evenhand.core import signs
from evenhand.core.wording import clean
from support.modules import MODULES, tree

LEGACY = ("ascii", "cp1252", "cp437", "cp850", "cp1251", "latin-1", "shift_jis", "gbk", "cp037")
NAMES = ("grüße", "中文", "😀", "عربى", "\udc80", "a × b", "x ≤ 3", "é", "e")


class Stream(io.TextIOWrapper):
    """A stream that raises on what its encoding lacks, as standard output on Windows may."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="strict", newline="\n")

    @property
    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


def shown_strings(module: str):
    """The strings of a module that are not docstrings."""
    nodes = list(ast.walk(tree(module)))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {id(node.body[0].value) for node in nodes
                  if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_every_sign_of_ours_has_a_stand_in():
    """Letters of people's names in citations may be escaped; formulas and tables must stay readable."""
    page = ("report.page", "report.page.static")  # which is UTF-8 wherever it is read
    used = {mark for module in MODULES if module not in page for text in shown_strings(module) for mark in text}
    lacking = {mark for mark in used if not mark.isascii() and unicodedata.category(mark)[0] in "SPNM"}
    assert lacking - set(signs.STAND_INS) == set()


def test_stand_ins_are_ascii():
    assert [mark for mark, text in signs.STAND_INS.items() if not text.isascii() or mark.isascii()] == []


@pytest.mark.parametrize("encoding", LEGACY)
def test_what_an_encoding_carries_stays(encoding):
    for name in NAMES:
        carried = signs.carried(name, encoding)
        carried.encode(encoding)
        try:
            name.encode(encoding)
        except UnicodeEncodeError:
            assert carried != name
        else:
            assert carried == name


def test_names_that_an_encoding_lacks_stay_apart():
    assert signs.carried("Jos\u00e9 is not Jose", "ascii") == "Jos\\u00e9 is not Jose"
    assert len({signs.carried(name, "ascii") for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("stream", [io.StringIO(), None, Stream("utf-8")], ids=["in memory", "closed", "utf-8"])
def test_a_stream_that_carries_everything_gets_everything(stream):
    with redirect_stdout(stream):
        assert signs.printable("a ≤ b × 中") == "a ≤ b × 中"


def test_an_encoding_that_python_does_not_know(monkeypatch):
    class Unknown(io.StringIO):
        encoding = "no such encoding"

    found = eh.audit(prediction=[1, 0], sensitive=["a", "b"])
    with redirect_stdout(Unknown()):
        assert signs.printable("≤") == "≤"
        assert "Verdict: " in str(found)


# --- print() of every result


def results(value: object, seen: dict[int, object]) -> None:
    """Every object of ours that can be reached from a result."""
    if id(value) in seen:
        return
    if isinstance(value, (tuple, list)):
        for part in value:
            results(part, seen)
    elif isinstance(value, dict):
        results(list(value.values()), seen)
    elif is_dataclass(value) and not isinstance(value, type):
        seen[id(value)] = value
        results([getattr(value, field.name) for field in fields(value)], seen)


def objects() -> dict[str, object]:
    """Results on people of groups whose names no code page has, by the names of their classes."""
    names = [clean(name) for name in NAMES]
    table = {"grüße": names * 40, "y": [0, 1, 1] * 120, "s": [i % 10 for i in range(360)]}
    roles = {"label": "y", "score": "s", "sensitive": "grüße", "metrics": ["equal_opportunity", "demographic_parity"]}
    audit = eh.audit(table, **roles, cutoff=5)
    found: dict[int, object] = {}
    thresholds = eh.mitigate.find_thresholds(audit.cube)
    others = eh.diff(audit, eh.audit(table, **roles, cutoff=6)), eh.impossibility(audit), eh.sweep(audit.cube)
    trend = eh.trend({"中": audit.cube, "文": audit.cube}, metrics=["demographic_parity"])
    advice = eh.recommend(label_known=True, priority="opportunity")
    results([audit, thresholds, *others, trend, advice], found)
    return {type(value).__name__: value for value in found.values()}


SHOWN = (
    "Audit", "Finding", "Row", "Estimate", "Sample", "Policy", "Cube", "Meaning", "Changes", "Change", "Thresholds",
    "Rule", "Impossibility", "GroupRates", "Trend", "Series", "Point", "Recommendation", "Advice", "Sweep",
)  # fmt: skip


@pytest.mark.parametrize("encoding", LEGACY)
def test_print_never_raises(encoding):
    found = objects()
    assert set(SHOWN) <= set(found)
    for name in SHOWN:
        with redirect_stdout(Stream(encoding)) as stream:
            print(found[name])
        assert stream.text.strip(), name


def test_findings_in_a_list_are_printed_too():
    with redirect_stdout(Stream("ascii")) as stream:
        print(objects()["Audit"].findings)
    assert "<Finding equal_opportunity on gr\\u00fc\\u00dfe: " in stream.text


def test_what_is_kept_does_not_depend_on_the_stream():
    """A sentence or a note that was made while printing to a code page would differ from what others read."""
    with redirect_stdout(Stream("ascii")):
        narrow = objects()["Audit"]
        kept = narrow.to_dict()
    assert {**kept, "created": "", "sha256": ""} == {**objects()["Audit"].to_dict(), "created": "", "sha256": ""}
    assert "grüße" in narrow._repr_html_()
    assert "中文" in narrow.page()._repr_html_()
