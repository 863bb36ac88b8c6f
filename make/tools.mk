##@ Tools (built when needed; the versions are in make/versions.mk and test/cluster/programs)

.PHONY: tools publish-tools release-tools

tools: $(CONTROLLER_GEN) $(KUSTOMIZE) $(OPERATOR_SDK) $(OPM) $(GOLANGCI_LINT) $(GOTESTSUM) ## Build all tools.

# The tools in the first line publish a release, and the tools in the second build it.
publish-tools: $(addprefix $(TOOLS)/,cosign crane helm)
release-tools: $(addprefix $(TOOLS)/,cosign crane goreleaser syft)

$(TOOLS)/%: make/versions.mk
	@echo "building $*"
	@GOBIN=$(TOOLS) GOGC=400 go install -ldflags '-s -w $(vars.$*)' $(tool.$*) && touch $@

# These are built like the programs of the test cluster, inside their own modules.
$(OPM): $(CLUSTER_TOOL)
	@$(CLUSTER_TOOL) build opm

# Also the program that runs the scorecard's tests.
$(OPERATOR_SDK): $(CLUSTER_TOOL)
	@$(CLUSTER_TOOL) build operator-sdk scorecard-test
	@mkdir -p $(TOOLS) && ln -sf ../k8s/operator-sdk ../k8s/scorecard-test $(TOOLS)/
