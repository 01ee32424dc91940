# SPDX-License-Identifier: Apache-2.0
# The two commands of the README: `make demo` and `make test`. Everything else is listed by `make help`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard cmake/* native/*)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo docs test test-all test-long test-engines test-ray test-page test-fast test-arm wheel sanitize check golden hooks clean compiler

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

compiler:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "equipoise needs Python 3.11 or newer: $(PYTHON) is not (set PYTHON=/path/to/python3.11)" >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || \
		{ echo "equipoise needs a C++20 compiler and found none: install g++ or clang++ (or set CXX) and try again" >&2; exit 1; }

$(STAMPS)/venv:
	@$(MAKE) --no-print-directory compiler
	@echo "creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/run: $(STAMPS)/venv $(SOURCES)
	@echo "installing equipoise and compiling its core (about a minute the first time) ..."
	@$(PIP_INSTALL) nanobind scikit-build-core
	@$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

$(STAMPS)/web: $(STAMPS)/run
	@echo "installing what the page needs ..."
	@$(PIP_INSTALL) --no-build-isolation -e '.[web]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	@echo "installing what the tests need ..."
	@$(PIP_INSTALL) --no-build-isolation -C cmake.define.EQUIPOISE_WERROR=ON -e '.[dev]'
	@touch $@

demo: $(STAMPS)/web ## install, solve a hold'em turn with a live display, show its strategy, write its plot
	@mkdir -p out
	@$(BIN)/equipoise solve examples/spots/turn.toml --seconds 60 --threads 2 --out out/turn.eq --overwrite --plot out/turn.png
	@echo
	@$(BIN)/equipoise show out/turn.eq --line "check" --grid
	@echo
	@echo "The solved spot is in out/turn.eq, its convergence in out/turn.png. What to try next:"
	@echo "  . $(BIN)/activate                          # then 'equipoise' is on your path"
	@echo "  equipoise show out/turn.eq --line 'check, bet 50%' --grid    # the answer to a bet"
	@echo "  equipoise show out/turn.eq --line 'check, bet 50%, call, [As]' --csv --out out/hands.csv"
	@echo "  equipoise serve out/turn.eq --open          # the same in a browser: walk it, solve your own spots, train, play"
	@echo "  equipoise games                             # every game and its parameters"
	@echo "  equipoise solve leduc --target 1e-4         # another game"
	@echo "  equipoise compare leduc --rules cfr,cfr+,lcfr,dcfr --iterations 1000 --plot out/rules.png"
	@echo "  equipoise reproduce                         # studies that regenerate published figures"
	@echo "  make test                                   # the whole suite"

test: $(STAMPS)/dev ## install what the tests need, then lint, type-check and run the whole suite
	@scripts/check
	@scripts/test

test-all: test test-long test-ray test-page wheel test-arm ## the suite in four builds (GCC for this machine and for x86-64-v3, Clang, -O1), with Ray, the wheel, ARM
	@scripts/test-builds gcc-v3 clang gcc-O1  # `test` was GCC for this machine

test-long: $(STAMPS)/dev ## commands of pages and of help that take long: training, benchmarks, reports, every study
	@scripts/test --dist load -m long tests/docs

test-ray: $(STAMPS)/dev ## what runs on several machines, on a Ray of this one that is installed if need be
	@$(BIN)/python -c 'import ray' 2>/dev/null || $(PIP_INSTALL) --no-build-isolation -e '.[dev,scale]'
	@scripts/test -m ray tests/distributed

test-page: $(STAMPS)/dev ## the page in Chromium, then requests made up from the document of its interface (Debian: chromium, nodejs, npm)
	@scripts/test-browser
	@$(BIN)/python -c 'import schemathesis' 2>/dev/null || $(PIP_INSTALL) --no-build-isolation -e '.[dev,fuzz]'
	@scripts/test-page

test-engines: $(STAMPS)/dev ## matches against Stockfish and GNU Go, which must be installed (Debian: stockfish, gnugo)
	@PATH="$$PATH:/usr/games" scripts/test -m engine tests/agents

test-arm: $(STAMPS)/run ## cross-compile the core for 64-bit ARM and compare its bits in an emulator
	@scripts/test-arm

wheel: $(STAMPS)/run ## build a wheel that runs on any x86-64 into dist/, install it in a clean environment and try it
	@scripts/wheel

test-fast: $(STAMPS)/dev ## the suite without its slow part
	@scripts/test -m "not slow"

docs: $(STAMPS)/dev ## build the site into build/docs: tutorials, methods, results, reference; a warning fails
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

hooks: $(STAMPS)/dev ## let git run the quick checks before each commit (pre-commit, local hooks only)
	@$(BIN)/pre-commit install

sanitize: $(STAMPS)/dev ## look for errors of memory and undefined behaviour in the core, in a build of its own
	@scripts/sanitize

check: $(STAMPS)/dev ## ruff, mypy, import-linter and the house's own checks
	@scripts/check

golden: $(STAMPS)/dev ## regenerate the golden playthroughs (review them as a diff)
	@$(BIN)/python scripts/golden

clean: ## remove the environment and what was built
	rm -rf $(VENV) build out
