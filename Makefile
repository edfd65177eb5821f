# `make help` says what there is. Everything but `make setup` works without root.
SHELL := /bin/bash
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Looked up when used, as `setup` may have just installed them.
CARGO_FOUND = $(shell CARGO="$(CARGO)" setup/find_cargo.sh)
RUST = $(if $(CARGO_FOUND),CARGO=$(CARGO_FOUND) RUSTC=$(dir $(CARGO_FOUND))rustc)
CCACHE = $(if $(shell command -v ccache),CMAKE_CXX_COMPILER_LAUNCHER=ccache)
PYTHON = $(shell for p in python3 /usr/bin/python3; do $$p -c 'import pytest' 2>/dev/null && echo $$p && break; done)
PYTEST = $(PYTHON) -m pytest -q -p no:cacheprovider
PART = setup/part.sh
SAMPLE = build/guests/greet

.PHONY: help setup build run test test-deep wasi-testsuite fuzz bench clean
help:        ## what there is
	@sed -n 's/^\([a-z-]*\): *\(.*\)## /  make \1\t/p' $(MAKEFILE_LIST) | sed 's/\t[^\t]*\t/\t/' | expand -t 23

setup:       ## install with apt what is missing (Debian 12, root or sudo), and say what
	@setup/install.sh

build:       ## build/bin/subako and the guests, with optimisation
	@$(RUST) engine/build.sh >/dev/null
	@$(RUST) $(CCACHE) cmake --preset release --log-level=WARNING >/dev/null
	@$(RUST) cmake --build --preset release

run: setup build       ## set up, build, then check and call a sample package
	build/bin/subako check $(SAMPLE)
	build/bin/subako call $(SAMPLE) greet '{"name":"Ada"}'

test: setup build       ## set up, build, then all unit and end-to-end tests
	@$(PART) "unit tests" 10m ctest --test-dir build -L unit --output-on-failure --no-tests=error -j2
	@$(PART) "end-to-end tests" 10m env SUBAKO=$(CURDIR)/build/bin/subako $(PYTEST) tests/e2e

test-deep: setup       ## the unit tests and the hostile guests under ASan and UBSan, and each fuzzer for 30 s
	@$(PART) "engine library" 10m env $(RUST) engine/build.sh >/dev/null
	@$(RUST) $(CCACHE) cmake --preset asan --log-level=WARNING >/dev/null
	@$(PART) "build with ASan and UBSan" 20m env $(RUST) cmake --build --preset asan
	@$(PART) "unit tests, ASan and UBSan" 15m env SUBAKO_SLOWDOWN=4 ctest --test-dir build/asan -L unit --output-on-failure --no-tests=error -j2
	@$(PART) "fuzzers" 20m env $(CCACHE) fuzz/fuzz.sh all 30
	@$(PART) "hostile guests, ASan and UBSan" 6m env SUBAKO=$(CURDIR)/build/asan/bin/subako SUBAKO_SLOWDOWN=4 \
	  SUBAKO_GUESTS=$(CURDIR)/build/asan/guests $(PYTEST) tests/e2e/test_hostile.py tests/e2e/test_cancel.py

SUITE =
wasi-testsuite: build       ## the standard's own tests: SUITE=a checkout of wasi-testsuite (CONTRIBUTING.md)
	@tests/wasi/testsuite.py "$(SUITE)" build/tests/wasi/run_module

FUZZ = picture
TIME = 30
fuzz:        ## look for faults in what reads strangers' bytes: FUZZ=picture TIME=30 (seconds; 0: until stopped)
	@$(CCACHE) fuzz/fuzz.sh $(FUZZ) $(TIME)

bench: build       ## measurements, paired and as ratios (on an idle machine; bench/bench.py says how)
	@$(RUST) cmake --build --preset release --target worker_bench node_bench
	@$(PYTHON) bench/bench.py build --json build/bench.json

clean:       ## remove what was built (the engine library stays in its cache)
	rm -rf build
