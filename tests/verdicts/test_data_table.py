"""[data] in a policy file: the arguments that say how data is read, checked strictly, with one meaning everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenhand as eh
from evenhand.errors import CallError
from evenhand.sources.roles import ARGUMENTS
from evenhand.verdicts import data_table, policy_file

PEOPLE = "y,p,sex,age,k\n" + "".join(f"{i % 2},{i % 3 % 2},{1 + i % 2},{20 + i},1\n" for i in range(60))
SETTINGS = """
required = ["demographic_parity"]
reference = "1"

[data]
label = "y"
prediction = "p"
sensitive = ["sex", "age"]
bands = { age = [0, 40, 100] }
labels = { sex = { 1 = "male", 2 = "female" } }
where = "age >= 21"
"""


def written(folder: Path, text: str = SETTINGS) -> Path:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    path = folder / "evenhand.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_audit_takes_the_roles_of_its_policy_file(tmp_path: Path):
    path = written(tmp_path)
    found = eh.audit(tmp_path / "people.csv", policy=path)
    said = eh.audit(
        tmp_path / "people.csv",
        policy=eh.Policy(required=["demographic_parity"]),
        label="y",
        prediction="p",
        sensitive=["sex", "age"],
        bands={"age": [0, 40, 100]},
        labels={"sex": {1: "male", 2: "female"}},
        where="age >= 21",
        reference="male",
    )
    assert found.cube == said.cube
    assert found.to_dict()["findings"] == said.to_dict()["findings"]
    assert found.cube.size == 59


def test_an_argument_beats_the_file(tmp_path: Path):
    path = written(tmp_path)
    found = eh.audit(tmp_path / "people.csv", policy=str(path), sensitive="sex", where=None, bands=None)
    assert found.meaning.sensitive == ("sex",)
    assert found.cube.size == 60


def test_a_cube_knows_its_columns_and_the_file_still_judges(tmp_path: Path):
    path = written(tmp_path, SETTINGS.replace('reference = "1"', ""))
    cube = eh.Cube.count(tmp_path / "people.csv", prediction="p", sensitive="sex")
    assert eh.audit(cube, policy=path).required == ("demographic_parity",)


def test_a_contest_takes_what_models_share(tmp_path: Path):
    path = written(tmp_path)
    found = eh.contest(tmp_path / "people.csv", predictions=["p", "k"], policy=path)
    assert found.people == 59


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('[data]\nlabels = 3\nlable = "y"', "'lable' is not a key of \\[data\\]; did you mean 'label'"),
        ("[data]\nlabel = [1, 0]", "label in \\[data\\] must be the name of a column"),
        ("[data]\nsensitive = [1]", "must be one name or a list of names"),
        ('[data]\nhive = "yes"', "hive in \\[data\\] must be true or false"),
        ("data = 3", "data must be a table"),
        ("[dta]\nx = 1", "did you mean 'data'"),
    ],
)
def test_a_table_is_read_strictly(table: str, says: str, tmp_path: Path):
    path = written(tmp_path, table)
    for read in (policy_file.load, data_table.data_table) if "dta" not in table else (policy_file.load,):
        with pytest.raises(CallError, match=says):
            read(path)


def test_what_a_reader_says_of_a_value_is_said_of_the_table(tmp_path: Path):
    path = written(tmp_path, '[data]\nprediction = "p"\nsensitive = "sexx"')
    with pytest.raises(CallError, match="did you mean 'sex'"):
        eh.audit(tmp_path / "people.csv", policy=path)


def test_a_new_file_has_the_table_as_a_comment_that_can_be_used(tmp_path: Path):
    text = eh.Policy().text()
    lines = text.splitlines()
    start = lines.index("# [data]")
    table = "\n".join(line.removeprefix("# ") for line in lines[start:])
    path = written(tmp_path, table)
    assert set(data_table.data_table(path)) <= set(ARGUMENTS)
    assert policy_file.load(path) == eh.Policy()


def test_other_policies_have_no_table():
    assert [data_table.data_table(policy) for policy in (None, "four-fifths", eh.Policy())] == [{}, {}, {}]
