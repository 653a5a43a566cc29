"""Every public function and method, found by walking the package, and a valid call of each to start from."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import evenhand as eh
from evenhand import datasets, mitigate, plots, testing
from evenhand.audits.functions import FUNCTIONS as COUNTED
from evenhand.catalogue import ALIASES, METRICS, define
from evenhand.replicas.functions import FUNCTIONS as OF_REPLICAS
from support.causal_cases import GRAPH, people

mpl.use("Agg")


# --- what is public

MADE_BY_CALLERS = {"Equation"}
"""Records whose fields a caller fills in."""

MADE_BY_US = {"Audit"}
"""Results that settle what they are made of, as a caller's record does, and that no caller makes."""

CALLED_BY_US = {"Equation.abduce", "Equation.fit", "Estimate.of"}
"""Methods that a causal model calls on the mechanisms it is given, and the one that every estimate is made by."""


@cache
def public() -> dict[str, Any]:
    """Every public function, constructor and method that takes a parameter, by the name that a caller writes."""
    found: dict[str, Any] = {}
    for prefix, module, names in (
        ("", eh, eh.__all__),
        ("mitigate.", mitigate, mitigate.__all__),
        *((f"{module.__name__.rpartition('.')[2]}.", module, _own(module)) for module in (testing, plots, datasets)),
    ):
        for name in names:
            found |= dict(_callables(prefix + name, getattr(module, name)))
    return {name: thing for name, thing in found.items() if parameters(thing)}


def _own(module: ModuleType) -> list[str]:
    """The public names that a module without `__all__` defines itself."""
    return [name for name, thing in vars(module).items() if name[0] != "_" and _home(thing) == module.__name__]


def _home(thing: Any) -> str:
    return str(getattr(thing, "__module__", ""))


def _callables(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    if inspect.isclass(thing):
        if issubclass(thing, Exception):
            return
        if name in MADE_BY_CALLERS or not (_is_record(thing) or name in MADE_BY_US):
            yield name, thing
        for part, method in inspect.getmembers(thing, callable):
            if part[0] != "_" and _home(method).startswith("evenhand") and f"{name}.{part}" not in CALLED_BY_US:
                yield f"{name}.{part}", method
    elif callable(thing):
        yield name, thing


def _is_record(kind: type) -> bool:
    """Is the class only a holder of results, which we make and a caller reads? It takes what it is given."""
    return dataclasses.is_dataclass(kind) and not hasattr(kind, "__post_init__")


def parameters(thing: Any) -> list[inspect.Parameter]:
    return [each for each in inspect.signature(thing).parameters.values() if each.name != "self"]


KEYWORDS: dict[str, Callable[..., Any]] = {
    "Cube.audit": eh.audit,
    "testing.assert_fair": eh.audit,
    "Cover.updated": eh.Cover,
    "Policy.updated": eh.Policy,
    "metric": define,
    "scorer": eh.demographic_parity,
}
"""What takes arguments of any name, and the function that they are passed on to."""


def slots(name: str) -> list[str]:
    """The names of all arguments that a public callable takes; of `*findings`, with the star."""
    found = []
    for each in parameters(public()[name]):
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            own = [other.name for other in parameters(public()[name])]
            found += [other.name for other in parameters(KEYWORDS[name]) if other.name not in own]
        else:
            found.append(f"*{each.name}" if each.kind is inspect.Parameter.VAR_POSITIONAL else each.name)
    return found


# --- a valid call of each


@dataclass(frozen=True)
class Base:
    """A call that gives a result, of which one argument is then replaced."""

    call: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    also: tuple[type, ...] = ()
    anything: tuple[str, ...] = ()
    """Parameters for which every value has a meaning, such as one that is looked for."""

    def replaced(self, slot: str, value: Any) -> Callable[[], Any]:
        if slot.startswith("*"):
            return partial(self.call, value, **self.arguments)
        return partial(self.call, **{**self.arguments, slot: value})


N = 60
_DRAWN = np.random.default_rng(0)
LABEL = _DRAWN.integers(0, 2, N)
SCORE = np.clip(0.3 * LABEL + 0.7 * _DRAWN.random(N), 0, 1).round(3)
PREDICTION = (SCORE > 0.5).astype(int)
GROUP = np.array(["a", "b", "c"] * (N // 3))
SEX = np.array(["f", "m"] * (N // 2))
AMOUNT = (10 * SCORE + _DRAWN.normal(size=N)).round(3)
TABLE = {"label": LABEL, "prediction": PREDICTION, "score": SCORE, "group": GROUP, "sex": SEX, "amount": AMOUNT}
TABLE |= {"rival": (AMOUNT > 5).astype(int)}
SERIES = {**TABLE, "day": np.resize(["2026-01", "2026-02"], len(LABEL))}
CONTEST = {"label": "label", "predictions": ["prediction", "rival"], "sensitive": "group"}
FRAME = pd.DataFrame({"effort": AMOUNT, "score": SCORE})
ROWS = FRAME.to_numpy()
ROLES = {"label": "label", "prediction": "prediction", "score": "score", "sensitive": "group"}
REPLICAS = np.clip(SCORE + _DRAWN.normal(0, 0.1, (5, N)), 0, 1)
PEOPLE = {name: values for name, values in people(80).items() if not name.startswith("u_")}
CAUSAL = {"data": PEOPLE, "sensitive": "group"}
QUICK = {"refits": 2, "noise_draws": 1}


def by_exam(rows: Any) -> Any:
    return (np.asarray(rows["exam"], dtype=float) > 0).astype(int)


@cache
def cube() -> eh.Cube:
    return eh.Cube.count(TABLE, **{**ROLES, "sensitive": ["group", "sex"]}, cutoff=0.5)


@cache
def audit() -> eh.Audit:
    return cube().audit()


@cache
def causal_model() -> eh.CausalModel:
    return eh.CausalModel(GRAPH).fit(PEOPLE)


@cache
def stability() -> eh.Stability:
    return eh.stability(REPLICAS, label=LABEL, sensitive={"group": GROUP})


@cache
def thresholds() -> mitigate.Thresholds:
    return mitigate.find_thresholds(cube().marginal(["group"]), constraint="demographic_parity")


def _metric(name: str) -> Base:
    if name in OF_REPLICAS:
        return Base(OF_REPLICAS[name], {"replicas": REPLICAS, "label": LABEL, "sensitive": {"group": GROUP}})
    roles = dict(ROLES)
    if METRICS[ALIASES.get(name, name)].tasks == {"regression"}:
        roles = {"label": "amount", "prediction": "score", "sensitive": "group"}
    if name == "impact_ratio_by_class":  # a score of few classes
        roles = {"score": "prediction", "sensitive": "group"}
    return Base(COUNTED[name], {"data": TABLE, **roles})


def _classifier() -> Any:
    """One that is quickly fitted."""
    return LogisticRegression(solver="liblinear")


def _estimator(kind: Any, **usual: Any) -> dict[str, Base]:
    """The constructor checks nothing, as is usual in scikit-learn: `fit` does, so that both are called together."""
    learn = {"X": ROWS, "y": LABEL, "sensitive": SEX}
    warn = (UserWarning,)  # that there are no groups

    def construct(**arguments: Any) -> Any:
        return kind(**arguments).fit(ROWS, LABEL, **({} if "sensitive" in arguments else {"sensitive": SEX}))

    found = {"": Base(construct, usual, warn)}
    fitted = kind(**usual).fit(**learn)
    for name, method in inspect.getmembers(fitted, callable):
        if name[0] == "_" or not _home(method).startswith("evenhand") or not parameters(method):
            continue
        if name.startswith("fit"):  # of an estimator that is new each time
            method = partial(_learn, kind, usual, name)  # noqa: PLW2901
            found[f".{name}"] = Base(method, learn, warn)
        else:
            wanted = [each.name for each in parameters(method)]
            # Weights are by class and group: X is looked at only where sensitive= names its columns.
            anything = ("X",) if name == "sample_weights" else ()
            found[f".{name}"] = Base(method, {key: learn[key] for key in learn if key in wanted}, warn, anything)
    return found


def _learn(kind: Any, usual: dict[str, Any], name: str, **given: Any) -> Any:
    return getattr(kind(**usual), name)(**given)


def _estimators() -> dict[str, Base]:
    kinds = {
        "Reweigher": _estimator(mitigate.Reweigher),
        "Reweighed": _estimator(mitigate.Reweighed, estimator=_classifier()),
        "UniformResampler": _estimator(mitigate.UniformResampler, random_state=0),
        "PreferentialResampler": _estimator(mitigate.PreferentialResampler),
        "Massager": _estimator(mitigate.Massager),
        "Resampled": _estimator(
            mitigate.Resampled, estimator=_classifier(), resampler=mitigate.UniformResampler(random_state=0)
        ),
        "GroupThresholds": _estimator(
            mitigate.GroupThresholds, estimator=_classifier(), constraint="demographic_parity", cv=2, random_state=0
        ),
    }
    return {f"mitigate.{name}{part}": base for name, bases in kinds.items() for part, base in bases.items()}


@cache
def contest() -> eh.Contest:
    return eh.contest(TABLE, **CONTEST)


def _of_audits() -> dict[str, Base]:
    finding = audit().findings[0]
    trend = eh.trend({"jan": cube(), "feb": cube()})
    group = cube().groups[0]
    fitted = _classifier().fit(FRAME, LABEL)
    wide = eh.audit(datasets.berkeley(), prediction="admitted", count="count", sensitive="gender")
    return {
        "audit": Base(eh.audit, {"data": TABLE, **ROLES}),
        "testing.assert_fair": Base(testing.assert_fair, {"data": TABLE, **ROLES}, also=(AssertionError,)),
        "Cube.count": Base(eh.Cube.count, {"data": TABLE, **ROLES}),
        "Cube.series": Base(eh.Cube.series, {"data": SERIES, "by": "day", **ROLES}),
        "Changes.save": Base(eh.diff(audit(), audit()).save, {"path": "new.md"}),
        "Audit.add": Base(audit().add),
        "Audit.counts": Base(audit().counts, {"attributes": "group"}),
        "Audit.decides": Base(audit().decides, {"finding": finding}),
        "Audit.load": Base(eh.Audit.load, {"path": _saved("audit.json", audit())}),
        "Audit.measures": Base(audit().measures, {"attributes": ["group"]}),
        "Audit.save": Base(audit().save, {"path": "new.json"}),
        "Audit.shared": Base(wide.shared),
        "Cube.attribute_sets": Base(cube().attribute_sets),
        "Cube.audit": Base(cube().audit),
        "Audit.plot": Base(audit().plot),
        "Cover": Base(eh.Cover),
        "Cover.updated": Base(eh.Cover().updated),
        "Finding.plot": Base(audit().findings[0].plot),
        "Cube.coarsen": Base(cube().coarsen),
        "Cube.find_group": Base(cube().find_group, {"value": ("a", "f")}, anything=("value",)),
        "Cube.limits": Base(cube().limits, {"name": "selection_rate"}),
        "Cube.load": Base(eh.Cube.load, {"path": _saved("a.cube", cube())}),
        "Cube.marginal": Base(cube().marginal),
        "Cube.measures": Base(cube().measures),
        "Cube.merge": Base(eh.Cube.merge, {"cubes": [cube(), cube()]}),
        "Cube.only": Base(cube().only, {"chosen": [True] * len(cube().pairs)}),
        "Cube.pool": Base(cube().pool, {"keep": group}),
        "Cube.save": Base(cube().save, {"path": "new.cube"}),
        "Cube.stratum": Base(cube().stratum, {"stratum": ()}),
        "Cube.values": Base(cube().values, {"attributes": ["group", "sex"], "group": group}),
        "Policy": Base(eh.Policy, anything=("metrics", "required")),  # a function is a metric of its own
        "Policy.counted": Base(eh.Policy().counted, {"verdict": "pass"}),
        "Policy.decides_on": Base(eh.Policy().decides_on, {"attributes": ["group"]}),
        "Policy.load": Base(eh.Policy.load, {"path": _saved("policy.toml", eh.Policy())}),
        "Policy.named": Base(eh.Policy.named, {"name": "four-fifths"}),
        "Policy.required_for": Base(eh.Policy().required_for, {"cube": cube()}),
        "Policy.save": Base(eh.Policy().save, {"path": "new.toml"}),
        "Policy.updated": Base(eh.Policy().updated, anything=("metrics", "required")),
        "Policy.with_thresholds": Base(eh.Policy().with_thresholds, {"thresholds": {"demographic_parity": 0.1}}),
        "Sweep.at": Base(eh.sweep(cube()).at, {"cutoff": 0.5}),
        "Trend.save": Base(trend.save, {"path": "new.html"}),
        "Trend.to_frame": Base(trend.to_frame),
        "Contest.save": Base(contest().save, {"path": "new.md"}),
        "adverse_impact": Base(eh.adverse_impact, {"data": TABLE, **ROLES}),
        "representation": Base(
            eh.representation, {"data": TABLE, **ROLES, "benchmark": {"group": {"a": 0.5, "b": 0.3, "c": 0.2}}}
        ),
        "contest": Base(eh.contest, {"data": TABLE, **CONTEST}),
        "diff": Base(eh.diff, {"before": audit(), "after": audit()}),
        "explain": Base(
            eh.explain,
            {"data": TABLE, "prediction": "prediction", "sensitive": "sex", "control": "group", "between": ("f", "m")},
        ),
        "proxies": Base(
            eh.proxies,
            {"data": TABLE, "features": ["score", "amount"], "sensitive": "sex", "contributions": np.ones((N, 2))},
        ),
        "impossibility": Base(eh.impossibility, {"audit_or_cube": audit(), "attribute": "group"}),
        "log": Base(eh.log, {"audit": audit(), "to": "mlflow"}, also=(eh.MissingDependencyError,)),
        "measure": Base(eh.measure, {"name": "lift", "numerator": "TP", "denominator": "TP FP"}),
        "metric": Base(eh.metric, {"name": "own_parity", "measures": "selection_rate"}, anything=("measures",)),
        "recommend": Base(eh.recommend, {"label_known": True, "priority": "opportunity"}),
        "scorer": Base(
            lambda **given: eh.scorer(**given)(fitted, FRAME, LABEL),
            {"metric": "demographic_parity", "sensitive": GROUP},
        ),
        "sweep": Base(eh.sweep, {"cube": cube()}),
        "trend": Base(eh.trend, {"cubes": {"jan": cube(), "feb": cube()}}),
    }


def _with_equation(**given: Any) -> Any:
    model = eh.CausalModel(GRAPH, mechanisms={"exam": eh.Equation(**given)}).fit(PEOPLE)
    return model.counterfactual(PEOPLE, {"group": "a"})


def _beside_the_line() -> dict[str, Base]:
    model = causal_model()
    invariant = {"model": model, "sensitive": "group", "outcome": "grade"}
    predictor = eh.InvariantPredictor(**invariant).fit(PEOPLE)
    individual = {"X": FRAME, "sensitive": GROUP}
    pairs = eh.consistency(FRAME, prediction=PREDICTION, sensitive=GROUP)
    return {
        "CausalModel": Base(lambda **given: eh.CausalModel(**given).fit(PEOPLE), {"graph": GRAPH}),
        "CausalModel.counterfactual": Base(model.counterfactual, {"data": PEOPLE, "do": {"group": "a"}}),
        "CausalModel.fit": Base(lambda **given: eh.CausalModel(GRAPH).fit(**given), {"data": PEOPLE}),
        "CausalModel.non_descendants": Base(model.non_descendants, {"sensitive": "group"}),
        "CausalModel.residuals": Base(model.residuals, {"data": PEOPLE}),
        "CausalModel.svg": Base(model.svg),
        "Equation": Base(_with_equation, {"value": lambda causes, noise: noise, "noise": lambda causes, node: node}),
        "InvariantPredictor": Base(lambda **given: eh.InvariantPredictor(**given).fit(PEOPLE), invariant),
        "InvariantPredictor.fit": Base(
            lambda **given: eh.InvariantPredictor(**invariant).fit(**given), {"data": PEOPLE}
        ),
        "InvariantPredictor.inputs": Base(predictor.inputs, {"data": PEOPLE}),
        "InvariantPredictor.predict": Base(predictor.predict, {"data": PEOPLE}),
        "InvariantPredictor.predict_proba": Base(
            lambda **given: (
                eh.InvariantPredictor(
                    eh.CausalModel(GRAPH).fit(PEOPLE), sensitive="group", outcome="grade", estimator=_classifier()
                )
                .fit(PEOPLE, (PEOPLE["grade"] > 0).astype(int))
                .predict_proba(**given)
            ),
            {"data": PEOPLE},
        ),
        "search": Base(eh.search, {"within": GROUP, "prediction": PREDICTION, "least": 2, "draws": 19}),
        "correspondence": Base(
            eh.correspondence, {"unit": np.arange(N) // 3, "sensitive": GROUP, "prediction": PREDICTION}
        ),
        "counterfactual_fairness": Base(
            eh.counterfactual_fairness, {"predict": by_exam, "model": model, **CAUSAL, **QUICK}
        ),
        "decompose": Base(eh.decompose, {"predict": by_exam, "model": model, **CAUSAL, **QUICK}),
        "flip_test": Base(eh.flip_test, {"predict": by_exam, **CAUSAL}),
        # The label is read for distance="learned" only; else it says what must not be a feature.
        "consistency": Base(eh.consistency, {**individual, "prediction": PREDICTION}, anything=("label",)),
        "lipschitz": Base(eh.lipschitz, {**individual, "score": SCORE}, anything=("label",)),
        "worst_pairs": Base(eh.worst_pairs, {"finding": pairs}),
        "replicate": Base(
            eh.replicate,
            {"model": _classifier(), "X": FRAME, "y": LABEL, "X_test": FRAME, "n_replicas": 2, "n_jobs": 1},
        ),
        "stability": Base(eh.stability, {"replicas": REPLICAS, "label": LABEL, "sensitive": {"group": GROUP}}),
        "Stability.abstention": Base(stability().abstention),
        "Stability.audit": Base(stability().audit),
        "Stability.finding": Base(stability().finding, {"name": "label_stability_difference"}),
        "Abstention.to_frame": Base(stability().abstention().to_frame),
    }


def _of_mitigation_and_plots() -> dict[str, Base]:
    compared = {"estimators": {"plain": _classifier()}, "X": FRAME, "y": LABEL, "sensitive": GROUP, "cv": 2}
    comparison = mitigate.compare(**compared)
    found = {
        "mitigate.find_thresholds": Base(
            mitigate.find_thresholds, {"cube": cube().marginal(["group"]), "constraint": "demographic_parity"}
        ),
        "mitigate.compare": Base(mitigate.compare, compared),
        "mitigate.Comparison.plot": Base(comparison.plot),
        "mitigate.Thresholds.chances": Base(thresholds().chances, {"scores": SCORE, "groups": GROUP}),
        "mitigate.Thresholds.chances_at": Base(
            thresholds().chances_at, {"scores": SCORE, "places": np.zeros(N, dtype=np.intp)}
        ),
        "mitigate.Thresholds.load": Base(mitigate.Thresholds.load, {"path": _saved("thresholds.json", thresholds())}),
        "mitigate.Thresholds.save": Base(thresholds().save, {"path": "new-thresholds.json"}),
    }
    for name in _own(plots):
        kind = getattr(plots, name)
        if name == "TradeoffDisplay":
            found[f"plots.{name}.from_comparison"] = Base(kind.from_comparison, {"found": comparison})
            found[f"plots.{name}.plot"] = Base(kind.from_comparison(comparison).plot)
        elif name == "FindingDisplay":
            found[f"plots.{name}.from_finding"] = Base(kind.from_finding, {"finding": audit().findings[0]})
            found[f"plots.{name}.plot"] = Base(kind.from_finding(audit().findings[0]).plot)
        elif inspect.isclass(kind):
            found[f"plots.{name}.from_audit"] = Base(kind.from_audit, {"audit": audit()})
            found[f"plots.{name}.plot"] = Base(kind.from_audit(audit()).plot)
    return found


def _saved(name: str, thing: Any) -> str:
    """The thing in a file of the current folder, which is a scratch folder."""
    thing.save(name)
    return name


def bases() -> dict[str, Base]:
    """The valid call of each public callable; made in a scratch folder, which keeps the files that some calls read."""
    return {
        **{name: _metric(name) for name in [*COUNTED, *OF_REPLICAS]},
        **_of_audits(),
        **_beside_the_line(),
        **_of_mitigation_and_plots(),
        **_estimators(),
    }
