package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// definition is the object that some ways of removing leave on purpose.
const definition = "CustomResourceDefinition darkrooms.deployments.example.com"

// nothingIsLeft waits until no object of the cluster speaks of Darkroom, in whatever
// field, that did not do so before the scenario.
func nothingIsLeft(ctx context.Context, s *Environment) error {
	return s.onlyIsLeft(ctx, none)
}

// definitionIsLeft allows the CRD, which must be there.
func definitionIsLeft(ctx context.Context, s *Environment) error {
	return s.onlyIsLeft(ctx, none, definition)
}

// groupsRolesAreLeft overlooks the roles of an OperatorGroup, which the lifecycle manager
// made for that before the scenario, and in which it leaves rules.
func groupsRolesAreLeft(ctx context.Context, s *Environment) error {
	return s.onlyIsLeft(ctx, func(name string) bool { return strings.HasPrefix(name, "ClusterRole olm.og.") })
}

func none(string) bool { return false }

// onlyIsLeft waits until what is left, besides what is overlooked, is what there should be.
func (s *Environment) onlyIsLeft(ctx context.Context, overlooked func(string) bool, allowed ...string) error {
	return until(ctx, func(ctx context.Context) error {
		left, err := s.speaking(ctx)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(s.before, name) || overlooked(name) })
		if !slices.Equal(left, allowed) {
			return fmt.Errorf("there are %q, and should be %q", left, allowed)
		}
		return nil
	})
}

// speaking are the objects that speak of Darkroom.
func (s *Environment) speaking(ctx context.Context) ([]string, error) {
	kinds, err := s.kubectl(ctx, "api-resources", "--verbs=list", "--output=name")
	if err != nil {
		return nil, err
	}
	var asked []string
	for _, kind := range strings.Fields(kinds) {
		// Events tell of what was, and a node which images it has.
		if kind != "nodes" && !strings.HasPrefix(kind, "events") {
			asked = append(asked, kind)
		}
	}
	text, err := s.kubectl(ctx, "get", strings.Join(asked, ","), "--all-namespaces", "--output=json")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read all objects: %w", err)
	}
	var found []string
	for _, item := range list.Items {
		if !strings.Contains(strings.ToLower(string(item)), "darkroom") {
			continue
		}
		var object struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := json.Unmarshal(item, &object); err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(object.Metadata.Namespace+"/"+object.Metadata.Name, "/")
		found = append(found, object.Kind+" "+name)
	}
	return found, nil
}
