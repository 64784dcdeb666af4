# Each target does all its own set-up; a second call installs nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: run test lint mutants bench clean help

help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hustings needs python3 >= 3.11; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

run: $(STAMP)  ## five real Bully nodes: elect, kill the coordinator, elect, restart it, judge
	@$(BIN)/hustings run coordinator-crash

# One worker more than cores: a test of real processes waits longer than it works.
test: $(STAMP)  ## every test, on all cores
	@$(BIN)/python -m pytest -n $$(( $$(nproc) + 1 )) --dist worksteal -q

lint: $(STAMP)  ## ruff and mypy --strict
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

mutants: $(STAMP)  ## wrong protocols, and the scenario that convicts each
	@$(BIN)/python -m tests.mutants

bench: $(STAMP)  ## one table of ratios, each measured in one run
	@$(BIN)/python -m benchmarks

clean:  ## forget the environment and all runs
	rm -rf $(VENV) runs *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
