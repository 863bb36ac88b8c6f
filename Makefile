# `make` or `make help` lists the targets. The folder make/ contains them, with a file for each topic.

# The version of the operator, and its image.
VERSION ?= 0.1.0-dev
IMG ?= ghcr.io/darkroom-operator/darkroom-operator:v$(VERSION)
# The tool that builds images (docker, podman or buildah).
CONTAINER_TOOL ?= docker
# Arguments of the manager for `make run`, and of the benchmark for `make bench`.
ARGS ?=
# The regular expression of the tests that e2e, e2e-olm and chaos run.
RUN ?= .

BIN := $(CURDIR)/bin
CRD := config/crd/bases/deployments.example.com_darkrooms.yaml

# The clone may belong to another user.
git = git -c safe.directory=$(CURDIR)

SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
# Each recipe uses all processors.
.NOTPARALLEL:

# The first three only define variables. The order of the others is the order of `make help`.
include make/go.mk
include make/versions.mk
include make/programs.mk
include make/development.mk
include make/test.mk
include make/search.mk
include make/cluster-tests.mk
include make/bench.mk
include make/build.mk
include make/images.mk
include make/release.mk
include make/olm.mk
include make/clusters.mk
include make/tools.mk

.PHONY: help
help:
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36mTARGET\033[0m [VARIABLE=value]\n"} \
		/^[a-z][a-z0-9 -]*:.*?##/ { printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2 } \
		/^##@/ { printf "\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)
