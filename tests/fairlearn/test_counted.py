"""Which functions are counted, and that counting and calling tell the same."""

from __future__ import annotations

import functools
import subprocess
import sys

import fairlearn.metrics as theirs
import numpy as np
import pytest
import sklearn.metrics as skm

import evenhand.fairlearn as ours
from conftest import ROOT
from evenhand.fairlearn.counted import _METRICS, Columns, recognise
from evenhand.fairlearn.evaluation import read_metrics

RANDOM = np.random.default_rng(1)
Y, P = RANDOM.integers(0, 2, 30), RANDOM.integers(0, 2, 30)
FUNCTIONS = {
    f"{module.__name__} {name}": getattr(module, name)
    for module in (ours, theirs, skm)
    for name in _METRICS
    if hasattr(module, name)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_recognised_by_what_they_are(name):
    function = FUNCTIONS[name]
    assert recognise(function, {}, Columns(Y, P)) is not None

    def impostor(y_true, y_pred):
        return 0

    impostor.__name__ = function.__name__
    assert recognise(impostor, {}, Columns(Y, P)) is None
    assert recognise(functools.partial(function), {}, Columns(Y, P)) is None
    assert recognise(lambda y_true, y_pred: 0 + function(y_true, y_pred), {}, Columns(Y, P)) is None
    assert recognise(function, {"pos_label": Y}, Columns(Y, P)) is None


def test_every_counted_function_exists():
    assert len(FUNCTIONS) == 7 + 7 + len(_METRICS) - 7


@pytest.mark.parametrize("name", FUNCTIONS)
def test_counted_and_called_are_the_same_to_the_last_bit(name):
    """Of whole numbers: both divide the same two."""
    function = FUNCTIONS[name]
    (metric,), _ = read_metrics(function, None, Columns(Y, P))
    assert metric.counted is not None
    groups = np.arange(30) % 4
    frame = ours.MetricFrame(metrics=function, y_true=Y, y_pred=P, sensitive_features=groups)
    for group in range(4):
        assert frame.by_group[group] == function(Y[groups == group], P[groups == group])
    assert frame.overall == function(Y, P)


@pytest.mark.parametrize(
    ("labels", "predictions", "counted"),
    [
        ([0, 1], [1, 0], True),
        ([0, 1], [-1, 1], False),
        ([1, 1], [-1, 1], True),
        ([0, 2], [0, 2], False),
        ([0.0, 1.0], [True, False], True),
        ([0, 1], [0.5, 1], False),
        ([0, 1], [np.nan, 1], False),
        (["0", "1"], ["1", "0"], False),
    ],
)
def test_two_labels_are_counted(labels, predictions, counted):
    columns = Columns(np.array(labels), np.array(predictions))
    assert (recognise(skm.accuracy_score, {}, columns) is not None) == counted
    assert recognise(ours.count, {}, columns) is not None


def fresh(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_neither_fairlearn_nor_scikit_learn_is_imported():
    done = fresh(
        "import sys, evenhand.fairlearn as f\n"
        "f.demographic_parity_difference([0, 1], [0, 1], sensitive_features=['a', 'b'])\n"
        "f.selection_rate_ratio([0, 1], [1, 1], sensitive_features=['a', 'b'])\n"
        "assert not {'fairlearn', 'sklearn', 'matplotlib'} & set(sys.modules)"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("missing", "line", "remedy"),
    [
        ("pandas", "import evenhand.fairlearn", "pip install pandas"),
        ("sklearn", "from evenhand.fairlearn import accuracy_score_difference", "pip install 'evenhand[ml]'"),
    ],
)
def test_what_is_not_installed_is_named(missing, line, remedy):
    hide = (
        "import sys, importlib.abc\n"
        "class Hidden(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name.partition('.')[0] == {missing!r}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    done = fresh(
        f"{hide}import evenhand\ntry:\n    {line}\nexcept evenhand.MissingDependencyError as error:\n    print(error)"
    )
    assert remedy in done.stdout, done.stderr


def test_every_public_name_of_fairlearn_is_here_but_its_plots():
    plots = {"plot_model_comparison", "plot_roc_curve_by_group"}
    assert set(theirs.__all__) - set(ours.__all__) == plots
    assert set(ours.__all__) - set(theirs.__all__) == {"UndefinedRateWarning"}
    for name in ours.__all__:
        assert getattr(ours, name).__doc__, name
    assert dir(ours) == sorted(ours.__all__)
    for name in plots:
        with pytest.raises(AttributeError, match=r"plots stay in fairlearn\.metrics"):
            getattr(ours, name)
    with pytest.raises(AttributeError, match="did you mean 'selection_rate'"):
        ours.selectionrate  # noqa: B018
