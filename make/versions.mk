# The versions of the tools in bin/tools, except operator-sdk and opm (test/cluster). `go install` verifies them with
# the checksum database of Go, and builds each with the dependencies that its authors tested. Raise
# the versions by hand: Dependabot does not read this file.
tool.actionlint := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
tool.controller-gen := sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0
tool.crane := github.com/google/go-containerregistry/cmd/crane@v0.22.1
tool.cosign := github.com/sigstore/cosign/v3/cmd/cosign@v3.0.6
tool.golangci-lint := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
tool.goreleaser := github.com/goreleaser/goreleaser/v2@v2.16.0
tool.gotestsum := gotest.tools/gotestsum@v1.13.0
tool.govulncheck := golang.org/x/vuln/cmd/govulncheck@v1.8.0
tool.gremlins := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
tool.helm := helm.sh/helm/v3/cmd/helm@v3.22.0
tool.kustomize := sigs.k8s.io/kustomize/kustomize/v5@v5.8.2
tool.misspell := github.com/golangci/misspell/cmd/misspell@v0.8.0
tool.syft := github.com/anchore/syft/cmd/syft@v1.42.0

# `helm template` renders for the Kubernetes version of its libraries.
vars.helm := -X helm.sh/helm/v3/internal/version.version=v3.22.0 \
	-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37
