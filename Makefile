# Two commands do all the set-up: `make demo` and `make test`. Both work offline once set up.
# A stamp file remembers what was installed, so second runs install nothing.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The daemon's own default place for models, so that every clone and every run share one verified copy.
MODELS ?= $(shell if [ "$$(id -u)" = 0 ]; then echo /var/lib/recalld/models; \
            else echo "$${XDG_DATA_HOME:-$$HOME/.local/share}/recalld/models"; fi)

# The checks run one after another, also under `make -j`: the machine they are timed for has two cores.
.NOTPARALLEL:
.PHONY: demo test check lint types contracts unit models calibration score-sample bench bench-index bench-scale wheel-check lock clean help

help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(STAMP) models ## the whole product on one screen, with the real models
	$(BIN)/recalld demo --model-dir "$(MODELS)"

test: $(STAMP) models check unit wheel-check ## everything CI runs

check: $(STAMP) lint types contracts ## linters, types and import contracts

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP) .ns/recalld
	$(BIN)/mypy -p recalld.daemon -p recalld.actors -p recalld.models -p recalld.protocol

contracts: $(STAMP) .ns/recalld
	$(BIN)/lint-imports

unit: $(STAMP) models .ns/recalld
	RECALLD_TEST_MODELS="$(MODELS)" $(BIN)/pytest -q

wheel-check: $(STAMP) models ## the built wheel installs and runs in a clean environment
	RECALLD_TEST_MODELS="$(MODELS)" $(BIN)/python tests/packaging/wheel_check.py

models: $(STAMP)
	@$(BIN)/recalld models provision --model-dir "$(MODELS)"

calibration: $(STAMP) models ## fit the shipped calibration anew; DATE=YYYY-MM-DD goes into the record
	$(BIN)/python tests/calibration/fit_shipped.py --model-dir "$(MODELS)" --date "$(or $(DATE),$(shell date -I))"
	$(BIN)/recalld calibrate --admission --model-dir "$(MODELS)" --date "$(or $(DATE),$(shell date -I))" \
	  --out models/calibration/data/admission.json

score-sample: $(STAMP) models ## write into the shipped calibration how its scores are distributed
	$(BIN)/python tests/calibration/score_sample.py --model-dir "$(MODELS)"

bench: $(STAMP) models ## latency of gate and total, memory, time to READY
	$(BIN)/python tests/benchmarks/recall_latency.py --model-dir "$(MODELS)"

bench-scale: $(STAMP) models ## the read path without scoring: large memories, first recalls, other users
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/benchmarks/read_scale.py --model-dir "$(MODELS)"

bench-index: $(STAMP) ## load and search of a user's vector index at several sizes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/benchmarks/index_scale.py

$(STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'recalld needs Python 3.11 or newer: make PYTHON=python3.12 …' >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
	  || { echo 'the venv module is missing: apt-get install python3-venv' >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

# mypy and import-linter see the namespace through this link (an editable install maps folders in a way they cannot follow).
.ns/recalld:
	@mkdir -p .ns && ln -sfn .. .ns/recalld

lock: ## refresh constraints.txt from what the newest allowed versions are
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check '.[dev]'
	{ echo '# Exact versions that `make` and CI install. Refreshed with `make lock`.'; \
	  $(VENV)/lock/bin/python -m pip freeze --all --exclude pip --exclude recalld; } > constraints.txt
	rm -rf $(VENV)/lock build

clean: ## remove what was built; keep the models
	rm -rf $(VENV) .ns build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
