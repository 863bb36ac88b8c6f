package diagnosis

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// lastApplied contains a copy of the whole object, including credentials.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Report writes the data for a bug report as YAML documents: the Darkroom, its objects, pods and events. It omits the
// values of variables and all credentials. Of Secrets, it contains only the names in other objects.
func (e *Evidence) Report(out io.Writer, versions map[string]any, now time.Time) error {
	// The original is kept for the redaction of texts, which needs the concealed values.
	original := e.Darkroom.DeepCopy()
	shown := e.Darkroom.DeepCopy()
	wire.Conceal(shown)
	documents := []any{map[string]any{
		"report": now.UTC().Format(time.RFC3339), "versions": versions, "notReadable": strings.Join(e.Unread, ", "),
	}}
	objects := []client.Object{shown}
	for i := range e.Objects {
		objects = append(objects, e.Objects[i].DeepCopy())
	}
	for i := range e.Pods {
		pod := e.Pods[i].DeepCopy()
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
	for i := range e.Events {
		event := &e.Events[i]
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
