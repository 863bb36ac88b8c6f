package controller_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// While no operator runs, the status of a Darkroom that is being deleted is not updated.
func TestKubectlShowsADeletionWithoutAnOperator(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	darkroom := webFolder(namespace, "photos")
	darkroom.Finalizers = []string{"example.com/kept"}
	create(t, darkroom)
	if cell := cellOf(t, namespace, "Deleted"); cell != nil {
		t.Errorf("before the deletion: got column %v", cell)
	}
	remove(t, darkroom)
	cell, _ := cellOf(t, namespace, "Deleted").(string)
	if _, err := time.ParseDuration(cell); err != nil {
		t.Errorf("after the deletion: got the column %q (%v)", cell, err)
	}
}

// cellOf returns what kubectl get prints in a column for the only Darkroom in a namespace.
func cellOf(t *testing.T, namespace, column string) any {
	t.Helper()
	api, err := rest.HTTPClientFor(cluster)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		strings.TrimSuffix(cluster.Host, "/")+"/apis/"+v1alpha1.GroupVersion.String()+"/namespaces/"+namespace+"/darkrooms", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := api.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	table := &metav1.Table{}
	if err := json.NewDecoder(response.Body).Decode(table); err != nil || len(table.Rows) != 1 {
		t.Fatalf("kubectl get shows %+v (%v)", table.Rows, err)
	}
	for i, definition := range table.ColumnDefinitions {
		if definition.Name == column {
			return table.Rows[0].Cells[i]
		}
	}
	t.Fatalf("there is no column %s", column)
	return nil
}
