# outagefl: every target sets up what it needs. `make help` lists them.
SCALE ?= quick
CORES ?= all
PYTHON ?= python3
# Sources from local paths: make reproduce SCALE=laptop LOCAL="cifar10: /data/cifar10.tar.xz"
LOCAL ?=
# More to describe: make describe DESCRIBE="cifar100, femnist"
DESCRIBE ?=
# Other keys of config.yaml: make reproduce CONFIG="device=cpu offline=true"
CONFIG ?=
# Anything else for Snakemake, or pytest: make reproduce ARGS="--keep-incomplete"
ARGS ?=
# What `make why` is asked about, a file or an experiment: make why TARGET=sfg/outages
TARGET ?=

VENV := .venv
BIN := $(VENV)/bin
quoted = $(subst ','\'',$(1)) # for the shell, within single quotes
SETTINGS := --config scale=$(SCALE) $(if $(LOCAL),'local={$(call quoted,$(LOCAL))}') $(if $(DESCRIBE),'describe=[$(call quoted,$(DESCRIBE))]') $(CONFIG)
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) $(ARGS) $(SETTINGS)
OUTAGEFL := PYTHONPATH=workflow $(BIN)/python -m outagefl
SOURCES := workflow/outagefl workflow/scripts tests benchmarks

ifneq ($(filter --config -C,$(ARGS)),)
$(error --config in ARGS would replace SCALE and LOCAL; give keys of the configuration as CONFIG="key=value …")
endif

ifneq ($(filter 0 -%,$(CORES)),)
$(error CORES=$(CORES): expected all or a number above 0)
endif

ifneq ($(words $(SCALE)),1)
$(error SCALE=$(SCALE): expected the name of one scale, such as quick)
endif

ifneq ($(filter-out 0 1,$(words $(TARGET))),)
$(error TARGET=$(TARGET): expected one file or experiment, such as sfg/outages)
endif

.DEFAULT_GOAL := help
.PHONY: help setup estimate costs reproduce describe report claims dry-run why verify archive orphans test lint lock clean-results

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18
	@echo 'Options: SCALE=quick|laptop|paper  CORES=all|N  LOCAL="source: path"  CONFIG="key=value"  ARGS="…"  PYTHON=python3'

setup: $(VENV)/.ready ## create .venv from the pinned lock

$(VENV)/.ready: envs/requirements.lock envs/requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"outagefl needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.lock -r envs/requirements-dev.lock
	@touch $@

estimate: $(VENV)/.ready ## say what `reproduce` would take: time, memory, disk, downloads
	@PYTHONPATH=workflow $(BIN)/python -m outagefl estimate --cores $(CORES) $(ARGS) $(SETTINGS)

costs: $(VENV)/.ready ## measure what training at SCALE costs on this machine, for `estimate`
	$(BIN)/python benchmarks/costs.py results/costs.yaml $(SETTINGS)

reproduce: $(VENV)/.ready ## run the studies at SCALE and write the report
	$(SNAKEMAKE)
	@echo
	@echo "Report:  results/$(SCALE)/report.html"
	@echo "Claims:  results/$(SCALE)/claims.html (in short: make claims)"
	@echo "Runs:    results/$(SCALE)/runs.csv"
	@echo "Tables and figures: results/$(SCALE)/<study>/<experiment>/"

claims: $(VENV)/.ready ## print the verdicts on the published claims at SCALE
	@$(OUTAGEFL) claims $(ARGS) results/$(SCALE)

report: $(VENV)/.ready ## write the report alone, and what of it is missing
	$(BIN)/snakemake results/$(SCALE)/report.html --cores $(CORES) $(ARGS) $(SETTINGS)

describe: $(VENV)/.ready ## draw the data sets, partitions and traces that SCALE uses
	$(BIN)/snakemake describe --cores $(CORES) $(ARGS) $(SETTINGS)
	@echo "Report: results/$(SCALE)/describe/report.html"

dry-run: $(VENV)/.ready ## say what `reproduce` would do
	$(SNAKEMAKE) --dry-run

why: $(VENV)/.ready ## say why `reproduce` would run what it would, for TARGET or everything
	@$(OUTAGEFL) why $(TARGET) $(SETTINGS)

verify: $(VENV)/.ready ## say which results at SCALE are missing, edited or stale
	@$(OUTAGEFL) verify $(ARGS) results/$(SCALE)

archive: $(VENV)/.ready ## pack the results at SCALE into one file for others (ARGS=--with-inputs: partitions etc., too)
	@$(OUTAGEFL) archive $(ARGS) results/$(SCALE)

orphans: $(VENV)/.ready ## list runs that nothing asks for any more (ARGS=--remove: and delete them, after asking)
	@$(OUTAGEFL) orphans $(ARGS) $(SETTINGS)

test: tests $(VENV)/.ready ## run the tests
	$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

tests:
	@echo 'There is no tests/: it belongs to the repository, not to archives of results.'; exit 1

lint: $(VENV)/.ready ## check formatting, style, types, the workflow, licences and citation
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/snakefmt --check workflow/Snakefile workflow/rules
	$(BIN)/snakemake --lint
	$(BIN)/reuse lint --quiet
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

lock: ## resolve pyproject.toml and envs/requirements-dev.in into the lock files (needs uv)
	cd envs && uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header ../pyproject.toml -o requirements.lock
	cd envs && uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header requirements-dev.in -o requirements-dev.lock

clean-results: ## delete results/ after asking
	@test -d results || { echo "There is no results/."; exit 0; }; \
	du -sh results; \
	printf 'Delete results/ with all trained runs? [y/N] '; \
	read answer; \
	if [ "$$answer" = y ]; then rm -r results && echo Deleted.; else echo Kept.; fi
