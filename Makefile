# Sets everything up on a bare machine with nothing but Python 3.11-3.13, and runs things there.
#   make run    set up and run the quickstart        make test   set up and run checks and tests
#   make setup  only set up (.venv)                  make lock   renew the lock files
#   make alfworld  besides, the official ALFWorld package (env.engine=textworld); needs g++ and make
#   make miniwob   besides, MiniWoB++'s pages (env=miniwob); needs a Chromium
# BUILD=cpu|gpu overrides what is chosen by looking for an NVIDIA GPU; PYTHON=... the interpreter.

SHELL := /bin/bash
BUILD ?= $(shell nvidia-smi -L 2>/dev/null | grep -q GPU && echo gpu || echo cpu)
ARGS ?= experiment=quickstart
VENV := .venv
STAMP := $(VENV)/.complete-$(BUILD)
BIN := $(VENV)/bin

.PHONY: run test check setup alfworld miniwob lock clean
.DEFAULT_GOAL := run

run: $(STAMP)
	@$(BIN)/groundling run $(ARGS)

test: $(STAMP)
	@$(MAKE) --no-print-directory check
	@.ci/test $(BIN)/python

check: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

setup: $(STAMP)

# A finished installation is marked only at its very end; one that was interrupted is begun again.
$(STAMP): pyproject.toml requirements-$(BUILD).lock .ci/install
	@.ci/install $(BUILD) $(VENV)
	@touch $@

alfworld: $(VENV)/.complete-alfworld

$(VENV)/.complete-alfworld: $(STAMP) requirements-alfworld.lock .ci/alfworld
	@.ci/alfworld $(VENV)
	@touch $@

miniwob: $(VENV)/.complete-miniwob

$(VENV)/.complete-miniwob: $(STAMP) requirements-miniwob.lock .ci/miniwob
	@.ci/miniwob $(VENV)
	@touch $@

lock:
	@.ci/lock

clean:
	rm -rf $(VENV) dist
