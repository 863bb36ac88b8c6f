package cmd

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// translation holds the flags that affect the translation of a Darkroom. Manager, API
// server and template share them, so that a preview equals the installed release.
type translation struct {
	options   values.Options
	passProxy bool
}

func (t *translation) addFlags(flags *pflag.FlagSet) {
	t.options.Image = os.Getenv(envImage)
	t.options.GateImage = os.Getenv(envGateImage)
	flags.StringVar(&t.options.BaseDomain, "base-domain", values.DefaultBaseDomain,
		"domain that is appended to each sub-domain")
	flags.StringVar(&t.options.IngressClassName, "ingress-class", "",
		"default IngressClass of Darkrooms; empty means the default of the cluster")
	flags.StringSliceVar(&t.options.AllowedAnnotations, "ingress-annotations", []string{values.DefaultAnnotations},
		"annotations that Darkrooms may set on their Ingress, HTTPRoute, Services and ServiceAccount, comma-separated: keys, prefixes that end in *, and "+values.DefaultAnnotations+
			" for the list in docs/security.md; an empty flag allows none")
	flags.StringSliceVar(&t.options.ImagePullSecrets, "image-pull-secrets", nil,
		"names of Secrets with registry credentials for Darkrooms that name none, comma-separated; looked for in the namespace of each Darkroom")
	flags.BoolVar(&t.passProxy, "pass-proxy", false,
		"set HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the pods of Darkrooms as this process has them, except URLs with credentials; "+
			"a Darkroom overrides them by extraEnv or extraEnvFrom")
}

// resolve completes the options when the flags have been parsed. It returns the names of
// proxy variables that are not passed on, because they have credentials.
func (t *translation) resolve() (leftOut []string) {
	if t.passProxy {
		t.options.Proxy, leftOut = values.ProxyOf(os.Getenv)
	}
	return leftOut
}
