"""The page in a real browser: quiet, exact at every cutoff, usable by keyboard, in print, without script."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from conftest import ROOT, require
from evenhand.core.results import spell
from evenhand.report import page as html
from evenhand.report import tables
from evenhand.report.page import static
from evenhand.report.summary import summary
from support import hostile, page_data, pages
from support.seals import sealed

every_kind = pytest.mark.parametrize("kind", list(pages.KINDS))


@cache
def page(kind: str) -> str:
    return html.dumps(pages.KINDS[kind]())


@cache
def at(kind: str, stop: int) -> eh.Audit:
    """What Python says with the cutoff at a stop of the slider."""
    audit = pages.KINDS[kind]()
    return page_data.at(audit, page_data.stops(audit)[stop])


def found(audit: eh.Audit, metric: str, *attributes: str) -> eh.findings.Finding:
    return next(each for each in audit.findings if (each.metric, each.attributes) == (metric, attributes))


def spelled(finding) -> tuple[str, str, str]:
    """The judged value and its ends as a page shows them."""
    text = tables.value(finding)
    value, low, high = re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", text).groups()
    points = " points" if finding.judged_on == "difference" and finding.unit == "rate" else ""
    return f"{value}{points}", low, high


def card(opened, metric: str, on: str) -> str:
    return opened.texts(f'#cards [data-metric="{metric}"][data-on="{on}"]')[0]


def check_cards(opened, kind: str, stop: int, *sets: tuple[str, ...]) -> None:
    for attributes in sets:
        finding = found(at(kind, stop), "equalized_odds", *attributes)
        told = card(opened, "equalized_odds", " × ".join(attributes))
        value, low, high = spelled(finding)
        assert told.startswith(f"{finding.verdict} ")
        assert f" {value} {low} to {high}, threshold " in told
        assert f"for {', '.join(finding.evidence.group)} (n = {finding.evidence.n:,})" in told
        assert f"{finding.evidence.against} (n = {finding.evidence.n_against:,})" in told


# --- Quiet


@every_kind
def test_it_loads_without_a_complaint_and_asks_for_nothing(opened, kind):
    shown = opened(page(kind))
    for _ in shown.tabs():
        for section in shown.tab.locator(".tab.open > section:visible").all():
            section.scroll_into_view_if_needed()
    assert shown.quiet, (shown.errors, shown.requests)


@pytest.mark.parametrize("name", ["compas", "berkeley", "scores", "regression", "stability", "individual"])
def test_an_audit_that_was_saved_long_ago_is_still_a_page(opened, tmp_path, name):
    """The files are described in tests/data/before/README.md; the scores of then do not add up."""
    told = json.loads((ROOT / f"tests/data/before/{name}.json").read_text(encoding="utf-8"))
    told["cube"] |= {"scores": None, "reading": None}
    (tmp_path / "old.json").write_text(json.dumps(sealed(told)), encoding="utf-8")
    audit = eh.Audit.load(tmp_path / "old.json")
    shown = opened(html.dumps(audit))
    assert shown.texts("#verdict-state") == [audit.verdict]
    for tab in shown.tabs():
        assert shown.tab.locator(".tab.open > section:visible").count(), tab
    assert shown.quiet, (shown.errors, shown.requests)


@every_kind
def test_no_tab_and_no_frame_is_empty(opened, kind):
    shown = opened(page(kind))
    for tab in shown.tabs():
        sections = shown.tab.locator(".tab.open > section:visible").all()
        assert sections, tab
        for section in sections:
            name = section.get_attribute("id")
            assert section.locator("svg, table, li, dl").count() > 0, name
            for body in section.locator(".body:visible").all():
                assert body.locator("> *").count() > 0, name
    assert shown.texts("#summary h2")[0].startswith("Verdict")


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("metrics", [None, ["equalized_odds"]])
@pytest.mark.parametrize("control", [None, "region"])
def test_no_tab_of_a_score_is_empty(opened, tmp_path, control, metrics, embedded):
    """Also without counts, and within strata."""
    table, path = pages._drawn(), tmp_path / "made.html"
    roles = {"label": "label", "score": "score", "cutoff": 0.5, "sensitive": "sex", "control": control}
    eh.audit(table, **roles, metrics=metrics).save(path, embed_cube=embedded)
    shown = opened(path.read_text(encoding="utf-8"))
    for tab in shown.tabs():
        assert shown.tab.locator(".tab.open > section:visible").count(), tab
    assert shown.quiet


def test_the_demo_shows_every_part(opened):
    shown = opened(page("compas"))
    parts = {
        tab: [section.get_attribute("id") for section in shown.tab.locator(".tab.open > section:visible").all()]
        for tab in shown.tabs()
    }
    assert parts == {
        "summary": ["verdict", "picture", "judged"],
        "groups": ["forest", "measures", "every-group"],
        "metrics": ["lines", "every-finding"],
        "scores": ["curves", "sweep"],
        "intersections": ["heat"],
        "limits": ["notes", "forced"],
        "method": ["how", "about"],
    }
    assert shown.texts("#curves h3") == ["Distribution", "Calibration", "ROC"]
    assert shown.texts("#measures h3")[:4] == ["Selection", "Errors", "Errors", "Predictive values"]


# --- The first screen, and where links lead


@pytest.mark.parametrize("kind", ["compas", "strata", "trend"])
def test_the_first_tab_is_short_and_answers(opened, kind):
    audit = pages.KINDS[kind]()
    shown = opened(page(kind))
    assert shown.tab.evaluate("() => document.documentElement.scrollHeight") <= 2000
    told = summary(audit)
    for part in (told.decided, told.found, told.open, told.rests_on, told.unsaid):
        assert " ".join(part.split()) in " ".join(shown.texts("#summary"))


@pytest.mark.parametrize(("kind", "width"), [("compas", 1280), ("strata", 1280), ("compas", 390)])
def test_the_picture_of_a_card_is_as_wide_as_its_card(opened, kind, width):
    shown = opened(page(kind), width=width)
    for card in shown.tab.locator("#cards .card").all():
        strip, box = card.locator(".strip").bounding_box(), card.bounding_box()
        beside = kind == "strata"  # one card has its picture beside its words
        assert strip["width"] > (0.4 if beside else 0.8) * box["width"]
        assert strip["x"] + strip["width"] <= box["x"] + box["width"]
        drawn = float(card.locator(".strip").get_attribute("width"))
        assert strip["width"] == pytest.approx(drawn, abs=1)  # so its text is as large as it says


def test_the_axis_of_a_gap_ends_at_a_round_number(opened):
    shown = opened(page("compas"))
    ends = shown.tab.locator("#cards .strip .tick.end").all_text_contents()
    assert ends == ["25", "25"]


def test_on_a_phone_the_first_screen_has_all_answers(opened):
    shown = opened(page("compas"), width=390)
    assert shown.tab.locator(".bar").bounding_box()["height"] < 100
    last = shown.tab.locator("#verdict .answers > div").last.bounding_box()
    assert last["y"] + last["height"] < 844
    shown.tab.goto(shown.tab.url + "#method")
    shown.frame()
    link = shown.tab.locator('.tabs a[href="#method"]').bounding_box()
    assert link["x"] >= 0
    assert link["x"] + link["width"] < 391


def test_a_score_without_a_cutoff_says_so(opened):
    table = pages._drawn()
    audit = eh.audit(label=table["label"], score=table["score"], sensitive={"sex": table["sex"]})
    shown = opened(html.dumps(audit))
    assert shown.tab.locator("#cutoff").get_attribute("aria-valuetext") == "no cutoff"


def test_a_picture_is_only_behind_the_verdict_where_the_verdict_rests_on_it(opened):
    assert opened(page("regression")).texts("#picture h2") == ["Groups region: mean prediction"]
    assert opened(page("compas")).texts("#picture h2") == ["The groups behind it race: false positive rate"]


def test_the_words_under_a_picture_say_what_squares_and_dashes_are(opened):
    words = opened(page("compas")).texts("#picture .aside")[0]
    assert "The squares are the two groups on which the verdict rests." in words
    assert "A dashed interval rests on fewer than 30 people." in words
    alone = opened(page("two groups")).texts("#picture .aside")[0]
    assert "square" not in alone  # both groups are
    assert "dashed" not in alone


def test_in_a_stratum_too_few_people_have_a_dashed_interval(opened):
    """25 women applied to department B."""
    shown = opened(page("strata"))
    few = [row for row in pages.strata().findings[0].groups if row.stratum and row.n < 30]
    assert [(row.stratum, row.group) for row in few] == [(("B",), ("Female",))]
    assert shown.tab.locator("#picture .whisker.small").count() == 1
    assert "A dashed interval rests on fewer than 30 people." in shown.texts("#picture .aside")[0]


def test_of_many_strata_the_summary_shows_those_that_are_farthest_apart(opened):
    random = np.random.default_rng(2)
    place, sex = random.choice([f"place {i:02d}" for i in range(40)], 8000), random.choice(["f", "m"], 8000)
    decided = random.random(8000) < np.where((place == "place 23") & (sex == "f"), 0.1, 0.6)
    audit = eh.audit(prediction=decided.astype(int), sensitive={"sex": sex}, control={"place": place})
    shown = opened(html.dumps(audit))
    names = shown.tab.locator("#picture svg text").evaluate_all("(all) => all.map((each) => each.firstChild.data)")
    assert "place = place 23" in names
    assert "all together" in names
    assert len([name for name in names if name.startswith("place = ")]) == 12
    assert "28 more strata" in shown.texts("#picture .body")[0]
    assert shown.tab.evaluate("() => document.documentElement.scrollHeight") <= 2000
    shown.go("intersections")
    names = shown.tab.locator("#strata svg text").evaluate_all("(all) => all.map((each) => each.firstChild.data)")
    assert len([name for name in names if name.startswith("place = ")]) == 40


def test_no_letters_are_too_wide_for_their_plot(opened):
    """Letters of some scripts are twice as wide as those of others."""
    names = ["W" * 40, "\u6771\u4eac\u90fd" * 12, "i" * 40]
    audit = eh.audit(prediction=[0, 1] * 150, sensitive={"city": [name for name in names for _ in range(100)]})
    for width in (1280, 390):
        shown = opened(html.dumps(audit), width=width)
        card = shown.tab.locator("#picture").bounding_box()
        for name in shown.tab.locator("#picture svg text").all():
            assert name.bounding_box()["x"] >= card["x"]


@pytest.mark.parametrize("width", [390, 320])
def test_many_attributes_with_long_names_fit_a_phone(opened, width):
    table = pages._drawn()
    roles = {"label": table["label"], "prediction": table["decided"]}
    for names in ([f"attribute_with_number_{i}" for i in range(4)], ["W" * 100]):
        shown = opened(html.dumps(eh.audit(**roles, sensitive=dict.fromkeys(names, table["sex"]))), width=width)
        for tab in shown.tabs():
            assert shown.tab.evaluate("() => document.documentElement.scrollWidth") <= width, tab


def test_attributes_are_chosen_where_the_choice_changes_something(opened):
    shown = opened(page("compas"))
    seen = {tab: shown.tab.locator("#bar .attribute").is_visible() for tab in shown.tabs()}
    assert [tab for tab, visible in seen.items() if visible] == ["groups", "metrics", "scores", "limits"]


def test_the_name_of_an_attribute_is_whole_on_a_narrow_card(opened):
    table = pages._drawn()
    names = ("sex", "foreign_worker", "age_group")
    audit = eh.audit(label=table["label"], prediction=table["decided"], sensitive=dict.fromkeys(names, table["sex"]))
    shown = opened(html.dumps(audit), width=680)
    shown.tab.emulate_media(media="print")
    heights = shown.tab.locator("#cards .on bdi").evaluate_all("(all) => all.map((n) => n.getClientRects().length)")
    assert heights == [1, 1, 1]


def test_a_link_opens_its_tab_and_its_line(opened):
    shown = opened(page("compas"))
    shown.tab.goto(shown.tab.url + "#metrics/equal_opportunity")
    line = shown.tab.locator('#lines [data-metric="equal_opportunity"]')
    line.locator("dl").wait_for()
    assert shown.tab.locator(".tabs [aria-current]").inner_text() == "Metrics"
    shown.tab.locator('.tabs a[href="#limits"]').click()
    assert shown.tab.url.endswith("#limits")
    assert shown.tab.locator("#notes").is_visible()
    shown.tab.go_back()
    assert line.is_visible()
    shown.tab.goto(shown.tab.url.partition("#")[0] + "#%E0%A4%A")  # nobody can decode this
    assert shown.tab.locator("#verdict").is_visible()
    assert shown.quiet or len(shown.requests) > 1


def test_the_open_tab_is_marked_while_the_mouse_is_on_it(opened):
    shown = opened(page("compas"))
    mark = "(node) => getComputedStyle(node).borderBottomColor"
    before = shown.tab.locator(".tabs [aria-current]").evaluate(mark)
    shown.go("groups")  # the mouse stays where it clicked
    assert shown.tab.locator(".tabs [aria-current]").inner_text() == "Groups"
    assert shown.tab.locator(".tabs [aria-current]").evaluate(mark) == before


def test_a_gap_with_a_sign_may_go_as_far_to_either_side(opened):
    """A gap of -12 points is not within "at most 10"."""
    audit = eh.audit(
        prediction=[1] * 50 + [0] * 150 + [1] * 120 + [0] * 80, sensitive=["a"] * 200 + ["b"] * 200, reference="b"
    )
    assert audit.findings[0].shown.high < 0
    shown = opened(html.dumps(audit))
    assert "threshold ±10" in card(shown, "demographic_parity", "sensitive")
    assert "threshold ±10" in shown.tab.locator("#cards .strip .tick.middle").all_text_contents()
    shown.go("metrics")
    assert "±10 points" in shown.texts("#every-finding tbody tr")[0]


def test_names_of_groups_are_whole_on_a_phone(opened):
    shown = opened(page("compas"), width=390)
    names = {name for (name,) in pages.compas().cube.marginal(["race"]).groups}
    drawn = shown.tab.locator("#picture svg text").evaluate_all("(all) => all.map((each) => each.firstChild.data)")
    assert names <= set(drawn)


def test_tabs_and_links_work_without_script(opened):
    shown = opened(page("compas"), wait=False, java_script_enabled=False)
    assert shown.tab.locator("#verdict").is_visible()
    assert shown.tab.locator("#every-group").is_hidden()
    for name in ("groups", "metrics", "scores", "intersections", "limits", "method", "summary"):
        shown.tab.locator(f'.tabs a[href="#{name}"]').click()
        seen = [each.get_attribute("id") for each in shown.tab.locator(".tab:visible").all()]
        assert seen == [name]
    shown.tab.goto(shown.tab.url.partition("#")[0] + "#metrics/equal_opportunity")
    assert shown.tab.locator("#every-finding").is_visible()
    assert shown.tab.locator("#verdict").is_hidden()


# --- The slider


def test_the_slider_by_keyboard_computes_what_python_does(opened):
    shown = opened(page("compas"))
    slider = shown.tab.locator("#cutoff")
    assert slider.get_attribute("aria-valuetext") == "≥ 5 (audited)"
    before = card(shown, "equalized_odds", "race")
    slider.focus()
    slider.press("ArrowRight")
    shown.frame()
    assert slider.get_attribute("aria-valuetext") == "≥ 6"
    check_cards(shown, "compas", int(slider.input_value()), ("race",), ("sex",))
    assert "Computed again with the cutoff at ≥ 6" in shown.texts("#moved")[0]
    for key in ("Home", "End", "PageDown", "ArrowLeft"):
        slider.press(key)
        shown.frame()
        stop = int(slider.input_value())
        verdict = shown.texts("#verdict-state")[0]
        assert verdict == at("compas", stop).verdict
    shown.tab.get_by_role("button", name="Back to audited").click()
    shown.frame()
    assert card(shown, "equalized_odds", "race") == before
    assert shown.tab.locator("#moved").is_hidden()


def test_no_sentence_of_the_audit_stands_beside_the_verdict_of_another_cutoff(opened):
    shown = opened(page("compas"))
    audited = shown.tab.get_by_role("term").filter(has_text=re.compile("^(What was|What is|It rests on|To know)"))
    assert audited.filter(visible=True).count() == 5
    slider = shown.tab.locator("#cutoff")
    slider.focus()
    slider.press("End")
    shown.frame()
    assert audited.filter(visible=True).count() == 0
    shown.tab.get_by_role("button", name="Back to audited").click()
    shown.frame()
    assert audited.filter(visible=True).count() == 5


def test_at_another_cutoff_what_stays_says_that_it_is_as_audited(opened):
    shown = opened(page("compas"))
    shown.go("limits")
    told = shown.tab.locator("#notes .as-audited, #forced .as-audited")
    assert set(told.all_inner_texts()) == {""}
    shown.tab.locator("#cutoff").press("End")  # nobody is selected
    shown.frame()
    assert set(told.all_inner_texts()) == {"As audited: not computed again."}
    assert shown.texts("#every-finding .lead")[0].startswith("The audit as it was made.")
    shown.go("summary")
    assert shown.tab.locator("#picture .mark.g1, #picture .g1").count() == 0
    assert "square" not in shown.texts("#picture .aside")[0]


def test_the_slider_by_mouse_moves_cards_and_plots(opened):
    shown = opened(page("compas"))
    slider = shown.tab.locator("#cutoff")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    shown.tab.mouse.move(box["x"] + box["width"] * 0.42, middle)
    shown.tab.mouse.down()
    shown.tab.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=6)
    shown.tab.mouse.up()
    shown.frame()
    stop = int(slider.input_value())
    assert stop > 5
    check_cards(shown, "compas", stop, ("race",), ("sex",))
    check_forest(shown, at("compas", stop), "equalized_odds", "race")
    check_measures(shown, at("compas", stop), "race")
    assert shown.quiet


def twin(shown, figure: str) -> list[list[str]]:
    """The table beside a plot, opened; it follows the plot."""
    box = shown.tab.locator(f"{figure} details.twin").last
    if not box.evaluate("(node) => node.open"):
        box.locator("summary").click()
    rows = box.locator("tbody tr")
    rows.first.wait_for()
    return [[cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in rows.all()]


def check_forest(shown, audit: eh.Audit, metric: str, *attributes: str) -> None:
    finding = found(audit, metric, *attributes)
    for measure in dict.fromkeys(row.measure for row in finding.groups):
        figure = f'#forest figure[data-measure="{measure}"]'
        shown.show(figure)
        told = {row[0]: row[1:] for row in twin(shown, figure)}
        for row in (row for row in finding.groups if row.measure == measure):
            value, low, high, n = told[", ".join(row.group)]
            assert n == f"{row.n:,}"
            ends = (row.estimate.value, row.estimate.low, row.estimate.high)
            for cell, number in zip((value, low, high), ends, strict=True):
                if number is None or number != number:
                    assert cell == "–"
                else:
                    assert float(cell) == pytest.approx(number, abs=1e-3, rel=6e-3)


def check_measures(shown, audit: eh.Audit, attribute: str) -> None:
    part = audit.cube.marginal([attribute], control=False)
    values = part.measures(["selection_rate", "accuracy"])
    for name in ("selection_rate", "accuracy"):
        figure = f'#measures figure[data-measure="{name}"]'
        shown.show(figure)
        told = {row[0]: row[1] for row in twin(shown, figure)}
        for i, (_, group) in enumerate(part.pairs):
            value = float(values[name][i])
            assert (
                told[group[0]] == "undefined"
                if value != value
                else float(told[group[0]]) == pytest.approx(value, abs=6e-4)
            )


def test_plots_out_of_sight_follow_when_they_come_near(opened):
    shown = opened(page("compas"))
    slider = shown.tab.locator("#cutoff")
    slider.focus()
    slider.press("ArrowRight")
    shown.frame()
    stop = int(slider.input_value())
    check_forest(shown, at("compas", stop), "equalized_odds", "race")
    shown.show("#heat .body")
    both = at("compas", stop).cube.marginal(["race", "sex"], control=False)
    rates = both.measures(["selection_rate"])["selection_rate"]
    cells = shown.texts("#heat tbody td b")
    wanted = [
        "undefined" if rate != rate else f"{100 * float(rate):.1f} %"
        for sex in ("Female", "Male")
        for (_, group), rate in zip(both.pairs, rates, strict=True)
        if group[1] == sex
    ]
    assert cells == wanted


def test_every_metric_of_a_line_is_what_python_computes(opened):
    shown = opened(page("compas"))
    shown.tab.locator("#cutoff").fill("7")
    shown.frame()
    audit, checked = at("compas", 7), 0
    shown.go("metrics")
    shown.tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")  # draws what is out of sight
    for line in shown.tab.locator("#lines details.metric").all():
        line.scroll_into_view_if_needed()
        words = " ".join(line.locator("summary").inner_text().split())
        if "as audited" in words:
            continue
        finding = found(audit, line.get_attribute("data-metric"), "race")
        value, low, high = spelled(finding)
        assert f"{value} {low} to {high}" in words
        assert words.startswith(finding.verdict)
        checked += 1
    assert checked >= 9


def test_a_page_of_decisions_starts_at_what_was_decided(opened):
    shown = opened(page("score and decision"))
    slider = shown.tab.locator("#cutoff")
    assert slider.get_attribute("aria-valuetext") == "as decided"
    slider.focus()
    slider.press("ArrowRight")
    shown.frame()
    check_cards(shown, "score and decision", int(slider.input_value()), ("region",))


def test_a_mirrored_score_reads_as_it_was_given(opened):
    shown = opened(page("mirrored"))
    slider = shown.tab.locator("#cutoff")
    assert slider.get_attribute("aria-valuetext") == "≤ 0.4 (audited)"
    slider.focus()
    slider.press("ArrowRight")
    shown.frame()
    check_cards(shown, "mirrored", int(slider.input_value()), ("region",))


def test_without_the_cube_there_is_no_slider_and_every_plot(opened):
    shown = opened(html.dumps(pages.compas(), embed_cube=False))
    assert shown.tab.locator("#cutoff").count() == 0
    check_forest(shown, pages.compas(), "equalized_odds", "race")
    assert shown.texts("#curves h3") == ["Calibration"]
    assert shown.quiet


# --- As much as a page is promised to hold


def test_a_page_of_many_groups_and_every_metric_opens_soon(opened):
    """200 groups at 257 cutoffs: what is in a closed tab waits, and only the gap that is shown is swept."""
    text = html.dumps(pages.many_groups(metrics="all"))
    shown = opened(text, wait=False)
    shown.tab.wait_for_selector("html[data-ready]", timeout=30_000)
    assert shown.tab.locator("#sweep .body svg").count() == 0  # nobody has opened its tab
    shown.tab.locator('.tabs a[href="#scores"]').click()
    shown.tab.locator("#sweep .body svg").first.wait_for(timeout=30_000)
    assert shown.quiet, shown.errors


def test_what_was_chosen_while_a_tab_was_closed_holds_when_it_is_opened(opened):
    shown = opened(page("compas"))
    shown.tab.locator("#cutoff").focus()
    shown.tab.keyboard.press("ArrowRight")
    shown.frame()
    shown.go("metrics")
    shown.tab.get_by_role("radio", name="sex", exact=True).check(force=True)
    stop = int(shown.tab.locator("#cutoff").input_value())
    check_measures(shown, at("compas", stop), "sex")
    check_forest(shown, at("compas", stop), "equalized_odds", "sex")
    shown.go("scores")
    assert shown.texts("#sweep-title") == ["Every cutoff of sex"]
    assert shown.tab.locator("#sweep .cutoff").count() > 0


# --- Controls


def test_attributes_are_picked_by_keyboard(opened):
    shown = opened(page("compas"))
    assert shown.tab.get_by_role("radio", name="race", exact=True).is_hidden()  # the summary is of all attributes
    shown.go("metrics")
    shown.tab.get_by_role("radio", name="race", exact=True).focus()
    shown.tab.keyboard.press("ArrowRight")
    assert shown.texts("#lines-title") == ["Metrics on sex"]
    assert shown.texts("#forest-title") == ["Groups and the threshold of sex"]
    shown.tab.get_by_role("radio", name="sex", exact=True).focus()
    shown.tab.keyboard.press("ArrowRight")
    assert shown.texts("#lines-title") == ["Metrics on race × sex"]


def test_every_control_is_reached_by_tab_and_has_a_name(opened):
    shown = opened(page("compas"))
    names = shown.tab.evaluate(
        """() => [...document.querySelectorAll("button, select, input, summary, [tabindex]")]
        .filter((node) => node.checkVisibility() && node.tabIndex < 0).map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert names == []
    for _ in range(3):  # after the two buttons of the head
        shown.tab.keyboard.press("Tab")
    assert shown.tab.evaluate("() => document.activeElement.textContent") == "Summary"
    shown.tab.keyboard.press("Tab")
    shown.tab.keyboard.press("Enter")
    assert shown.tab.locator("#forest").is_visible()


def test_a_line_opens_with_its_explanation(opened):
    shown = opened(page("compas"))
    shown.go("metrics")
    line = shown.tab.locator('#lines [data-metric="demographic_parity"]')
    line.locator("summary").first.focus()
    shown.tab.keyboard.press("Enter")
    line.locator("dl").wait_for()
    words = " ".join(line.inner_text().split())
    entry = eh.catalogue.METRICS["demographic_parity"]
    for part in (entry.question, entry.when, entry.limits):
        assert " ".join(part.split()) in words


def test_panels_of_findings_are_drawn(opened):
    shown = opened(page("compas"))
    shown.go("metrics")
    shown.tab.get_by_role("radio", name="race × sex").check(force=True)
    line = shown.tab.locator('#lines [data-metric="demographic_parity"]')
    line.locator("summary").first.click()
    panel = line.locator("figure.panel")
    assert "groups compared with what their attributes suggest" in panel.locator("h4").inner_text()
    assert panel.locator("svg.plot .whisker").count() == 12


def test_every_kind_of_panel_has_its_picture_and_its_table(opened):
    shown = opened(page("with more"))
    shown.go("metrics")
    shown.tab.get_by_role("radio", name="elsewhere").check(force=True)
    line = shown.tab.locator('#lines [data-metric="closeness"]')
    line.locator("summary").first.click()
    panels = line.locator("figure.panel")
    panels.last.wait_for()  # a box that opens draws what is in it a moment later
    assert panels.locator("h4").all_inner_texts() == [panel.title for panel in pages.PANELS]
    drawn = {
        panel.title: (panels.nth(i).locator("svg.plot").count(), panels.nth(i).locator("table").count())
        for i, panel in enumerate(pages.PANELS)
    }
    assert drawn == {
        "Numbers and words": (0, 1),
        "Values": (1, 0),
        "Parts": (1, 0),
        "Named lines": (1, 0),
        "Lines by group": (2, 0),
        "Columns as lines": (1, 0),
        "Shares": (1, 0),
        "A grid": (0, 1),
        "Gaps": (1, 0),
        "People": (0, 1),
    }
    for box in panels.locator("details.twin").all():
        box.locator("summary").click()
        box.locator("table").wait_for()
    assert panels.locator("table.data").count() == len(pages.PANELS)
    assert shown.texts("#forest h3") == ["Nearness"]
    assert shown.quiet


def test_light_and_dark(opened):
    shown = opened(page("compas"), color_scheme="light")
    colour = "() => getComputedStyle(document.body).backgroundColor"
    light = shown.tab.evaluate(colour)
    shown.tab.get_by_role("button", name="Dark").click()
    assert shown.tab.evaluate(colour) != light
    shown.tab.get_by_role("button", name="Light").click()
    assert shown.tab.evaluate(colour) == light
    assert opened(page("compas"), color_scheme="dark").tab.evaluate(colour) != light


def test_tables_sort_and_are_copied_as_csv(opened):
    table = hostile.as_group(hostile.NAMES["formula"])
    roles = {"label": hostile.LABEL, "prediction": hostile.DECISION, "sensitive": [hostile.GROUP]}
    shown = opened(html.dumps(eh.audit(table, **roles, metrics=["equalized_odds"])))
    shown.tab.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    shown.go("groups")
    groups = shown.tab.locator("#every-group .tabled").first
    people = groups.get_by_role("button", name="People")
    for direction in ("ascending", "descending"):
        people.click()
        assert groups.locator("thead th").nth(1).get_attribute("aria-sort") == direction
        sizes = [
            int(text.replace(",", "")) for text in groups.locator("tbody tr td:nth-child(2)").all_inner_texts()[:-1]
        ]
        assert sizes == sorted(sizes, reverse=direction == "descending")
    groups.get_by_role("button", name="Copy as CSV").click()
    lines = list(csv.DictReader(io.StringIO(shown.tab.evaluate("() => window.copied"))))
    names = [line["Group"] for line in lines]
    assert f"'{hostile.NAMES['formula']}" in names
    assert lines[-1]["Group"] == "everyone"
    line = next(line for line in lines if line["Group"] == "other people")
    assert (
        float(line["Selection rate, % low"]) < float(line["Selection rate, %"]) < float(line["Selection rate, % high"])
    )


# --- Print, phones, no script


def printed(shown, tmp_path) -> list[str]:
    """The text of each page of what is printed."""
    path = tmp_path / "printed.pdf"
    shown.tab.pdf(path=str(path), format="Letter", print_background=True)
    require("pdftotext", shutil.which("pdftotext") is not None, "apt-get install poppler-utils")
    text = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True).stdout
    return text.split("\f")[:-1]


def test_print_shows_the_audit_and_none_of_the_controls(opened, tmp_path):
    shown = opened(page("compas"), color_scheme="dark")
    shown.tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    shown.tab.emulate_media(media="print")
    for hidden in ("#bar", ".tabs", "button.copy >> nth=0", "#forest", "#lines", "#about"):
        assert shown.tab.locator(hidden).is_hidden()
    for seen in ("#picture svg.plot", "#every-group table", "#every-finding table", "#curves svg.plot", "#notes"):
        assert shown.tab.locator(seen).first.is_visible()
    assert shown.tab.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_demo_is_printed_on_six_pages(opened, tmp_path):
    sheets = printed(opened(page("compas")), tmp_path)
    assert len(sheets) <= 6
    assert "Verdict: " in sheets[0]
    assert "It does not say" in sheets[0]
    assert all(f"Groups of {name}" in sheets[1] for name in ("race", "sex", "race × sex"))
    # The head of the table of findings stands on each page that it is on.
    for sheet in sheets:
        if re.search("inconclusive +\\d", sheet):
            assert "Verdict" in sheet
            assert "Threshold" in sheet
    # No heading at the foot of a page, and the appendix only when it was asked for.
    headings = {"ROC", "Calibration", "Notes", "Method", "sex", "race", "Findings", "Every cutoff of race"}
    assert not headings & {sheet.strip().splitlines()[-1].strip() for sheet in sheets}
    assert "The metrics in plain words" not in "".join(sheets)
    longer = printed(opened(html.dumps(pages.compas(), appendix=True)), tmp_path)
    assert "The metrics in plain words" in "".join(longer)
    assert len(longer) > len(sheets)


@pytest.mark.parametrize("kind", ["strata", "trend"])
def test_the_summary_is_printed_on_one_page_and_no_heading_ends_one(opened, kind, tmp_path):
    sheets = printed(opened(page(kind)), tmp_path)
    assert len(sheets) <= 6
    assert "It does not say" in sheets[0]
    shown = opened(page(kind))
    headings = {" ".join(each.split()) for each in shown.tab.locator("h2, h3, h4").all_text_contents()}
    assert not headings & {" ".join(sheet.strip().splitlines()[-1].split()) for sheet in sheets}


def test_three_cards_leave_the_summary_on_one_page(opened, tmp_path):
    """Three attributes of which nothing is sure: as much as the first sentences can be."""
    table = pages._drawn(400)
    ages = np.random.default_rng(3).choice(["younger than 25", "25 and older"], 400)
    roles = {"label": table["label"], "prediction": table["decided"]}
    audit = eh.audit(**roles, sensitive={"region": table["region"], "sex": table["sex"], "age": ages})
    sheets = printed(opened(html.dumps(audit)), tmp_path)
    assert len(tables.deciding(audit)) == 3
    assert "It does not say" in sheets[0]
    assert "Every number of every group" in sheets[1]


@pytest.mark.parametrize("kind", ["compas", "strata", "regression"])
def test_a_phone_never_scrolls_sideways(opened, kind):
    shown = opened(page(kind), width=360)
    assert shown.tab.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert shown.tab.locator("svg.plot:visible").count() > 0


@pytest.mark.parametrize("kind", ["compas", "regression"])
def test_a_phone_with_a_wide_font_never_scrolls_sideways(opened, kind):
    shown = opened(page(kind), width=360, bypass_csp=True)
    shown.tab.add_style_tag(content="body, body * { font-family: monospace !important; letter-spacing: 0.03em }")
    for tab in shown.tabs():
        assert shown.tab.evaluate("() => document.documentElement.scrollWidth") <= 360, tab


def test_it_reads_without_script(opened):
    shown = opened(page("compas"), wait=False, java_script_enabled=False)
    words = " ".join(shown.tab.locator("body").text_content().split())
    said = pages.compas().findings[0].interpretation
    for part in ("Verdict: fail", said, "The metrics in plain words", "Correction of p-values"):
        assert part in words
    assert shown.tab.locator("#bar").is_hidden()
    assert shown.tab.locator("#forest").is_hidden()
    assert shown.tab.locator("#picture table").first.is_visible()


# --- Names


def hostile_audit() -> eh.Audit:
    """Every hostile name is a group, and the attribute has one too."""
    names = [*hostile.NAMES.values(), None]
    column = hostile.NAMES["script"]
    table = {column: [], "label": [], "score": []}
    for name in names:
        table[column] += [name] * 24
        table["label"] += [0, 1] * 12
        table["score"] += [0.1, 0.9, 0.4, 0.6] * 6
    roles = {"label": "label", "score": "score", "cutoff": 0.5, "sensitive": [column]}
    return eh.audit(table, **roles, metrics=["equalized_odds", "demographic_parity", "calibration"])


def test_hostile_names_stay_names(opened):
    audit = hostile_audit()
    shown = opened(html.dumps(audit))
    assert shown.quiet, shown.errors
    shown.tab.locator("#cutoff").focus()
    shown.tab.keyboard.press("ArrowRight")
    shown.frame()
    shown.go("groups")
    for button in shown.tab.get_by_role("button", name=re.compile("Show all")).all():
        button.click()
    for box in shown.tab.locator("details:visible").all():
        box.evaluate("(node) => { node.open = true; }")
    shown.frame()
    assert shown.quiet, (shown.errors, shown.requests, shown.dialogs)
    assert "owned" not in shown.tab.title()
    assert shown.tab.evaluate("() => document.querySelectorAll('main script, main img, main b b').length") == 0
    told = {row[0] for row in twin(shown, '#forest figure[data-measure="true_positive_rate"]')}
    wanted = {" ".join(static.shown(spell(group, audit.meaning.sensitive)).split()) for group in audit.cube.groups}
    assert {" ".join(name.split()) for name in told} == wanted


OBJECTS = ("constructor", "__proto__", "toString", "hasOwnProperty", "place", "valueOf")


def test_metrics_may_be_called_like_parts_of_an_object(opened):
    own = [
        eh.metric(name, measures=eh.measure(name, numerator="FP", denominator="TN FP FN TP"), threshold=0.05)
        for name in OBJECTS
    ]
    roles = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count", "sensitive": ["race", "sex"]}
    audit = eh.audit(eh.datasets.compas(), **roles, metrics=[*own, "equalized_odds"])
    shown = opened(html.dumps(audit))
    assert shown.quiet, shown.errors
    for key in ("ArrowRight", "End", "Home"):
        shown.tab.locator("#cutoff").focus()
        shown.tab.keyboard.press(key)
        shown.frame()
        shown.show("#sweep")
    assert shown.quiet, shown.errors
    shown.go("metrics")
    named = shown.tab.locator("#lines [data-metric]").evaluate_all("(nodes) => nodes.map((n) => n.dataset.metric)")
    assert set(OBJECTS) <= set(named)


def test_what_is_incomplete_is_not_green_at_another_cutoff(opened):
    names = [f"a{i}" for i in range(5)]
    table = {name: [(row >> i) & 1 for row in range(32)] * 128 for i, name in enumerate(names)}
    table |= {"label": [0, 1] * 2048, "score": [row // 32 % 128 / 127 for row in range(4096)]}
    policy = eh.Policy(
        required="demographic_parity", on="all", thresholds={"demographic_parity": 1.0}, min_group_size=1
    )
    roles = {"label": "label", "score": "score", "cutoff": 0.5, "sensitive": names}
    audit = eh.audit(table, **roles, policy=policy, metrics=["demographic_parity"])
    assert audit.verdict == "inconclusive"
    shown = opened(html.dumps(audit))
    assert shown.texts("#verdict-state") == ["inconclusive"]
    shown.tab.locator("#cutoff").focus()
    shown.tab.keyboard.press("ArrowRight")
    shown.frame()
    assert shown.texts("#verdict-state") == ["inconclusive"]


# --- For everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("kind", "width"), [(kind, 1280) for kind in pages.KINDS] + [("compas", 390), ("strata", 390), ("trend", 390)]
)
def test_axe_finds_no_violation(opened, axe, kind, width, scheme):
    shown = opened(page(kind), width=width, color_scheme=scheme)
    shown.tab.evaluate(axe)
    for tab in shown.tabs():
        for box in shown.tab.locator("details.twin:visible, details.metric:visible").all()[:4]:
            box.evaluate("(node) => { node.open = true; }")
        violations = shown.tab.evaluate("async () => (await axe.run()).violations")
        told = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in violations]
        assert told == [], (tab, json.dumps(told, indent=1))


SMALLER = """(least) => { const shrunk = (svg) =>
    svg && svg.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
  return [...document.querySelectorAll("body *")].filter((node) => node.checkVisibility()
  && [...node.childNodes].some((kid) => kid.nodeType === 3 && kid.data.trim())
  && parseFloat(getComputedStyle(node).fontSize) * shrunk(node.closest("svg")) < least)
  .map((node) => node.outerHTML.slice(0, 120)); }"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", ["compas", "strata", "trend"])
def test_no_text_is_smaller_than_12_pixels(opened, kind, width):
    shown = opened(page(kind), width=width)
    for tab in shown.tabs():
        assert shown.tab.evaluate(SMALLER, 11.9) == [], tab


@pytest.mark.parametrize("kind", ["compas", "strata", "trend"])
def test_no_text_on_paper_is_too_small_to_read(opened, kind):
    shown = opened(page(kind), width=710)  # a sheet between its margins
    shown.tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    shown.tab.emulate_media(media="print")
    assert shown.tab.evaluate(SMALLER, 8) == []  # six points


# --- Notebooks


def test_two_audits_in_one_notebook_do_not_disturb_each_other(opened):
    frames = "".join(audit.page()._repr_html_() for audit in (pages.compas(), pages.against_a_reference()))
    shown = opened(f"<!doctype html><title>notebook</title><body>{frames}", wait=False)
    first, second = (shown.tab.frame_locator("iframe >> nth=0"), shown.tab.frame_locator("iframe >> nth=1"))
    for frame in (first, second):
        frame.locator("html[data-ready]").wait_for()
    before = second.locator("#cards").inner_text()
    first.locator("#cutoff").press("ArrowRight")
    first.locator("#moved:visible").wait_for()
    assert second.locator("#cards").inner_text() == before
    assert second.locator("#moved").is_hidden()
    assert shown.tab.locator("details > summary").count() == 2
    assert shown.errors == []
