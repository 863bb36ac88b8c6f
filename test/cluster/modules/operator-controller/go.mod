// Pins the version. Its programs are built inside the downloaded module, whose own
// go.mod and go.sum pin the rest; go.sum here has the checksum of the download.
module github.com/darkroom-operator/darkroom-operator/test/cluster/modules/operator-controller

go 1.26.0

require github.com/operator-framework/operator-controller v1.2.0
