"""shared(): what is left out is named, what stays is Python's, and nothing in the file tells of few people."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

import evenhand as eh
from evenhand import report
from evenhand.cli import run
from evenhand.core.results import spell
from evenhand.cube import tables
from evenhand.errors import CallError, DataError
from evenhand.report import json as report_json
from evenhand.report import markdown
from evenhand.report import page as html
from support import page_data, pages

COMPAS = {"label": "recidivated", "score": "decile", "cutoff": 5, "count": "count"}


def compas(**arguments: Any) -> eh.Audit:
    return eh.audit(eh.datasets.compas(), **COMPAS, **{"sensitive": ["race", "sex"], **arguments})


def drawn(seed: int, rows: int = 240, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sizes = rng.dirichlet([2.0, 1.0, 0.3, 0.15])
    return {
        "label": rng.integers(0, 2, rows),
        "prediction": rng.integers(0, 2, rows),
        "sensitive": {
            "a": rng.choice(["p", "q", "r", "s"], rows, p=sizes),
            "b": rng.choice(["x", "y"], rows),
            "c": rng.choice(["u", "v"], rows, p=[0.8, 0.2]),
        },
    } | more


def sharable(seed: int, **arguments: Any) -> tuple[eh.Audit, eh.Audit]:
    """A random audit and the same as it may be shared, with more rows until something can be."""
    for rows in (150, 300, 600, 1200):
        audit = eh.audit(**drawn(seed, rows), metrics=["equalized_odds", "demographic_parity"], **arguments)
        try:
            return audit, audit.shared()
        except DataError:
            continue
    raise AssertionError("nothing could be shared")


# --- the rule


def test_the_demo_by_hand():
    audit, shared = compas(), compas().shared()
    assert shared.sharing.groups == {"race": (("Asian",), ("Native American",))}
    assert shared.sharing.sets == (("race", "sex"),)
    assert shared.meaning.sensitive == ("race", "sex")
    race, sex = shared.counts("race"), shared.counts("sex")
    assert [group[0] for group in race.groups] == ["African-American", "Caucasian", "Hispanic", "Other"]
    before = audit.cube.marginal(["race"])
    for (_, group), n in zip(race.pairs, race.n, strict=True):
        assert np.array_equal(n, before.n[before.groups.index(group)])
    assert np.array_equal(sex.n, audit.cube.marginal(["sex"]).n)
    assert {finding.attributes for finding in shared.findings} == {("race",), ("sex",)}
    for finding in shared.findings:
        assert "Asian" not in finding.interpretation
        assert {spell(row.group) for row in finding.rows}.isdisjoint({"Asian", "Native American"})
    told = " ".join(shared.notes)
    assert "Left out of race: Asian; Native American." in told
    assert "race × sex" in told
    assert "auc_parity" in told


def test_what_stays_is_judged_again_on_the_groups_that_stay():
    """As an audit of these people alone would: overall, rest, families, corrections."""
    data = eh.datasets.compas()
    keep = [i for i, race in enumerate(data["race"]) if race not in ("Asian", "Native American")]
    small = {name: [column[i] for i in keep] for name, column in data.items()}
    for reference in (None, "rest", "overall", "largest", {"race": "Caucasian"}):
        arguments = {"sensitive": "race", "metrics": ["equalized_odds", "demographic_parity"], "reference": reference}
        shared = eh.audit(data, **COMPAS, **arguments).shared()
        alone = eh.audit(small, **COMPAS, **arguments)
        assert shared.findings == alone.findings
        assert shared.verdict == alone.verdict


def test_findings_that_decide_share_their_error_anew():
    policy = eh.Policy(familywise="audit", required=["equalized_odds"])
    audit = compas(policy=replace(policy, on="all"))
    for one, deciding in ((audit, 3), (audit.shared(), 2)):
        assert [each.settings["family"] for each in one.findings if one.decides(each)] == [deciding] * deciding
        assert {each.settings["confidence"] for each in one.findings} == {0.95}


def test_an_attribute_without_two_groups_is_left_out_by_name():
    roles = drawn(0, 400)
    roles["sensitive"]["rare"] = np.where(np.arange(400) < 3, "few", "many")
    audit = eh.audit(**roles, metrics=["demographic_parity"], intersections=False)
    shared = audit.shared()
    assert "rare" not in shared.meaning.sensitive
    assert ("rare",) in shared.sharing.sets
    assert any("rare" in note for note in shared.notes)
    with pytest.raises(CallError, match="'rare' is not in this shared audit"):
        shared.counts("rare")


def test_an_attribute_whose_reference_is_hidden_goes_whole():
    shared = compas(reference={"race": "Asian", "sex": "Male"}).shared()
    assert shared.meaning.sensitive == ("sex",)
    assert shared.policy.reference == {"sex": "Male"}
    assert {each.settings["against"] for each in shared.findings if each.judged_on != "value"} == {"Male"}


def test_nothing_to_share_is_an_error_with_a_remedy():
    audit = eh.audit(prediction=[1, 0, 0, 0] * 3, sensitive=["a", "b"] * 6, metrics=["demographic_parity"])
    with pytest.raises(DataError, match=r"nothing of this audit can be shared.*Merge small groups"):
        audit.shared()


def test_shared_twice_is_shared_once_and_more_hides_more():
    shared = compas().shared()
    assert shared.shared() is shared
    assert shared.shared(3) is shared
    more = shared.shared(60)
    assert more.sharing.least == 60
    assert set(more.sharing.groups["race"]) > set(shared.sharing.groups["race"])
    assert set(more.sharing.groups["race"]) >= set(compas().shared(60).sharing.groups["race"])


def test_large_data_are_shared_as_they_are():
    rng = np.random.default_rng(1)
    n = 40_000
    score = rng.integers(1, 11, n)
    roles = {"label": rng.random(n) < score / 11, "positive": True, "score": score, "cutoff": 5}
    audit = eh.audit(**roles, sensitive={"g": rng.choice(["a", "b", "c"], n), "h": rng.choice(["x", "y"], n)})
    shared = audit.shared()
    assert shared.findings == audit.findings
    assert shared.parts == ()
    assert np.array_equal(shared.cube.n, audit.cube.n)
    assert shared.cube.scores.same(audit.cube.scores)
    assert (shared.sharing.groups, shared.sharing.sets, shared.sharing.metrics) == ({}, (), ())


def test_findings_that_do_not_follow_from_the_counts_are_left_out_by_name():
    audit = compas(sensitive="race", metrics=["demographic_parity"])
    other = eh.demographic_parity(prediction=[1, 0, 0, 1] * 20, sensitive={"race": ["Other", "Hispanic"] * 40})
    own = eh.metric("own", measures=eh.measure("agree", function=lambda y, d: float(np.mean(y == d))), threshold=0.5)
    roles = {"label": [0, 1] * 60, "prediction": [0, 1, 1, 0] * 30, "sensitive": ["a", "b", "b"] * 40}
    with_function = eh.audit(**roles, metrics=[own, "demographic_parity"])
    assert audit.add(other).shared().findings == audit.shared().findings
    assert [each.metric for each in with_function.shared().findings] == ["demographic_parity"]
    assert with_function.shared().sharing.metrics == ("own",)


def test_several_classes_and_regressors_are_shared_too():
    rng = np.random.default_rng(8)
    classes = rng.choice(["p", "q", "r"], (2, 900))
    several = eh.audit(
        label=classes[0], prediction=classes[1], sensitive=rng.choice(["a", "b"], 900), task="multiclass"
    )
    kinds = ("regression", "strata", "decisions only", "labels only")
    for audit in (several, *(pages.KINDS[kind]() for kind in kinds)):
        shared = audit.shared()
        assert shared.findings
        for part in shared.parts or (shared.cube,):
            assert not ((part.n > 0) & (part.n < 5)).any()
            if part.scores is not None:
                assert not ((part.scores.n > 0) & (part.scores.n < 5)).any()
        known = {(each.metric, each.attributes): each for each in audit.findings}
        for finding in shared.findings:
            if not shared.sharing.groups:
                assert finding.value.value == pytest.approx(known[finding.metric, finding.attributes].value.value)


# --- one answer everywhere


def told(audit: eh.Audit) -> list[dict[str, Any]]:
    """The findings as plain data, in which what is undefined is equal to itself."""
    return [report_json.finding_data(finding) for finding in audit.findings]


@pytest.mark.parametrize("kind", [kind for kind in pages.KINDS if kind != "multiclass"])
def test_a_shared_audit_its_file_and_its_page_say_the_same(kind, tmp_path):
    shared = pages.KINDS[kind]().shared()
    shared.save(tmp_path / "x.json")
    loaded = eh.Audit.load(tmp_path / "x.json")
    assert str(loaded) == str(shared)
    assert told(loaded) == told(shared)
    assert (loaded.sharing, loaded.notes, loaded.required) == (shared.sharing, shared.notes, shared.required)
    assert loaded.parts == shared.parts
    assert loaded.cube == shared.cube
    assert loaded.groups().to_csv() == shared.groups().to_csv()
    assert html.dumps(loaded) == html.dumps(replace(shared, origin=loaded.origin))
    assert told(loaded.shared()) == told(shared)


@pytest.mark.parametrize("seed", range(8))
def test_everything_in_a_shared_file_follows_from_its_counts(seed, tmp_path):
    """So that an attack on the counts is an attack on the file: from the counts alone, each finding is the same."""
    alone = eh.Policy(familywise="finding")
    _, shared = sharable(seed, reference=[None, "rest", "overall", "largest"][seed % 4], policy=alone)
    told = json.loads(report_json.dumps(shared))
    cubes = [tables.read(each) for each in told["parts"] or [told["cube"]]]
    for finding in shared.findings:
        part = next(cube for cube in cubes if set(finding.attributes) <= set(cube.meaning.sensitive))
        anew = part.marginal(finding.attributes).audit(
            metrics=[finding.metric], reference=shared.policy.reference, intersections=1
        )
        again = next((each for each in anew.findings if each.attributes == finding.attributes), None)
        if again is not None:
            assert replace(again, p_adjusted=None) == replace(finding, p_adjusted=None)
    assert told["data"]["rows"] == max(cube.size for cube in cubes)
    hidden = {name for groups in shared.sharing.groups.values() for group in groups for name in group}
    for finding in told["findings"]:
        assert {value for row in finding["rows"] for value in row["group"]}.isdisjoint(hidden)


def test_the_page_of_a_shared_audit_holds_no_hidden_group_but_by_name():
    shared = compas().shared()
    text = html.dumps(shared)
    # In the note that says so, on the first screen and among all notes; nowhere in the data of the page.
    assert text.count("Native American") == 2
    assert "Native American" not in text[text.index('id="audit-data"') :]
    everyone = next(each for each in html.pageresults.results(shared) if each.attributes == ("race",))
    assert sum(everyone.people) == 7164
    selected = next(column for column in everyone.columns if column.name == "selection_rate")
    part = shared.counts("race")
    assert selected.overall == pytest.approx(part.n[:, :, 1].sum() / part.n.sum())


# --- the attack: integer programming over everything in the file


class Attack:
    """What somebody can tell who has the file and knows the rule: how few and how many people each cell may hold.

    A variable is a cell of all attributes, label and place on the score or decision. The counts of the file are sums of
    them; each group that the file names, also among those left out, has someone.
    """

    def __init__(self, told: dict[str, Any], whole: eh.Cube) -> None:
        self.names = whole.meaning.sensitive
        cubes = [tables.read(each) for each in told["parts"] or [told["cube"]]]
        first = cubes[0]
        self.fine = [] if whole.scores is None else whole.scores.bins.starts.tolist()
        places = range(len(self.fine)) if self.fine else range(2)
        values = [sorted({group[i] for group in whole.groups}) for i in range(len(self.names))]
        self.cells = list(itertools.product(*values, range(2), places))
        self.place = {cell: i for i, cell in enumerate(self.cells)}
        rows, sums = [], []
        for cube in cubes:
            for wanted, people in self.counts(cube):
                rows.append(self.row(wanted))
                sums.append(people)
        self.limits = [LinearConstraint(np.array(rows), sums, sums)]
        for name, groups in told["sharing"]["groups"].items():
            someone = [self.row({name: {group[0]}}) for group in groups]
            self.limits.append(LinearConstraint(np.array(someone), 1, np.inf))
        assert first.size <= whole.size

    def counts(self, cube: eh.Cube) -> Iterator[tuple[dict[str, set[Any]], int]]:
        """Every count of a cube, also those of nobody, as sets of values and the number of people."""
        for p, (_, group) in enumerate(cube.pairs):
            about: dict[str, set[Any]] = {
                name: {value} for name, value in zip(cube.meaning.sensitive, group, strict=True)
            }
            for label in range(2):
                if not self.fine:
                    for decision in range(2):
                        yield {**about, "label": {label}, "place": {decision}}, int(cube.n[p, label, decision])
                    continue
                table = cube.scores
                dense = table.dense(len(cube.pairs))["n"][p, label]
                starts = [*table.bins.starts[: len(dense)], math.inf]
                for b, people in enumerate(dense):
                    inside = {i for i, score in enumerate(self.fine) if starts[b] <= score < starts[b + 1]}
                    yield {**about, "label": {label}, "place": inside}, int(people)

    def row(self, wanted: dict[str, set[Any]]) -> np.ndarray:
        axes = (*self.names, "label", "place")
        return np.array(
            [all(cell[i] in wanted.get(name, {cell[i]}) for i, name in enumerate(axes)) for cell in self.cells],
            dtype=float,
        )

    def reach(self, wanted: dict[str, set[Any]]) -> tuple[int, int]:
        """The fewest and the most people that a sum of cells may hold."""
        row, ends = self.row(wanted), []
        for sign in (1, -1):
            found = milp(sign * row, constraints=self.limits, integrality=np.ones(len(row)))
            assert found.status in (0, 3), found.message
            ends.append(10**9 if found.status == 3 else round(sign * found.fun))
        return ends[0], ends[1]


def small_cells(whole: eh.Cube, least: int = 5) -> Iterator[tuple[dict[str, set[Any]], int]]:
    """The cells of 1 to `least` − 1 people of every set of attributes, by label and decision or place on the score."""
    for size in range(1, len(whole.meaning.sensitive) + 1):
        for names in itertools.combinations(whole.meaning.sensitive, size):
            part = whole.marginal(names)
            people = part.n[:, :2, :2] if part.scores is None else part.scores.dense(len(part.pairs))["n"][:, :2]
            for p, label, place in zip(*np.nonzero((people > 0) & (people < least)), strict=True):
                about = {name: {value} for name, value in zip(names, part.pairs[p][1], strict=True)}
                yield {**about, "label": {int(label)}, "place": {int(place)}}, int(people[p, label, place])


@pytest.mark.parametrize("seed", range(8))
def test_no_small_cell_follows_from_a_shared_file(seed):
    audit, shared = sharable(seed)
    attack = Attack(json.loads(report_json.dumps(shared)), audit.cube)
    cells = list(small_cells(audit.cube))
    assert cells
    for wanted, people in cells:
        fewest, most = attack.reach(wanted)
        assert fewest <= people <= most
        assert fewest < most, (wanted, people)


def test_no_small_cell_of_the_demo_follows_from_its_shared_file():
    audit = compas(metrics=["equalized_odds"])
    attack = Attack(json.loads(report_json.dumps(audit.shared())), audit.cube)
    cells = list(small_cells(audit.cube))
    assert len(cells) > 60
    for wanted, people in cells:
        fewest, most = attack.reach(wanted)
        assert fewest <= people <= most
        assert fewest < most, (wanted, people)


def test_pairs_of_attributes_that_would_tell_of_all_three_do_not_leave_together():
    """Nobody is p and x: with all three tables of pairs, q y u is what y u has beyond p u, which is 2."""
    counts = {"pxu": 0, "pxv": 0, "pyu": 6, "pyv": 7, "qxu": 8, "qxv": 9, "qyu": 2, "qyv": 10}
    groups = [list(column) for column in zip(*counts, strict=True)]
    people = [n for n in counts.values() for _ in range(2)]
    roles = {name: [value for value in column for _ in range(2)] for name, column in zip("abc", groups, strict=True)}
    decided = {"label": [1] * 16, "prediction": [0, 1] * 8, "count": people}
    audit = eh.audit(**decided, sensitive=roles, metrics=["demographic_parity"])
    assert not any(privacy_small(audit, names) for names in (("a", "b"), ("a", "c"), ("b", "c")))
    shared = audit.shared()
    assert len([names for names in shared.attribute_sets() if len(names) == 2]) == 2
    attack = Attack(json.loads(report_json.dumps(shared)), audit.cube)
    wanted: dict[str, set[Any]] = {"a": {"q"}, "b": {"y"}, "c": {"u"}, "place": {0}}
    fewest, most = attack.reach(wanted)
    assert fewest <= 2 <= most
    assert fewest < most
    everything = replace(shared, parts=tuple(audit.cube.marginal([*names]) for names in ("ab", "ac", "bc")))
    told = json.loads(report_json.dumps(everything))
    assert Attack(told, audit.cube).reach(wanted) == (2, 2)


def privacy_small(audit: eh.Audit, names: tuple[str, ...]) -> bool:
    n = audit.cube.marginal(names).n
    return bool(((n > 0) & (n < 5)).any())


# --- What an opponent recovered, or was told wrongly


def nested() -> eh.Audit:
    """Ages and over 40: each half is made of whole age groups, one of which in each half has a small cell."""
    cells = {
        "18-25": (12, 9, 2, 7),
        "26-39": (300, 200, 250, 300),
        "30-34": (90, 80, 70, 60),
        "40-49": (300, 200, 250, 300),
        "50-64": (310, 210, 260, 280),
        "65+": (30, 3, 40, 50),
    }
    rows = [
        (
            age,
            "under 40" if age in ("18-25", "26-39", "30-34") else "40 or older",
            label,
            decision,
            counts[2 * label + decision],
        )
        for age, counts in cells.items()
        for label in (0, 1)
        for decision in (0, 1)
    ]
    age, half, label, decision, count = map(list, zip(*rows, strict=True))
    sensitive = {"age": age, "over 40": half}
    return eh.audit(label=label, prediction=decision, count=count, sensitive=sensitive)


def test_groups_that_make_up_a_group_of_another_attribute_do_not_go_one_by_one():
    hidden = {group[0] for group in nested().shared().sharing.groups["age"]}
    assert {"18-25", "65+"} < hidden
    for half in ({"18-25", "26-39", "30-34"}, {"40-49", "50-64", "65+"}):
        assert len(hidden & half) != 1


def test_a_pass_does_not_follow_from_leaving_a_group_out(tmp_path):
    rows = [("a", 400), ("b", 400), ("c", 60), ("d", 300)]
    group = [name for name, n in rows for _ in range(n)]
    prediction = [i % 2 for name, n in rows for i in range(n)]
    prediction[800:860] = [1] * 2 + [0] * 58
    audit = eh.audit(prediction=prediction, sensitive=group)
    assert audit.verdict == "fail"
    shared = audit.shared()
    assert shared.verdict == "inconclusive"
    assert "left out to be shared: 2 groups of sensitive" in str(shared)
    shared.save(tmp_path / "shared.json")
    assert eh.Audit.load(tmp_path / "shared.json").verdict == "inconclusive"


def test_a_required_metric_that_cannot_be_shared_leaves_the_verdict_open():
    random = np.random.default_rng(1)
    score = random.random(900)
    audit = eh.audit(
        label=(random.random(900) < score).astype(int),
        score=score,
        cutoff=0.5,
        sensitive=random.choice(["a", "b"], 900),
        policy=eh.Policy(required=("calibration",)),
    )
    shared = audit.shared()
    assert shared.required == ("calibration",)
    assert shared.verdict == "inconclusive"
    assert not any("No metric is required" in note for note in shared.notes)
    assert any("Required, and left out: calibration" in note for note in shared.notes)


def test_no_number_of_one_person_is_in_a_shared_file():
    random = np.random.default_rng(2)
    pay, group = random.normal(50_000, 9_000, 900), random.choice(["a", "b", "c"], 900)
    pay[7], offer = 987_654.32, random.normal(50_000, 9_000, 900)
    offer[7] = 431_234.5
    shared = eh.audit(label=pay, prediction=offer, task="regression", sensitive=group).shared()
    text = json.dumps(shared.to_dict())
    assert "987654.32" not in text
    assert "431234.5" not in text
    scores = random.normal(600, 60, 300)
    scores[3] = 911.777
    odd = eh.audit(score=scores, cutoff=600, sensitive=random.choice(["a", "b"], 300)).shared()
    kept = odd.cube.scores.bins
    assert 911.777 not in (kept.high, *kept.extra)
    assert not set(kept.extra) & set(scores.tolist())


def test_the_exit_code_is_that_of_everyone(tmp_path):
    table = tmp_path / "h.csv"
    lines = ["group,approved", *(f"a,{i % 2}" for i in range(400)), *(f"b,{i % 2}" for i in range(400))]
    lines += [*(f"c,{int(i < 2)}" for i in range(60)), *(f"d,{i % 2}" for i in range(300))]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    call = ["audit", str(table), "--prediction", "approved", "--sensitive", "group", "-q"]
    assert run(call) == run([*call, "--share"]) == 1


# --- the attack: what does a hidden group show, in every form?


def hiding(tmp_path) -> Path:
    """Groups c and d are hidden: 3 of the 1,237 of c were selected, and d is the next smallest with 1,451."""
    groups = {"a": (1511, 3023), "b": (1787, 3517), "c": (3, 1237), "d": (701, 1451)}
    table = tmp_path / "people.csv"
    lines = [f"{name},{yes},{n}" for name, (k, of) in groups.items() for yes, n in ((1, k), (0, of - k))]
    table.write_text("\n".join(["group,approved,people", *lines]) + "\n", encoding="utf-8")
    return table


TELLS = ("1237", "1,237", "1234", "1,234", "0.2425", "0.00242", "0.24 %", "0.2 %", "1451", "1,451", "701", "48.3",
         "0.483", "2688", "2,688", "9228", "9,228")  # fmt: skip
"""People, selected, refused and rate of c and of d, of both together, and of everyone with them."""


def shown_in(text: str) -> list[str]:
    """Which of these numbers a text holds, as a number of its own and not within a longer one or a checksum."""
    plain = re.sub(r'"sha256": "[0-9a-f]+"|sha256-[A-Za-z0-9+/=]+|"created": "[^"]*"|timestamp="[^"]*"', "", text)
    return [told for told in TELLS if re.search(rf"(?<![\w.,]){re.escape(told)}(?![\d])", plain)]


def test_the_attack_finds_a_group_that_is_not_hidden(tmp_path):
    audit = eh.audit(hiding(tmp_path), prediction="approved", sensitive="group", count="people")
    audit.save(tmp_path / "full.json")
    assert {"1237", "1451", "9228"} <= set(shown_in((tmp_path / "full.json").read_text()))
    assert {"1,237", "48.3"} <= set(shown_in(markdown.dumps(audit)))


TEXTS = [suffix for suffix in report.WRITERS if suffix != ".pdf"]  # which is the page, printed


@pytest.mark.parametrize("embedded", [True, False])
def test_no_form_of_a_shared_audit_tells_a_hidden_group(embedded, tmp_path):
    audit = eh.audit(hiding(tmp_path), prediction="approved", sensitive="group", count="people")
    shared = audit.shared()
    assert shared.sharing.groups == {"group": (("c",), ("d",))}
    forms = {
        "text": str(shared),
        "dict": json.dumps(shared.to_dict()),
        "frame": shared.to_frame().to_csv(),
        "groups": shared.groups().to_csv(),
        "card": shared._repr_html_(),
        "notebook": shared.page()._repr_html_(),
        "summary": shared.summary().to_csv(),
        "by_group": shared.by_group.to_csv(),
        "overall": shared.overall.to_csv(),
        "difference": shared.difference().to_csv(),
    }
    for suffix in TEXTS:
        audit.save(tmp_path / f"shared{suffix}", share=True, embed_cube=embedded)
        forms[suffix] = (tmp_path / f"shared{suffix}").read_text(encoding="utf-8")
    (data,) = re.findall(r'"packed": ?"([^"]+)"', forms[".html"])
    forms["counts of the page"] = json.dumps(page_data.unpack(data))
    for finding in shared.findings:
        forms[f"{finding.metric} finding"] = (
            f"{finding} {finding!r} {finding.rows} {finding.to_frame().to_csv()} {finding._repr_html_()}"
        )
    assert {name: shown_in(text) for name, text in forms.items()} == {name: [] for name in forms}


def test_no_output_of_the_command_line_tells_a_hidden_group(tmp_path, capsys):
    call = ["audit", str(hiding(tmp_path)), "--prediction=approved", "--sensitive=group", "--count=people", "--share"]
    outputs = [str(tmp_path / f"out{suffix}") for suffix in TEXTS]
    run([*call, *(part for path in outputs for part in ("-o", path))])
    texts = {Path(path).suffix: Path(path).read_text(encoding="utf-8") for path in outputs}
    texts["terminal"] = "".join(capsys.readouterr())
    run([*call, "--json"])
    texts["--json"] = "".join(capsys.readouterr())
    run(["report", str(tmp_path / "out.json")])
    texts["report"] = "".join(capsys.readouterr())
    run(["report", str(tmp_path / "out.json"), "-o", str(tmp_path / "again.html")])
    texts["page of the file"] = (tmp_path / "again.html").read_text(encoding="utf-8") + "".join(capsys.readouterr())
    assert {name: shown_in(text) for name, text in texts.items()} == {name: [] for name in texts}


def test_the_number_of_people_is_of_those_who_stay(tmp_path):
    """With one attribute, of its groups that stay; with several, of the attribute that keeps most people."""
    shared = eh.audit(hiding(tmp_path), prediction="approved", sensitive="group", count="people").shared()
    assert shared.cube.size == shared.to_dict()["data"]["rows"] == 3023 + 3517
    both = compas().shared()
    assert both.counts("race").size < both.counts("sex").size == both.to_dict()["data"]["rows"]
    hidden = both.counts("sex").size - both.counts("race").size
    assert hidden == sum(compas().cube.marginal(["race"]).only(
        [group[0] in ("Asian", "Native American") for group in compas().cube.marginal(["race"]).groups]
    ).n.ravel())  # fmt: skip
