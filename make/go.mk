# How Go is run.

# The modules of make test, and the modules that build servers only to test with them.
TEST_MODULES := . gate
SERVER_MODULES := test/prometheus test/buckets
MODULES := $(TEST_MODULES) $(SERVER_MODULES)

# Programs are static and have no debugging information. Tests, linters and tools are compiled in the same way, so that
# their packages are compiled once. Only RACE needs different packages.
compiler-flags := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
export GOFLAGS := $(filter-out $(compiler-flags),$(GOFLAGS)) $(compiler-flags)
export CGO_ENABLED := 0

LDFLAGS := -s -w -X github.com/darkroom-operator/darkroom-operator/internal/cmd.buildVersion=$(VERSION)

# $(call go-build,MODULE) builds programs of a module. With GOGC=400 the compiler takes an eighth less time and half as
# much memory again.
go-build = GOGC=400 go -C $(1) build

# $(call gotestsum,FORMAT) runs the `go test -json` command that follows it.
gotestsum = $(GOTESTSUM) --format $(1) --raw-command --

# RACE=-race runs the tests with the race detector, which needs a C compiler.
RACE ?=
go-test = $(if $(RACE),CGO_ENABLED=1 )go test $(RACE)
