"""What notebooks show, in real kernels with ipywidgets and without: each object once, not empty, not too large."""

from __future__ import annotations

import html
import importlib.util
import re

import pytest

from conftest import require
from support import notebooks

SETUP = """
import evenhand as eh
from evenhand import mitigate
counts = eh.datasets.compas()
roles = dict(label="recidivated", score="decile", count="count", sensitive=["race", "sex"])
audit = eh.audit(counts, **roles, cutoff=5)
cube = audit.cube
diff = eh.diff(audit, eh.audit(counts, **roles, cutoff=8))
trend = eh.trend({"May": cube, "June": cube}, metrics=["demographic_parity"])
thresholds = mitigate.find_thresholds(cube.marginal(["sex"]))
impossibility = eh.impossibility(audit, attribute="sex")
recommendation = eh.recommend(label_known=True, priority="opportunity")
finding = audit.findings[0]
sweep = eh.sweep(cube)
said = [[(i * k) % 7 / 7 for i in range(120)] for k in (1, 2, 3)]
stability = eh.stability(said, label=[0, 1] * 60, sensitive=["a", "b", "b"] * 40)
from sklearn.tree import DecisionTreeClassifier
trees = {"small": DecisionTreeClassifier(max_depth=1), "large": DecisionTreeClassifier(max_depth=2)}
people = [[i % 3] for i in range(60)], [i % 2 for i in range(60)], ["a", "b", "b"] * 20
comparison = mitigate.compare(trees, *people)
models = {"old": [0, 1] * 60, "new": [1, 1, 0, 0] * 30}
contest = eh.contest(label=[0, 1, 1] * 40, predictions=models, sensitive=["a", "b", "b"] * 40)
"""

# Each object that shows itself, and words that it has to show.
SHOWN = {
    "audit": "Verdict: fail",
    "diff": "<Changes: ",
    "trend": "<Trend: ",
    "thresholds": "<Thresholds of 2 groups of sex",
    "impossibility": "groups compared",
    "recommendation": "<Recommendation: judge by equal_opportunity",
    "finding": "equalized_odds on race",
    "cube": "7,214 people",
    "audit.findings[:2]": "equalized_odds on race",
    "audit.policy": "Policy(",
    "comparison": "2 ways to decide",
    "sweep": "<Sweep: ",
    "stability": "3 replicas, 120 people",
    "contest": "<Contest: ",
    "audit.page()": "<Page of an audit",
}

# Those that are cards where HTML is shown, and the words by which each begins.
CARDS = {
    "audit": "Audit fail 7,214 people; race (6 groups), sex (2 groups)",
    "finding": "Finding fail equalized odds by race",
    "diff": "Changes ",
    "trend": "Trend alarm since May 2 periods, May to June",
    "thresholds": "Thresholds ",
    "impossibility": "Impossibility sex: 2 groups compared",
    "recommendation": "Recommendation label known: yes",
    "comparison": "Comparison 2 ways to decide",
    "sweep": "Sweep 11 cutoffs",
    "stability": "Stability 3 replicas, 120 people",
    "contest": "Contest ",
}

FILES = """
from pathlib import Path
Path("x.csv").write_text("d,g\\n" + "1,a\\n0,b\\n" * 200)
_ = cube.save("x.cube")
"""
OTHERS = {
    "files": FILES,
    "csv": 'eh.audit("x.csv", prediction="d", sensitive="g").verdict',
    "saved cube": 'eh.Cube.load("x.cube").size',
    "widgets": "import importlib.util; importlib.util.find_spec('ipywidgets') is not None",
    "bars": """
from evenhand.core import progress
from evenhand.sources.files import query
progress.SECONDS_BEFORE_A_BAR = 0.0
connection = query.connect()
list(progress.track(range(3), 3, "counting"))
# DuckDB's own bar would come after two seconds; when it comes cannot be set, because settings are locked.
_ = query.fetch(connection, "SELECT count(*) FROM range(40000) a, range(40000) b WHERE (a.range * b.range) % 7 = 3")
""",
    "a bar on a terminal": """
import sys
sys.stderr.isatty = lambda: True
with progress.shown("counting", 3, at_once=True) as tell:
    tell(2)
del sys.stderr.isatty
""",
}


@pytest.fixture(scope="module", params=["with ipywidgets", "without ipywidgets"])
def cells(request, tmp_path_factory) -> dict[str, notebooks.Cell]:
    """What the cells showed, by what they were to show."""
    found = [name for name in ("nbclient", "ipykernel") if importlib.util.find_spec(name) is None]
    require("a kernel", not found, f"pip install {' '.join(found)}")
    widgets = request.param == "with ipywidgets"
    require("ipywidgets", notebooks.WIDGETS.is_dir(), f"pip install --target {notebooks.WIDGETS}, as make test does")
    here = importlib.util.find_spec("ipywidgets") is not None
    require("a kernel without ipywidgets", widgets or not here, "ipywidgets is installed in this environment")
    sources = {
        "set-up": SETUP,
        **{name: name for name in SHOWN},
        **{f"print({name})": f"print({name})" for name in SHOWN},
        **{f"len(str({name}))": f"len(str({name}))" for name in SHOWN},
        **OTHERS,
    }
    ran = notebooks.run(list(sources.values()), tmp_path_factory.mktemp("notebook"), widgets=widgets)
    assert ran[list(sources).index("widgets")].forms == {"text/plain": str(widgets)}
    return dict(zip(sources, ran, strict=True))


@pytest.mark.parametrize("name", SHOWN)
def test_one_output_for_one_cell(name, cells):
    forms = cells[name].forms
    assert SHOWN[name] in forms["text/plain"]
    assert "\x1b" not in forms["text/plain"]
    assert set(forms) - {"text/html"} == {"text/plain"}


@pytest.mark.parametrize("name", SHOWN)
def test_printed_once(name, cells):
    ((form, text),) = cells[f"print({name})"].forms.items()
    assert form == "stdout"
    assert "\x1b" not in text
    assert cells[f"len(str({name}))"].forms == {"text/plain": str(len(text) - 1)}
    assert text.strip()
    assert text.count(text.strip().splitlines()[0]) == 1 or name == "audit.policy"


@pytest.mark.parametrize("name", CARDS)
def test_a_result_is_a_card_where_html_is_shown(name, cells):
    forms = cells[name].forms
    assert set(forms) == {"text/plain", "text/html"}
    assert forms["text/html"].startswith('<div class="evenhand-card">')
    assert len(forms["text/html"].encode()) < 30_000
    words = re.sub(r"<style>.*?</style>|<[^>]+>", " ", forms["text/html"], flags=re.DOTALL)
    assert html.unescape(" ".join(words.split())).startswith(CARDS[name])
    assert "<script" not in forms["text/html"]


def test_the_text_of_an_audit_is_what_print_shows(cells):
    assert cells["audit"].forms["text/plain"] == cells["print(audit)"].forms["stdout"].rstrip("\n")


def test_the_full_report_is_a_page_in_a_frame(cells):
    assert cells["audit.page()"].forms["text/html"].count("<iframe") == 1


@pytest.mark.parametrize("name", [name for name in SHOWN if name != "audit.page()"])
def test_what_is_not_a_page_is_small(name, cells):
    assert cells[name].size < 100_000


def test_files_are_read(cells):
    assert cells["set-up"].outputs == cells["files"].outputs == ()
    assert cells["csv"].forms == {"text/plain": "'fail'"}
    assert cells["saved cube"].forms == {"text/plain": "7214"}


def test_no_bar_where_there_is_no_terminal(cells):
    assert cells["bars"].outputs == ()


def test_a_bar_is_text_and_not_a_widget(cells):
    ((form, text),) = cells["a bar on a terminal"].forms.items()
    assert form == "stderr"
    assert re.search(r"counting.*2/3", text)
