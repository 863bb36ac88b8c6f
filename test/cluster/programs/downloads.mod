// Pins the versions of programs that are built inside their downloaded modules, whose own go.mod and
// go.sum pin the rest. It is not tidied.
module github.com/darkroom-operator/darkroom-operator/test/cluster/programs

go 1.26.0

require (
	github.com/grpc-ecosystem/grpc-health-probe v0.4.40
	github.com/operator-framework/operator-controller v1.2.0
	github.com/operator-framework/operator-lifecycle-manager v0.42.0
	github.com/operator-framework/operator-registry v1.56.0
	github.com/operator-framework/operator-sdk v1.42.2
)
