"""A small file is read whole, or an error says what is wrong with it."""

from __future__ import annotations

import pytest

from evenhand.core.files import read_bytes, read_text, write_text
from evenhand.errors import DataError


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "names.txt"
    write_text(path, "Zoë × 张\n")
    assert read_text(path) == "Zoë × 张\n"
    assert read_bytes(path) == "Zoë × 张\n".encode()


def test_a_byte_order_mark_is_left_out(tmp_path):
    path = tmp_path / "marked.txt"
    path.write_bytes(b"\xef\xbb\xbfa")
    assert read_text(path) == "a"


@pytest.mark.parametrize(
    ("content", "what", "message"),
    [
        (b"\xff\xfe", "", r"'.*x\.txt' is not UTF-8 text"),
        (b"\xff\xfe", "a policy", r"'.*x\.txt' is not a policy: it is not UTF-8 text"),
        (b"a" * 11, "", r"'.*x\.txt' is larger than 10 bytes, so it is not read"),
        (b"a" * 11, "a policy", r"'.*x\.txt' is larger than 10 bytes, so it is not a policy"),
    ],
)
def test_what_is_wrong_with_the_content(content, what, message, tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_text(path, what, most_bytes=10)


def test_what_is_wrong_with_the_name(tmp_path):
    for path, message in (
        (tmp_path / "nothing", "there is no file"),
        (tmp_path, "cannot be read: it is a folder"),
        (tmp_path / "a\0b", "cannot be read"),
    ):
        with pytest.raises(DataError, match=message):
            read_text(path)
