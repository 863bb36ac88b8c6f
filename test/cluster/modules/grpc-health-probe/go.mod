// Pins the version. Its program is built inside the downloaded module, whose own
// go.mod and go.sum pin the rest; go.sum here has the checksum of the download.
module github.com/darkroom-operator/darkroom-operator/test/cluster/modules/grpc-health-probe

go 1.26.0

require github.com/grpc-ecosystem/grpc-health-probe v0.4.40
