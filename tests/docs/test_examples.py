"""Every block of code in README, CONTRIBUTING and docs is run, or says why it is not.

`make docs` runs those of docs, with the same runner; here the other files are run, and the rule is kept.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import examples
from conftest import ROOT
from support.modules import MODULES, tree

READ = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")]
PAGES = sorted((ROOT / "docs").rglob("*.md"))

# What cannot be run on any machine of ours, page by page: a new one has to be counted here, and have its reason.
NOT_RUN = {
    "README.md": 2,  # make, pip
    "CONTRIBUTING.md": 2,  # make, a drawing
    "benchmarks/README.md": 1,  # benchmarks
    "docs/architecture.md": 1,  # a drawing
    "docs/cookbook/engines.md": 3,  # clusters and a server: tests/engines/test_recipes.py
    "docs/cookbook/pipelines.md": 6,  # trackers and Great Expectations: tests/handover/test_recipes.py; CI, dbt
    "docs/cookbook/results.md": 1,  # a browser that prints
    "docs/engines.md": 3,  # clusters and servers
    "docs/hand-over.md": 5,  # trackers, pipelines of others
    "docs/migrating/aequitas.md": 1,  # Aequitas
    "docs/migrating/aif360.md": 1,  # AIF360
    "docs/migrating/clarify.md": 1,  # smclarify
    "docs/migrating/fairlearn.md": 1,  # fairlearn, which a test runs
    "docs/install.md": 7,  # pip, conda, Windows, the start-up file of a shell
    "docs/report.md": 2,  # a server that answers until it is interrupted, and a browser that prints
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [*READ, *PAGES], ids=name)
def test_every_block_is_run_or_says_why_not(path: Path):
    text = path.read_text(encoding="utf-8")
    assert examples.unmarked(text) == []
    marked = [block for block in examples.blocks(text) if block.not_run is not None]
    assert len(marked) == NOT_RUN.get(name(path), 0)
    for block in marked:
        examples.check(block)  # its syntax, and that the options of evenhand exist


@pytest.mark.parametrize("path", [*READ, *PAGES], ids=name)
def test_code_is_fenced(path: Path):
    """Indented code and HTML would be shown and never run."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    assert [token.content for token in tokens if token.type == "code_block"] == []
    assert [token.content for token in tokens if token.type == "html_block" and "<pre" in token.content] == []


@pytest.mark.parametrize("path", READ, ids=name)
def test_the_examples_run(path: Path):
    examples.outputs(path.read_text(encoding="utf-8"))


def test_examples_in_docstrings_are_doctests():
    """They are run with the tests; a fence, or a command, would not be."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for module in MODULES:
        for node in ast.walk(tree(module)):
            text = (ast.get_docstring(node) or "") if isinstance(node, documented) else ""
            assert "```" not in text, module
            assert not any(line.lstrip().startswith("$ ") for line in text.splitlines()), module


# --- the runner itself: each of these pages is wrong, and is refused


WRONG_MARKS = {
    "neither run nor marked": "```python\nx = 1\n```",
    "a reason is missing": "<!-- not run:  -->\n```python\nx = 1\n```",
    "the mark is not on the line before": "<!-- not run: a cluster -->\n\n```python\nx = 1\n```",
    "no language": "```\nx = 1\n```",
    "both": "<!-- not run: a cluster -->\n```python exec\nx = 1\n```",
    "a word that is not known": "```python exec silent\nx = 1\n```",
    "a language that is not run": "```bash exec\nls\n```",
    "in a list": "- item\n\n    ```python\n    x = 1\n    ```",
    "tildes": "~~~python\nx = 1\n~~~",
    "not closed": "```python exec\nx = 1\n",
}


@pytest.mark.parametrize("text", WRONG_MARKS.values(), ids=WRONG_MARKS)
def test_a_block_without_its_mark_is_refused(text: str):
    assert examples.unmarked(text + "\n")


WRONG_EXAMPLES = {
    "a name that the page does not define": "```python exec\nfinding.value\n```",
    "a name that only a hidden block defines": "```python exec hidden\nx = 1\n```\n```python exec\nx\n```",
    "a warning": "```python exec\nimport warnings\nwarnings.warn('old')\n```",
    "no error where one is shown": "```python exec raises\n1\n```",
    "another error than ours": "```python exec raises\n1 / 0\n```",
    "an exit code that the page does not name": "```console exec\n$ exit 2\n```",
    "another exit code than the page names": "```console exec\n$ true  # exit code 1\n```",
    "a file that the page does not make": "```console exec\n$ cat decisions.csv\n```",
    "a file of another page": "```console exec\n$ cat README.md\n```",
    "no command": "```console exec\nevenhand demo\n```",
    "a second line": "```console exec\n$ true \\\n    && false\n```",
    "an option that does not exist": "<!-- not run: a server -->\n```console\n$ evenhand audit --databse x\n```",
    "a command that does not exist": "<!-- not run: a server -->\n```console\n$ evenhand audits x\n```",
    "Python that is not run": "<!-- not run: a server -->\n```python\nx =\n```",
    "an output without a number": "```python exec\nfloat('nan')\n```",
    "an output that is cut": "```console exec\n$ echo 'a  ...  b'\n```",
    "YAML": "```yaml exec\na: [\n```",
    "YAML that is not run": "<!-- not run: a server -->\n```yaml\na: [\n```",
    "a step of a workflow": "```yaml exec\nsteps:\n- run: evenhand audit nothing.csv\n```",
    "TOML": "<!-- not run: a server -->\n```toml\na = \n```",
    "a policy": "```toml exec\nrequire = ['equal_opportunity']\n```",
    "JSON": "```json exec\n{'a': 1}\n```",
}


@pytest.mark.parametrize("text", WRONG_EXAMPLES.values(), ids=WRONG_EXAMPLES)
def test_an_example_that_does_not_do_what_it_says_is_refused(text: str):
    with pytest.raises(examples.ExampleError, match="in line"):
        examples.outputs(text + "\n")


def test_the_blocks_of_a_page_share_names_and_files():
    page = """
```toml exec title="fairness.toml"
required = ["equal_opportunity"]
```

```python exec
from pathlib import Path
text = Path("fairness.toml").read_text()
```

```python exec hidden
_ = Path("copy.toml").write_text(text)
```

```console exec
$ cat copy.toml \\
    && exit 3  # exit code 3
```

```yaml exec
steps:
  - run: |
      cat copy.toml > summary.md
      exit 1  # exit code 1
  - run: evenhand audit nothing.csv
  - run: cat summary.md >> "$GITHUB_STEP_SUMMARY"
    if: always()
```
"""
    assert examples.unmarked(page) == []
    shown = [output for block, output in examples.outputs(page) if block.language == "console"]
    assert shown == ['$ cat copy.toml \\\n    && exit 3  # exit code 3\nrequired = ["equal_opportunity"]']
