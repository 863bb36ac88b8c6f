package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// kubeVersion is the version of Kubernetes for rendering without a cluster. The chart renders the same manifests for
// every supported version.
const kubeVersion = "v1.36.0"

// templateOptions are the flags of the preview.
type templateOptions struct {
	files       []string
	namespace   string
	valuesOnly  bool
	apiVersions []string
	translation translation
}

func newTemplate() *cobra.Command {
	options := &templateOptions{}
	command := &cobra.Command{
		Use:   "template -f FILE",
		Short: "Prints the manifests that the operator would install for Darkroom resources",
		Long: `Prints the manifests that the operator would install for each Darkroom in the files,
with the same translation and the same chart. No cluster is needed, so the API versions
of your cluster and the flags of its operator are unknown. For OpenShift, add
--api-versions security.openshift.io/v1,route.openshift.io/v1. Repeat the operator's
flags.

The manifests contain the inline credentials of a Darkroom.`,
		Example: `  darkroom-operator template -f darkroom.yaml
  kubectl get darkroom photos -o yaml | darkroom-operator template -f -
  darkroom-operator template -f darkroom.yaml --values | helm template photos helm-charts/darkroom -f -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected argument %q: use -f %[1]s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return options.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringSliceVarP(&options.files, "filename", "f", nil,
		"file with one or more Darkroom resources; - means standard input")
	flags.StringVarP(&options.namespace, "namespace", "n", "default", "namespace of Darkrooms without a namespace")
	flags.BoolVar(&options.valuesOnly, "values", false, "print the values of the chart instead of the manifests")
	flags.StringSliceVar(&options.apiVersions, "api-versions", nil, "additional API versions of the cluster")
	options.translation.addFlags(flags)
	options.translation.addImages(flags)
	return command
}

func (o *templateOptions) run(ctx context.Context, stdin io.Reader, out io.Writer) error {
	if len(o.files) == 0 {
		return errors.New("no file given: use -f FILE, or -f - for standard input")
	}
	preview, err := o.translation.preview(o.apiVersions)
	if err != nil {
		return err
	}
	rules, err := definition.New()
	if err != nil {
		return err
	}
	darkrooms, err := readDarkrooms(o.files, stdin)
	if err != nil {
		return err
	}
	// Errors of all resources are reported.
	var errs []error
	for _, darkroom := range darkrooms {
		if darkroom.Namespace == "" {
			darkroom.Namespace = o.namespace
		}
		err := rules.Check(ctx, darkroom)
		if err == nil {
			err = o.print(ctx, out, preview, darkroom)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *templateOptions) print(
	ctx context.Context, out io.Writer, preview *preview, darkroom *v1alpha1.Darkroom,
) error {
	if !o.valuesOnly {
		manifest, err := preview.manifest(ctx, darkroom)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, manifest)
		return err
	}
	vals, err := preview.translator.Values(darkroom)
	if err != nil {
		return err
	}
	raw, err := yaml.Marshal(vals)
	if err != nil {
		return fmt.Errorf("encode values of Darkroom %s: %w", darkroom.Name, err)
	}
	_, err = fmt.Fprintf(out, "---\n# Darkroom: %s/%s\n%s", darkroom.Namespace, darkroom.Name, raw)
	return err
}

// preview renders Darkrooms as the operator does.
type preview struct {
	translator   *values.Translator
	chart        *render.Chart
	capabilities render.Capabilities
}

// preview returns the preview for a cluster that serves some API versions.
func (t *translation) preview(apiVersions []string) (*preview, error) {
	t.resolve(os.Getenv)
	translator, err := values.New(t.options)
	if err != nil {
		return nil, err
	}
	chrt, err := charts.Darkroom()
	if err != nil {
		return nil, err
	}
	return &preview{translator, chrt, render.Capabilities{Version: kubeVersion, APIVersions: apiVersions}}, nil
}

// manifest returns the manifests of a Darkroom. It checks the context between the steps.
func (p *preview) manifest(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
	vals, err := p.translator.Values(darkroom)
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	rendered, err := render.Render(p.chart, client.ObjectKeyFromObject(darkroom), vals, p.capabilities)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(rendered.Manifest) + "\n", nil
}

// readDarkrooms reads the Darkrooms in files. It skips other kinds and expands Lists. An unknown field is an error,
// because the API server would silently drop it.
func readDarkrooms(files []string, stdin io.Reader) ([]*v1alpha1.Darkroom, error) {
	var darkrooms []*v1alpha1.Darkroom
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // G304: the file that the user names
		if file == "-" {
			content, err = io.ReadAll(stdin)
		}
		if err != nil {
			return nil, err
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
		for n := 1; ; n++ {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				// Strict: a duplicate key is an error.
				document, err = yaml.YAMLToJSONStrict(document)
			}
			if err == nil {
				darkrooms, err = appendDarkrooms(darkrooms, document)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: document %d: %w", file, n, err)
			}
		}
	}
	if len(darkrooms) == 0 {
		return nil, fmt.Errorf("no Darkroom (%s) in %s", v1alpha1.GroupVersion, strings.Join(files, ", "))
	}
	return darkrooms, nil
}

// appendDarkrooms appends the Darkrooms in a JSON document, which is decoded as strictly as by the API server.
func appendDarkrooms(darkrooms []*v1alpha1.Darkroom, raw []byte) ([]*v1alpha1.Darkroom, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil || object.Object == nil {
		return darkrooms, err // nil: an empty document
	}
	if object.IsList() {
		err := object.EachListItem(func(item runtime.Object) error {
			raw, err := json.Marshal(item)
			if err == nil {
				darkrooms, err = appendDarkrooms(darkrooms, raw)
			}
			return err
		})
		return darkrooms, err
	}
	if object.GroupVersionKind() != v1alpha1.GroupVersionKind {
		return darkrooms, nil
	}
	// The status may contain fields of a newer version.
	delete(object.Object, "status")
	raw, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	darkroom := &v1alpha1.Darkroom{}
	strict, err := kjson.UnmarshalStrict(raw, darkroom)
	if err := errors.Join(append(strict, mismatch(err))...); err != nil {
		return nil, fmt.Errorf("invalid Darkroom %q: %w", object.GetName(), err)
	}
	return append(darkrooms, darkroom), nil
}

// mismatch describes a type error in YAML terms.
func mismatch(err error) error {
	var of *json.UnmarshalTypeError
	if !errors.As(err, &of) {
		return err
	}
	return fmt.Errorf("%s: must be %s", of.Field, wire.TypeWanted(of.Type))
}

// translation contains the flags that affect the translation of a Darkroom. The manager, the API server and the
// template command share them, so that a preview equals the installed release.
type translation struct {
	options   values.Options
	passProxy bool
}

func (t *translation) addFlags(flags *pflag.FlagSet) {
	t.options.Image = os.Getenv(envImage)
	t.options.GateImage = os.Getenv(envGateImage)
	flags.StringSliceVar(&t.options.BaseDomains, "base-domain", []string{values.DefaultBaseDomain},
		"domains that may be appended to sub-domains, comma-separated. The first is the default; spec.baseDomain chooses "+
			"another. {namespace} is replaced by the Darkroom's namespace. "+
			"Existing hosts keep their domain until the spec changes")
	flags.StringSliceVar(&t.options.ReservedHosts, "reserved-hosts", nil,
		"hosts that no Darkroom may claim, comma-separated: names, and *.DOMAIN for all hosts below a domain")
	flags.StringVar(&t.options.IngressClassName, "ingress-class", "",
		"default IngressClass of Darkrooms; empty means the default of the cluster")
	flags.StringSliceVar(&t.options.AllowedAnnotations, "ingress-annotations", []string{values.DefaultAnnotations},
		"annotations that Darkrooms may set on their Ingress, HTTPRoute, Services and ServiceAccount, comma-separated: "+
			"keys, prefixes that end in *, and "+values.DefaultAnnotations+
			" for the list in docs/security.md; an empty value allows none")
	flags.StringSliceVar(&t.options.InheritLabels, "inherit-labels", nil,
		"labels of a Darkroom that its objects and pods inherit, comma-separated: keys, and prefixes that end in *")
	flags.StringSliceVar(&t.options.InheritAnnotations, "inherit-annotations", nil,
		"annotations of a Darkroom that its objects and pods inherit, like --inherit-labels. They can affect controllers "+
			"that tenants share, as with --ingress-annotations")
	flags.StringSliceVar(&t.options.ImagePullSecrets, "image-pull-secrets", nil,
		"names of Secrets with registry credentials for Darkrooms that do not set any, comma-separated; read from the "+
			"namespace of each Darkroom")
	flags.BoolVar(&t.passProxy, "pass-proxy", false,
		"pass HTTP_PROXY, HTTPS_PROXY and NO_PROXY of this process to the pods of Darkrooms, except URLs with "+
			"credentials; Darkrooms can override them with extraEnv or extraEnvFrom")
}

// addImages adds flags for images to commands for users, who do not set the environment variables that OLM sets.
func (t *translation) addImages(flags *pflag.FlagSet) {
	flags.StringVar(&t.options.Image, "image", os.Getenv(envImage),
		"default Darkroom container image. The default is the value of "+envImage)
	flags.StringVar(&t.options.GateImage, "gate-image", os.Getenv(envGateImage),
		"image of the gate. The default is the value of "+envGateImage)
}

// resolve completes the options after the flags have been parsed. It returns the names of proxy variables that are not
// passed on because they contain credentials.
func (t *translation) resolve(getenv func(string) string) (leftOut []string) {
	if t.passProxy {
		t.options.Proxy, leftOut = values.ProxyOf(getenv)
	}
	return leftOut
}
