"""The rows behind the counts: read once for all metrics of an audit, with every column that a function takes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score, log_loss, matthews_corrcoef, roc_auc_score

import evenhand as eh
from evenhand.sources.memory import MemorySource

RANDOM = np.random.default_rng(5)
N = 300
LABEL = RANDOM.integers(0, 2, N)
FRAME = pd.DataFrame(
    {
        "label": LABEL,
        "prediction": np.where(RANDOM.random(N) < 0.7, LABEL, 1 - LABEL),
        "race": RANDOM.choice(["a", "b", "c"], N),
        "sex": RANDOM.choice(["f", "m"], N),
        "amount": RANDOM.gamma(2, 100, N).round(2),
        "kind": RANDOM.choice(["car", "house"], N),
    }
)
ROLES = {"label": "label", "prediction": "prediction", "sensitive": "race"}


def of(name):
    return FRAME[FRAME.race == name]


def values(finding):
    return [row.estimate.value for row in finding.groups]


def mean_amount(amount):
    return float(np.mean(amount))


# --- reading once


def test_rows_are_read_once_for_all_metrics_and_attributes(monkeypatch):
    """Once for the counts and once for the rows, whatever the number of functions and of sets of attributes."""
    reads = []
    lines = MemorySource.lines
    monkeypatch.setattr(MemorySource, "lines", lambda self, roles: reads.append(1) or lines(self, roles))
    metrics = [f1_score, matthews_corrcoef, mean_amount]
    found = eh.audit(FRAME, **{**ROLES, "sensitive": ["race", "sex"]}, metrics=metrics, draws=0)
    assert len(found.findings) == 9
    assert len(reads) == 2


# --- columns of the data, other names, arrays


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "mapping"])
def test_columns_of_every_kind_of_table(kind):
    def profit(label, prediction, amount, kind):
        assert len(amount) == len(kind) == len(label)
        return float(np.mean(prediction * amount * (np.asarray(kind) == "car")))

    made = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    data = made.get(kind, lambda frame: {name: frame[name].tolist() for name in frame})(FRAME)
    found = eh.metric("profit_parity", measures=profit)(data, **ROLES, draws=0)
    expected = [(of(name).prediction * of(name).amount * (of(name).kind == "car")).mean() for name in "abc"]
    assert values(found) == pytest.approx(expected)


@pytest.mark.parametrize("column", ["amount", FRAME.amount, FRAME.amount.to_numpy(), FRAME.amount.tolist()])
def test_a_declared_column_is_a_name_or_an_array(column):
    own = eh.metric("loan_parity", measures=lambda loan: float(np.mean(loan)), columns={"loan": column})
    assert values(own(FRAME, **ROLES, draws=0)) == pytest.approx([of(name).amount.mean() for name in "abc"])


def test_several_columns_are_one_array_with_a_column_for_each():
    def both(pair):
        assert pair.shape[1] == 2
        return pair.sum(axis=1).mean()

    own = eh.metric("both_parity", measures=both, columns={"pair": ["amount", "label"]})
    assert values(own(FRAME, **ROLES, draws=0)) == pytest.approx(
        [(of(name).amount + of(name).label).mean() for name in "abc"]
    )


def test_a_column_may_also_be_a_role():
    own = eh.metric("own", measures=lambda race, prediction: len(set(race)), threshold=1)
    assert values(own(FRAME, **ROLES, draws=0)) == [1, 1, 1]


def test_columns_with_counts_of_zero_and_more():
    count = RANDOM.integers(0, 3, N)
    own = eh.metric("amounts", measures=mean_amount, columns={"amount": FRAME.amount.to_numpy()})
    expected = [np.average(of(name).amount, weights=count[FRAME.race == name]) for name in "abc"]
    assert values(own(FRAME, **ROLES, count=count, draws=0)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"amount": "amuont"}, "columns= of mean_amount: 'amuont' is not a column; did you mean 'amount'"),
        ({"amount": 7}, r"columns=\{'amount': 7\} of mean_amount must be the name of a column, a list of names"),
        ({"amount": np.zeros((2, 2, 2))}, "'amount' must have one or two dimensions"),
        ({"amount": np.zeros(7)}, "lengths differ: .*array 'amount' 7"),
    ],
)
def test_a_column_that_cannot_be_read(columns, said):
    with pytest.raises(eh.EvenhandError, match=said):
        eh.metric("own", measures=mean_amount, columns=columns)(FRAME, **ROLES)


def test_a_parameter_that_nobody_knows():
    own = eh.metric("own", measures=lambda label, loan: 0.0)
    with pytest.raises(
        eh.CallError, match=r"takes 'loan', which is neither a role \(label, y_true, .* columns=\{'loan'"
    ):
        own(FRAME, **ROLES)
    with pytest.raises(eh.CallError, match="names a column, but there is no data"):
        eh.metric("own", measures=mean_amount, columns={"amount": "x"})(prediction=[1, 0] * 4, sensitive=["a", "b"] * 4)


def test_an_index_that_differs_is_an_error():
    own = eh.metric("own", measures=mean_amount, columns={"amount": FRAME.amount[::-1]})
    with pytest.raises(eh.DataError, match="index of array 'amount' differs"):
        own(FRAME, **ROLES)


# --- raw values, labels, scores


def test_raw_values_are_those_of_the_caller():
    words = {"label": np.array(["no", "yes"])[LABEL], "prediction": FRAME.prediction.map({0: "no", 1: "yes"})}
    data = {**words, "sensitive": FRAME.race, "positive": "yes"}
    seen = set()

    def look(y_true, y_pred):
        seen.update([*y_true, *y_pred])
        return 0.5

    eh.metric("own", measures=look)(**data, draws=0)
    assert seen == {0, 1}
    seen.clear()
    eh.metric("own", measures=look, raw=True)(**data, draws=0)
    assert seen == {"no", "yes"}


def test_a_function_without_labels_keeps_the_people_who_have_none():
    label = LABEL.astype(float)
    label[::3] = np.nan
    selection = eh.metric("own", measures=lambda prediction: float(np.mean(prediction)), unit="rate")
    found = selection(FRAME, **{**ROLES, "label": label}, draws=100)
    cells = eh.demographic_parity(FRAME, prediction="prediction", sensitive="race")
    assert values(found) == pytest.approx(values(cells))
    assert [row.n for row in found.groups] == [row.n for row in cells.groups]
    agreed = eh.metric("agreed", measures=lambda label, prediction: float(np.mean(label == prediction)), unit="rate")
    part = agreed(FRAME, **{**ROLES, "label": label}, draws=100)
    assert sum(row.n for row in part.groups) == np.isfinite(label).sum()
    alone = selection(FRAME, prediction="prediction", sensitive="race", draws=0)
    assert values(alone) == values(found)


def test_a_function_of_labels_alone():
    base = eh.metric("base", measures=lambda label: float(np.mean(label)))
    assert values(base(label=LABEL, sensitive=FRAME.race, draws=0)) == pytest.approx(
        [of(name).label.mean() for name in "abc"]
    )


def test_scores_are_passed_as_numbers():
    score = np.clip(LABEL * 0.3 + RANDOM.random(N) * 0.7, 0, 1)
    data = {"label": LABEL, "score": score, "sensitive": FRAME.race}
    found = eh.audit(**data, metrics=["roc_auc_score"], draws=0).findings[0]
    expected = [roc_auc_score(of(name).label, score[FRAME.race == name]) for name in "abc"]
    assert values(found) == pytest.approx(expected)
    turned = eh.audit(**{**data, "score": 1 - score}, higher_is="negative", metrics=["roc_auc_score"], draws=0)
    assert values(turned.findings[0]) == pytest.approx(expected)


def probabilities():
    logits = RANDOM.normal(size=(N, 3)) + 2 * np.eye(3)[RANDOM.integers(0, 3, N)]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return shares, RANDOM.integers(0, 3, N)


@pytest.mark.parametrize("kind", ["array", "frame", "list", "names"])
def test_probabilities_with_a_column_for_each_class(kind):
    shares, label = probabilities()
    table = pd.DataFrame(shares, columns=["p0", "p1", "p2"])
    data = table.assign(race=FRAME.race, label=label, guess=shares.argmax(axis=1))
    score = {"array": shares, "frame": table, "list": shares.tolist(), "names": ["p0", "p1", "p2"]}[kind]
    roles = {"label": "label", "prediction": "guess", "sensitive": "race", "task": "multiclass"}
    found = eh.audit(data, **roles, score=score, metrics=["sklearn.log_loss", "accuracy_score"], draws=0)
    losses = next(each for each in found.findings if each.metric == "log_loss")
    groups = [np.asarray(FRAME.race == name) for name in "abc"]
    assert values(losses) == pytest.approx([log_loss(label[chosen], shares[chosen]) for chosen in groups])


def test_probabilities_that_nobody_takes():
    shares, label = probabilities()
    with pytest.raises(eh.CallError, match=r"only a function of the rows takes: .* score=proba\[:, 1\]"):
        eh.audit(label=label, prediction=label, score=shares, sensitive=FRAME.race, task="multiclass")
    with pytest.raises(eh.CallError, match="score='p9' is not a column"):
        eh.audit(
            FRAME,
            label="label",
            prediction="prediction",
            score=["p9", "p8"],
            sensitive="race",
            metrics=["sklearn.log_loss"],
        )
    with pytest.raises(eh.DataError, match="lengths differ"):
        eh.audit(label=label, score=shares[1:], sensitive=FRAME.race, metrics=["sklearn.log_loss"], task="multiclass")


# --- files


def test_a_file_gives_what_its_table_gives(tmp_path):
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    FRAME.to_parquet(tmp_path / "x.parquet")
    metrics = [f1_score, mean_amount]
    expected = eh.audit(FRAME, **ROLES, control="sex", metrics=metrics, draws=100)
    for name in ("x.csv", "x.parquet"):
        found = eh.audit(tmp_path / name, **ROLES, control="sex", metrics=metrics, draws=100)
        assert [each.value for each in found.findings] == [each.value for each in expected.findings]
