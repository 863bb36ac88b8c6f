// Pins the versions. Each program is built inside its downloaded module, whose own go.mod and
// go.sum pin the rest; go.sum here has the checksums of the downloads.
module github.com/darkroom-operator/darkroom-operator/test/cluster/modules/olm

go 1.26.0

require (
	github.com/grpc-ecosystem/grpc-health-probe v0.4.40
	github.com/operator-framework/operator-controller v1.2.0
	github.com/operator-framework/operator-lifecycle-manager v0.29.0
	github.com/operator-framework/operator-registry v1.56.0
)
