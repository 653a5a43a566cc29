"""The page without a browser: what is escaped, what may run, what it weighs, and what each kind of audit shows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

import evenhand as eh
from conftest import ROOT
from evenhand.cli import run, serve
from evenhand.errors import CallError, DataError
from evenhand.report import page as html
from evenhand.report import results
from evenhand.report.page import static
from evenhand.report.summary import summary
from support import hostile, page_data, pages
from support.hostile import DECISION, GROUP, LABEL

ASSETS = ROOT / "src" / "evenhand" / "report" / "page" / "assets"

every_kind = pytest.mark.parametrize("kind", list(pages.KINDS))


class Read(HTMLParser):
    """A page as a browser without script reads it: its elements in their order, and the text of some of them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        elif tag == "style":
            self.styles.append("")

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.cdata_elem == "style":
            self.styles[-1] += data
        else:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@cache
def page(kind: str) -> str:
    return html.dumps(pages.KINDS[kind]())


def data_of(text: str) -> dict:
    """What the script reads, unpacked."""
    told = json.loads(Read(text).scripts[0][1])
    return {**told, "packed": page_data.unpack(told["packed"])}


# --- What may run


def test_the_policy_names_the_hashes_of_the_script_and_the_style():
    read = Read(page("compas"))
    policy = next(
        value for tag, name, value in read.attributes if (tag, name) == ("meta", "content") and "src" in value
    )
    (_, script), style = read.scripts[1], read.styles[0]
    for kind, text in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


@every_kind
def test_a_page_holds_its_two_scripts_and_fetches_nothing(kind):
    read = Read(page(kind))
    assert [sorted(attributes) for attributes, _ in read.scripts] == [["id", "type"], []]
    assert read.tags.count("style") == 1
    assert {"link", "img", "iframe", "object", "base", "form"}.isdisjoint(read.tags)
    for tag, name, value in read.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "style", "action")
        assert name != "href" or (tag in ("use", "a") and value.startswith("#"))


def test_a_page_carries_its_script_and_style_as_they_are_read():
    read = Read(page("compas"))
    for name in (*html.ENGINE, *html.VIEW):
        assert (ASSETS / name).read_text(encoding="utf-8") in read.scripts[1][1], name
    assert read.styles == [(ASSETS / "style.css").read_text(encoding="utf-8")]


def test_the_script_puts_text_in_as_text():
    script, _ = html.assets()
    for danger in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "new Function",
        "fetch(",
        "XMLHttp",
    ):
        assert danger not in script


def test_the_data_is_escaped():
    told = {"a": "</script><!--<script>&\u2028\u2029\x7f", "b": ["<", ">"]}
    text = html.embed(told)
    assert re.search("[<>&\u2028\u2029\x7f]", text) is None
    assert json.loads(text) == told


# --- Names


@cache
def with_name(name: str, column: bool) -> Read:
    table = hostile.as_column(name) if column else hostile.as_group(name)
    roles = {"label": LABEL, "prediction": DECISION, "sensitive": [name if column else GROUP]}
    found = eh.audit(table, **roles, metrics=["equalized_odds", "demographic_parity", "theil_index"])
    return Read(html.dumps(found))


@pytest.mark.parametrize("column", [False, True], ids=["group", "column"])
@hostile.every_name
def test_a_hostile_name_is_only_a_name(name, column):
    read, harmless = with_name(name, column), with_name("harmless", column)
    assert read.tags == harmless.tags
    assert [part[:2] for part in read.attributes] == [part[:2] for part in harmless.attributes]
    assert " ".join(static.shown(name).split()) in read.words
    assert "".join(read.text).encode()  # nothing that cannot be written
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", "".join(read.text))


def test_half_a_character_is_written():
    assert "\ufffd" in html.dumps(hostile.audited("\ud83d", column=False))


def test_emoji_and_right_to_left_names_stay_whole():
    for kind in ("emoji", "rtl", "devanagari", "thai", "combining"):
        assert static.shown(hostile.NAMES[kind]) == hostile.NAMES[kind]


# --- What it weighs


@pytest.mark.parametrize("weighted", [False, True])
def test_200_groups_and_256_bins_are_under_330_kb_of_data(weighted):
    text = html.dumps(pages.many_groups(weighted=weighted))
    data = text.replace(html.assets()[0], "").replace(html.assets()[1], "")
    assert len(data.encode()) < 330_000
    (part,) = page_data.unpack(data_of(text)["counts"])["parts"]
    assert len(part["groups"]) == 200
    assert Read(text).words.count("District 199") >= 1


def test_a_page_shows_what_the_audit_has_computed_and_computes_it_once(monkeypatch):
    audit = replace(pages.compas())
    first = html.dumps(audit)
    for name in ("audits.impossibility._Computation", "audits.audit.every_measure", "audits.audit.make_request"):
        monkeypatch.setattr(f"evenhand.{name}", None)
    assert html.dumps(audit)[:2000] == first[:2000]
    assert str(audit)
    assert len(audit.groups()) > 0


# --- Every kind of audit


@every_kind
def test_each_kind_says_what_it_is(kind):
    audit, read = pages.KINDS[kind](), Read(page(kind))
    assert f"Verdict: {audit.verdict}" in read.words
    assert f"{audit.cube.size:,} people" in read.words
    assert len([name for tag, _, name in read.attributes if tag == "article"]) == len(static.cards(audit))
    for finding in static.cards(audit):
        assert " ".join(finding.interpretation.split()) in read.words


@every_kind
def test_never_fair_as_a_verdict(kind):
    before_the_catalogue = page(kind).partition('<section id="about"')[0]
    words = Read(before_the_catalogue.partition("<main>")[2]).words.lower().replace("differential fairness", "")
    assert not re.search(r"\b(un)?fair(ness)?\b", words)


def test_what_is_not_there_has_no_section():
    def sections(kind: str) -> set[str]:
        return set(re.findall(r'<section id="(\w+)"', page(kind)))

    assert {"strata"} < sections("strata")
    assert "strata" not in sections("compas")
    assert "forced" in sections("compas")
    assert {"forced", "strata"}.isdisjoint(sections("regression"))
    assert "about" not in sections("nothing found")


def test_the_first_screen_says_nothing_twice():
    """What the first sentence says is no fact above it, and what a sentence says is no note below it."""
    terms = [term for term, _ in static.heading(pages.compas(), "2026-11-18T12:34:56+00:00")]
    assert terms == ["Score", "Date"]
    told = re.sub("<script.*", "", page("strata"), flags=re.DOTALL)
    summary = told[told.index('id="summary"') : told.index('id="groups"')]
    assert summary.count("Simpson&#39;s paradox") == 1


def test_where_there_are_strata_their_picture_comes_before_the_cards():
    for kind, order in (("strata", ["picture", "cards"]), ("compas", ["cards", "picture"])):
        text = page(kind)
        assert sorted(order, key=lambda name: text.index(f'id="{name}"')) == order
        assert text.count('id="cards"') == 1


def test_findings_and_groups_are_told_in_full():
    told = data_of(page("compas"))["packed"]
    audit = pages.compas()
    assert len(told["findings"]) == len(audit.findings)
    first = told["findings"][0]
    assert first["metric"] == "equalized_odds"
    assert first["value"] == pytest.approx(audit.findings[0].value.value, rel=1e-11)
    row = audit.findings[0].evidence
    assert first["evidence"] == {
        "measure": row.measure,
        "group": row.group[0],
        "against": row.against,
        "n": row.n,
        "n_against": row.n_against,
    }
    race = told["results"][0]
    assert race["attributes"] == ["race"]
    assert sum(race["people"]) == 7214
    rate = next(row for row in race["measures"] if row["name"] == "true_positive_rate")
    row = next(row for row in audit.findings[0].groups if row.group == ("Asian",))
    place = race["groups"].index(["Asian"])
    assert (rate["n"][place], rate["value"][place]) == (row.n, pytest.approx(row.estimate.value, rel=1e-11))


def test_a_panel_that_findings_share_is_told_once():
    findings, panels = results.findings_data(pages.compas(), curves=True)
    referred = [place for finding in findings for place in finding["panels"]]
    assert set(referred) == set(range(len(panels)))
    assert len(referred) > len(panels)


def test_the_method_names_what_the_numbers_rest_on():
    words = Read(page("compas")).words
    for part in (
        "simultaneous, 95 %; the findings that decide share the error of a fail",
        "Correction of p-values Holm",
        "evenhand.audit(data, label=",
    ):
        assert part in words
    drawn = eh.audit(prediction=[1, 0] * 50, sensitive=["a", "b"] * 50, interval="percentile", random_state=7)
    assert "1,000, seed 7" in Read(html.dumps(drawn)).words


# --- Without the cube, from JSON, from the command line


def test_without_the_cube_there_are_results_only():
    text = html.dumps(pages.compas(), embed_cube=False)
    told = data_of(text)
    assert told["counts"] is None
    assert told["packed"]["results"] == data_of(page("compas"))["packed"]["results"]


CSV = "race,label,score,n\n" + "".join(
    f"{race},{label},{score},{5 + 3 * (label == (score > 1))}\n"
    for race in "ab"
    for label in (0, 1)
    for score in range(4)
)


def test_the_command_line_writes_pages(tmp_path, capsys):
    path = tmp_path / "my decisions.csv"
    path.write_text(CSV)
    roles = ["--label=label", "--score=score", "--cutoff=2", "--count=n", "--sensitive=race"]
    first, again, bare = tmp_path / "a.html", tmp_path / "b.html", tmp_path / "c.html"
    run(["audit", str(path), *roles, "-q", "-o", str(first), "-o", str(tmp_path / "a.json")])
    assert run(["report", str(tmp_path / "a.json"), "-o", str(again)]) == 0
    run(["audit", str(path), *roles, "-q", "--no-cube", "-o", str(bare)])
    words = Read(first.read_text()).words
    assert "Data my decisions.csv" in words
    assert f"evenhand audit '{path}' --label=label" in words
    told, from_json = (data_of(file.read_text())["packed"] for file in (first, again))
    assert told["findings"] == from_json["findings"]
    assert data_of(bare.read_text())["counts"] is None
    assert capsys.readouterr().err.count("Saved for yourself") == 1


def shared_page(tmp_path, *asked):
    data, page, saved = (tmp_path / name for name in ("rows.csv", "x.html", "x.json"))
    data.write_text("race,hired,n\na,1,3\na,0,40\nb,1,11\nb,0,40\nc,1,60\nc,0,90\nd,1,80\nd,0,95\n")
    roles = ["--prediction=hired", "--count=n", "--sensitive=race"]
    code = run(["audit", str(data), *roles, *asked, "-o", str(page), "-o", str(saved)])
    return code, page, saved


@pytest.mark.parametrize(("least", "groups"), [(1, "abcd"), (5, "cd"), (12, "cd")])
def test_a_file_to_share_leaves_out_groups_by_name(tmp_path, capsys, least, groups):
    _, page, saved = shared_page(tmp_path, "--share", f"--smallest-cell={least}")
    loaded = eh.Audit.load(saved)
    assert [group[0] for group in loaded.cube.groups] == list(groups)
    assert loaded.sharing.least == least
    assert str(loaded) in capsys.readouterr().out
    said = "Left out of race: a; b."
    assert (said in page.read_text()) == (said in saved.read_text()) == (least > 1)
    assert "Saved for yourself" not in page.read_text() + saved.read_text() + capsys.readouterr().err


def test_a_file_for_oneself_holds_the_full_counts_and_says_so(tmp_path, capsys):
    _, page, saved = shared_page(tmp_path)
    assert (eh.Audit.load(saved).cube.n == 3).any()
    assert json.loads(saved.read_text())["sharing"]["shared"] is False
    for text in (page.read_text(), json.loads(saved.read_text())["sharing"]["note"]):
        assert "This file is for yourself: it holds the full counts and results" in text
    assert capsys.readouterr().err.count("Saved for yourself") == 1
    assert shared_page(tmp_path, "--smallest-cell=9")[0] == 2
    assert "add --share" in capsys.readouterr().err
    with pytest.raises(CallError, match="add share=True"):
        pages.two_groups().save(tmp_path / "y.html", smallest_cell=9)


def test_json_without_the_cube_is_for_programs(tmp_path, capsys):
    path = tmp_path / "x.json"
    pages.two_groups().save(path, embed_cube=False)
    told = json.loads(path.read_text())
    assert (told["cube"], told["verdict"]) == (None, pages.two_groups().verdict)
    assert run(["report", str(path)]) == 2
    assert "was saved without its counts (--no-cube)" in capsys.readouterr().err


def test_a_page_from_json_says_what_the_audit_said(tmp_path):
    """Small groups too."""
    pages.compas().save(tmp_path / "x.json")
    told, again = data_of(page("compas"))["packed"], data_of(html.dumps(eh.Audit.load(tmp_path / "x.json")))["packed"]
    assert again["findings"] == told["findings"]
    for one, other in zip(told["results"], again["results"], strict=True):
        rows = {row["name"]: row for row in other["measures"]}
        for row in one["measures"]:
            if row["name"] not in ("f1", "selected_share", "true_negative_rate"):  # of no finding
                assert rows[row["name"]]["value"] == row["value"], row["name"]


def test_audit_saves_a_page(tmp_path):
    pages.two_groups().save(tmp_path / "x.html")
    assert "Verdict" in Read((tmp_path / "x.html").read_text()).words


# --- Served on this machine only


@pytest.fixture
def served(tmp_path):
    path = tmp_path / "x.html"
    path.write_text(page("two groups"), encoding="utf-8")
    with serve.server(path) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.shutdown()


def ask(serving, path: str, host: str | None = None) -> tuple[int, bytes]:
    address = f"http://127.0.0.1:{serving.server_address[1]}{path}"
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


def test_serve_answers_with_the_one_page(served):
    assert served.server_address[0] == "127.0.0.1"
    assert ask(served, "/") == (200, page("two groups").encode())
    for path in ("/x.html", "/../x.html", "//etc/passwd", "/?x"):
        assert ask(served, path)[0] == 404
    assert ask(served, "/", host="evil.example")[0] == 404


def test_serve_refuses_what_is_no_page(tmp_path, capsys):
    (tmp_path / "x.html").write_text("<p>something else")
    for path in (tmp_path / "x.html", tmp_path / "none.html", tmp_path):
        with pytest.raises(DataError):
            serve.server(path)
        assert run(["serve", str(path), "--no-browser"]) == 2
        assert "evenhand: error: " in capsys.readouterr().err


# --- Notebooks


def test_a_notebook_gets_a_frame_of_its_own():
    audit = pages.two_groups()
    read = Read(audit.page()._repr_html_())
    frame = {name: value for tag, name, value in read.attributes if tag == "iframe"}
    assert "allow-same-origin" not in frame["sandbox"]
    assert "Verdict" in Read(frame["srcdoc"]).words
    assert f"Verdict: {audit.verdict} ({audit.verdict}: equalized_odds on sex)" in read.words
    assert "script" not in read.tags


def test_a_terminal_gets_plain_text():
    audit = pages.two_groups()
    bundle = audit._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == str(audit) == repr(audit)
    assert set(audit._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(audit._repr_mimebundle_(exclude=["text/html"])) == {"text/plain"}


def test_serve_says_nothing_of_a_browser_that_leaves(served, capfd):
    for request in (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET / HT", b"\x16\x03\x01\x00", b""):
        with socket.create_connection(served.server_address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, no goodbye
            connection.sendall(request)
    time.sleep(0.5)
    assert ask(served, "/")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_serve_says_one_line_of_an_error_of_ours(served, capfd, monkeypatch):
    monkeypatch.setattr(serve._OnePage, "do_GET", lambda _: 1 / 0)
    with socket.create_connection(served.server_address) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(1) == b""
    assert capfd.readouterr().err.count("\n") == 1


def test_of_very_many_metrics_a_page_explains_those_that_matter_most():
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": "sex"}
    audit = eh.audit(eh.datasets.compas(), **roles, metrics="all")
    short, whole = (html.dumps(audit, appendix=appendix) for appendix in (False, True))
    assert len(audit.metrics) > 40
    for text in (short, whole):
        assert all(f'id="about-{metric.name}"' in text for metric in audit.metrics)
    explained = [metric for metric in audit.metrics if f'<details class="explain" id="about-{metric.name}"' in short]
    assert explained == [metric for metric in audit.metrics if metric.core or metric.name in audit.required]
    assert whole.count('<details class="explain"') == len(audit.metrics)
    assert "evenhand metrics NAME" in short
    assert "evenhand metrics NAME" not in whole


def test_notes_of_the_first_screen_repeat_none_of_its_sentences():
    table = pages._drawn(300)
    roles = {"label": table["label"], "prediction": table["decided"]}
    audit = eh.audit(**roles, sensitive={"region": table["region"], "sex": table["sex"]})
    assert sum(finding.verdict == "inconclusive" for finding in audit.findings if audit.decides(finding)) == 2
    said = summary(audit)
    assert said.open.count("settle it") == 2
    assert not [note for note in html._first_notes(audit, said) if "settle it" in note]
