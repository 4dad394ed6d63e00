# SPDX-License-Identifier: Apache-2.0
# `make` without a target prints the list of targets.

.DEFAULT_GOAL := help
.PHONY: help prepare run test release dist install uninstall profile lint format dependencies schemas schemas-check client-types reference docs site tutorial new-project bindings chaos coverage measure throughput bench bench-soak bench-check instructions composed sanitize fuzz soak clean

# The program and the tests use the same flags, so that neither causes a rebuild of the other.
flags := --explicit-target-dependency-import-check error
# The program has a fixed address, as Go programs do: each start saves a hundred thousand relocations, a
# fifth of the time to the first response. The addresses of stack, heap and shared libraries stay random.
no_pie := $(if $(filter Linux,$(shell uname -s)),-Xswiftc -Xclang-linker -Xswiftc -no-pie)
# Other libraries that are linked statically: see Scripts/static-libraries.
static := $(if $(no_pie),-Xswiftc -L -Xswiftc .build/static -Xswiftc -Xclang-linker -Xswiftc -static-libgcc)
# C code has the names of its files in messages; without the folder of the clone they are the same everywhere.
anywhere := -Xcc -ffile-prefix-map=$(CURDIR)/=
# The runtime looks up a generic type by its name with all conformances of its arguments, 40 microseconds for each
# conformance. With this option the compiler passes them. A start with listeners has 60 such types.
direct_types := -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
PRODUCT = statewire
optimised = -c release -Xswiftc -enforce-exclusivity=unchecked $(direct_types) --static-swift-stdlib --disable-local-rpath --product $(PRODUCT) $(no_pie) $(static) $(anywhere)
# The optimiser inlines functions of one module into others, also into indirect dependents, which SwiftPM
# does not recompile after a change. Therefore an optimised build compiles all modules of this package.
own_objects = $(foreach module,$(notdir $(wildcard Sources/*)) StatewireProtocol BuiltinStoresProtocol $(PRODUCT),.build/release/$(module).build)
# What `statewire --version` prints beside the version. The commit ends with -dirty if files differ from it.
commit = $(shell git describe --always --abbrev=40 --dirty --exclude '*' 2>/dev/null)
toolchain = $(shell swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p')
facts = STATEWIRE_COMMIT=$(commit) STATEWIRE_TOOLCHAIN=$(toolchain) \
  $(if $(no_pie),STATEWIRE_ICU_SYMBOL=$(shell Scripts/icu-data .build/static))
# A smaller file: no exported symbols, which only plug-ins need; equal functions once, unless their address is taken;
# no unwind tables. Only lld can leave them out. As gold does, it keeps frequent functions beside each other.
smaller := $(if $(no_pie),-Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker --icf=safe -Xlinker -z \
  -Xlinker keep-text-section-prefix -Xlinker --no-eh-frame-hdr -Xlinker -T -Xlinker Scripts/release.lds)
swift_folders := $(wildcard Sources Tests Protocol Examples Benchmarks clients) Package.swift

# PORT, DATA_DIR and ONCE are for `make run`, FILTER is for `make test`, FULL for `make measure`,
# FUZZ_SECONDS for `make fuzz`.
export PORT DATA_DIR FILTER
export FUZZ_SECONDS ?= 600
export STATEWIRE_RUN_ONCE := $(or $(ONCE),$(STATEWIRE_RUN_ONCE))

# The generated files of the clients, each after its language.
client_types := python:clients/python/src/statewire/types.py typescript:clients/javascript/types.d.ts
generate_types = .build/debug/statewire types --protocol --language $(subst :, --output ,$(1))

bench_options = $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) \
  $(if $(PROGRAM),--program $(PROGRAM)) $(if $(PREVIOUS),--previous $(PREVIOUS)) \
  $(if $(filter undefined,$(origin SERVERS)),,--servers '$(SERVERS)')

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

run: prepare ## build and start the server, and show an example [PORT=7227] [DATA_DIR=dir] [ONCE=1]
	swift build $(flags) --product statewire
	@Scripts/run

test: prepare ## build and run all tests [FILTER=regex]
	@Scripts/test $(flags)

release: prepare ## build the optimised program with a static Swift runtime: .build/release/statewire
	@$(if $(no_pie),Scripts/static-libraries .build/static)
	@rm -rf $(own_objects)
	STATEWIRE_OPTIMISED=1 $(facts) swift build $(flags) $(optimised) $(smaller) -Xlinker -s$(shell Scripts/profile flags)
	@ls -lL .build/release/$(PRODUCT)

dist: ## write the packages into dist/: tarball, .deb, wheels, npm, image [PROGRAM=file]
	@Packaging/dist $(if $(PROGRAM),--program $(PROGRAM))

install: ## install the program, manual pages and completions [PREFIX=/usr/local] [DESTDIR=] [PROGRAM=file]
	@Packaging/install $(or $(PROGRAM),.build/release/statewire) $(DESTDIR)$(or $(PREFIX),/usr/local)

uninstall: ## remove them [PREFIX=/usr/local] [DESTDIR=]
	@Packaging/install --remove $(DESTDIR)$(or $(PREFIX),/usr/local)

profile: prepare ## record a new PGO profile for the release build, under the load of the benchmarks
	@$(if $(no_pie),Scripts/static-libraries .build/static)
	@rm -rf $(own_objects:.build/%=.build/profile/%)
	STATEWIRE_OPTIMISED=1 swift build $(flags) $(optimised) --scratch-path .build/profile$(shell Scripts/profile counting-flags)
	Scripts/profile record .build/profile/release/statewire

lint: prepare ## check the Swift format, the texts (Scripts/check-text) and the list of embedded files
	swift format lint --strict --parallel --recursive $(swift_folders)
	@Scripts/check-text --self-test
	@Scripts/check-text
	@Scripts/embed-files --check

format: prepare ## format the Swift files in place
	swift format format --in-place --parallel --recursive $(swift_folders)

dependencies: prepare ## check the imports of all modules against Scripts/dependency-rules.txt
	@Scripts/check-dependencies --self-test
	@Scripts/check-dependencies

schemas: prepare ## generate Protocol/Schemas from the program
	swift build $(flags) --product statewire
	.build/debug/statewire schema --output Protocol/Schemas

schemas-check: prepare ## check Protocol/Schemas against the program, the conversations and version 0.1.0
	swift build $(flags) --product statewire
	@Scripts/check-schemas --self-test
	@Scripts/check-schemas
	@$(foreach file,$(client_types),$(call generate_types,$(file)) --check || exit 1;)

client-types: prepare ## generate the types of the clients of this project from the program
	swift build $(flags) --product statewire
	@$(foreach file,$(client_types),$(call generate_types,$(file)) || exit 1;)

reference: prepare ## generate docs/reference/cli.md, limits.md and errors.md from the program
	swift build $(flags) --product statewire
	@Scripts/reference --update

docs: prepare ## build the documentation as a site in .build/documentation/site; warnings and broken links are errors
	swift build $(flags) --product statewire
	@Scripts/reference --check
	@Scripts/check-blocks docs/clients.md
	@Scripts/check-docs $(flags)
	@Scripts/site --self-test
	@Scripts/site

site: ## build the site without the documentation of the libraries; needs no Swift build
	@Scripts/site

tutorial: prepare ## build and run docs/tutorial.md, and compare its outputs
	@Scripts/check-tutorial $(flags)

new-project: prepare ## write a project with `statewire new`; build, test and serve it
	swift build $(flags) --product statewire
	@Scripts/check-new $(flags)

bindings: ## test the bindings of the JavaScript client for React, Vue and Svelte in Chromium
	@Tests/Bindings/test

chaos: prepare ## break servers at random under load, and check what the clients saw [SECONDS=1800] [NODES=3] [SEED=n]
	swift build $(flags) --product statewire
	@Tests/Nodes/test
	@Tests/Nodes/planted
	@Tests/Nodes/chaos --seconds $(or $(SECONDS),1800) --nodes $(or $(NODES),3) $(if $(SEED),--seed $(SEED))

coverage: prepare ## measure the line coverage of the core; fail below 90 %
	@Scripts/coverage $(flags)

measure: prepare ## run the load and fault scripts of Tests/Scripts against the debug build [FULL=1]
	swift build $(flags) --product statewire
	swift build $(flags) --product EvolvingServer
	@for script in cancel-balance configuration large-file no-secrets thousand-loaders untrusted-clients; do Tests/Scripts/$$script || exit 1; done
	@Tests/Scripts/few-descriptors $(if $(FULL),--rounds 8)
	@Tests/Scripts/websocket-conformance
	@Tests/Scripts/cut-connection $(if $(FULL),,--cuts 300)
	@Tests/Scripts/shared-session $(if $(FULL),,--inputs 4000)
	@Tests/Scripts/slow-consumer $(if $(FULL),,--inputs 30000)
	@Tests/Scripts/many-connections $(if $(FULL),,--held 1000 --dropped 2000)
	@Tests/Scripts/evolve-states $(if $(FULL),,--sessions 100)
	@Tests/Scripts/kill-server $(if $(FULL),--kills 200,--kills 10)
	@Tests/Scripts/kill-server --cut --measured 0 $(if $(FULL),--kills 100,--kills 5)
	@Tests/Scripts/kill-server --durability power $(if $(FULL),--kills 50,--kills 3)

throughput: ## measure 10,000 inputs of each client against the release build, which must exist [PROGRAM=file]
	@export STATEWIRE=$(or $(PROGRAM),$(CURDIR)/.build/release/statewire); \
	for client in python javascript swift; do printf '%s: ' $$client; clients/$$client/throughput || exit 1; done

bench: ## benchmark the release build, the baseline in C and other servers [SECTIONS="tcp stdio"] [ROUNDS=5]
	@$(if $(filter undefined,$(origin SERVERS)),Scripts/prepare go || echo 'bench: without Go' >&2)
	@Benchmarks/run $(SECTIONS) $(bench_options)

instructions: release ## count the instructions of an input; compare with Benchmarks/instructions.json [UPDATE=1]
	@Scripts/prepare valgrind
	@UPDATE=$(UPDATE) Benchmarks/instructions

composed: ## count the instructions of an input to a store of ten others; compare with one machine
	@$(MAKE) release PRODUCT=ComposedServer
	@Scripts/prepare valgrind
	@Benchmarks/instructions --composed --program .build/release/ComposedServer

bench-check: ## check that the benchmarks detect planted faults
	@Scripts/prepare valgrind
	@Benchmarks/tests/run $(wildcard .build/debug/statewire)

bench-soak: ## run a mixed load for an hour; fail if memory or response times grow [MINUTES=60]
	@Benchmarks/run soak --minutes $(or $(MINUTES),60) --out .build/benchmarks/soak --strict $(bench_options)

sanitize: export LSAN_OPTIONS := suppressions=$(CURDIR)/Scripts/known-leaks.txt:print_suppressions=0
sanitize: export ASAN_OPTIONS := suppressions=$(CURDIR)/Scripts/known-overflows.txt
sanitize: export TSAN_OPTIONS := suppressions=$(CURDIR)/Scripts/known-races.txt
# Tests run one after another: in parallel under a sanitizer they exceed their time limits.
sanitize: prepare ## build and run all tests with the thread sanitizer, then with the address sanitizer
	@Scripts/test $(flags) --no-parallel --sanitize thread --scratch-path .build/tsan
	@Scripts/test $(flags) --no-parallel --sanitize address --scratch-path .build/asan

fuzz: prepare ## fuzz all code that reads the bytes of a client [FUZZ_SECONDS=600]
	@Scripts/fuzz

soak: export STATEWIRE_PAIRS ?= 1000000
soak: prepare ## run the optimised tests with a million random cases for each randomised test
	@Scripts/test $(flags) -c release -Xswiftc -enable-testing --scratch-path .build/soak

clean: ## remove all build products
	rm -rf .build

prepare: ## install missing build dependencies, or print the command that does
	@Scripts/prepare
