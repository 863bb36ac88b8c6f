module github.com/darkroom-operator/darkroom-operator/test/cluster

go 1.26
