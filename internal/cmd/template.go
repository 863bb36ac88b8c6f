package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// kubeVersion is what manifests are rendered for without a cluster. The chart renders the same
// for every version that it supports.
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
		Long: `Prints the manifests that the operator would install for each Darkroom in the
files, with the same translation and the same chart. It does not need a cluster, so it
does not know the API versions that yours serves and the flags of its operator: for
OpenShift add --api-versions security.openshift.io/v1,route.openshift.io/v1, and repeat
the flags.

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
	flags.StringSliceVarP(&options.files, "filename", "f", nil, "file with one or more Darkroom resources; - means standard input")
	flags.StringVarP(&options.namespace, "namespace", "n", "default", "namespace of Darkrooms without a namespace")
	flags.BoolVar(&options.valuesOnly, "values", false, "print the values of the chart instead of the manifests")
	flags.StringSliceVar(&options.apiVersions, "api-versions", nil, "additional API versions of the cluster")
	options.translation.addFlags(flags)
	flags.StringVar(&options.translation.options.Image, "image", os.Getenv(envImage), "default Darkroom container image. The default is the value of "+envImage)
	return command
}

func (o *templateOptions) run(ctx context.Context, stdin io.Reader, out io.Writer) error {
	if len(o.files) == 0 {
		return errors.New("no file given: use -f FILE, or -f - for standard input")
	}
	o.translation.resolve()
	translator, err := values.New(o.translation.options)
	if err != nil {
		return err
	}
	chrt, err := charts.Darkroom()
	if err != nil {
		return err
	}
	capabilities, err := capabilitiesOf(o.apiVersions)
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
			err = o.print(ctx, out, translator, chrt, capabilities, darkroom)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *templateOptions) print(ctx context.Context, out io.Writer, translator *values.Translator, chrt *chart.Chart, capabilities *chartutil.Capabilities, darkroom *v1alpha1.Darkroom) error {
	if !o.valuesOnly {
		manifest, err := manifestOf(ctx, translator, chrt, capabilities, darkroom)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, manifest)
		return err
	}
	vals, err := translator.Values(darkroom)
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

// capabilitiesOf returns the capabilities of a cluster that serves some API versions.
func capabilitiesOf(apiVersions []string) (*chartutil.Capabilities, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(capabilities.APIVersions, apiVersions...)
	parsed, err := chartutil.ParseKubeVersion(kubeVersion)
	if err != nil {
		return nil, fmt.Errorf("parse version %s: %w", kubeVersion, err)
	}
	capabilities.KubeVersion = *parsed
	return capabilities, nil
}

// readDarkrooms reads the Darkrooms in some files. It skips other kinds and expands Lists.
// An unknown field is an error, because the API server would drop it silently.
func readDarkrooms(files []string, stdin io.Reader) ([]*v1alpha1.Darkroom, error) {
	builder := resource.NewLocalBuilder().Unstructured().Flatten()
	for _, file := range files {
		if file == "-" {
			builder = builder.Stream(stdin, "standard input")
			continue
		}
		builder = builder.FilenameParam(false, &resource.FilenameOptions{Filenames: []string{file}})
	}
	infos, err := builder.Do().Infos()
	if err != nil {
		return nil, err
	}
	var darkrooms []*v1alpha1.Darkroom
	for _, info := range infos {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok || object.GroupVersionKind() != v1alpha1.GroupVersionKind {
			continue
		}
		// Fields that are set by the cluster are ignored, including those of newer versions.
		delete(object.Object, "status")
		raw, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		darkroom := &v1alpha1.Darkroom{}
		strict, err := kjson.UnmarshalStrict(raw, darkroom)
		if err := errors.Join(append(strict, mismatch(err))...); err != nil {
			return nil, fmt.Errorf("%s: invalid Darkroom %q: %w", info.Source, object.GetName(), err)
		}
		darkrooms = append(darkrooms, darkroom)
	}
	if len(darkrooms) == 0 {
		return nil, fmt.Errorf("no Darkroom (%s) in %s", v1alpha1.GroupVersion, strings.Join(files, ", "))
	}
	return darkrooms, nil
}

// mismatch says without the words of Go that a field has a value of another type.
func mismatch(err error) error {
	var of *json.UnmarshalTypeError
	if !errors.As(err, &of) {
		return err
	}
	return fmt.Errorf("%s: must be %s", of.Field, wire.TypeWanted(of.Type))
}
