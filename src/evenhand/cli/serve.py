"""evenhand serve: a saved page on an address of this machine only, for where a browser does not open files."""

from __future__ import annotations

import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click

from evenhand.cli import Ending, echo
from evenhand.cli.command import Command
from evenhand.core.files import read_bytes
from evenhand.errors import DataError, short_path

HOST = "127.0.0.1"


@click.command("serve", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Serve on this port (default: a free one).")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(file: Path, port: int, no_browser: bool) -> Ending:
    """Serve FILE, a page saved with -o audit.html, on 127.0.0.1 until interrupted, and open it in the browser.

    Nothing but that one file is served, and only to this machine.
    """
    with server(file, port) as serving:
        address = f"http://{HOST}:{serving.server_address[1]}/"
        echo(f"{short_path(file)} is at {address} (Ctrl-C ends it)", err=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(address)
        serving.serve_forever()
    return "done"


def server(file: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of one file, on this machine only; it is not running yet."""
    page = _page(file)
    try:
        return _Server((HOST, port), partial(_OnePage, page))
    except OSError as error:
        raise DataError(f"port {port} cannot be used: {error.strerror or error}. Leave --port out.") from None


def _page(file: Path) -> bytes:
    page = read_bytes(file)
    if b'name="generator" content="evenhand"' not in page[:4000]:
        raise DataError(
            f"{short_path(file)!r} is not the page of an audit: make one with evenhand audit ... -o audit.html."
        )
    return page


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a browser that keeps a connection open does not keep the program running

    def handle_error(self, *_: Any) -> None:
        """Say nothing of a browser that left before it had its answer, and one line of anything else."""
        error = sys.exception()
        if not isinstance(error, OSError):
            echo(f"evenhand: a request could not be answered: {type(error).__name__}: {error}", err=True)


class _OnePage(BaseHTTPRequestHandler):
    """Answers with the page for / and with 404 for anything else."""

    server_version = "evenhand"
    sys_version = ""

    def __init__(self, page: bytes, *arguments: Any) -> None:
        self.page = page
        super().__init__(*arguments)

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        # Another site whose name leads to this machine has its own name here.
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if self.path != "/" or host not in (HOST, "localhost"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.page)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if body:
            self.wfile.write(self.page)

    def log_message(self, *_: Any) -> None:
        """Say nothing of each request."""
