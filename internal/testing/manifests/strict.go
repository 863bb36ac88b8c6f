package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

var strictDecoder = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(gatewayv1.Install(scheme))
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
})

// DecodeStrictly returns the objects of a rendered chart as types of Kubernetes and the Gateway API. An unknown,
// misplaced or duplicate field is an error. A ServiceMonitor is returned unchanged, because its type belongs to the
// Prometheus Operator.
func DecodeStrictly(manifest string) ([]client.Object, error) {
	var objects []client.Object
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest))); ; {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("read manifest: %w", err)
		case len(bytes.TrimSpace(document)) == 0:
			continue
		case bytes.Contains(document, []byte("\nkind: ServiceMonitor\n")):
			monitor := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(document, &monitor.Object); err != nil {
				return nil, fmt.Errorf("decode ServiceMonitor: %w", err)
			}
			objects = append(objects, monitor)
			continue
		}
		object, _, err := strictDecoder().Decode(document, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("decode: %w\n%s", err, document)
		}
		objects = append(objects, object.(client.Object))
	}
}

// All returns all objects of a type.
func All[T client.Object](objects []client.Object) []T {
	var found []T
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// Only returns the only object of a type.
func Only[T client.Object](t testing.TB, objects []client.Object) T {
	t.Helper()
	found := All[T](objects)
	if len(found) != 1 {
		t.Fatalf("want one %T, got %d", *new(T), len(found))
	}
	return found[0]
}
