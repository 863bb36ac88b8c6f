// Pins the version. Its programs are built inside the downloaded module, whose own
// go.mod and go.sum pin the rest; go.sum here has the checksum of the download.
module github.com/darkroom-operator/darkroom-operator/test/cluster/modules/olm

go 1.26.0

require github.com/operator-framework/operator-lifecycle-manager v0.29.0
