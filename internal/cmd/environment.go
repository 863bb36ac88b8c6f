package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// Environment variables that do not correspond to flags.
const (
	// envWatchNamespace is set by OLM: the namespaces of the OperatorGroup.
	envWatchNamespace = "WATCH_NAMESPACE"
	// envImage and envGateImage are set by OLM bundles, so that mirrors can replace the images.
	envImage     = "RELATED_IMAGE_DARKROOM"
	envGateImage = "RELATED_IMAGE_GATE"
	// envAPIServer disables the API server where its Deployment cannot be omitted, as in an OLM bundle.
	envAPIServer = "DARKROOM_APISERVER"
)

// garbagePercent is how much garbage may grow, in percent of the live heap, unless GOGC is set. Nearly all of the heap of
// a manager or API server is caches and buffers of connections. Go's default of 100 takes a tenth more memory for 10,000
// Darkrooms, and some percent less CPU time.
const garbagePercent = 75

func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// environmentOf returns the environment variable of a flag, for example DARKROOM_BASE_DOMAIN for --base-domain.
func environmentOf(flag *pflag.Flag) string {
	return "DARKROOM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// nameEnvironment appends the name of the environment variable to the usage of each flag.
func nameEnvironment(flags *pflag.FlagSet) {
	flags.VisitAll(func(flag *pflag.Flag) {
		flag.Usage += " (environment: " + environmentOf(flag) + ")"
	})
}

// setFromEnvironment sets flags that are not set by arguments from the environment. An empty variable counts as unset.
func setFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var failure error
	flags.VisitAll(func(flag *pflag.Flag) {
		value := getenv(environmentOf(flag))
		if flag.Changed || value == "" || failure != nil {
			return
		}
		set := value
		if _, list := flag.Value.(pflag.SliceValue); list {
			set = strings.Join(split(value), ",")
		}
		if err := flags.Set(flag.Name, set); err != nil {
			failure = fmt.Errorf("%s=%s: %w", environmentOf(flag), value, err)
		}
	})
	return failure
}

// split splits a comma-separated list and omits empty items.
func split(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// namespaceFile contains the namespace of a pod with a ServiceAccount.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// clusterConfig returns the client configuration from KUBECONFIG, from the pod, or from ~/.kube/config.
func clusterConfig() (*rest.Config, error) {
	if err := checkKubeconfig(); err != nil {
		return nil, err
	}
	kubeconfig, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w: set KUBECONFIG, or run in a cluster", err)
	}
	return kubeconfig, nil
}

// contextNamespace returns the namespace of the kubeconfig; "default" if it is not set.
func contextNamespace() string {
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return metav1.NamespaceDefault
	}
	return namespace
}

// checkKubeconfig returns an error if no file in KUBECONFIG exists. Otherwise client-go would only report that no
// configuration was provided.
func checkKubeconfig() error {
	files := os.Getenv("KUBECONFIG")
	if files != "" && !slices.ContainsFunc(filepath.SplitList(files), exists) {
		return fmt.Errorf("KUBECONFIG=%s: no such file", files)
	}
	return nil
}

// discover discovers the API of a cluster for a command for users.
func discover(ctx context.Context, kubeconfig *rest.Config) (*controller.Cluster, error) {
	api, err := discovery.NewDiscoveryClientForConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	return controller.Discover(ctx, api)
}

// defaultInstallation returns the default name of an installation: its namespace.
func defaultInstallation() string {
	return cmp.Or(ownNamespace(), controller.DefaultInstallation)
}

// ownNamespace returns the namespace of the operator; empty outside of a cluster.
func ownNamespace() string {
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(namespace))
}

// checkNamespaces returns an error for an invalid name among the namespaces to watch.
func checkNamespaces(namespaces []string) error {
	for _, namespace := range namespaces {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			return fmt.Errorf("--watch-namespaces: invalid namespace %q: %s", namespace, problems[0])
		}
	}
	return nil
}
