package controller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
)

// answers are those of an API server about route.openshift.io, one after the other. It serves
// no other optional resource. For ^ it is of another minor version and serves it.
type answers struct {
	of   string
	next int
}

func (a *answers) ServerVersion() (*version.Info, error) {
	if a.of[a.next] == '^' {
		return &version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.0"}, nil
	}
	return &version.Info{Major: "1", Minor: "36", GitVersion: fmt.Sprintf("v1.36.%d", a.next)}, nil
}

func (a *answers) ServerResourcesForGroupVersionWithContext(
	_ context.Context, groupVersion string,
) (*metav1.APIResourceList, error) {
	if groupVersion != "route.openshift.io/v1" {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
	}
	a.next++
	switch a.of[a.next-1] {
	case '+', '^':
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "routes"}}}, nil
	case '-':
		return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
	}
	return nil, apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
}

// The first answer is that at the start: + means served, - absent, and ? no answer.
func TestACompleteChangeThatLastsEndsTheManager(t *testing.T) {
	for of, want := range map[string]bool{
		"+++++++":  false,
		"+---":     true,
		"+--+--+":  false,
		"+??????":  false,
		"+-?-?-":   true,
		"+-?-?+-?": false,
		"-+++":     true,
		"-???":     false,
		"+^^^":     true,
		"+^^+^^+":  false,
	} {
		api := &answers{of: of}
		known, err := discover(t.Context(), api)
		if err != nil {
			t.Fatal(err)
		}
		watch := &clusterWatch{known: known, api: api}
		for api.next < len(of) && err == nil {
			err = watch.check(t.Context())
		}
		if errors.Is(err, ErrClusterChanged) != want || api.next != len(of) {
			t.Errorf("%s: after %d answers: %v", of, api.next, err)
		}
	}
}

// Of another API the chart would never learn that the cluster serves it.
func TestTheChartAsksForNothingElse(t *testing.T) {
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, template := range chrt.Templates {
		for _, match := range regexp.MustCompile(`Capabilities\.(\S+)(?: "([^"]*)")?`).FindAllSubmatch(template.Data, -1) {
			found++
			known := strings.HasPrefix(string(match[1]), "KubeVersion.")
			for _, resource := range chartResources {
				known = known || string(match[1]) == "APIVersions.Has" && string(match[2]) == resource.GroupVersion().String()
			}
			if !known {
				t.Errorf("%s asks for %s", template.Name, match[0])
			}
		}
	}
	if found == 0 {
		t.Error("the chart asks for nothing: the operator need not discover it")
	}
}
