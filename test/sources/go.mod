module github.com/darkroom-operator/darkroom-operator/test/sources

go 1.26

require github.com/aws/aws-sdk-go-v2 v1.39.2

require github.com/aws/smithy-go v1.23.0 // indirect
