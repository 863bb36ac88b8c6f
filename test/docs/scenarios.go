package docs

import "context"

// Setting is the environment of a scenario.
type Setting string

const (
	// Node is a cluster with a real node.
	Node Setting = "node"
	// OLM0 is a cluster with the Operator Lifecycle Manager, started by test/olm.
	OLM0 Setting = "olm0"
	// OLM1 is a cluster with OLM version 1.
	OLM1 Setting = "olm1"
)

// scenario is an order in which a reader may go through the documents.
type scenario struct {
	name    string
	setting Setting
	steps   []step
}

// step performs something that the documents leave to their readers. Without a function, it runs the commands of the
// block, section or page with this name as written.
type step struct {
	name string
	do   func(context.Context, *environment) error
}

const (
	readme  = "README.md"
	install = "docs/install.md"
	first   = "docs/first-darkroom.md"
	restAPI = "docs/rest-api.md"

	installing = install + "#Installing and uninstalling"
	forgotten  = install + "#Darkrooms left behind"
	quick      = first + "#A first Darkroom in five minutes"
)

// scenarios run in this order. They cover blocks that no other test runs.
var scenarios = []scenario{
	{"PreviewOfTheInstallation", Node, []step{
		{install + "#Previewing the installation", nil},
		{"darkroom.yaml", writeManifest},
		{readme + "#Installing/2", nil},
		{"nothing is left", nothingIsLeft},
	}},
	{"Kubectl", Node, []step{
		{"push the image", push},
		{install + "#kubectl/1", nil},
		{"bad.yaml", writeBadManifest},
		{readme + "#A Darkroom explained/3", nil},
		{quick + "/1", nil},
		{"the host serves", hostServes},
		{quick + "/2", nil},
		{"cat.jpg is small", catIsSmall},
		{quick + "/3", nil},
		{quick + "/4", nil},
		{quick + "/5", nil},
		{"the README's Darkroom", applyReadme},
		{readme + "#A Darkroom explained/2", nil},
		{"docs/operations.md#Upgrading/1", nil},
		{"docs/operations.md#Upgrading/2", nil},
		{"docs/kubectl-darkroom.md#kubectl darkroom/1", nil},
		{"docs/kubectl-darkroom.md#kubectl darkroom/2", nil},
		{first + "#Images in S3", nil},
		{"docs/runbooks.md", nil},
		{"docs/operations.md#Several installations", nil},
		{install + "#kubectl/2", nil},
		{"remove the namespace", removePhotos},
		{"nothing is left", nothingIsLeft},
	}},
	{"Teams", Node, []step{
		{install + "#kubectl/1", nil},
		{"docs/teams.md", nil},
		{install + "#kubectl/2", nil},
		{"nothing is left", nothingIsLeft},
	}},
	{"ChartOnly", Node, []step{
		{readme + "#Installing/3", nil},
		{"nothing is left", nothingIsLeft},
	}},
	{"KubectlKeepingTheCRD", Node, []step{
		{install + "#kubectl/1", nil},
		{install + "#kubectl/3", nil},
		{"the CRD is left", definitionIsLeft},
		{install + "#kubectl/4", nil},
		{"nothing is left", nothingIsLeft},
	}},
	{"KustomizeAndRESTAPI", Node, []step{
		{install + "#kustomize/1", nil},
		{restAPI, nil},
		{install + "#kustomize/2", nil},
		{"remove the namespace", removePhotos},
		{"nothing is left", nothingIsLeft},
	}},
	{"OperatorRemovedFirst", Node, []step{
		{install + "#kubectl/1", nil},
		{quick + "/1", nil},
		{"remove the operator", removeOperator},
		{"the host serves", hostServes},
		{forgotten, nil},
		{"remove the namespace", removePhotos},
		{install + "#kubectl/4", nil},
		{"nothing is left", nothingIsLeft},
	}},

	{"OLMv0", OLM0, []step{
		{install + "#OLM v0/2", nil},
		{quick + "/1", nil},
		{install + "#OLM v0/3", nil},
		{"remove the namespace", removePhotos},
		{"nothing is left", groupsRolesAreLeft},
	}},
	{"OLMv1", OLM1, []step{
		{install + "#OLM v1/1", nil},
		{install + "#OLM v1/2", nil},
		{quick + "/1", nil},
		{install + "#OLM v1/3", nil},
		{"remove the namespace", removePhotos},
		{"nothing is left", nothingIsLeft},
	}},
}

const helmInTestOLM = "TestHelm in test/olm installs, upgrades and uninstalls the chart"

// notRun lists the blocks that are not part of a scenario, with the reason.
var notRun = map[string]string{
	"CONTRIBUTING.md#Tests/1":           "needs kind",
	readme + "#Quick start/1":           "steps of .ci/run",
	readme + "#Installing/1":            "TestKustomize in test/olm runs the targets that need no container engine",
	install + "#OLM v0/1":               "test/olm pushes bundle and catalog without a container engine",
	install + "#Helm/1":                 helmInTestOLM,
	install + "#Helm/2":                 helmInTestOLM,
	"docs/gate.md#Signed URLs/1":        "TestSignedURLs in test/e2e creates such a Secret",
	"docs/gate.md#Signed URLs/3":        "internal/cmd/sign_test.go signs with the keys of a Darkroom",
	"docs/operations.md#Rolling back/1": "TestHelm in test/olm rolls back",
	install + "#Helm/3":                 helmInTestOLM,
	installing +
		"/1": "needs a container engine and a registry; a job of ci.yaml builds the images",
	"docs/sign-in.md#Setup/2": "needs an OIDC issuer; " +
		"TestTheChartOfEverythingIsAcceptedByAnAPIServer renders the chart",
	"docs/release.md#Making a release/1":  "needs a published release",
	"docs/release.md#Testing a release/1": "a separate job in ci.yaml, and steps of .ci/run",
}
