# The paths of the programs that recipes call. make/tools.mk and make/cluster-tests.mk build them.

TOOLS := $(BIN)/tools
ACTIONLINT := $(TOOLS)/actionlint
CONTROLLER_GEN := $(TOOLS)/controller-gen
GOLANGCI_LINT := $(TOOLS)/golangci-lint
GOTESTSUM := $(TOOLS)/gotestsum
GOVULNCHECK := $(TOOLS)/govulncheck
GREMLINS := $(TOOLS)/gremlins
HELM := $(TOOLS)/helm
KUSTOMIZE := $(TOOLS)/kustomize
MISSPELL := $(TOOLS)/misspell
OPERATOR_SDK := $(TOOLS)/operator-sdk

# The version of Kubernetes to test with, such as v1.30.14; empty means the one of test/cluster.
KUBERNETES ?=
K8S := $(BIN)/k8s$(and $(KUBERNETES),-$(KUBERNETES))
CLUSTER_TOOL := $(BIN)/cluster
OPM := $(BIN)/k8s/opm

# kubectl of the PATH, or the one of the test cluster.
KUBECTL ?= $(or $(shell command -v kubectl 2>/dev/null),$(BIN)/k8s/kubectl)
# The web page is built and tested if npm is installed.
NPM := $(shell command -v npm 2>/dev/null)
SHELLCHECK := $(shell command -v shellcheck 2>/dev/null)
