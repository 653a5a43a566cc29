"""A small file is read whole, or an error says what is wrong with it; what is written is written whole."""

from __future__ import annotations

import os
import stat

import pytest

from evenhand.core.files import identity, keeping, read_bytes, read_text, replacing, write_text
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


# --- what is written


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    real, link, dangling = tmp_path / "there" / "a.txt", tmp_path / "a.txt", tmp_path / "b.txt"
    real.write_text("old")
    link.symlink_to(real)
    dangling.symlink_to(tmp_path / "there" / "b.txt")
    write_text(link, "new")
    write_text(dangling, "made")
    assert (link.is_symlink(), real.read_text()) == (True, "new")
    assert (dangling.is_symlink(), (tmp_path / "there" / "b.txt").read_text()) == (True, "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "there"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_stay(mode, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)
    write_text(tmp_path / "b.txt", "new")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "b.txt").stat().st_mode) == 0o666 & ~mask


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_devices_pipes_folders_and_loops_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to(os.devnull)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "far").symlink_to("nowhere/x")
    (tmp_path / "folder").mkdir()
    for name, message in (
        ("pipe", "it is a device or a pipe. Name a file"),
        ("null", "it is a device or a pipe. Name a file"),
        ("loop", "Too many levels of symbolic links"),
        ("far", "there is no folder '.*nowhere'. Make it first"),
        ("folder", "it is a folder. Name a file in it"),
        ("folder/x/y", "there is no folder '.*x'. Make it first"),
        ("a\0b", "cannot be written"),
    ):
        with pytest.raises(DataError, match=message):
            write_text(tmp_path / name, "new")
    assert os.path.samefile(os.devnull, tmp_path / "null")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert len(list(tmp_path.iterdir())) == 5


def test_what_is_kept_is_not_replaced_by_any_of_its_names(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("a")
    (tmp_path / "soft").symlink_to(data)
    os.link(data, tmp_path / "hard")
    with keeping({identity(data): "it is an input of this command"}):
        for name in ("data.csv", "soft", "hard", "../" + tmp_path.name + "/data.csv"):
            with pytest.raises(DataError, match=r"cannot be written: it is an input of this command\. Name another"):
                write_text(tmp_path / name, "new")
        write_text(tmp_path / "x", "1")
        with pytest.raises(DataError, match="this command has just written it"):
            write_text(tmp_path / "x", "2")
    assert (data.read_text(), (tmp_path / "x").read_text()) == ("a", "1")
    write_text(tmp_path / "x", "2")
    assert (tmp_path / "x").read_text() == "2"


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:  # noqa: PT012 - it stops while it writes
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
