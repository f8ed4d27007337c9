# Work on azd-eval. Everything is installed into an environment of its own, VENV.

VENV ?= .venv
# The first Python that is new enough and can make environments.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: demo test test-all fuzz check docs fix help

demo: $(READY)  ## draft, score and improve a small agent offline, in a fresh demo-project/
	rm -rf demo-project
	$(BIN)/azd-eval demo demo-project

test: $(READY)  ## run the quick tests
	$(BIN)/pytest -n auto -m "not slow"

test-all: $(READY)  ## run every test
	$(BIN)/pytest -n auto

fuzz: $(READY)  ## put INPUTS=100000 random inputs to each reader (Linux)
	$(BIN)/python -m pip install --quiet --group fuzz
	$(BIN)/python tests/fuzz/run_atheris.py --inputs $(or $(INPUTS),100000)

check: $(READY)  ## check format, lint, types, import contracts and generated docs
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

docs: $(READY)  ## write docs/cli.md from the real help
	$(BIN)/python docs/generate.py

fix: $(READY)  ## format, and repair what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

help:  ## list these targets
	@awk -F ':.*## +' '/^[a-z-]+:.*##/ {printf "  %-10s%s\n", $$1, $$2}' Makefile

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "error: Python 3.11 or newer, with venv, is needed" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@
