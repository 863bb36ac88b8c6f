##@ Benchmarks

.PHONY: bench bench-gate

bench: build assets ## Check operator and API server against their budgets, or measure with ARGS (docs/performance.md).
ifeq ($(ARGS),)
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench -n 50 -rounds 1 -trials 7 -timeout 15m \
		-operator $(BIN)/darkroom-operator -budget test/bench/budget.json
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench/apiserver -operator $(BIN)/darkroom-operator
else
	KUBEBUILDER_ASSETS=$(K8S) go run ./test/bench -operator $(BIN)/darkroom-operator $(ARGS)
endif

# DARKROOM_BINARY is a real Darkroom to measure in place of its test double.
bench-gate: testdata ## Compare Darkroom alone, behind nginx if installed, and behind the gate. ARGS='-run 40' or ARGS='-soak 1h'
	@mkdir -p $(BIN)/corpus
	go -C gate test . -run '^TestCorpus$$' -write-corpus $(abspath $(BIN))/corpus
	go run ./test/benchgate -darkroom $(or $(DARKROOM_BINARY),$(BIN)/darkroom) -gate $(BIN)/gate -corpus $(BIN)/corpus $(ARGS)
