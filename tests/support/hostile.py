"""Names that must be only names, in every output: one list, used wherever a name of a user can appear."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

import evenhand as eh
from support.profiles import each_of

NAMES: dict[str, str] = {
    "script": "</script><script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "entity": "&lt;b&gt; &amp; <b>",
    "rich-close": "[/red]",
    "rich-open": "[bold]bold[/bold] [red]",
    "rich-link": "[link=https://example.com]x[/link]",
    "rich-emoji": ":smiley:",
    "ansi": "\x1b[31mred\x1b[0m\x1b[2J",
    "ansi-title": "\x1b]0;title\x07",
    "ansi-8bit": "\x9b31mred",
    "control": "bell\x07 back\x08 tab\t form\x0c delete\x7f",
    "newline": "two\nlines",
    "return": "carriage\rreturn",
    "crlf": "two\r\nlines",
    "separator": "line\u2028separator\u2029paragraph",
    "quotes": 'it\'s "quoted" `back`',
    "formula": "=cmd()|' /C calc'!A0",
    "plus": "+1",
    "minus": "-1+1",
    "at": "@x",
    "mathtext": "$x_1$",
    "latex": "\\frac{1}{2} 100% #1",
    "percent": "%s %d {} {0} %(x)s",
    "markdown": "| a | b |\n|---|---|\n# *x* _y_ [z](http://example.com)",
    "sql": '"; DROP TABLE x; --',
    "sql-quote": "'); SELECT 1; --",
    "delimiters": "a,b;c\td|e",
    "dots": "a.b.c",
    "brackets": "[0, 25)",
    "star": "*",
    "slash": "a/b\\c~d",
    "equals": ">=65",
    "spaces": "  two  spaces  ",
    "blank": " ",
    "rtl": "עברית العربية",
    "rtl-override": "abc\u202edef\u202c",
    "isolate": "\u2066x\u2069",
    "zero-width": "a\u200bb\u200dc\ufeffd",
    "combining": "Z̷̡͍a̸l̵g̶o̷",
    "emoji": "👩🏽‍🚀🏳️‍🌈",
    "wide": "東京都",
    "cyrillic": "Женщины",
    "devanagari": "महिलाएँ",
    "thai": "ผู้หญิง",
    "greek": "γυναίκες",
    "german": "Größe",
    "decomposed": "Cafe\u0301",
    "composed": "Caf\u00e9",
    "long": "x" * 500,
    "long-wide": "漢" * 500,
    "leading-zero": "007",
    "number": "1.0",
    "exponent": "1e5",
    "NA": "NA",
    "nan": "nan",
    "null": "null",
    "None": "None",
    "true": "true",
    "F": "F",
    "missing": "(missing)",
    "n": "n",
    "count": "count",
    "y_true": "y_true",
    "_bin": "_bin",
    "decided": "decided",
    "label": "label",
    "prediction": "prediction",
    "sensitive": "sensitive",
    "rest": "rest",
    "overall": "overall",
    "largest": "largest",
    "k0": "k0",
    "c0": "c0",
    "json": "json",
    "v_score": "v_score",
    "strange_0": "strange_0",
    "constructor": "__proto__",
    "control:x": "control:x",
}

# Only of columns: as a value, empty text is missing and a null byte an error.
OF_COLUMNS: dict[str, str] = {"nul": "a\0b", "empty": ""}

# How a name is spelled that comes from a CSV, where a whole number has one spelling.
IN_CSV: dict[str, str] = {"1.0": "1"}

FILES: dict[str, str] = {
    "spaces": "my decisions 2024",
    "star": "a*b",
    "question": "a?b",
    "brackets": "[a] {b}",
    "quotes": 'it\'s "quoted"',
    "sql": "x'); DROP TABLE y; --",
    "hash": "#1 100%",
    "unicode": "Größe-東京-👩🏽‍🚀",
    "dots": "v1.2.final",
    "dash": "-o",
    "tilde": "~x",
    "equals": "sensitive=race",
    "newline": "a\nb",
}

every_name = each_of("name", NAMES)
every_name_of_a_column = each_of("name", NAMES | OF_COLUMNS)
every_file_name = each_of("name", FILES, handful=4)

METRICS = ("equalized_odds", "demographic_parity", "theil_index", "maximal_correlation")
LABEL, DECISION, GROUP = "what happened", "what was decided", "who it was"


def as_group(name: str) -> dict[str, list[Any]]:
    """A table in which one group has the name; it is selected most often."""
    return {
        GROUP: [name] * 40 + ["other people"] * 40 + [None] * 3,
        LABEL: [1, 0] * 41 + [1],
        DECISION: [1, 1, 1, 0] * 10 + [1, 0, 0, 0] * 10 + [0] * 3,
    }


def as_column(name: str) -> dict[str, list[Any]]:
    """The same table with the name on the column of groups."""
    table = as_group("some people")
    return {name: table[GROUP], LABEL: table[LABEL], DECISION: table[DECISION]}


@cache
def audited(name: str, *, column: bool) -> eh.Audit:
    """An audit in which a group, or the attribute, has the name."""
    table = as_column(name) if column else as_group(name)
    return eh.audit(table, label=LABEL, prediction=DECISION, sensitive=[name if column else GROUP], metrics=METRICS)


_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def unseen(text: str) -> set[str]:
    """The characters of a text that a terminal would act on instead of showing them; ends of lines are allowed."""
    return {mark for mark in text if mark != "\n" and unicodedata.category(mark) in _UNSEEN}


def without_styles(text: str) -> str:
    """A text for a terminal without the colours that we put there ourselves."""
    return _STYLE.sub("", text)
