package scorecard

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
)

var cluster *rest.Config

func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(m, func(administrator *rest.Config) error {
		cluster = administrator
		return nil
	}))
}

// The end-to-end tests of test/olm run it with an operator.
func TestWithoutAnOperatorTheTestFailsAndLeavesNothing(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		defer cancel()
		_ = poll(ctx, func(ctx context.Context) (bool, error) {
			created := &v1alpha1.DarkroomList{}
			err := kube.List(ctx, created)
			return err == nil && len(created.Items) > 0, nil
		})
	}()
	status := Test{kube, metav1.NamespaceDefault, listener}.Run(ctx)
	if len(status.Results) != 1 {
		t.Fatalf("the status is %+v", status)
	}
	result := status.Results[0]
	if result.State != v1alpha3.FailState || len(result.Errors) != 1 || !strings.Contains(result.Errors[0], "does not serve an image") {
		t.Errorf("the result is %+v", result)
	}
	left := &v1alpha1.DarkroomList{}
	if err := kube.List(t.Context(), left); err != nil || len(left.Items) > 0 {
		t.Errorf("%d Darkrooms are left: %v", len(left.Items), err)
	}
	if _, err := net.DialTimeout("tcp", listener.Addr().String(), time.Second); err == nil {
		t.Error("the source still runs")
	}
}

func TestTheImageMustBeServedInTheLastGeneration(t *testing.T) {
	darkroom := func(ready, source metav1.ConditionStatus, observed int64) *v1alpha1.Darkroom {
		d := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		d.Status.Conditions = []v1alpha1.Condition{
			{Type: v1alpha1.ConditionReady, Status: ready, ObservedGeneration: observed},
			{Type: v1alpha1.ConditionSourceReady, Status: source, ObservedGeneration: observed},
		}
		return d
	}
	for name, test := range map[string]struct {
		darkroom *v1alpha1.Darkroom
		want     bool
	}{
		"served":             {darkroom(metav1.ConditionTrue, metav1.ConditionTrue, 2), true},
		"pods are not ready": {darkroom(metav1.ConditionFalse, metav1.ConditionTrue, 2), false},
		"not probed":         {darkroom(metav1.ConditionTrue, metav1.ConditionUnknown, 2), false},
		"of the last spec":   {darkroom(metav1.ConditionTrue, metav1.ConditionTrue, 1), false},
		"new":                {&v1alpha1.Darkroom{}, false},
	} {
		if got := serves(test.darkroom); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
