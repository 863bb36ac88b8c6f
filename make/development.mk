##@ Development

.PHONY: generate manifests fmt lint run

generate: manifests ## Regenerate CRD, roles, deepcopy functions, docs/api.md and docs/conditions.md.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	go run ./hack/apidocs $(CRD) > docs/api.md.new && mv docs/api.md.new docs/api.md
	go run ./hack/advice docs/conditions.md

manifests: $(CONTROLLER_GEN) ## Regenerate CRD and roles.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	@hack/bound-exponents.sh $(CRD)
	$(CONTROLLER_GEN) rbac:roleName=manager-role paths=./internal/controller output:rbac:dir=config/rbac

fmt: $(GOLANGCI_LINT) ## Format the Go code.
	@hack/each-module.sh gofmt "$(MODULES)" $(GOLANGCI_LINT) fmt --config $(CURDIR)/.golangci.yml

lint: $(GOLANGCI_LINT) $(ACTIONLINT) $(MISSPELL) ## Run golangci-lint, go mod tidy, misspell, actionlint and, if installed, shellcheck.
	@echo "misspell: American English"
	@$(git) ls-files | grep -vE '\.(png|svg|sum)$$|package-lock.json' | xargs $(MISSPELL) -error -locale US
	@echo "actionlint: .github/workflows"
	@$(ACTIONLINT) .github/workflows/*.yaml
ifeq ($(SHELLCHECK),)
	@echo "shellcheck is not installed: shell scripts are not checked"
else
	@echo "shellcheck: .ci/run hack gate"
	@$(SHELLCHECK) --external-sources .ci/run hack/*.sh gate/*.sh
endif
	@hack/each-module.sh "go mod tidy" "$(MODULES)" go mod tidy -diff
	@hack/each-module.sh golangci-lint "$(MODULES)" $(GOLANGCI_LINT) run --config $(CURDIR)/.golangci.yml ./...

run: ## Run the operator on this machine against the cluster of KUBECONFIG, with ARGS. Needs the CRD: make install.
	@$(KUBECTL) get -f $(CRD) > /dev/null || { echo "the cluster has no CRD of Darkroom, or does not respond: make install"; exit 1; }
	go run . manager $(ARGS)
