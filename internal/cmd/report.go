package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// lastApplied contains a copy of the whole object, including credentials.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func newReport() *cobra.Command {
	s := &subject{}
	var file string
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Writes the data for a bug report, without credentials",
		Long: `Writes a Darkroom with its objects, pods and events as YAML. Credentials, the values of variables and the data
of Secrets are omitted, but names of hosts, buckets and images are not. Review the report before you publish it.`,
		Example:           `  kubectl darkroom report photos -o report.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, kubeconfig, err := s.gather(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			return writeTo(file, cmd.OutOrStdout(), func(out io.Writer) error {
				return e.writeReport(out, versions(kubeconfig), time.Now())
			})
		},
	}
	s.addFlags(command.Flags())
	command.Flags().StringVarP(&file, "output", "o", "", "output file; empty means standard output")
	return command
}

// writeReport writes the data for a bug report as YAML documents: the Darkroom, its objects, pods and events. It omits
// the values of variables and all credentials. Secrets appear only by name, where other objects refer to them.
func (e *evidence) writeReport(out io.Writer, versions map[string]any, now time.Time) error {
	// The original is kept for the redaction of texts, which needs the concealed values.
	original := e.darkroom.DeepCopy()
	shown := e.darkroom.DeepCopy()
	wire.Conceal(shown)
	documents := []any{map[string]any{
		"report": now.UTC().Format(time.RFC3339), "versions": versions, "notReadable": strings.Join(e.unread, ", "),
	}}
	objects := []client.Object{shown}
	for i := range e.objects {
		objects = append(objects, e.objects[i].DeepCopy())
	}
	for i := range e.pods {
		pod := e.pods[i].DeepCopy()
		pod.APIVersion, pod.Kind = "v1", "Pod"
		objects = append(objects, pod)
	}
	for _, object := range objects {
		plain, err := plainObject(object)
		if err != nil {
			return err
		}
		documents = append(documents, plain)
	}
	events := []any{}
	for i := range e.events {
		event := &e.events[i]
		events = append(events, fmt.Sprintf("%s %s %s %s/%s: %s",
			lastSeen(event).UTC().Format(time.RFC3339), event.Type, event.Reason,
			event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Message))
	}
	documents = append(documents, map[string]any{"events": events})
	var b strings.Builder
	for _, document := range documents {
		// Texts are redacted before encoding, because YAML folds long texts and escapes control characters.
		raw, err := yaml.Marshal(manifest.EachText(document,
			func(text string) string { return terminal.Escape(redact.Message(original, text)) }))
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		b.WriteString("---\n" + string(raw))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// plainObject returns the fields of an object without managed fields, embedded copies of the object and the values of
// variables.
func plainObject(object client.Object) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", object.GetName(), err)
	}
	plain := &unstructured.Unstructured{Object: fields}
	plain.SetManagedFields(nil)
	annotations := plain.GetAnnotations()
	delete(annotations, lastApplied)
	if len(annotations) == 0 {
		annotations = nil
	}
	plain.SetAnnotations(annotations)
	if _, isDarkroom := object.(*v1alpha1.Darkroom); !isDarkroom {
		manifest.ConcealVariables(plain.Object)
	}
	return plain.Object, nil
}

// writeTo writes to a file that only its owner may read, or to out without a name.
func writeTo(name string, out io.Writer, write func(io.Writer) error) error {
	if name == "" {
		return write(out)
	}
	//nolint:gosec // G304: the file that the user names
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// versions are the versions of the program, its chart and the cluster.
func versions(kubeconfig *rest.Config) map[string]any {
	out := map[string]any{"program": version()}
	if chrt, err := charts.Darkroom(); err == nil {
		out["chart"], out["darkroom"] = chrt.Metadata.Version, chrt.AppVersion()
	}
	if api, err := discovery.NewDiscoveryClientForConfig(kubeconfig); err == nil {
		if served, err := api.ServerVersion(); err == nil {
			out["kubernetes"] = served.GitVersion
		}
	}
	return out
}
