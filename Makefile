# `make` or `make help` lists the targets.

# The version of the operator, and its image.
VERSION ?= 0.1.0-dev
IMG ?= ghcr.io/darkroom-operator/darkroom-operator:v$(VERSION)
# The release in bundle/ and catalog/, and its images.
BUNDLE_VERSION ?= $(VERSION:-dev=)
IMAGE_BASE ?= ghcr.io/darkroom-operator/darkroom-operator
BUNDLE_IMG ?= $(IMAGE_BASE)-bundle:v$(BUNDLE_VERSION)
CATALOG_IMG ?= $(IMAGE_BASE)-catalog:latest
# The image of the gate, which has a version of its own.
GATE_IMG ?= ghcr.io/darkroom-operator/darkroom-gate:v$(shell cat gate/VERSION)
# The folder with the bundle/ and catalog/ of these images: bin/pinned in releases (hack/images.sh).
OLM_DIR ?= .
# Platforms of docker-push, and the commit in the labels of images.
PLATFORMS ?= linux/amd64,linux/arm64
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
# The part of config/ for build-installer and deploy: default, or overlays/….
OVERLAY ?= default
# The tool that builds images (docker, podman or buildah), and its additional arguments.
CONTAINER_TOOL ?= docker
BUILD_FLAGS ?=
PUSH_FLAGS ?=
# Arguments of the manager for `make run`, and of the benchmark for `make bench`.
ARGS ?=
# The regular expression of the tests that e2e, e2e-olm and chaos run.
RUN ?= .
# The tag or commit that e2e-olm upgrades from; see hack/previous.sh for the default.
PREVIOUS ?=
# RACE=-race runs the tests with the race detector, which needs a C compiler. SHORT= runs
# complete tables in random order, without cached results.
RACE ?=
SHORT ?= 1

BIN := $(CURDIR)/bin
TOOLS := $(BIN)/tools
# The version of Kubernetes to test with, such as v1.30.14; empty means the one of test/cluster.
KUBERNETES ?=
K8S := $(BIN)/k8s$(and $(KUBERNETES),-$(KUBERNETES))
CLUSTER_TOOL := $(BIN)/cluster
CONTROLLER_GEN := $(TOOLS)/controller-gen
KUSTOMIZE := $(TOOLS)/kustomize
OPERATOR_SDK := $(TOOLS)/operator-sdk
OPM := $(BIN)/k8s/opm
ACTIONLINT := $(TOOLS)/actionlint
GOLANGCI_LINT := $(TOOLS)/golangci-lint
HELM := $(TOOLS)/helm
GOTESTSUM := $(TOOLS)/gotestsum
GREMLINS := $(TOOLS)/gremlins
MISSPELL := $(TOOLS)/misspell
GOVULNCHECK := $(TOOLS)/govulncheck
# kubectl of the PATH, if any, or that of the test cluster.
KUBECTL ?= $(or $(shell command -v kubectl 2>/dev/null),$(BIN)/k8s/kubectl)

# The modules of make test, and those that build servers only to test with them.
TEST_MODULES := . gate
SERVER_MODULES := test/prometheus test/buckets
MODULES := $(TEST_MODULES) $(SERVER_MODULES)
# The end-to-end tests and benchmarks need a cluster and have targets of their own.
list-packages = go list ./... | grep -v -e /test/e2e -e /test/chaos -e /test/bench
CRD := config/crd/bases/deployments.example.com_darkrooms.yaml

# The clone may belong to another user.
git = git -c safe.directory=$(CURDIR)

# The web page is built if npm is installed. Without it the API server responds with
# instructions to build the page.
NPM := $(shell command -v npm 2>/dev/null)
PAGE := web/dist/index.html

# Programs are static and have no debugging information. Tests, linters and tools are compiled in the
# same way, so that their packages are compiled once; RACE alone needs others.
compiler-flags := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
export GOFLAGS := $(filter-out $(compiler-flags),$(GOFLAGS)) $(compiler-flags)
export CGO_ENABLED := 0
# $(call go-build,MODULE) builds programs of a module. With GOGC=400 the compiler takes an
# eighth less time and half as much memory again.
go-build = GOGC=400 go -C $(1) build
# $(call gotestsum,FORMAT) runs the `go test -json` command that follows it.
gotestsum = $(GOTESTSUM) --format $(1) --raw-command --
LDFLAGS := -s -w -X github.com/darkroom-operator/darkroom-operator/internal/cmd.buildVersion=$(VERSION)

SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
# Each recipe uses all processors.
.NOTPARALLEL:
.PHONY: help generate manifests fmt lint run install uninstall test test-go test-servers test-page verify cover audit fuzz fuzz-corpus likeness mutants histories chaos e2e screenshots e2e-olm \
	test-docs testdata bench bench-gate assets build page docker-build docker-push build-installer \
	release-snapshot release-rehearsal clean gate-build gate-push bundle bundle-validate bundle-build bundle-push catalog catalog-build \
	catalog-push demo demo-stop deploy undeploy tools publish-tools release-tools $(CLUSTER_TOOL)

##@ Development

help:
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36mTARGET\033[0m [VARIABLE=value]\n"} \
		/^[a-z][a-z0-9 -]*:.*?##/ { printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2 } \
		/^##@/ { printf "\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)

generate: manifests ## Regenerate CRD, roles, deepcopy functions, docs/api.md, and what is told of conditions.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	go run ./hack/apidocs $(CRD) > docs/api.md.new && mv docs/api.md.new docs/api.md
	go run ./hack/advice docs/conditions.md web/src/words/advice.json

manifests: $(CONTROLLER_GEN) ## Regenerate CRD and roles.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	# Exponents of quantities have two digits: Kubernetes' library computes with all of them.
	sed 's/(\[eE\](\\+|-)?((\[0-9\]+(\\\.\[0-9\]\*)?)|(\\\.\[0-9\]+)))/([eE](\\+|-)?[0-9]{1,2})/' $(CRD) > $(CRD).new && mv $(CRD).new $(CRD)
	$(CONTROLLER_GEN) rbac:roleName=manager-role paths=./internal/controller output:rbac:dir=config/rbac

fmt: $(GOLANGCI_LINT) ## Format the Go code.
	@for module in $(MODULES); do (cd $$module && $(GOLANGCI_LINT) fmt --config $(CURDIR)/.golangci.yml); done

lint: $(GOLANGCI_LINT) $(ACTIONLINT) $(MISSPELL) ## Run golangci-lint, go mod tidy, misspell, actionlint and, if installed, shellcheck.
	@echo "misspell: American English" && $(git) ls-files | grep -vE '\.(png|svg|sum)$$|package-lock.json' | xargs $(MISSPELL) -error -locale US
	@echo "actionlint: .github/workflows" && $(ACTIONLINT) .github/workflows/*.yaml
	@if ! command -v shellcheck > /dev/null; then echo "shellcheck is not installed: shell scripts are not checked"; \
		else echo "shellcheck: .ci/run hack gate" && shellcheck --external-sources .ci/run hack/*.sh gate/*.sh; fi
	@failed=; for module in $(MODULES); do \
		echo "go mod tidy: $$module" && go -C $$module mod tidy -diff || failed="$$failed $$module"; done; \
	for module in $(MODULES); do \
		echo "golangci-lint: $$module"; \
		(cd $$module && $(GOLANGCI_LINT) run --config $(CURDIR)/.golangci.yml ./...) || failed="$$failed $$module"; \
	done; test -z "$$failed" || { echo "findings in:$$failed"; exit 1; }

run: ## Run the operator on this machine against the cluster of KUBECONFIG, with ARGS. Needs the CRD: make install.
	@$(KUBECTL) get -f $(CRD) > /dev/null || { echo "the cluster has no CRD of Darkroom, or does not respond: make install"; exit 1; }
	go run . manager $(ARGS)

##@ Test

test: ## Run unit, chart, API server and page tests.
	@mkdir -p $(BIN) && { $(MAKE) test-page > $(BIN)/test-page.log 2>&1 & page=$$!; }; failed=; $(MAKE) test-go || failed=go; \
		wait $$page || failed="$$failed page"; cat $(BIN)/test-page.log; test -z "$$failed" || { echo "tests failed: $$failed"; exit 1; }

# Short: a part of long tables, and in the main module only what a change reaches, as
# Go keeps the results of the rest. (Tests of the other modules read files outside of
# them, which Go would not notice, so they run each time.) With the race detector, tests
# compute most of the time; without, they wait. The gate's corpus takes seven times as long with it,
# and does one thing after the other: it runs without.
test-flags = $(if $(SHORT),-short $$(test $$module = . || echo -count=1),-shuffle=on) -parallel $(if $(RACE),3 -skip '^TestCorpus$$',8) -timeout 30m
go-test = $(if $(RACE),CGO_ENABLED=1 )go test $(RACE)

# PACKAGES limits the tests of the main module to packages whose path contains it, and EXCEPT to the others.
PACKAGES ?=
EXCEPT ?=
module-packages = $(list-packages) | if test $$module = .; then grep -e '$(PACKAGES)' | grep -v -e '$(or $(EXCEPT),/test/e2e)'; else cat; fi

test-go: assets $(GOTESTSUM) ## Run unit, chart and API server (envtest) tests. VERBOSE=1 shows each.
	@failed=; for module in $(TEST_MODULES); do \
		echo "go test: $$module"; \
		(cd $$module && KUBEBUILDER_ASSETS=$(K8S) $(call gotestsum,$(if $(VERBOSE),standard-verbose,pkgname)) \
			env $(go-test) -json $(test-flags) $$($(module-packages))) || failed="$$failed $$module"; \
	done; test -z "$$failed" || { echo "tests failed in:$$failed"; exit 1; }

# They have no code of their own that runs concurrently, and their servers are slow to build with the race detector.
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
	KUBEBUILDER_ASSETS=$(K8S) go test -short -coverpkg=./api/...,./internal/... -coverprofile=$(BIN)/cover.out $$($(list-packages))
	go tool cover -html $(BIN)/cover.out -o $(BIN)/cover.html
	@go tool cover -func $(BIN)/cover.out | tail -n 1

# The packages of the page's build write what browsers run, so they are checked too. The servers of test/buckets run in
# tests only, and in the versions that these need.
audit: $(GOVULNCHECK) ## Check all modules and the page's packages for known vulnerabilities: govulncheck, npm audit.
	@failed=; for module in $(filter-out test/buckets,$(MODULES)); do echo "govulncheck: $$module"; (cd $$module && $(GOVULNCHECK) ./...) || failed="$$failed $$module"; done; \
		echo "npm audit" && (cd web && npm audit) || failed="$$failed web"; \
		test -z "$$failed" || { echo "findings in:$$failed"; exit 1; }

# The seeds take up to forty seconds of it.
FUZZTIME ?= 75s
FUZZTIME_DECODERS ?= 8s

fuzz: ## Fuzz translation, rendering (FUZZTIME), decoders of the REST API and gate (FUZZTIME_DECODERS).
	go test ./internal/values -run '^$$' -fuzz '^FuzzTranslate$$' -fuzztime $(FUZZTIME)
	@for target in wire.Decode wire.MergePatch .NewSecret .ImagePath .Continue; do \
		go test ./internal/apiserver/$${target%.*} -run '^$$' -fuzz "^Fuzz$${target#*.}$$" -fuzztime $(FUZZTIME_DECODERS) -fuzzminimizetime 10x || exit 1; \
	done
	@for target in request.Parse cache.Decode original.Inspect jpeg.Decode; do \
		go -C gate test ./$${target%.*} -run '^$$' -fuzz "^Fuzz$${target#*.}$$" -fuzztime $(FUZZTIME_DECODERS) -fuzzminimizetime 10x || exit 1; \
	done

fuzz-corpus: ## Keep the inputs that `make fuzz` found on this machine, as seeds of all later runs.
	@cache=$$(go env GOCACHE)/fuzz/github.com/darkroom-operator/darkroom-operator && cd $$cache && find . -type d -name 'Fuzz*' | \
		while read -r corpus; do mkdir -p $(CURDIR)/$${corpus%/*}/testdata/fuzz && cp -r "$$corpus" $(CURDIR)/$${corpus%/*}/testdata/fuzz/; done

likeness: ## Compare images of the gate with those of ImageMagick (convert).
	go -C gate test . -tags likeness -run '^TestLikeness$$' -count 1

# For how long `make histories` runs random histories, and the first of their seeds, which is random too if it is not
# given; SEED runs the history of one seed again, and FOCUS those only that a regular expression matches.
FOR ?= 5m
FIRST ?=
SEED ?=
FOCUS ?=

histories: assets $(GOTESTSUM) ## Run random histories against an API server, for FOR=5m, or that of one SEED.
	KUBEBUILDER_ASSETS=$(K8S) FOR=$(FOR) FIRST=$(FIRST) SEED=$(SEED) FOCUS='$(FOCUS)' $(call gotestsum,testname) \
		env $(go-test) -json -count=1 -timeout 0 -run '^TestHistories$$' ./test/histories

# The package of mutants, whose copy has what is committed or staged and nothing else.
PKG ?= internal/claims

mutants: assets $(GREMLINS) ## Change each condition of PKG=internal/claims, and list those changes that its tests do not notice.
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && $(git) ls-files -z | tar -c --null -T - | tar -x -C "$$copy" && cd "$$copy" && \
		KUBEBUILDER_ASSETS=$(K8S) $(GREMLINS) unleash --timeout-coefficient 20 ./$(PKG)

# ARCH=arm64 emulates the operator with qemu-user: five to ten times slower than this machine.
ARCH ?=

chaos: build $(CLUSTER_TOOL) $(GOTESTSUM) ## Run the fault-injection tests (docs/reliability.md). ARCH=arm64 emulates the operator.
ifeq ($(ARCH),arm64)
	GOARCH=arm64 $(call go-build,.) -ldflags '$(LDFLAGS)' -o $(BIN)/arm64/emulated .
	@printf '#!/bin/sh\nexec qemu-aarch64-static "$${0%%/*}/emulated" "$$@"\n' > $(BIN)/arm64/darkroom-operator
	@chmod +x $(BIN)/arm64/darkroom-operator
endif
	@hack/older.sh
	BIN_DIR=$(BIN)$(and $(ARCH),/$(ARCH)) $(CLUSTER_TOOL) exec -- $(call gotestsum,standard-verbose) \
		go test -json -count=1 -tags chaos -parallel 8 -timeout 40m -run '$(RUN)' ./test/chaos/...

# The cluster of e2e: kind (Linux), own (a node on this machine; root, Linux), or existing, which needs
# KUBECONFIG, INGRESS_URL and LOAD, the command that loads the archive of an image (CONTRIBUTING.md).
# Empty means kind where it is installed and an engine runs, own otherwise.
CLUSTER ?=
engine-runs = kind version && { docker info || podman info; }
e2e-cluster = $(or $(CLUSTER),$(shell { $(engine-runs); } > /dev/null 2>&1 && echo kind || echo own))
with-own = $(CLUSTER_TOOL) exec --node real --
with-kind = PATH=$(K8S):$$PATH hack/kind.sh
with-existing = PATH=$(K8S):$$PATH

e2e: build testdata $(CLUSTER_TOOL) $(GOTESTSUM) ## Run the end-to-end tests on kind, on a node of this machine (root, Linux), or with CLUSTER=existing.
	@$(CLUSTER_TOOL) build kubectl traefik
	E2E=1 BIN_DIR=$(BIN) $(with-$(e2e-cluster)) $(call gotestsum,standard-verbose) \
		go test -json -count=1 -tags e2e -parallel 4 -timeout 30m -run '$(RUN)' ./test/e2e/...

screenshots: ## Take the screenshots of the documents into docs/images (root, Linux; needs npm and chromium).
	SCREENSHOTS=1 $(MAKE) e2e RUN='^TestScreenshotsOfAFleet$$'
	cp $(BIN)/screenshots/page-*.png docs/images/

e2e-olm: build testdata $(HELM) $(KUSTOMIZE) $(OPERATOR_SDK) $(CLUSTER_TOOL) $(GOTESTSUM) ## Install, upgrade and remove the operator in every way, on a real node (root, Linux).
	@$(CLUSTER_TOOL) build olm
	@hack/previous.sh $(BUNDLE_VERSION) $(PREVIOUS)
	@cd $(BIN)/previous/source && $(CLUSTER_TOOL) image --output $(BIN)/previous/image.tar $(image-flags) \
		$(IMAGE_BASE):v$$(cat ../version)=$(BIN)/previous/darkroom-operator
	@$(CLUSTER_TOOL) image --output $(BIN)/image-release.tar $(image-flags) $(IMAGE_BASE):v$(BUNDLE_VERSION)=$(BIN)/darkroom-operator
	BIN_DIR=$(BIN) RELEASE=$(BUNDLE_VERSION) $(CLUSTER_TOOL) exec --node real -- $(call gotestsum,standard-verbose) \
		go test -json -count=1 -tags e2e -timeout 40m -run '$(RUN)' ./test/olm

test-docs: build testdata $(HELM) $(CLUSTER_TOOL) $(GOTESTSUM) ## Run the commands of the documents that no other target runs (root, Linux).
	@$(CLUSTER_TOOL) image --output $(BIN)/image.tar $(image-flags) registry.example.com/darkroom-operator:v0.1.0=$(BIN)/darkroom-operator
	BIN_DIR=$(BIN) $(CLUSTER_TOOL) exec --node real -- $(call gotestsum,standard-verbose) \
		go test -json -count=1 -tags e2e -timeout 20m -run '^TestScenarios$$' ./test/docs

# The image of the Dockerfile for the tests' clusters, which pull nothing.
image-flags = --user 65532:65532 --command manager --file /helm-charts/darkroom=helm-charts/darkroom \
	--file /watches.yaml=watches.yaml --file /etc/ssl/certs/ca-certificates.crt=/etc/ssl/certs/ca-certificates.crt

# The stand-in for Darkroom, the gate and the image sources of the tests.
testdata:
	$(call go-build,test/standins/darkroom) -ldflags '-s -w' -o $(BIN)/darkroom .
	$(call go-build,gate) -ldflags '-s -w' -o $(BIN)/gate .
	$(call go-build,test/standins/sources) -ldflags '-s -w' -o $(BIN)/sources .

bench: build assets ## Check operator and API server against their budgets, or measure with ARGS (docs/performance.md).
ifeq ($(ARGS),)
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench -n 50 -rounds 1 -trials 7 -timeout 15m \
		-operator $(BIN)/darkroom-operator -budget test/bench/budget.json
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench/apiserver -operator $(BIN)/darkroom-operator
else
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench -operator $(BIN)/darkroom-operator $(ARGS)
endif

# DARKROOM_BINARY is a real Darkroom to measure in place of its test double.
bench-gate: testdata ## Compare Darkroom alone, behind nginx if installed, and behind the gate. ARGS='-run 40' or ARGS='-soak 1h'
	@mkdir -p $(BIN)/corpus
	go -C gate test . -run '^TestCorpus$$' -write-corpus $(abspath $(BIN))/corpus
	go run ./test/benchgate -darkroom $(or $(DARKROOM_BINARY),$(BIN)/darkroom) -gate $(BIN)/gate -corpus $(BIN)/corpus $(ARGS)

assets: $(CLUSTER_TOOL) ## Download the Kubernetes API server and etcd for the tests, or build them in ten minutes.
	@echo "up to date: $$($(CLUSTER_TOOL) assets)"

##@ Build

build: $(if $(NPM),$(PAGE)) ## Build bin/darkroom-operator, static. Includes the page if npm is installed.
	$(call go-build,.) -ldflags '$(LDFLAGS)' -o $(BIN)/darkroom-operator .

page: $(PAGE) ## Build the web page into web/dist, which the operator embeds; needs npm.

$(PAGE): web/node_modules web/index.html web/vite.config.ts $(CRD) $(shell find web/src web/public -type f)
	@rm -rf web/dist/assets && cd web && npm run --silent build && touch dist/index.html

# The page's packages, as the lock file says.
web/node_modules: web/package.json web/package-lock.json
	cd web && npm ci --no-fund --no-audit && touch node_modules

# $(call build-image,DOCKERFILE,IMAGE,ARGUMENTS) builds an image for this machine's
# platform; push-image builds it for PLATFORMS, and pushes it.
context = $(if $(filter Dockerfile,$(1)),.,$(if $(filter gate/Dockerfile,$(1)),gate,$(OLM_DIR)))
ifeq ($(CONTAINER_TOOL),docker)
build-image = docker buildx build --load $(BUILD_FLAGS) $(3) -f $(1) -t $(2) $(context)
push-image = docker buildx build --push --sbom=true --provenance=mode=max --platform $(PLATFORMS) $(BUILD_FLAGS) $(3) -f $(1) -t $(2) $(context)
else
# Old releases, such as Debian's, do not set the platform arguments of a Dockerfile, and reuse
# a cached layer for all platforms if its base image is the same. Only the operator's image
# benefits from the cache, and has a different base image for each platform.
engine-build = $(CONTAINER_TOOL) build --layers=$(if $(filter Dockerfile,$(1)),true,false) \
	--build-arg BUILDPLATFORM=$(build-platform) $(BUILD_FLAGS) $(3) -f $(1)
build-platform := linux/$(shell uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
build-image = $(engine-build) -t $(2) $(context)
# The manifest list has a different name, because an image may be named IMG, and is
# recreated, because existing entries would be pushed too.
push-list = localhost/darkroom-operator-push
define push-image
	@$(CONTAINER_TOOL) manifest rm $(push-list) >/dev/null 2>&1 || true
	$(engine-build) --platform $(PLATFORMS) --manifest $(push-list) $(context)
	$(CONTAINER_TOOL) manifest push $(PUSH_FLAGS) --all $(push-list) docker://$(2)
endef
endif
build-args = --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION)

docker-build: ## Build the image IMG for this platform with CONTAINER_TOOL: docker, podman or buildah.
	$(call build-image,Dockerfile,$(IMG),$(build-args))

docker-push: ## Build the image IMG for PLATFORMS with CONTAINER_TOOL, and push it. Docker attaches an SBOM.
	@! grep -E '^ARG (GO|NODE|BASE)_IMAGE=[^@]*$$' Dockerfile || { echo "these images are not pinned by digest"; exit 1; }
	$(call push-image,Dockerfile,$(IMG),$(build-args))

gate-image = $(call $(1),gate/Dockerfile,$(GATE_IMG),--build-arg REVISION=$(REVISION))
bundle-image = $(call $(1),bundle.Dockerfile,$(BUNDLE_IMG))
catalog-image = $(call $(1),catalog.Dockerfile,$(CATALOG_IMG))

gate-build bundle-build catalog-build: ## Build the image GATE_IMG, BUNDLE_IMG or CATALOG_IMG.
	$(call $(@:-build=)-image,build-image)

gate-push bundle-push catalog-push: ## Build it for PLATFORMS, and push it. gate/VERSION is the version of the gate.
	$(call $(@:-push=)-image,push-image)

build-installer: $(KUSTOMIZE) ## Write the manifests of deploy to dist/install.yaml, with the image IMG. OVERLAY=overlays/…
	@mkdir -p dist $(BIN)/overlay && printf 'resources:\n- ../../config/$(OVERLAY)\n' > $(BIN)/overlay/kustomization.yaml
	@cd $(BIN)/overlay && $(KUSTOMIZE) edit set image ghcr.io/darkroom-operator/darkroom-operator=$(IMG)
	@$(KUSTOMIZE) build $(BIN)/overlay > dist/install.yaml && echo "wrote dist/install.yaml: config/$(OVERLAY) with the image $(IMG)"

release-snapshot: release-tools $(KUSTOMIZE) ## Build and check a release in bin/release without publishing it; needs npm.
	@hack/snapshot.sh $(BUNDLE_VERSION)

release-rehearsal: build testdata $(addprefix $(TOOLS)/,cosign crane helm kustomize) $(OPERATOR_SDK) $(OPM) ## Publish, sign and verify a release in a registry on this machine.
	@hack/rehearse.sh $(BUNDLE_VERSION)

clean: ## Remove build output. (Keeps the Go build cache.)
	@test ! -d .demo || { echo "a demo is running: make demo-stop"; exit 1; }
	rm -rf $(BIN) dist/install.yaml dist/*.tgz web/node_modules web/dist/*

##@ Operator Lifecycle Manager

bundle: $(KUSTOMIZE) $(OPERATOR_SDK) ## Generate bundle/ and bundle.Dockerfile from config/manifests.
	@hack/bundle.sh $(BUNDLE_VERSION) $(IMAGE_BASE):v$(BUNDLE_VERSION) .

bundle-validate: $(OPERATOR_SDK) ## Validate bundle/ with operator-sdk, without warnings, and run the scorecard.
	@answer=$$($(OPERATOR_SDK) bundle validate bundle --select-optional suite=operatorframework 2>&1) && code=0 || code=$$?; \
		echo "$$answer"; test $$code = 0 && ! grep -q level=warning <<< "$$answer"
	@hack/scorecard.sh

catalog: bundle $(OPM) ## Render bundle/ into catalog/, and validate it. catalog/*/package.yaml has the channels.
	@hack/catalog.sh bundle $(BUNDLE_IMG) catalog/darkroom-operator/bundles.yaml
	$(OPM) validate catalog

##@ Clusters

# kind, k3d, or this (a node on this machine; root, Linux); empty chooses.
NODE ?=

demo: $(CLUSTER_TOOL) ## Start a cluster, the operator and a Darkroom that serves an image. NODE=kind, k3d or this.
	@NODE=$(NODE) hack/demo.sh start

demo-stop: $(CLUSTER_TOOL) ## Stop the demo.
	@hack/demo.sh stop

install: ## Install the CRD in the cluster of KUBECONFIG, for make run.
	$(KUBECTL) apply --server-side -f $(CRD)

uninstall: ## Delete the CRD, and with it the Darkrooms of all installations. Run it while the operator runs, which cleans up after them.
	@if $(KUBECTL) get -f $(CRD) > /dev/null 2>&1; then $(KUBECTL) delete darkrooms --all --all-namespaces; fi
	$(KUBECTL) delete --ignore-not-found -f $(CRD)

deploy: build-installer ## Deploy the operator with the image IMG.
	$(KUBECTL) apply --server-side -f dist/install.yaml
	$(KUBECTL) -n darkroom-system rollout status deployment -l app.kubernetes.io/name=darkroom-operator --timeout=120s

# The name of the installation that deploy makes: its namespace.
INSTALLATION ?= darkroom-system
others = $(KUBECTL) get darkrooms --all-namespaces \
	-o jsonpath='{range .items[?(@.status.installation!="$(INSTALLATION)")]}{.metadata.namespace}/{.metadata.name} {end}'

undeploy: build-installer ## Delete all Darkrooms, then the operator and the CRD. Refused while another installation has Darkrooms.
	@if $(KUBECTL) get -f $(CRD) >/dev/null 2>&1; then \
		others=$$($(others)) && test -z "$$others" || { \
			echo "not undeployed: the CRD goes with all Darkrooms, and these are not of the installation $(INSTALLATION): $$others" \
				"(docs/operations.md, Several installations)"; exit 1; }; \
		$(KUBECTL) delete darkrooms --all --all-namespaces; fi
	$(KUBECTL) delete --ignore-not-found -f dist/install.yaml

##@ Tools (built when needed; the versions are in hack/tools.mk and test/cluster/programs)

tools: $(CONTROLLER_GEN) $(KUSTOMIZE) $(OPERATOR_SDK) $(OPM) $(GOLANGCI_LINT) $(GOTESTSUM) ## Build all tools.

# The first line is what publishes a release, and the second what builds it.
publish-tools: $(addprefix $(TOOLS)/,cosign crane helm)
release-tools: $(addprefix $(TOOLS)/,cosign crane goreleaser syft)

include hack/tools.mk
$(TOOLS)/%: hack/tools.mk
	@echo "building $*"
	@GOBIN=$(TOOLS) GOGC=400 go install -ldflags '-s -w $(vars.$*)' $(tool.$*) && touch $@

# These are built like the programs of the test cluster, inside their own modules.
$(OPM): $(CLUSTER_TOOL)
	@$(CLUSTER_TOOL) build opm

# Also the program that runs the scorecard's tests.
$(OPERATOR_SDK): $(CLUSTER_TOOL)
	@$(CLUSTER_TOOL) build operator-sdk scorecard-test
	@mkdir -p $(TOOLS) && ln -sf ../k8s/operator-sdk ../k8s/scorecard-test $(TOOLS)/

# Built each time; the Go build cache detects changes.
$(CLUSTER_TOOL):
	@$(call go-build,test/cluster) -o $@ .
