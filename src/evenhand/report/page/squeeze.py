"""Scripts and styles without what only people need: comments, indentation, spaces and most line ends.

A page is sent around, so it carries the short form; the files in page/ are what is read. This is no compiler: it knows
strings, templates, patterns and comments, and keeps a line end wherever one could matter. Statements must
end with a semicolon, and a loop with nothing in it must be written with braces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from evenhand.report.page.rename import shorten

# After one of these (or at the beginning) a slash begins a regular expression and is no division.
_BEFORE_PATTERN = re.compile(r"(?:[(,=:\[!&|?{};+\-*%~^<>\n]|\breturn|^) *$")

_CODE = (
    (re.compile(r"\s*\n\s*"), "\n"),
    (re.compile(r"[ \t]*([=*/%<>?:,;{}()\[\]&|!~^]|(?<![+\-] )(?<![+\-])[+\-](?! ?[+\-]))[ \t]*"), r"\1"),
    (re.compile(r"(?<=[{(\[,=?:&|;])\n"), ""),
    (re.compile(r"\n(?=[})\].?:&|])"), ""),
    (re.compile(r"(?<=})\n(?=[A-Za-z_$])"), ""),
    (re.compile(r"[,;](?=})|(?<![,\[(]),(?=[)\]])"), ""),
    (re.compile(r"(?<![\w$.])\(([A-Za-z_$][\w$]*)\)=>"), r"\1=>"),
    (re.compile(r"\bconst(?=[ \[{])"), "let"),
)


def script(text: str, keep: Collection[str] = ()) -> str:
    """JavaScript, shorter; what it declares gets short names, but for those in `keep`.

    >>> script("const more = b + 1;  // one more\\n  call(more, 'x  y', /[ /]+/g, `${more + 1} b`);")
    "let a=b+1;call(a,'x  y',/[ /]+/g,`${a+1} b`);"
    """
    kept: list[str] = []
    code = "".join(piece if not literal else _hold(kept, piece) for literal, piece in _pieces(text))
    for pattern, short in _CODE:
        code = pattern.sub(short, code)
    code = shorten(code, keep)
    return re.sub("\0(\\d+)\1", lambda mark: kept[int(mark.group(1))], code).strip()


def style(text: str) -> str:
    """A style sheet, shorter.

    >>> style("/* a */ p > b { color: red; margin: 0 auto; }")
    'p>b{color:red;margin:0 auto}'
    """
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*([{};,])\s*", r"\1", text)
    text = re.sub(r"(?<=[{;])([\w-]+): ", r"\1:", text).replace(";}", "}")
    return _short_properties(re.sub(r"(?<=[\w\])]) > (?=[\w.\[*])", ">", text).strip())


def _short_properties(text: str) -> str:
    """Custom properties by one letter; one that is a letter already is also known to a script."""
    names = sorted(set(re.findall(r"--([a-z]\w+)", text)))
    new = {name: chr(ord("A") + i) for i, name in enumerate(names)}
    return re.sub(r"--([a-z]\w+)", lambda found: f"--{new[found.group(1)]}", text)


def _hold(kept: list[str], piece: str) -> str:
    """A place for a piece that stays as it is."""
    kept.append(piece)
    return f"\0{len(kept) - 1}\1"


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces: True marks a string, a pattern or the words of a template; comments are gone."""
    start = place = 0
    inside: list[int] = []  # for each template that is open, how many braces its expression has open
    while place < len(text):
        mark, end = text[place], _literal_end(text, place)
        if mark == "`" or (mark == "}" and inside and inside[-1] == 0):
            end = _words_end(text, place + 1)
            inside = inside[:-1] if mark == "}" else inside
            if text[end - 1] == "{":
                inside = [*inside, 0]
        elif end is None:
            if inside and mark in "{}":
                inside[-1] += 1 if mark == "{" else -1
            place += 1
            continue
        yield False, text[start:place]
        if not text.startswith("//", place):
            yield True, text[place:end]
        start = place = end
    yield False, text[start:]


def _literal_end(text: str, place: int) -> int | None:
    """Where the comment, string or pattern ends that begins here; None where none begins."""
    mark = text[place]
    if text.startswith("//", place):
        end = text.find("\n", place)
        return len(text) if end < 0 else end
    if mark in "'\"":
        return _after(text, place + 1, mark)
    if mark == "/" and _BEFORE_PATTERN.search(text[max(place - 20, 0) : place]):
        return _pattern_end(text, place + 1)
    return None


def _after(text: str, place: int, mark: str) -> int:
    while text[place] != mark:
        place += 2 if text[place] == "\\" else 1
    return place + 1


def _words_end(text: str, place: int) -> int:
    """Where the words of a template end: at its close, or where an expression begins."""
    while text[place] != "`":
        if text.startswith("${", place):
            return place + 2
        place += 2 if text[place] == "\\" else 1
    return place + 1


def _pattern_end(text: str, place: int) -> int:
    inside = False
    while inside or text[place] != "/":
        inside = (inside or text[place] == "[") and text[place] != "]"
        place += 2 if text[place] == "\\" else 1
    return place + 1
