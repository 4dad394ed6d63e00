# SPDX-License-Identifier: Apache-2.0
# `make` alone lists what there is.

.DEFAULT_GOAL := help
.PHONY: help prepare run test release profile lint format dependencies schemas schemas-check client-types reference docs site coverage measure throughput bench bench-soak bench-check instructions sanitize fuzz soak clean

# The program and the tests are built with the same flags, so that neither builds the other again.
flags := --explicit-target-dependency-import-check error
# A program at a fixed address, as Go builds them: a hundred thousand addresses less to correct at each
# start, a fifth of the time to the first answer. Stack, heap and shared libraries stay random.
no_pie := $(if $(filter Linux,$(shell uname -s)),-Xswiftc -Xclang-linker -Xswiftc -no-pie)
# What else is linked statically: see Scripts/static-libraries.
static := $(if $(no_pie),-Xswiftc -L -Xswiftc .build/static -Xswiftc -Xclang-linker -Xswiftc -static-libgcc)
optimised = -c release -Xswiftc -enforce-exclusivity=unchecked --static-swift-stdlib --disable-local-rpath --product statewire $(no_pie) $(static)
# Functions of one module become part of others, also of those that do not depend on it directly, and SwiftPM does not
# compile these again when it changes: so an optimised build compiles all modules of this package.
own_objects = $(foreach module,$(notdir $(wildcard Sources/*)) StatewireProtocol BuiltinStoresProtocol,.build/release/$(module).build)
swift_folders := $(wildcard Sources Tests Protocol Examples clients) Package.swift

# PORT, DATA_DIR and ONCE are for `make run`, FILTER is for `make test`, FULL for `make measure`,
# FUZZ_SECONDS for `make fuzz`.
export PORT DATA_DIR FILTER
export FUZZ_SECONDS ?= 600
export STATEWIRE_RUN_ONCE := $(or $(ONCE),$(STATEWIRE_RUN_ONCE))

bench_options = $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) \
  $(if $(PROGRAM),--program $(PROGRAM)) $(if $(PREVIOUS),--previous $(PREVIOUS)) \
  $(if $(filter undefined,$(origin PEERS)),,--peers '$(PEERS)')

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: prepare ## build and start the service, see it at work [PORT=7227] [DATA_DIR=dir] [ONCE=1]
	swift build $(flags) --product statewire
	@Scripts/run

test: prepare ## build and run all tests [FILTER=regex]
	@Scripts/test $(flags)

release: prepare ## the program with the Swift runtime inside, at .build/release/statewire
	@$(if $(no_pie),Scripts/static-libraries .build/static)
	@rm -rf $(own_objects)
	STATEWIRE_OPTIMISED=1 swift build $(flags) $(optimised) -Xlinker -s$(shell Scripts/profile flags)
	@ls -lL .build/release/statewire

profile: prepare ## what the release build is laid out by, written anew under the load of the benchmarks
	@$(if $(no_pie),Scripts/static-libraries .build/static)
	@rm -rf $(own_objects:.build/%=.build/profile/%)
	STATEWIRE_OPTIMISED=1 swift build $(flags) $(optimised) --scratch-path .build/profile$(shell Scripts/profile counting-flags)
	Scripts/profile record .build/profile/release/statewire

lint: prepare ## formatting, the facts that Scripts/check-text knows, the list of the page's files
	swift format lint --strict --parallel --recursive $(swift_folders)
	@Scripts/check-text --self-test
	@Scripts/check-text
	@Scripts/embed-page --check

format: prepare ## rewrite the Swift files in the house's format
	swift format format --in-place --parallel --recursive $(swift_folders)

dependencies: prepare ## which module imports which, against Scripts/dependency-rules.txt
	@Scripts/check-dependencies --self-test
	@Scripts/check-dependencies

schemas: prepare ## write Protocol/Schemas anew, as the program says
	swift build $(flags) --product statewire
	.build/debug/statewire schema --output Protocol/Schemas

schemas-check: prepare ## Protocol/Schemas against the program, every conversation and the last release
	swift build $(flags) --product statewire
	@Scripts/check-schemas --self-test
	@Scripts/check-schemas
	@Scripts/generate-clients --check

client-types: ## write the types of the clients anew, from Protocol/Schemas
	Scripts/generate-clients

reference: prepare ## write docs/reference/cli.md, limits.md and errors.md from the program
	swift build $(flags) --product statewire
	@Scripts/reference --update

docs: prepare ## the documentation as a site, in .build/documentation/site; warnings and broken links are errors
	swift build $(flags) --product statewire
	@Scripts/reference --check
	@Scripts/check-docs $(flags)
	@Scripts/site --self-test
	@Scripts/site

site: ## the same without the documentation of the libraries, without a build
	@Scripts/site

coverage: prepare ## line coverage of the core; under 90 % is a failure
	@Scripts/coverage $(flags)

measure: prepare ## the scripts of Tests/Scripts against the debug build [FULL=1]
	swift build $(flags) --product statewire
	@for script in cancel-balance large-file no-secrets thousand-loaders untrusted-clients; do Tests/Scripts/$$script || exit 1; done
	@Tests/Scripts/few-descriptors $(if $(FULL),--rounds 8)
	@Tests/Scripts/websocket-conformance
	@Tests/Scripts/cut-connection $(if $(FULL),,--cuts 300)
	@Tests/Scripts/shared-session $(if $(FULL),,--inputs 4000)
	@Tests/Scripts/slow-consumer $(if $(FULL),,--inputs 30000)
	@Tests/Scripts/many-connections $(if $(FULL),,--held 1000 --dropped 2000)
	@Tests/Scripts/kill-server $(if $(FULL),--kills 200,--kills 10)
	@Tests/Scripts/kill-server --cut --measured 0 $(if $(FULL),--kills 100,--kills 5)
	@Tests/Scripts/kill-server --durability power $(if $(FULL),--kills 50,--kills 3)

throughput: ## 10,000 inputs by each client, against the release build
	@export STATEWIRE=$(or $(PROGRAM),$(CURDIR)/.build/release/statewire); \
	for client in python javascript swift; do printf '%s: ' $$client; clients/$$client/throughput || exit 1; done

bench: ## Statewire beside hand-written C and its peers, the release build [SECTIONS="tcp stdio"] [ROUNDS=5]
	@$(if $(filter undefined,$(origin PEERS)),Scripts/prepare go || echo 'bench: without Go' >&2)
	@Benchmarks/run $(SECTIONS) $(bench_options)

instructions: release ## what an input costs in instructions, against Benchmarks/instructions.json [UPDATE=1]
	@Scripts/prepare valgrind
	@UPDATE=$(UPDATE) Benchmarks/instructions

bench-check: ## that the benchmarks find the faults that are planted for them
	@Scripts/prepare valgrind
	@Benchmarks/tests/run $(wildcard .build/debug/statewire)

bench-soak: ## mixed load over time: memory and latency stay as they are [MINUTES=60]
	@Benchmarks/run soak --minutes $(or $(MINUTES),60) --out .build/benchmarks/soak --strict $(bench_options)

sanitize: export LSAN_OPTIONS := suppressions=$(CURDIR)/Scripts/known-leaks.txt:print_suppressions=0
sanitize: export ASAN_OPTIONS := suppressions=$(CURDIR)/Scripts/known-overflows.txt
# One test after the other: all at once are so slow under a sanitizer that their time is up.
sanitize: prepare ## the tests under the thread and the address sanitizer
	@Scripts/test $(flags) --no-parallel --sanitize thread --scratch-path .build/tsan
	@Scripts/test $(flags) --no-parallel --sanitize address --scratch-path .build/asan

fuzz: prepare ## random bytes on every way that a peer's bytes take [FUZZ_SECONDS=600]
	@Scripts/fuzz

soak: export STATEWIRE_PAIRS ?= 1000000
soak: prepare ## the tests with a million random cases where the usual run has a few, optimised
	@Scripts/test $(flags) -c release -Xswiftc -enable-testing --scratch-path .build/soak

clean: ## remove everything that was built
	rm -rf .build

prepare: ## what the build needs, installed where that is allowed
	@Scripts/prepare
