##@ Images

.PHONY: docker-build docker-push gate-build gate-push bundle-build bundle-push catalog-build catalog-push

# Additional arguments of CONTAINER_TOOL.
BUILD_FLAGS ?=
PUSH_FLAGS ?=
# Platforms of docker-push, and the commit in the labels of images.
PLATFORMS ?= linux/amd64,linux/arm64
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
# The image of the gate, which has its own version.
GATE_IMG ?= ghcr.io/darkroom-operator/darkroom-gate:v$(shell cat gate/VERSION)
# The folder with the bundle/ and catalog/ of BUNDLE_IMG and CATALOG_IMG: bin/pinned in releases (hack/images.sh).
OLM_DIR ?= .

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
# The manifest list has a different name, because an image may already be named IMG. It is recreated, because existing
# entries would be pushed, too.
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
