# Day-to-day commands. `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-full coverage soak lint chaos fuzz mutants bench bench-peers docs figures gallery dist lock licenses sbom audit study setup clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(READY) ## under 3 minutes: three losses on images, models on a real table, one report to look at
	@$(BIN)/python -m rankwise.demo

test: $(READY) ## run the tests, the code blocks of README and docs included
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --durations=12

test-full: $(READY) ## run all tests in a random order, those marked full included (half an hour)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "" -p randomly -n 2 --dist loadgroup --durations=12

# Warnings are errors in the tests, and one of coverage's own would end the workers of data loaders.
coverage: $(READY) ## run the tests and print the branch coverage of the library; at least 95 %
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=term -W ignore::coverage.exceptions.CoverageWarning $(TESTS)

soak: $(READY) ## run 100 000 random awkward batches over every objective against their formulas (5 minutes)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.soak $(SOAK)

lint: $(READY) ## ruff, mypy --strict and the import contract
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

chaos: $(READY) ## kill every training command at every file operation and at random times, and resume it
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.chaos

fuzz: $(READY) ## damage 100 000 files of every kind, and read them; what fails is kept in tests/fuzz/corpus
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --count 100000 --keep

mutants: $(READY) ## change 300 expressions of pairs, metrics, lists, memory and objectives; list what no test notices
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation $(MUTANTS)

bench: $(READY) ## measure speed and memory as ratios in one run, write benchmarks/results.json and its table
	@$(BIN)/python -m benchmarks.run

bench-peers: $(READY) ## build the peers' own environment and measure against their losses
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'torch==2.13.0' \
		scikit-learn pytorch-metric-learning==2.9.0 catboost==1.2.10
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps libauc==2.0.1
	@$(BIN)/python -m benchmarks.run objectives.peers twins

study: $(READY) ## make study NAME=estimator-bias: run a study of the papers' claims; without NAME list them
	@$(BIN)/python -m reproductions $(NAME)

docs: $(READY) ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

figures: $(READY) ## draw the figures of the documentation again, into docs/images
	@OMP_NUM_THREADS=1 $(BIN)/python -m docs.figures

gallery: $(READY) ## execute the notebooks and examples, write their outputs and figures
	@OMP_NUM_THREADS=1 $(BIN)/python -m examples.gallery

dist: ## build the wheel and the sdist into dist/, and check what an index would refuse
	@rm -rf dist && $(PYTHON) -m venv build/env
	@build/env/bin/python -m pip install --quiet --disable-pip-version-check build twine
	@build/env/bin/python -m build --quiet && build/env/bin/python -m twine check --strict dist/*

lock: build/supply/.ready ## write requirements.lock: the versions of constraints.txt with the hashes of their files, without torch
	@grep -vE '^(#|torch==)' constraints.txt > build/pins.in
	@build/supply/bin/uv pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate build/pins.in > build/lock
	@{ echo "# Written by make lock. To install: pip install --no-deps --require-hashes -r requirements.lock; torch apart."; cat build/lock; } > requirements.lock

licenses: $(READY) build/supply/.ready ## write docs/licenses.md: the license of every package in .venv
	@build/supply/bin/pip-licenses --python=$(BIN)/python --format=markdown --with-system --ignore-packages rankwise pip setuptools > build/licenses
	@{ sed '/^| *Name/,$$d' docs/licenses.md; cat build/licenses; } > build/licenses.md && mv build/licenses.md docs/licenses.md

sbom: $(READY) build/supply/.ready ## write build/sbom.json: the packages of .venv in CycloneDX's format
	@build/supply/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-file build/sbom.json

audit: build/supply/.ready ## look the versions of requirements.lock up in the database of known vulnerabilities
	@build/supply/bin/pip-audit --requirement requirements.lock --disable-pip --require-hashes

build/supply/.ready:
	@$(PYTHON) -m venv build/supply
	@build/supply/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0 pip-audit==2.10.1 pip-licenses==5.5.5 uv==0.13.8
	@touch $@

setup: $(READY) ## build .venv and nothing else

clean: ## remove .venv and everything built
	rm -rf .venv site build dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "rankwise needs Python 3.11 or newer, and '$(PYTHON)' is not on the PATH."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rankwise needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V). Try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing (on Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }
	@echo "Setting up .venv (a few minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'torch==2.13.0' -e '.[dev]' \
		|| { echo "pip could not install what rankwise needs; its message is above. Is there a network, and room on the disk (3 GB)?"; exit 1; }
	@touch $@
