package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Component is one program of the cluster.
type Component struct {
	// Name is the name of the binary.
	Name string
	// Requires is the module path whose version is the component's version, which
	// go.mod in the folder of the programs pins, or downloadsMod. Empty means a package
	// of this tool.
	Requires string
	// Package is the main package to build.
	Package string
	// Binary is the name that go build gives the binary; empty means Name.
	Binary string
	// InDownload builds inside the downloaded module, by its own go.mod, for modules with replace lines, which a module
	// that requires them would ignore. downloadsMod pins their versions.
	InDownload bool
	// Tags are build tags, joined by commas.
	Tags string
	// VersionVars are the Go variables to set to the version at link time.
	// Kubernetes reports v0.0.0 without them, which misleads Helm's capability
	// checks and kubectl's version skew warning.
	VersionVars func(version string) map[string]string
	// Groups are the names of the groups that the component belongs to.
	Groups []string
}

// Groups of components.
const (
	// GroupAssets contains the programs that controller-runtime's envtest expects in KUBEBUILDER_ASSETS.
	GroupAssets = "assets"
	// GroupSimulated is a cluster whose nodes are simulated by kwok.
	GroupSimulated = "simulated"
	// GroupReal is a cluster with a real node.
	GroupReal = "real"
	// GroupOLM is the Operator Lifecycle Manager, versions 0 and 1, which tests
	// run as pods of a real node.
	GroupOLM = "olm"
)

var (
	everywhere = []string{GroupAssets, GroupSimulated, GroupReal}
	clusters   = []string{GroupSimulated, GroupReal}
	realOnly   = []string{GroupReal}
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	operatorSDK      = "github.com/operator-framework/operator-sdk"
)

// components is ordered by usefulness: the programs that most users wait for come first.
var components = []Component{
	kubernetes("kube-apiserver", everywhere),
	{
		Name:     "etcd",
		Requires: "go.etcd.io/etcd/server/v3",
		Package:  "go.etcd.io/etcd/server/v3",
		Binary:   "server",
		Groups:   everywhere,
	},
	kubernetes("kubectl", everywhere),
	kubernetes("kube-controller-manager", clusters),
	kubernetes("kube-scheduler", clusters),
	{
		Name:     "kwok",
		Requires: "sigs.k8s.io/kwok",
		Package:  "sigs.k8s.io/kwok/cmd/kwok",
		Groups:   []string{GroupSimulated},
	},
	kubernetes("kubelet", realOnly),
	kubernetes("kube-proxy", realOnly),
	{Name: "coredns", Requires: "github.com/coredns/coredns", Package: "./coredns", Groups: realOnly},
	{Name: "pause", Package: "./pause", Groups: realOnly},
	{Name: "traefik", Requires: "github.com/traefik/traefik/v3", Package: "./traefik", Groups: realOnly},
	downloaded("operator-sdk", operatorSDK, imageTags).setting(operatorSDK + "/internal/version.Version"),
	downloaded("scorecard-test", operatorSDK, imageTags).at("./images/scorecard-test"),
	downloaded("opm", "github.com/operator-framework/operator-registry", "json1,"+imageTags, GroupOLM),
	downloaded("olm", "github.com/operator-framework/operator-lifecycle-manager", "", GroupOLM),
	downloaded("catalog", "github.com/operator-framework/operator-lifecycle-manager", "", GroupOLM),
	downloaded("cpb", "github.com/operator-framework/operator-lifecycle-manager", "", GroupOLM).at("./util/cpb"),
	downloaded("grpc-health-probe", "github.com/grpc-ecosystem/grpc-health-probe", "", GroupOLM).at("."),
	downloaded("operator-controller", "github.com/operator-framework/operator-controller", imageTags, GroupOLM),
	downloaded("catalogd", "github.com/operator-framework/operator-controller", imageTags, GroupOLM),
}

// imageTags omit the parts of the image libraries that need C.
const imageTags = "containers_image_openpgp,exclude_graphdriver_btrfs"

// downloaded returns a program of the Operator Lifecycle Manager, a program in its images, or a tool, built by its own
// go.mod.
func downloaded(name, requires, tags string, groups ...string) Component {
	return Component{
		Name: name, Requires: requires, Package: "./cmd/" + name, InDownload: true,
		Tags: tags, Groups: groups,
	}
}

// at returns a program whose package is in another folder of its module.
func (c Component) at(folder string) Component {
	c.Package = folder
	return c
}

// setting sets a variable to the version.
func (c Component) setting(variable string) Component {
	c.VersionVars = func(version string) map[string]string { return map[string]string{variable: version} }
	return c
}

func kubernetes(name string, groups []string) Component {
	return Component{
		Name:        name,
		Requires:    kubernetesModule,
		Package:     "k8s.io/kubernetes/cmd/" + name,
		VersionVars: kubernetesVersionVars,
		Groups:      groups,
	}
}

func kubernetesVersionVars(version string) map[string]string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	vars := map[string]string{}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		vars[pkg+".gitVersion"] = version
		vars[pkg+".gitMajor"] = major
		vars[pkg+".gitMinor"] = minor
		vars[pkg+".gitTreeState"] = "clean"
	}
	return vars
}

// Select returns the named components, each once, in build order. A name is the name of a component or a group.
func Select(names ...string) ([]Component, error) {
	for _, name := range names {
		if !slices.ContainsFunc(components, func(c Component) bool { return c.is(name) }) {
			return nil, fmt.Errorf("there is no component or group %q; see cluster -h", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(components),
		func(c Component) bool { return !slices.ContainsFunc(names, c.is) }), nil
}

// is reports whether a name is the name of c or of one of its groups.
func (c Component) is(name string) bool { return name == c.Name || slices.Contains(c.Groups, name) }

// Names returns the names of all groups and components.
func Names() []string {
	names := []string{GroupAssets, GroupSimulated, GroupReal, GroupOLM}
	for _, c := range components {
		names = append(names, c.Name)
	}
	return names
}

// ownVersion is the version of components that are packages of this tool.
const ownVersion = "v1"

// downloadsMod pins the versions of the components that are built inside their downloads,
// and downloads.sum their checksums. A module that required them would depend on all their dependencies, so there is
// none.
const downloadsMod = "downloads.mod"

// Version returns the version of c, as pinned in the folder of the programs.
func (c Component) Version(programs string) (string, error) {
	if c.Requires == "" {
		return ownVersion, nil
	}
	path := filepath.Join(programs, c.modFile())
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.Name, err)
	}
	file, err := modfile.ParseLax(path, data, nil)
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.Name, err)
	}
	for _, require := range file.Require {
		if require.Mod.Path == c.Requires {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", path, c.Requires)
}

// modFile is the name of the file that pins the version of c.
func (c Component) modFile() string {
	if c.InDownload {
		return downloadsMod
	}
	return "go.mod"
}
