##@ Operator Lifecycle Manager

.PHONY: bundle bundle-validate catalog

# The release in bundle/ and catalog/, and its images.
BUNDLE_VERSION ?= $(VERSION:-dev=)
IMAGE_BASE ?= ghcr.io/darkroom-operator/darkroom-operator
BUNDLE_IMG ?= $(IMAGE_BASE)-bundle:v$(BUNDLE_VERSION)
CATALOG_IMG ?= $(IMAGE_BASE)-catalog:latest

bundle: $(KUSTOMIZE) $(OPERATOR_SDK) ## Generate bundle/ and bundle.Dockerfile from config/manifests.
	@hack/bundle.sh $(BUNDLE_VERSION) $(IMAGE_BASE):v$(BUNDLE_VERSION) .

bundle-validate: $(OPERATOR_SDK) ## Validate bundle/ with operator-sdk, without warnings, and run the scorecard.
	@hack/validate-bundle.sh $(OPERATOR_SDK)
	@hack/scorecard.sh

catalog: bundle $(OPM) ## Render bundle/ into catalog/, and validate it. catalog/*/package.yaml contains the channels.
	@hack/catalog.sh bundle $(BUNDLE_IMG) catalog/darkroom-operator/bundles.yaml
	$(OPM) validate catalog
