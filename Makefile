# Atelier. `make` shows what there is; CI runs `make test check`.
GO       ?= go
BIN      := bin/atelier
OUT      ?= demo-report
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 60s
# The race detector needs a C compiler; without one the tests run all the same. It watches
# every package; only the checks of unsafe pointers that come with it leave out SQLite, which
# is C made into Go: they would be a third of the time of all tests.
RACE     := $(shell command -v cc >/dev/null 2>&1 && echo '-race -gcflags=modernc.org/...=-d=checkptr=0')
# More tests at once than processors, because many wait for processes that they started.
PARALLEL ?= 8
LINT     := bin/golangci-lint
# The command-line tests for which the database matters, by parts of their names, and those
# that have such a name but look at files of SQLite or at no database at all: `make test`
# proves the same. PGTESTS=. PGSKIP=- runs all on PostgreSQL.
PGTESTS  ?= Kill|Stopped|Serve|Server|Database|ImageInput|Doctor|Engine|SavedStates|Pause|Open|Approval|Retry|Fork|Budget|Timeout|Cancel|Dead|AskedAgain|Signal|AtOnce|Canary|Resume|Bytes|Pictures|Money|Cost|Conversation|ShareADataFolder
PGSKIP   ?= EngineFile|DatabaseFilesGo|SourcesThatDoNotServe|DoctorKnowsWhoSearches|EveryServiceIsShownPictures|PicturesThatAreConverted|CostInWords|RetryAfterIsTooLong
SOURCES  := $(shell git ls-files '*.go' '*.sql' '*.yaml' '*.md' go.mod go.sum 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build demo run test race matrices postgres check lint fmt generate verify gallery bench bench-compare fuzz e2e dev clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## compile the one binary, without CGO
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/atelier

demo: BUILDFLAGS := -v
demo: compiling build ## turn examples/energy into an illustrated report and open it
	@echo "Reading examples/energy and writing $(OUT)/report.html …"
	$(BIN) run research-agent "How has electricity generation changed by source, in which year did natural disasters cause the most deaths, how much did the mean CO2 rise from 1959 to 2019, and which year was the warmest? Include charts and one illustration of wind turbines and solar panels." --files examples/energy --out $(OUT) --open

.PHONY: compiling
compiling:
	@echo "Compiling bin/atelier: a few minutes the first time, seconds afterwards. Each package is named when it is done."

run: build ## run the binary: make run ARGS='models list'
	$(BIN) $(ARGS)

test: ## run every Go test in minutes; the matrices of killed processes with fewer rows
	$(GO) test -short -timeout 15m -parallel $(PARALLEL) ./...

race: ## run the Go tests with the race detector
	$(GO) test $(RACE) -short -timeout 25m -parallel $(PARALLEL) ./...

matrices: ## play every row of the matrices of killed processes
	$(GO) test -timeout 15m -parallel $(PARALLEL) -run 'Kill|DeadRun' ./cmd/atelier

postgres: ## run the tests that need a real PostgreSQL; they start it themselves
	$(GO) test $(RACE) -tags postgres -timeout 15m ./ledger/postgres ./run ./run/durable ./action/database
	$(GO) test -tags postgres -short -timeout 15m -parallel 6 -run '$(PGTESTS)' -skip '$(PGSKIP)' ./cmd/atelier

check: lint verify race matrices postgres e2e ## lint, generated files, race detector, killed processes, PostgreSQL, Chromium, benchmarks once
	$(GO) test -run '^$$' -bench . -benchtime 1x ./... >/dev/null

$(LINT): tools/go.mod tools/go.sum
	cd tools && $(GO) build -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

lint: $(LINT) ## vet, format and lint
	$(LINT) run ./...
	$(LINT) run --build-tags postgres ./internal/pgtest ./ledger/postgres ./run ./run/durable ./action/database ./cmd/atelier

fmt: $(LINT) ## format the code
	$(LINT) fmt ./...

generate: ## write the generated parts of the documentation, and captured requests
	$(GO) test ./cmd/atelier -run '^Test(Reference|Guides)$$' -update
	$(GO) test ./generate/generatetest/roster -run '^TestReport$$' -update
	$(GO) test ./chat -run '^TestEveryProviderGetsItsImageParts$$' -update

verify: ## fail if go.mod or a generated file is out of date (the tests check docs/reference.md, docs/actions.md, docs/agents.md, docs/conformance.md)
	$(GO) mod tidy -diff
	$(GO) -C bench mod tidy -diff
	$(GO) -C examples/outside mod tidy -diff

gallery: ## draw every visual action with many inputs into gallery/index.html
	$(GO) run ./examples/gallery -out $(or $(GALLERY),gallery)

bench: ## run the benchmarks, readable by benchstat: make bench | tee new.txt
	$(GO) test -run '^$$' -bench . -benchmem -count $(or $(COUNT),6) ./...

bench-compare: ## Atelier beside Bifrost and the AI SDK, against one simulator (needs a network once, for their packages): ROUNDS=5
	cd bench && for s in simulator discard atelier bifrost compare; do $(GO) build -o bin/$$s ./$$s || exit 1; done
	cd bench/aisdk && ([ -d node_modules ] || ! command -v npm >/dev/null || npm ci --no-audit --no-fund)
	cd bench && bin/compare -rounds $(or $(ROUNDS),5)

fuzz: ## fuzz each parser for FUZZTIME, 60s: those of the bodies of providers among them
	@failed=; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$p || failed="$$failed $$p.$$f"; \
	  done; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

e2e: build ## open a produced report in Chromium, light and dark, wide and narrow
	cd e2e && ([ -d node_modules ] || npm ci --no-audit --no-fund) && node --test

dev: ## rebuild and rerun the tests of what changed
	$(GO) test ./...

clean: ## remove what was built
	rm -rf bin gallery $(OUT) e2e/out e2e/node_modules bench/bin bench/aisdk/node_modules
