package cmd

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// Environment variables that set the defaults of flags.
const (
	envWatchNamespace = "WATCH_NAMESPACE"
	envBaseDomain     = "BASE_DOMAIN"
	envIngressClass   = "INGRESS_CLASS"
	// envIngressAnnotations is a comma-separated list.
	envIngressAnnotations = "INGRESS_ANNOTATIONS"
	envPassProxy          = "PASS_PROXY"
	// envImagePullSecrets is a comma-separated list of names.
	envImagePullSecrets = "IMAGE_PULL_SECRETS" //nolint:gosec // The name of a variable, not a credential.
	// envImage is set by OLM bundles, so that mirrors can replace the image.
	envImage = "RELATED_IMAGE_DARKROOM"
)

// namespaceFile has the namespace of a pod with a ServiceAccount.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// defaultInstallation names an installation after the namespace that it runs in.
func defaultInstallation() string {
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil || len(namespace) == 0 {
		return controller.DefaultInstallation
	}
	return strings.TrimSpace(string(namespace))
}

func envOr(name, otherwise string) string {
	if value, found := os.LookupEnv(name); found && value != "" {
		return value
	}
	return otherwise
}

// envList splits a comma-separated variable, leaving out what is empty.
func envList(name string) []string {
	var list []string
	for part := range strings.SplitSeq(os.Getenv(name), ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
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
