##@ Search for faults

.PHONY: fuzz fuzz-corpus likeness histories mutants

# The seeds take up to forty seconds of this time.
FUZZTIME ?= 75s
FUZZTIME_DECODERS ?= 8s

fuzz: ## Fuzz translation, rendering (FUZZTIME), decoders of the REST API and gate (FUZZTIME_DECODERS).
	@hack/fuzz.sh $(FUZZTIME) internal/values
	@hack/fuzz.sh $(FUZZTIME_DECODERS) $(filter-out internal/values,$(wildcard internal/*)) gate

fuzz-corpus: ## Keep the inputs that `make fuzz` found on this machine, as seeds of all later runs.
	@hack/fuzz-corpus.sh

likeness: ## Compare images of the gate with images of ImageMagick (convert).
	go -C gate test . -tags likeness -run '^TestLikeness' -count 1

# FOR is the duration for which `make histories` runs random histories. SEED runs the history of one seed again, instead
# of random ones. FOCUS is a regular expression that selects histories.
FOR ?= 5m
FIRST ?=
SEED ?=
FOCUS ?=

histories: assets $(GOTESTSUM) ## Run random histories against an API server, for FOR=5m, or the history of one SEED.
	KUBEBUILDER_ASSETS=$(K8S) FOR=$(FOR) FIRST=$(FIRST) SEED=$(SEED) FOCUS='$(FOCUS)' $(call gotestsum,testname) \
		env $(go-test) -json -count=1 -timeout 0 -run '^TestHistories$$' ./test/histories

# The package of mutants.
PKG ?= internal/hosts

mutants: assets $(GREMLINS) ## Change each condition of PKG=internal/hosts, and list the changes that its tests do not notice.
	@KUBEBUILDER_ASSETS=$(K8S) hack/mutants.sh $(GREMLINS) $(PKG)
