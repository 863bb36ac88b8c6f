package docs

// Setting is where a scenario takes place.
type Setting string

const (
	// Node is a cluster with a real node.
	Node Setting = "node"
	// OLM0 is one with the Operator Lifecycle Manager, which test/olm starts.
	OLM0 Setting = "olm0"
	// OLM1 is one with that of version 1.
	OLM1 Setting = "olm1"
)

// Scenario is an order in which a reader may go through the documents.
type Scenario struct {
	Name    string
	Setting Setting
	Steps   []Step
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

// Scenarios run in this order. They are those that no other test runs.
var Scenarios = []Scenario{
	{"PreviewOfTheInstallation", Node, []Step{
		Read{install + "#Previewing the installation"},
		Do{"darkroom.yaml", writeManifest},
		Read{readme + "#Installing/2"},
		Do{"nothing is left", nothingIsLeft},
	}},
	{"Kubectl", Node, []Step{
		Do{"push the image", push},
		Read{install + "#kubectl/1"},
		Do{"bad.yaml", writeBadManifest},
		Read{readme + "#A Darkroom explained/3"},
		Read{quick + "/1"},
		Do{"the host serves", hostServes},
		Read{quick + "/2"},
		Do{"cat.jpg is small", catIsSmall},
		Read{quick + "/3"},
		Read{quick + "/4"},
		Read{quick + "/5"},
		Do{"the README's Darkroom", applyReadme},
		Read{readme + "#A Darkroom explained/2"},
		Read{first + "#Images in S3"},
		Read{"docs/runbooks.md"},
		Read{install + "#kubectl/2"},
		Do{"remove the namespace", removePhotos},
		Do{"nothing is left", nothingIsLeft},
	}},
	{"ChartOnly", Node, []Step{
		Read{readme + "#Installing/3"},
		Do{"nothing is left", nothingIsLeft},
	}},
	{"KubectlKeepingTheCRD", Node, []Step{
		Read{install + "#kubectl/1"},
		Read{install + "#kubectl/3"},
		Do{"the CRD is left", definitionIsLeft},
		Read{install + "#kubectl/4"},
		Do{"nothing is left", nothingIsLeft},
	}},
	{"KustomizeAndRESTAPI", Node, []Step{
		Read{install + "#kustomize/1"},
		Read{restAPI},
		Read{install + "#kustomize/2"},
		Do{"remove the namespace", removePhotos},
		Do{"nothing is left", nothingIsLeft},
	}},
	{"OperatorRemovedFirst", Node, []Step{
		Read{install + "#kubectl/1"},
		Read{quick + "/1"},
		Do{"remove the operator", removeOperator},
		Do{"the host serves", hostServes},
		Read{forgotten},
		Do{"remove the namespace", removePhotos},
		Read{install + "#kubectl/4"},
		Do{"nothing is left", nothingIsLeft},
	}},

	{"OLMv0", OLM0, []Step{
		Read{install + "#OLM v0/1"},
		Read{quick + "/1"},
		Read{install + "#OLM v0/2"},
		Do{"remove the namespace", removePhotos},
		Do{"nothing is left", groupsRolesAreLeft},
	}},
	{"OLMv1", OLM1, []Step{
		Read{install + "#OLM v1/1"},
		Read{install + "#OLM v1/2"},
		Read{quick + "/1"},
		Read{install + "#OLM v1/3"},
		Do{"remove the namespace", removePhotos},
		Do{"nothing is left", nothingIsLeft},
	}},
}

const helmInTestOLM = "TestHelm in test/olm installs, upgrades and uninstalls the chart"

// notRun lists the blocks that are not part of a scenario, with the reason.
var notRun = map[string]string{
	"CONTRIBUTING.md#Tests/1":                    "needs kind",
	readme + "#Quick start/1":                    "a step of .ci/run",
	readme + "#Contributing/1":                   "a step of .ci/run",
	readme + "#Installing/1":                     "TestKustomize in test/olm runs the two targets",
	install + "#Helm/1":                          helmInTestOLM,
	install + "#Helm/2":                          helmInTestOLM,
	"docs/operations.md#Rolling back/1":          "TestHelm in test/olm rolls back",
	install + "#Helm/3":                          helmInTestOLM,
	installing + "/1":                            "needs a container engine and a registry; a job of ci.yaml builds the images",
	"docs/sign-in.md#Setup/2":                    "needs an OIDC issuer; TestTheChartOfEverythingIsAcceptedByAnAPIServer renders the chart",
	"docs/release.md#Making a release/1":         "needs a published release",
	"docs/release.md#A new version of the API/1": "needs a second version of the API",
	"docs/release.md#Testing a release/1":        "a job of its own in ci.yaml, and steps of .ci/run",
}
