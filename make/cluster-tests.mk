##@ Tests on a cluster

.PHONY: chaos emulated e2e screenshots e2e-olm test-docs testdata $(CLUSTER_TOOL)

# Built each time; the Go build cache detects changes.
$(CLUSTER_TOOL):
	@$(call go-build,test/cluster) -o $@ .

# ARCH=arm64 emulates the operator with qemu-user: five to ten times slower than this machine.
ARCH ?=

chaos: build $(and $(ARCH),emulated) $(CLUSTER_TOOL) $(GOTESTSUM) ## Run the fault-injection tests (docs/reliability.md). ARCH=arm64 emulates the operator.
	@hack/older.sh
	BIN_DIR=$(BIN)$(and $(ARCH),/$(ARCH)) $(CLUSTER_TOOL) exec -- $(call gotestsum,standard-verbose) \
		go test -json -count=1 -tags chaos -parallel 8 -timeout 40m -run '$(RUN)' ./test/chaos/...

emulated:
	GOARCH=arm64 $(call go-build,.) -ldflags '$(LDFLAGS)' -o $(BIN)/arm64/emulated .
	@printf '#!/bin/sh\nexec qemu-aarch64-static "$${0%%/*}/emulated" "$$@"\n' > $(BIN)/arm64/darkroom-operator
	@chmod +x $(BIN)/arm64/darkroom-operator

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

# The tag or commit that e2e-olm upgrades from; see hack/previous.sh for the default.
PREVIOUS ?=

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
