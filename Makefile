# Entry for people: each target installs what is missing, then drives CMake and Ninja.
# `make help` lists the targets. PREFIX and DESTDIR work as usual for `make install`.

PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)

.DEFAULT_GOAL := all
.PHONY: all product release debug demo test sim sweep test-interop test-stores test-all bench asan tsan fuzz lint check format install \
        clean distclean help deps deps-lint

all: product ## build the library and the program (build/release)

deps:
	@tools/setup-deps
	@tools/fetch-deps

deps-lint: deps
	@tools/setup-deps --lint

# configure-and-build PRESET [TARGET]
define build-preset
	@cmake --preset $(1) >/dev/null
	@cmake --build --preset $(1) --parallel $(JOBS)
endef

# what is installed; the tests take longer to build than all of it
product: deps
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS) --target silt_program silt_duckdb silt_remote

release: deps
	$(call build-preset,release)

debug: deps ## build without optimisation (build/debug)
	$(call build-preset,debug)

demo: product ## build, then show the main job on data made on the spot
	@SILT=$(CURDIR)/build/release/bin/silt examples/demo/run

test: release ## build and run every test that needs no JVM and no server
	@ctest --preset release --parallel 2 --no-tests=error

sim: deps ## run the deterministic simulation; SIM_HISTORIES=n for more than 2000 histories
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS) --target sim
	@build/release/tests/sim/sim

sweeps = test_kill_points test_fault_sweep test_memory_statements test_concurrent_appends
sweep: deps ## kill, fail and starve whatever writes, at every point (make test takes samples)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS) --target silt_duckdb $(sweeps)
	@export SILT_SWEEP=all SILT_ENGINE_PATH=$(CURDIR)/build/release/lib/libsilt_duckdb.so; \
	  for sweep in $(sweeps); do build/release/tests/crash/$$sweep || exit 1; done

test-interop: product ## run the tests against other implementations (AREAS="types mixed" for some)
	@SILT=$(CURDIR)/build/release/bin/silt tests/interop/run $(AREAS)

test-stores: product ## run the tests of stores against servers (STORES="s3 az" for some)
	@cmake --build --preset release --parallel $(JOBS) --target contract
	@SILT=$(CURDIR)/build/release/bin/silt tests/stores/run $(STORES)

test-all: test asan tsan sweep ## test, asan, tsan, sweep, test-interop and test-stores
	@if [ -x tests/interop/run ]; then $(MAKE) --no-print-directory test-interop; fi
	@$(MAKE) --no-print-directory test-stores

bench: release ## run the benchmarks
	@cmake --build --preset release --parallel $(JOBS) --target bench-tools
	@SILT=$(CURDIR)/build/release/bin/silt bench/run

asan: deps ## build with AddressSanitizer and UBSan, run the tests
	$(call build-preset,asan)
	@ctest --preset asan --parallel 2 --no-tests=error

# Unit tests only: libduckdb is not instrumented, so that TSan does not see how its threads and ours wait for each other, and reports
# races that are none, now and then.
tsan: deps ## build with ThreadSanitizer, run the unit tests
	$(call build-preset,tsan)
	@ctest --preset tsan --parallel 2 --no-tests=error --label-regex unit

clang: deps ## build with clang, run the tests
	@tools/setup-deps --clang
	$(call build-preset,clang)
	@ctest --preset clang --parallel 2 --no-tests=error

fuzz: deps ## build the fuzzers (build/fuzz); FUZZ_SECONDS=n runs each for n seconds
	@tools/setup-deps --fuzz
	$(call build-preset,fuzz)
	@if [ -n "$(FUZZ_SECONDS)" ]; then tools/fuzz --seconds "$(FUZZ_SECONDS)"; fi

check: release ## run the project's own checks (layers, style, symbols)
	@tools/check --build build/release

lint: deps-lint ## check the format, clang-tidy, and the project's own checks (FILES=changed for less)
	@tools/format --check
	@tools/tidy $(if $(filter changed,$(FILES)),--changed)
	@$(MAKE) --no-print-directory check

format: deps-lint ## format the sources in place
	@tools/format

install: product ## install under PREFIX (default /usr/local), below DESTDIR if given
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove what was built
	@rm -rf build

distclean: clean ## remove what was built and what was fetched
	@rm -rf .deps

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'
