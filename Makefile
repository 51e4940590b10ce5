# Atelier. `make` shows what there is; CI runs `make test check`.
GO       ?= go
BIN      := bin/atelier
OUT      ?= demo-report
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 60s
# The race detector needs a C compiler; without one the tests run all the same. It does not watch the code of
# SQLite, which is C made into Go, of the painter (internal/house checks that it starts no goroutine), and of
# compression, hashes and image formats, which start none either: they would be most of its time. What
# Go code does with their results is watched.
UNWATCHED := modernc.org/... atelier/generate/provider/offline golang.org/x/image/... compress/... hash/... image/...
RACE     := $(shell command -v cc >/dev/null 2>&1 && echo '-race $(UNWATCHED:%=-gcflags=%=-race=false)')
# What is built is built without CGO, as it ships, so that the binary, the tests and the linter share what
# is compiled; only the race detector needs CGO.
export CGO_ENABLED := 0
WITH_RACE := CGO_ENABLED=$(if $(RACE),1,0)
# The race detector leaves out packages that start no goroutine and share nothing between those of
# others (internal/house checks it), and tests in which one goroutine computes. `make test` runs both.
RACELESS := ^atelier/(action/(internal/(charset|docx)|file|mediaset|picture|table|visual)|draw|agent/(evidence|formtext|report)|examples/gallery|generate/provider/offline|chat/offline/question$$|internal/house|media/probe|workflow/(conform|module|ordered|patch|problem|template|view))(/|$$)
RACESKIP ?= ^TestCanary$$|BrokenItemsAtAnyChunking|AnotherModuleUsesAtelier|LongAndTurnedText|ChatReport|ChatAnswersAreBounded|OlderSchemaIsBroughtUp
# More tests at once than processors, and packages (-p 3), because many wait for processes that they started.
# `make test` runs twice as many: without the race detector they take little memory.
PARALLEL ?= 8
LINT     := bin/golangci-lint
SUM      := bin/gotestsum
# The command-line tests for which the database matters, by parts of their names: several processes, takeovers, saved
# states, what is searched for bytes. The statements themselves are tested by ledger/ledgertest on both databases.
# PGTESTS=. runs all on PostgreSQL.
PGTESTS  ?= Kill|Dead|Machine|Share|Processes|TwoResumes|TwoOpen|CancelTells|CancelFromElsewhere|HandsOver|ServeTakes|Server|DatabaseGoes|DoctorShows|ListsAndDoctor|SavedStates|CanaryThroughConversations|EverydayStrings|ForkWithOther|PausedRunOnThe|BudgetsOfAnOwner|BytesThatGoAway
# The command-line tests that the race detector watches. The others start one command after
# another, and the packages behind them are watched with their own tests.
RACETESTS ?= AtOnce|CtrlC|TestChatA|Serve|Stopped|Signal|Share|RunsAtOnce
SOURCES  := $(shell git ls-files '*.go' '*.sql' '*.yaml' '*.md' go.mod go.sum 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help build demo run test race matrices postgres check lint fmt generate verify gallery bench bench-compare performance fuzz web web-check e2e figures screenshots dev clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## compile the one binary, without CGO
	$(GO) build $(BUILDFLAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/atelier

demo: BUILDFLAGS := -v
demo: compiling build ## turn examples/energy into an illustrated report and open it
	@echo "Reading examples/energy and writing $(OUT)/report.html …"
	$(BIN) run research-agent "How has electricity generation changed by source, in which year did natural disasters cause the most deaths, how much did the mean CO2 rise from 1959 to 2019, and which year was the warmest? Include charts and one illustration of wind turbines and solar panels." --files examples/energy --out $(OUT) --open

.PHONY: compiling
compiling:
	@echo "Compiling bin/atelier: a few minutes the first time, seconds afterwards. Each package is named when it is done."

run: build ## build and start the server at http://127.0.0.1:8484; or another command: make run ARGS='models list'
	$(BIN) $(or $(ARGS),serve)

# Runs tests: $(call gotest,FLAGS,PACKAGES), without vet, which `make lint` runs. With RERUN=1, as in CI, up to
# three tests that fail run once more, each by itself, and are named at the end: such a test is a fault to look
# into. A data race always fails.
ifdef RERUN
gotest = $(SUM) --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures 3 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report /dev/stderr --packages "$(strip $(2))" -- -vet=off $(1)
test race matrices postgres: $(SUM)
else
gotest = $(GO) test -vet=off $(1) $(2)
endif

# Less garbage collection takes a fifth off the processor time of the race detector; elsewhere larger
# heaps cost as much as they save.
race postgres: export GOGC = 400

test: PARALLEL = 16
test: ## run every Go test in minutes; the matrices of killed processes and the corpus with fewer rows
	@began=$$(date +%s); $(call gotest,-short -timeout 15m -p 3 -parallel $(PARALLEL),./...); ended=$$?; \
	echo "== make test: $$(($$(date +%s) - began)) s"; exit $$ended

race: ## run the Go tests with the race detector; of cmd/atelier only the concurrent ones
	$(WITH_RACE) $(call gotest,$(RACE) -short -timeout 15m -p 3 -parallel $(PARALLEL) -skip '$(RACESKIP)',$$($(GO) list ./... | grep -vE '/cmd/atelier|$(RACELESS)' | tr '\n' ' '))
	$(WITH_RACE) $(call gotest,$(RACE) -short -timeout 15m -parallel $(PARALLEL) -run '$(RACETESTS)',./cmd/atelier)

matrices: ## play every row of the matrices (killed processes, keys, hostile answers), every case of the corpus, 1,000 pairs of resumes
	$(call gotest,-timeout 15m -parallel $(PARALLEL) -run 'Kill|DeadRun|Corpus|KeysAreNowhere',./cmd/atelier)
	$(call gotest,-timeout 15m -parallel $(PARALLEL) -run 'TwoResumes|AnswersAreBounded',./run ./chat)

postgres: ## run the tests that need a real PostgreSQL; they start it themselves
	$(WITH_RACE) $(call gotest,$(RACE) -tags postgres -timeout 15m,./ledger/postgres)
	$(call gotest,-tags postgres -short -timeout 15m,./run ./run/durable ./action/database)
	$(call gotest,-tags postgres -short -timeout 15m -parallel 6 -run '$(PGTESTS)',./cmd/atelier)

check: ## lint, generated files, race detector, killed processes, PostgreSQL, web UI, Chromium, benchmarks once
	@$(MAKE) --no-print-directory -j3 --output-sync=target check-browser check-processes check-go

# The browser, and tests of processes, mostly wait, so they go beside the others. What each part took is printed at
# its end.
TIMED = +@began=$$(date +%s); $(MAKE) --no-print-directory $(1); ended=$$?; \
	echo "== make $(1): $$(($$(date +%s) - began)) s"; exit $$ended

.PHONY: check-browser check-processes check-go bench-once bin/simtest
check-browser:
	$(call TIMED,e2e)

check-go:
	$(call TIMED,lint)
	$(call TIMED,verify)
	$(call TIMED,race)

check-processes:
	$(call TIMED,matrices)
	$(call TIMED,postgres)
	$(call TIMED,web-check)
	$(call TIMED,bench-once)

bench-once:
	$(GO) test -short -run '^$$' -bench . -benchtime 1x ./... >/dev/null

# The simulators that the browser tests of workflows use.
bin/simtest:
	$(GO) build -o $@ ./e2e/simtest

$(LINT): tools/go.mod tools/go.sum
	cd tools && $(GO) build -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(SUM): tools/go.mod tools/go.sum
	cd tools && $(GO) build -o ../$(SUM) gotest.tools/gotestsum

# The tag adds files and omits one, cmd/atelier/sqlite_test.go.
lint: $(LINT) ## vet, format and lint
	$(LINT) run --build-tags postgres ./...

fmt: $(LINT) ## format the code
	$(LINT) fmt ./...

generate: ## write the generated parts of the documentation, and captured requests
	$(GO) test ./cmd/atelier -run '^Test(Reference|Guides)$$' -update
	$(GO) test ./generate/generatetest/roster -run '^TestReport$$' -update
	$(GO) test ./chat -run '^TestEveryProviderGetsItsImageParts$$' -update

verify: ## fail if go.mod or a generated file is out of date (the tests check docs/reference.md, docs/actions.md, docs/agents.md, docs/conformance.md)
	$(GO) mod tidy -diff
	$(GO) -C bench mod tidy -diff
	$(GO) -C bench/agents mod tidy -diff
	$(GO) -C examples/outside mod tidy -diff

gallery: ## draw every visual action with many inputs into gallery/index.html
	$(GO) run ./examples/gallery -out $(or $(GALLERY),gallery)

bench: ## run the benchmarks, readable by benchstat: make bench | tee new.txt
	$(GO) test -run '^$$' -bench . -benchmem -count $(or $(COUNT),6) ./...
	$(GO) -C bench test -run '^$$' -bench . -count $(or $(COUNT),1) -timeout 1h ./server

bench-compare: ## Atelier beside ADK Go, Bifrost and the AI SDK (needs a network once, for their packages): ROUNDS=5
	$(GO) -C bench/agents test -run '^$$' -bench . -benchmem -count 6
	cd bench && for s in simulator discard atelier bifrost compare; do $(GO) build -o bin/$$s ./$$s || exit 1; done
	cd bench/aisdk && ([ -d node_modules ] || ! command -v npm >/dev/null || npm ci --no-audit --no-fund)
	cd bench && bin/compare -rounds $(or $(ROUNDS),5)

performance: ## measure every figure of docs/performance.md, into performance.txt: half an hour on an idle machine
	$(MAKE) --no-print-directory bench bench-compare figures COUNT=1 > performance.txt 2>&1

fuzz: ## run every fuzz target for FUZZTIME (60s)
	@failed=; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$p || failed="$$failed $$p.$$f"; \
	  done; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

web: ## check and build the pages of the web UI into web/dist, which is committed
	cd web && npm ci --no-audit --no-fund && npm run check && npm test && npm run build

web-check: ## types and tests of the web UI; fail if web/dist is out of date
	cd web && ([ -d node_modules ] || npm ci --no-audit --no-fund) && npm run check && npm test && npm run verify

e2e: build bin/simtest ## open produced reports and the web UI in Chromium, light and dark, wide and narrow
	cd e2e && ([ -d node_modules ] || npm ci --no-audit --no-fund) && node run.js

figures: build ## measure the pages of workflows in Chromium
	cd e2e && ([ -d node_modules ] || npm ci --no-audit --no-fund) && node --test workflow-figures.js

screenshots: build ## follow docs/tutorial.md in Chromium, offline, and write the pictures of the docs
	cd e2e && ([ -d node_modules ] || npm ci --no-audit --no-fund) && SCREENSHOTS=1 node --test tutorial.test.js first-workflow.test.js vocabulary.test.js

dev: ## rebuild and rerun the tests of what changed
	$(GO) test ./...

clean: ## remove what was built
	rm -rf bin gallery $(OUT) e2e/out e2e/node_modules web/node_modules bench/bin bench/aisdk/node_modules
