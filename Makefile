# Everything runs in .venv, made on first use; nothing has to be activated.
#
#   make demo                      try it
#   make test                      what a change has to pass, with lint, types and docs: at most 10 minutes
#   make thorough                  the same tests, repeated far more often: about an hour, before a release
#   make demo PYTHON=python3.12    another Python (3.11 or newer)
#   make test ARGS="-k cube"       arguments for pytest
#
# Written for GNU make 3.81, which macOS ships. All paths are relative, so the checkout may lie anywhere.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
STAMPS := $(VENV)/stamps
INSTALL := $(PY) -m pip install --quiet

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.PHONY: help demo test thorough coverage browser engines handover lint format types docs site bench stubs dist clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)$$/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s  %s\n", $$1, $$2 }'

demo: $(STAMPS)/package ## audit the COMPAS counts that ship with the package
	@$(VENV)/bin/evenhand demo

PYTEST := $(PY) -m pytest -n $(WORKERS) --ignore=tests/browser --ignore=tests/engines --ignore=tests/handover

test: $(STAMPS)/test $(STAMPS)/widgets ## run the tests and the doctests
	$(PYTEST) $(ARGS)

thorough: $(STAMPS)/test $(STAMPS)/widgets ## run them with hundreds of examples and every hostile name
	$(PYTEST) --thorough $(ARGS)

coverage: $(STAMPS)/coverage ## run the tests and print which lines of src they reach
	$(PYTEST) --cov --cov-report=term:skip-covered $(ARGS)

browser: $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/axe ## test the page in chromium, which must be there
	$(PY) -m pytest tests/browser --ignore=tests/browser/test_docs.py $(ARGS)

engines: $(STAMPS)/test $(STAMPS)/engines ## test PostgreSQL, Spark, Dask and others, on servers that are started here
	$(PY) -m pytest tests/engines $(ARGS)

# MLflow asks for older libraries than the tests, so it has an environment of its own. Warnings are those of others there.
handover: $(VENV)/handover/stamp ## test MLflow and Weights & Biases, in an environment of their own
	$(VENV)/handover/bin/python -m pytest -W default tests/handover $(ARGS)

lint: $(STAMPS)/lint ## check style and layout with ruff
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

format: $(STAMPS)/lint ## mend style and layout with ruff
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# mypy sees more when the dataframe libraries are there, so both sets are installed: one answer everywhere.
types: $(STAMPS)/lint $(STAMPS)/test ## check the types with mypy
	$(PY) -m mypy

docs: $(STAMPS)/docs ## build the documentation into site/, running its examples
	$(PY) -m mkdocs build --strict

site: $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/axe ## test the documentation in chromium, after `make docs`
	$(PY) -m pytest tests/browser/test_docs.py $(ARGS)

bench: $(STAMPS)/test $(STAMPS)/browser $(STAMPS)/engines ## run every benchmark (slow; not part of CI)
	@for name in group_metrics coverage coverage_scores coverage_clusters coverage_rows own_metrics dropin promises contest correspondence explain search clusters bootstrap scores audit individual stability counterfactual mitigate report watch engines scale startup; do \
	  echo; echo "== $$name"; $(PY) benchmarks/$$name.py || exit 1; \
	done

stubs: $(STAMPS)/test ## write again what is made from the catalogue: __init__.pyi, the output in README.md, tests/vectors, figures of hostile inputs
	$(PY) tools/stubs.py
	$(PY) tools/readme.py
	$(PY) tools/vectors.py
	$(PY) tools/fuzz_figures.py

dist: $(STAMPS)/dist ## build the source archive and the wheel into dist/
	rm -rf dist
	$(PY) -m build

clean: ## remove everything that make has made
	rm -rf $(VENV) dist build site benchmarks/.peers .hypothesis .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of dependencies: a second run installs nothing until pyproject.toml changes. The first stamp
# stands for the environment itself, which is made anew when its Python is not there or has gone away.
MISSING := $(shell test -x $(PY) || echo python)
.PHONY: python

$(STAMPS)/pip: $(MISSING)
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip --default-pip
	@$(INSTALL) --upgrade "pip>=25.1" # dependency groups need it
	@mkdir -p $(STAMPS) && touch $@

python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "evenhand needs Python 3.11 or newer, and there is no $(PYTHON): name one, as in make PYTHON=python3.12." >&2; \
	  exit 1; }
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
	  echo "evenhand needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" --version 2>&1 | head -n 1): name another, as in make PYTHON=python3.12." >&2; \
	  exit 1; }
	@echo "Making $(VENV) ..."
	@rm -rf $(VENV)
	@{ command -v uv >/dev/null && uv venv --quiet --seed --python "$(PYTHON)" $(VENV); } \
	|| "$(PYTHON)" -m venv --clear $(VENV) \
	|| { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu, type: sudo apt-get install python3-venv" >&2; \
	  exit 1; }

$(STAMPS)/package: pyproject.toml $(STAMPS)/pip
	@echo "Installing evenhand ..."
	@$(INSTALL) -e .
	@touch $@

$(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs $(STAMPS)/dist $(STAMPS)/browser $(STAMPS)/engines: $(STAMPS)/package
	@echo "Installing what $(@F) needs ..."
	@$(INSTALL) --group $(@F)
	@touch $@

$(VENV)/handover/stamp: pyproject.toml $(STAMPS)/pip
	@echo "Installing what handover needs ..."
	@$(PY) -m venv --without-pip --clear $(VENV)/handover
	@$(PY) -m pip --python $(VENV)/handover/bin/python install --quiet -e ".[mlflow,wandb]" --group handover
	@touch $@

# For the notebooks of the tests: a folder that one of their kernels can import from, and the other cannot.
$(STAMPS)/widgets: $(STAMPS)/pip
	@$(INSTALL) --no-deps --target $(VENV)/widgets --upgrade ipywidgets widgetsnbextension jupyterlab_widgets
	@touch $@

$(STAMPS)/coverage: $(STAMPS)/test $(STAMPS)/widgets
	@$(INSTALL) --group coverage
	@touch $@

# The accessibility checks that run inside the page. Without npm, the tests that need them say so.
$(STAMPS)/axe: $(STAMPS)/pip
	@! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --prefix $(VENV) axe-core@4
	@touch $@
