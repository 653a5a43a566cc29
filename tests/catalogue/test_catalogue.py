"""The catalogue is data: these tests keep the data whole."""

from __future__ import annotations

import inspect
import keyword
import re
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest

import evenhand as eh
from evenhand.catalogue import (
    ABBREVIATIONS,
    ALIASES,
    METRICS,
    Metric,
    accuracy,
    counterfactual,
    data,
    define,
    dependence,
    distances,
    find,
    independence,
    individual,
    inequality,
    lending,
    regression,
    scores,
    search,
    separation,
    stability,
    sufficiency,
    uncertainty,
)
from evenhand.catalogue.exclusions import THEOREMS
from evenhand.errors import CallError
from evenhand.measures import cells
from evenhand.measures.combinations import COMBINATIONS
from evenhand.measures.indices import GroupExtreme
from evenhand.measures.lending import LENDING_MEASURES
from evenhand.measures.regression import REGRESSION_MEASURES
from evenhand.measures.scores import SCORE_MEASURES
from evenhand.verdicts.finders import FINDERS

FAMILIES = (
    independence,
    separation,
    sufficiency,
    accuracy,
    inequality,
    scores,
    distances,
    dependence,
    regression,
    individual,
    counterfactual,
    stability,
    uncertainty,
    data,
    lending,
    search,
)
ENTRIES = [entry for family in FAMILIES for entry in family.ENTRIES]
NAMES = [entry.name for entry in ENTRIES]
TEXTS = ("title", "question", "formula", "compares", "when", "assumes", "limits")
PROSE = ("compares", "when", "assumes", "limits")
HARMS = {"allocation", "quality of service"}
RATIO = {"judged_on": "ratio", "threshold": 0.8}

every_metric = pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
every_alias = pytest.mark.parametrize(
    ("entry", "alias"),
    [pytest.param(entry, alias, id=alias) for entry in ENTRIES for alias in entry.aliases],
)


def test_every_entry_is_reachable_in_the_order_of_the_families():
    assert list(METRICS.values()) == ENTRIES
    assert list(METRICS) == NAMES


def test_names_and_aliases_are_unique():
    spelled = Counter([*NAMES, *(alias for entry in ENTRIES for alias in entry.aliases)])
    assert [name for name, times in spelled.items() if times > 1] == []
    assert len(ALIASES) == sum(len(entry.aliases) for entry in ENTRIES)


def test_names_and_aliases_can_be_functions():
    for name in [*METRICS, *ALIASES]:
        assert name.isidentifier(), name
        assert not keyword.iskeyword(name), name
        assert name == name.lower(), name


def test_no_name_is_that_of_a_measure():
    taken = {*cells.MEASURES, *cells.ALIASES}
    assert taken.isdisjoint(METRICS)
    assert taken.isdisjoint(ALIASES)


def test_no_name_is_that_of_a_function_of_the_measures():
    functions = {name for name, _ in inspect.getmembers(cells, callable)}
    assert functions.isdisjoint({*METRICS, *ALIASES})


@every_metric
def test_family_is_that_of_its_module(entry):
    (module,) = (family for family in FAMILIES if entry in family.ENTRIES)
    family = "stability" if module is uncertainty else module.__name__.removeprefix("evenhand.catalogue.")
    assert entry.family == family


@every_metric
def test_every_text_is_written(entry):
    for name in TEXTS:
        text = getattr(entry, name)
        assert text == text.strip(), name
        assert text, name
    assert entry.question.endswith("?")
    assert entry.question.count("?") == 1
    assert entry.sources
    assert entry.see_also
    assert entry.harm


@every_metric
def test_prose_is_whole_sentences(entry):
    for name in PROSE:
        text = getattr(entry, name)
        assert text[0].isupper(), name
        assert text.endswith("."), name
        assert "  " not in text, name
        # Two literals joined without a space between them: "the group.It" or "groups,and".
        assert not re.search(r"[a-z][.,;:][A-Za-z]", text), name
        assert 2 <= len(re.findall(r"[.?](?= [A-Z]|$)", text)) <= 5, name


@every_metric
def test_nothing_is_called_fair(entry):
    verdict = re.compile(r"\b(un)?fair(ly|er|est)?\b|\bis (un)?fair", re.IGNORECASE)
    for name in TEXTS:
        assert not verdict.search(getattr(entry, name)), name


@every_metric
def test_spelling_is_british(entry):
    american = re.compile(r"favorable|behavior|\bcolor|labeled|program\b|recogniz|center\b", re.IGNORECASE)
    for name in TEXTS:
        assert not american.search(getattr(entry, name)), name


@every_metric
def test_harms_are_known(entry):
    assert set(entry.harm) <= HARMS
    assert len(set(entry.harm)) == len(entry.harm)


@every_metric
def test_see_also_leads_to_other_entries(entry):
    assert set(entry.see_also) <= set(METRICS)
    assert entry.name not in entry.see_also
    assert len(set(entry.see_also)) == len(entry.see_also)


@every_metric
def test_sources_have_author_year_and_title(entry):
    assert 1 <= len(entry.sources) <= 3
    for source in entry.sources:
        assert re.fullmatch(r".+ \((19|20)\d\d\)\. .+\..+\.", source), source


def test_a_source_is_cited_in_one_way():
    cited = {source for entry in ENTRIES for source in entry.sources}
    works = Counter(re.search(r"\(\d{4}\)\. .{20}", source)[0] for source in cited)
    assert [work for work, spellings in works.items() if spellings > 1] == []


@every_metric
def test_a_metric_compares_measures_or_is_an_index(entry):
    if not entry.counted:  # measured from more than counts, by a function of its own
        assert entry.index is None
        assert not entry.binned
        return
    assert [bool(entry.measures), entry.index is not None, entry.binned].count(True) == 1
    for name in entry.measures:
        assert (name in SCORE_MEASURES) == (entry.family == "scores")
        assert (name in REGRESSION_MEASURES) == (entry.family == "regression")
        assert name in {**cells.MEASURES, **COMBINATIONS, **LENDING_MEASURES, **SCORE_MEASURES, **REGRESSION_MEASURES}
    if entry.index is not None:
        assert type(entry.index) in FINDERS
    assert entry.needs or entry.family == "dependence"  # which takes what there is
    assert entry.needs <= {"label", "prediction", "score"}


def test_every_kind_of_index_has_an_entry():
    """But that of the worst group, which has an entry for each measure, made when it is asked for."""
    assert {type(entry.index) for entry in ENTRIES if entry.index is not None} == set(FINDERS) - {GroupExtreme}


def test_what_a_criterion_holds_equal_is_named_by_a_theorem():
    assert {equal for entry in ENTRIES for equal in entry.holds_equal} == {e for each in THEOREMS for e in each.equal}


@every_metric
def test_judged_on_suits_the_threshold(entry):
    expected = {"difference": 0.1, "ratio": 0.8, "value": None}
    if not entry.counted:  # on scales of their own, of which some have no limit that suits every model
        return
    own = {"regression_demographic_parity": 0.1, "robust_outcome_test": 0.0}  # the worst place to draw a line; a test
    if entry.name in own:
        assert entry.threshold == own[entry.name]
    else:
        assert entry.threshold == expected[entry.judged_on]
    assert (entry.judged_on == "value") == (entry.index is not None)
    assert entry.aggregate == "worst" or len(entry.measures) > 1


def test_needs_follow_the_family():
    for entry in (each for each in ENTRIES if each.counted):
        wanted = {"independence": {"prediction"}, "data": {"label"}}.get(entry.family, {"label", "prediction"})
        if entry.family in ("scores", "distances"):
            wanted = {"score"} | (entry.needs & {"label"})
        if entry.family in ("regression", "dependence"):
            wanted = ({"prediction"} if entry.family == "regression" else set()) | (entry.needs & {"label"})
        if entry.family == "lending":  # of scores, of decisions and of predicted numbers
            continue
        if entry.name == "bias_amplification":  # which sets decisions against labels
            wanted = {"label", "prediction"}
        assert entry.needs == wanted, entry.name


@every_alias
def test_presets_are_fields_of_a_metric(entry, alias):
    presets = entry.aliases[alias]
    assert set(presets) <= {"judged_on", "threshold", "aggregate"}
    assert set(presets) <= {each.name for each in fields(Metric)}


@every_alias
def test_an_alias_does_what_its_ending_says(entry, alias):
    presets = entry.aliases[alias]
    if alias.endswith("_ratio"):
        assert presets == RATIO
    elif alias.endswith("_difference") and entry.aggregate == "worst":
        assert presets == {"judged_on": "difference"}
    elif alias.endswith("_difference"):
        assert entry.judged_on == "difference"
        assert set(presets) <= {"aggregate"}
    else:
        assert presets == {}


def test_find_by_name():
    for entry in ENTRIES:
        assert find(entry.name) == (entry, {})


@every_alias
def test_find_by_alias(entry, alias):
    assert find(alias) == (entry, dict(entry.aliases[alias]))
    assert ALIASES[alias] == entry.name


def test_find_takes_a_metric_of_your_own():
    own = define("precision_gap", measures="precision")
    assert find(own) == (own, {})


def test_what_find_returns_is_yours_to_change():
    _, presets = find("demographic_parity_ratio")
    presets["threshold"] = 0.5
    assert find("demographic_parity_ratio")[1] == RATIO


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("equalised_odds", "equalized_odds"),
        ("demografic_parity", "demographic_parity"),
        ("thiel_index", "theil_index"),
        ("average_absolute_odds", "average_absolute_odds_difference"),
    ],
)
def test_find_suggests_the_name_that_was_meant(wrong, meant):
    with pytest.raises(CallError, match=re.escape(repr(meant))) as caught:
        find(wrong)
    assert repr(wrong) in str(caught.value)
    assert "did you mean" in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "name", "presets"),
    [
        ("fpr", "predictive_equality", {}),
        ("TPR", "equal_opportunity", {}),
        ("tnr", "true_negative_rate_parity", {}),
        ("fnr", "false_negative_rate_parity", {}),
        ("ppv", "predictive_parity", {}),
        ("npv", "negative_predictive_parity", {}),
        ("eod", "equal_opportunity", {"judged_on": "difference"}),
        ("spd", "demographic_parity", {"judged_on": "difference"}),
        ("dp", "demographic_parity", {}),
        ("di", "disparate_impact", {}),
        ("air", "disparate_impact", {"judged_on": "ratio", "threshold": 0.8}),
        ("aod", "average_odds", {}),
        ("auc", "auc_parity", {}),
        ("theil", "theil_index", {}),
        ("Disparate-Impact", "disparate_impact", {}),
        ("Equalized odds ratio", "equalized_odds", {"judged_on": "ratio", "threshold": 0.8}),
    ],
)
def test_find_knows_abbreviations_and_other_spellings(typed, name, presets):
    entry, preset = find(typed)
    assert (entry.name, preset) == (name, presets)


def test_an_abbreviation_of_two_metrics_names_both():
    with pytest.raises(CallError, match="'eo' stands for several metrics: say 'equalized_odds' or 'equal_opportunity'"):
        find("eo")


def test_an_abbreviation_is_not_a_name_and_stands_for_one_of_its_metric():
    assert set(ABBREVIATIONS).isdisjoint({*METRICS, *ALIASES})
    for entry in METRICS.values():
        assert set(entry.abbreviations.values()) <= {entry.name, *entry.aliases}
    assert [short for short, meant in ABBREVIATIONS.items() if len(meant) > 1] == ["eo"]


FAIRLEARN = [
    *("demographic_parity_difference", "demographic_parity_ratio", "equalized_odds_difference", "equalized_odds_ratio"),
    *("equal_opportunity_difference", "equal_opportunity_ratio", "selection_rate_difference", "selection_rate_ratio"),
    *("true_positive_rate_difference", "true_positive_rate_ratio", "false_positive_rate_difference"),
    *("false_positive_rate_ratio", "false_negative_rate_difference", "false_negative_rate_ratio"),
    *("accuracy_score_difference", "accuracy_score_ratio", "zero_one_loss_difference", "zero_one_loss_ratio"),
]


@pytest.mark.parametrize("name", FAIRLEARN)
def test_a_metric_of_fairlearn_has_its_value(name):
    """Between the extremes, on three groups, and with weights."""
    metrics = pytest.importorskip("fairlearn.metrics")
    rng = np.random.default_rng(5)
    label, prediction = rng.integers(0, 2, (2, 500))
    group, weight = rng.choice(["a", "b", "c"], 500), rng.integers(1, 9, 500)
    arguments = {"sensitive_features": group, "sample_weight": weight}
    theirs = getattr(metrics, name)(label, prediction, **arguments)
    ours = getattr(eh, name)(label, prediction, **arguments)
    assert float(ours) == pytest.approx(theirs, abs=1e-12)
    assert ours.judged_on == name.rpartition("_")[2]


def test_find_lists_names_when_none_is_near():
    with pytest.raises(CallError, match="there are: 'demographic_parity'"):
        find("xyzzy")


@pytest.mark.parametrize("wrong", [None, 3, ["demographic_parity"], ""])
def test_find_refuses_what_is_no_name(wrong):
    with pytest.raises(CallError):
        find(wrong)


def test_negative_predictive_parity_states_both_readings():
    entry = METRICS["negative_predictive_parity"]
    assert entry.measures == ("negative_predictive_value",)
    assert "P(Y=0 | Ŷ=0" in entry.formula
    assert "P(Y=1 | Ŷ=0" in entry.formula
    assert "false_omission_rate_parity" in entry.see_also


def test_four_fifths_says_where_it_belongs():
    entry, _ = find("four_fifths")
    assert entry.one_sided
    one_sided = [each.name for each in ENTRIES if each.one_sided]
    assert one_sided == ["disparate_impact", "impact_ratio_by_quantile", "impact_ratio_by_class"]
    for words in ("1978", "US employment law", "rule of thumb", "not a legal definition"):
        assert words in entry.limits
