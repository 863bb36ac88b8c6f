package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// schemaTimeout is how long the API server may take to publish an upgraded definition.
const schemaTimeout = 30 * time.Second

// CheckDefinition returns an error if the CustomResourceDefinition of Darkrooms in the cluster lacks
// fields of the status that this operator writes: the API server would drop them, the base domain of
// each Darkroom among them, or refuse the whole status. Fields of the spec are not compared, because an
// operator without them works. The schema comes from the OpenAPI documents, which every
// authenticated user may read.
func CheckDefinition(ctx context.Context, api rest.Interface) error {
	var lacking []string
	var cause error
	served := &servedDefinition{api: openapi.NewClientWithContext(api)}
	err := wait.PollUntilContextTimeout(ctx, discoveryRetry, schemaTimeout, true, func(ctx context.Context) (bool, error) {
		lacking, cause = served.lacks(ctx)
		return apierrors.IsForbidden(cause) || apierrors.IsNotFound(cause) || cause == nil && len(lacking) == 0, nil
	})
	switch {
	case err == nil && cause == nil:
		return nil
	case len(lacking) == 0:
		ctrl.LoggerFrom(ctx).Info("The CustomResourceDefinition was not compared with this operator", "cause",
			errors.Join(cause, err).Error())
		return ctx.Err()
	}
	return fmt.Errorf(
		"the CustomResourceDefinition darkrooms.%s in the cluster is older than this operator, and lacks %s: "+
			"apply that of this release (config/crd, or `helm upgrade` with crds.install=true)", v1alpha1.GroupVersion.Group,
		strings.Join(lacking, ", "))
}

// servedDefinition is the definition in the cluster. Its document is read when the index of all documents, which has a
// twentieth of its size, says that it has changed.
type servedDefinition struct {
	api openapi.ClientWithContext
	// url is that of the document that was read last, with its hash, and lacking are the fields and values of the
	// status that it lacks.
	url     string
	lacking []string
	older   streak
}

// lacks returns the fields and values of the status that the definition in the cluster lacks.
func (d *servedDefinition) lacks(ctx context.Context) ([]string, error) {
	documents, err := d.api.PathsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	document, found := documents["apis/"+v1alpha1.GroupVersion.String()]
	switch {
	case !found:
		return nil, apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("darkrooms").GroupResource(), "")
	case document.ServerRelativeURL() == d.url:
		return d.lacking, nil
	}
	wanted, err := definition.Schema()
	if err != nil {
		return nil, err
	}
	raw, err := document.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return nil, err
	}
	served, err := servedSchema(raw)
	if err != nil {
		return nil, err
	}
	d.url, d.lacking = document.ServerRelativeURL(),
		lacks("status", wanted.Properties["status"], served.Properties["status"])
	return d.lacking, nil
}

// check asks once, and ends the manager when the definition in the cluster has become older: what the API server drops
// of a status that is stored already looks as if it had never been reported. The next process waits for the definition,
// and reports everything. No answer changes nothing.
func (d *servedDefinition) check(ctx context.Context) error {
	lacking, err := d.lacks(ctx)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the next answer tells
	case len(lacking) == 0:
		d.older = 0
		return nil
	}
	if !d.older.lasts() {
		return nil
	}
	ctrl.LoggerFrom(ctx).
		Info("The CustomResourceDefinition is older than this operator: stopping, to wait for another one", "lacks", lacking)
	return ErrClusterChanged
}

// servedSchema finds the schema of Darkrooms in an OpenAPI document.
func servedSchema(document []byte) (found apiextensionsv1.JSONSchemaProps, err error) {
	var served struct {
		Components struct {
			Schemas map[string]apiextensionsv1.JSONSchemaProps
		}
	}
	if err := json.Unmarshal(document, &served); err != nil {
		return found, fmt.Errorf("read the OpenAPI document of %s: %w", v1alpha1.GroupVersion, err)
	}
	for name, schema := range served.Components.Schemas {
		if strings.HasSuffix(name, "."+v1alpha1.Kind) {
			return schema, nil
		}
	}
	return found, fmt.Errorf("the OpenAPI document of %s has no Darkrooms", v1alpha1.GroupVersion)
}

// lacks returns the paths of the fields and values of a schema that another one lacks, sorted.
func lacks(path string, wanted, served apiextensionsv1.JSONSchemaProps) []string {
	var paths []string
	for name, field := range wanted.Properties {
		if other, found := served.Properties[name]; found {
			paths = append(paths, lacks(path+"."+name, field, other)...)
		} else if !ptr.Deref(served.XPreserveUnknownFields, false) {
			paths = append(paths, path+"."+name)
		}
	}
	if wanted.Items != nil && served.Items != nil {
		paths = append(paths, lacks(path+"[]", *wanted.Items.Schema, *served.Items.Schema)...)
	}
	for _, value := range wanted.Enum {
		if len(served.Enum) > 0 && !slices.ContainsFunc(served.Enum,
			func(other apiextensionsv1.JSON) bool { return string(other.Raw) == string(value.Raw) }) {
			paths = append(paths, fmt.Sprintf("%s: %s", path, value.Raw))
		}
	}
	slices.Sort(paths)
	return paths
}
