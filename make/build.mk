##@ Build

.PHONY: build page clean

# Without the page, the API server responds with instructions to build it.
PAGE := web/dist/index.html

build: $(if $(NPM),$(PAGE)) ## Build bin/darkroom-operator, static. Includes the page if npm is installed.
	$(call go-build,.) -ldflags '$(LDFLAGS)' -o $(BIN)/darkroom-operator .

page: $(PAGE) ## Build the web page into web/dist, which the operator embeds; needs npm.

$(PAGE): web/node_modules web/index.html web/vite.config.ts $(CRD) $(shell find web/src web/public -type f)
	@rm -rf web/dist/assets && cd web && npm run --silent build && touch dist/index.html

# The page's packages, in the versions of the lock file.
web/node_modules: web/package.json web/package-lock.json
	cd web && npm ci --no-fund --no-audit && touch node_modules

clean: ## Remove build output. (Keeps the Go build cache.)
	@test ! -d .demo || { echo "a demo is running: make demo-stop"; exit 1; }
	rm -rf $(BIN) dist/install.yaml dist/*.tgz web/node_modules web/dist/*
