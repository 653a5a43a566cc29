"""The metadata block of a model card is read by the library of Hugging Face, with every figure."""

from __future__ import annotations

from huggingface_hub import ModelCard

import evenhand as eh
from evenhand.report import forms


def test_the_model_index_is_read_back(audit: eh.Audit):
    card = ModelCard(forms.dumps(audit, "model-card", ".md"), ignore_metadata_errors=False)
    results = card.data.eval_results
    assert card.data.model_name == "model"
    assert card.data.tags == ["evenhand", "fairness"]
    overall = {each.measure.name: float(each.values[0]) for each in audit.measures(("race",), together=True)}
    found = {(each.metric_type, each.metric_name): each.metric_value for each in results}
    assert found["accuracy", "accuracy"] == overall["accuracy"]
    for finding in audit.findings:
        names = [name for kind, name in found if kind == finding.metric]
        assert any(f"by {' × '.join(finding.attributes)}:" in name for name in names), finding
    assert {each.task_type for each in results} == {"tabular-classification"}
