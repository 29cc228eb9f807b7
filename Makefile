# Tasks of a checkout. `make demo` needs the runtime dependencies alone, everything else the development ones as well;
# both go into one virtual environment, pinned by hash. `make help` lists the tasks.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Test processes; the database server and the servers under test run beside them.
TEST_PROCESSES ?= 2
PYTEST_ARGS ?=
BENCH_ARGS ?=
RESULTS ?= build/requirement-results.json
# What a task needs beside the checkout: the requirement catalogue and the field reports.
export REMIT_SHARED ?= ../shared
# gRPC's fork handlers start threads in a child of a test that is about to become PostgreSQL, and crash it.
export GRPC_ENABLE_FORK_SUPPORT = 0

PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
LOCK = uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --group build $(LOCK_ARGS)

.DEFAULT_GOAL := help
.PHONY: help demo test lint types proto docs bench chart generated coverage-of-spec report contract-compatible lock clean

help: ## List the tasks.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/.runtime ## Run the service on an embedded database and show it at work.
	$(BIN)/remit demo

test: $(VENV)/.dev ## Run all tests.
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) $(PYTEST_ARGS)

lint: $(VENV)/.dev contract-compatible ## Check style, and the proto files for style and compatibility.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code

types: $(VENV)/.dev ## Check types.
	$(BIN)/mypy

proto: $(VENV)/.dev ## Regenerate the code beside the proto files.
	$(BIN)/buf format --write
	$(BIN)/python -m grpc_tools.protoc --proto_path=proto --python_out=proto --pyi_out=proto --grpc_python_out=proto \
		proto/remit/v1/*.proto

docs: $(VENV)/.dev ## Regenerate docs/api.md and docs/settings.md.
	$(BIN)/remit docs

generated: $(VENV)/.dev ## Check that generated code and pages are current.
	$(BIN)/python -m pytest -q tests/server/cli/test_docs.py

bench: $(VENV)/.dev ## Measure; results go to bench-results/.
	$(BIN)/python -m tests.bench $(BENCH_ARGS)
	$(BIN)/python -m tests.faults.soak

chart: $(VENV)/.dev ## Lint, render and validate the chart.
	$(BIN)/python -m pytest -q -n $(TEST_PROCESSES) tests/chart

coverage-of-spec: $(VENV)/.dev ## List the requirements that tests show, and those left. ARGS=--json for JSON.
	@$(BIN)/python -m tests.spec_coverage $(ARGS)

# All tests, whatever PYTEST_ARGS leaves of them, and what they say of each requirement. Fails when a test does, after
# writing so.
report: $(VENV)/.dev ## Run the tests and write the tables of docs/implementation-report.md.
	@mkdir -p build
	status=0; $(BIN)/python -m pytest -n $(TEST_PROCESSES) --requirement-results=$(RESULTS) $(PYTEST_ARGS) || status=$$?; \
	$(BIN)/python -m tests.implementation_report $(RESULTS) && exit $$status

# Compares with the last tag, before the first tag with the previous commit. The first commit, and a shallow clone of one
# commit, have nothing to compare with. An archive is compared, since a shallow clone cannot be cloned once more.
contract-compatible: $(VENV)/.dev
	@baseline=$$(git describe --tags --abbrev=0 2>/dev/null || git rev-parse --verify --quiet 'HEAD^' || true); \
	if [ -z "$$baseline" ] || ! git cat-file -e "$$baseline:buf.yaml" 2>/dev/null; then \
		echo "contract: no earlier one to compare with"; \
	else \
		echo "contract: comparing with $$baseline"; \
		mkdir -p build && git archive --format=tar --output=build/contract.tar "$$baseline" buf.yaml proto && \
		$(BIN)/buf breaking --against build/contract.tar; \
	fi

lock: ## Resolve the dependencies (needs uv: `pip install uv`). LOCK_ARGS=--upgrade for newer ones.
	$(LOCK) --output-file requirements.lock
	$(LOCK) --constraint requirements.lock --group dev --group chart --output-file requirements-dev.lock

clean: ## Remove what the tasks made, but not the data of a demo.
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --require-hashes --requirement requirements.lock
	$(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@

# The development lock holds the runtime one's versions too, so it satisfies the runtime stamp as well.
$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --require-hashes --requirement requirements-dev.lock
	$(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $(VENV)/.runtime $@
