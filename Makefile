# The one command file: the same verbs on a desk and in CI.
# Needs make and Python 3.11 or newer; everything else is installed into .venv on first use.
# Each verb installs only what it needs, and again when pyproject.toml changes.

VENV := .venv
PY := $(VENV)/bin/python
JOBS ?= 2
ARGS ?=

# The first interpreter that is new enough; `make PYTHON=/path/to/python test` overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# What each verb needs. `--group` reads [dependency-groups] of pyproject.toml.
NEEDS_demo := -e ".[demo]"
NEEDS_test := -e . --group test
NEEDS_lint := -e . --group lint
NEEDS_docs := -e . --group docs
NEEDS_bench := -e . --group bench
NEEDS_dev := -e ".[demo]" --group dev

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help venv demo test test-reference lint format routines docs bench bench-smoke ci clean

help:  ## Show the verbs
	@grep -E '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 18

$(PY):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	# pip learned --group in 25.1; an older one upgrades itself once.
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"

$(VENV)/.installed-%: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check $(NEEDS_$*)
	@touch $@

venv: $(VENV)/.installed-dev  ## Make .venv with everything in it, for development

demo: $(VENV)/.installed-demo  ## Shade and erode a real fault zone, against NumPy (ARGS="--array FILE.npy")
	$(PY) -m xarraylite demo $(ARGS)

test: $(VENV)/.installed-test  ## Run the tests on the compiled engine (ARGS="-k overlap")
	$(PY) -m pytest -n $(JOBS) $(ARGS)

test-reference: $(VENV)/.installed-test  ## Run the tests on the NumPy interpreter
	$(PY) -m pytest -n $(JOBS) --engine=reference $(ARGS)

lint: $(VENV)/.installed-lint  ## ruff, formatting, strict types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/.installed-lint  ## Rewrite the files the way `make lint` wants them
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

routines: $(VENV)/.installed-demo  ## Compile scalar bodies and methods into xarraylite/codegen/routines.bin
	$(PY) -m xarraylite.transforms.shipped

docs: $(VENV)/.installed-docs  ## Build docs/_build/html, warnings are errors
	$(PY) -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html

bench: $(VENV)/.installed-bench  ## Table of times against NumPy at full size
	$(PY) asv_bench/report.py $(ARGS)

bench-smoke: $(VENV)/.installed-bench  ## Run every benchmark once at small sizes
	$(PY) asv_bench/smoke.py $(ARGS)
	cd asv_bench && $(abspath $(PY)) -m asv check --python=same

ci:  ## What CI runs; pytest's closing line comes last
	.ci/run

clean:  ## Remove .venv and everything that was built
	rm -rf $(VENV) build dist docs/_build docs/reference/generated docs/user_guide/generated asv_bench/.asv
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
