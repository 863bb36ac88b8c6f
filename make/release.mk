##@ Release

.PHONY: build-installer release-snapshot release-rehearsal

# The part of config/ for build-installer and deploy: default, or overlays/….
OVERLAY ?= default

build-installer: $(KUSTOMIZE) ## Write the manifests of deploy to dist/install.yaml, with the image IMG. OVERLAY=overlays/…
	@mkdir -p dist $(BIN)/overlay && printf 'resources:\n- ../../config/$(OVERLAY)\n' > $(BIN)/overlay/kustomization.yaml
	@cd $(BIN)/overlay && $(KUSTOMIZE) edit set image ghcr.io/darkroom-operator/darkroom-operator=$(IMG)
	@$(KUSTOMIZE) build $(BIN)/overlay > dist/install.yaml && echo "wrote dist/install.yaml: config/$(OVERLAY) with the image $(IMG)"

release-snapshot: release-tools $(KUSTOMIZE) ## Build and check a release in bin/release without publishing it; needs npm.
	@hack/snapshot.sh $(BUNDLE_VERSION)

release-rehearsal: build testdata $(addprefix $(TOOLS)/,cosign crane helm kustomize) $(OPERATOR_SDK) $(OPM) ## Publish, sign and verify a release in a registry on this machine.
	@hack/rehearse.sh $(BUNDLE_VERSION)
