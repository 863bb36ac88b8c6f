package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// shownReasonAndReady are the columns REASON and READY of kubectl get.
func shownReasonAndReady(ctx context.Context, namespace, name string) ([]any, error) {
	table := &metav1.Table{}
	requests, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, err
	}
	answer, err := requests.RESTClient().Get().AbsPath("/apis/deployments.example.com/v1alpha1/namespaces", namespace, "darkrooms", name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, table); err != nil {
		return nil, err
	}
	var cells []any
	for i, column := range table.ColumnDefinitions {
		if column.Name == "Reason" || column.Name == "Ready" {
			cells = append(cells, table.Rows[0].Cells[i])
		}
	}
	return cells, nil
}

func TestColumnsShowTheReasonAndTheDesiredPods(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Replicas = ptr.To[int32](3)
	create(t, darkroom)
	show := func(reason, pods string) {
		t.Helper()
		eventually(t, "the columns", func(ctx context.Context) error {
			got, err := shownReasonAndReady(ctx, namespace, "photos")
			if diff := cmp.Diff([]any{reason, pods}, got); err == nil && diff != "" {
				return fmt.Errorf("(-want +got):\n%s", diff)
			}
			return err
		})
	}
	show(v1alpha1.ReasonDeploying, "0/3")
	becomeReady(t, namespace, "photos")
	show(v1alpha1.ReasonAllReplicasReady, "3/3")
}
