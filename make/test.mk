##@ Test

.PHONY: test test-go test-servers test-page verify cover audit assets

# SHORT= runs complete tables in random order, without cached results.
SHORT ?= 1
# VERBOSE=1 prints the result of each test.
VERBOSE ?=
# PACKAGES limits the tests of the main module to packages whose path matches it. Those that match EXCEPT are left out.
PACKAGES ?=
EXCEPT ?=

test: ## Run unit, chart, API server and page tests.
	@hack/beside.sh "$(MAKE) test-page" "$(MAKE) test-go"

test-go: assets $(GOTESTSUM) ## Run unit, chart and API server (envtest) tests. VERBOSE=1 shows each.
	@KUBEBUILDER_ASSETS=$(K8S) GOTESTSUM=$(GOTESTSUM) VERBOSE=$(VERBOSE) RACE=$(RACE) SHORT=$(SHORT) \
		PACKAGES='$(PACKAGES)' EXCEPT='$(EXCEPT)' hack/test-go.sh $(TEST_MODULES)

# The other modules have no concurrent code of their own, and their servers are slow to build with the race detector.
test-servers: ## Run the tests that need Prometheus, or a server of S3 or Google Cloud Storage; they build it first.
	@$(MAKE) test-go RACE= TEST_MODULES="$(SERVER_MODULES)"

test-page: $(if $(NPM),web/node_modules) ## Check the page: types, style, unit tests; needs npm.
ifeq ($(NPM),)
	@echo "page: not tested, npm is not installed"
else
	@echo "page: types" && cd web && npm run --silent check
	@echo "page: eslint" && cd web && npm run --silent lint -- $(if $(SHORT),--cache --cache-location node_modules/.cache/eslint/)
	@cd web && npm run --silent test
endif

verify: generate bundle catalog ## Check that generated files are committed, and that no released version changes.
	@hack/versions.sh
	$(git) diff --exit-code

cover: assets ## Measure the coverage of the main module's tests: bin/cover.out, bin/cover.html.
	KUBEBUILDER_ASSETS=$(K8S) go test -short -coverpkg=./api/...,./internal/... -coverprofile=$(BIN)/cover.out $$(hack/packages.sh)
	go tool cover -html $(BIN)/cover.out -o $(BIN)/cover.html
	@go tool cover -func $(BIN)/cover.out | tail -n 1

# The page's build packages generate the code that browsers run, so they are checked too. The servers of test/buckets
# run only in tests, in the versions that these need.
audit: $(GOVULNCHECK) ## Check all modules and the page's packages for known vulnerabilities: govulncheck, npm audit.
	@hack/each-module.sh govulncheck "$(filter-out test/buckets,$(MODULES))" $(GOVULNCHECK) ./...
	@echo "npm audit" && cd web && npm audit

assets: $(CLUSTER_TOOL) ## Download the Kubernetes API server and etcd for the tests, or build them in ten minutes.
	@echo "up to date: $$($(CLUSTER_TOOL) assets)"
