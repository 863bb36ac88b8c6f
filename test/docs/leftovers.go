package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

var (
	// nothingIsLeft waits until no object in the cluster mentions Darkroom in any field, except for objects that did so
	// before the scenario.
	nothingIsLeft = onlyIsLeft("-")
	// definitionIsLeft expects only the CRD to be left.
	definitionIsLeft = onlyIsLeft("-", "CustomResourceDefinition darkrooms.deployments.example.com")
)

// groupsRolesAreLeft ignores the roles of an OperatorGroup. The lifecycle manager created them before the scenario, and
// does not remove their rules. The scenario removes the operator right after its installation, so that it repeats the
// command for roles that are recreated, as described in docs/install.md.
func groupsRolesAreLeft(ctx context.Context, e *environment) error {
	return until(ctx, "only roles of groups are left", func(ctx context.Context) error {
		_, err := e.kubectl(ctx, "delete", "clusterrole,clusterrolebinding", "-l",
			"olm.owner=darkroom-operator.v0.1.0,olm.owner.namespace=operators")
		if err != nil {
			return err
		}
		return e.leaves(ctx, "ClusterRole olm.og.")
	})
}

// onlyIsLeft waits until only the allowed objects are left. Objects whose names start with a prefix are ignored.
func onlyIsLeft(overlooked string, allowed ...string) func(context.Context, *environment) error {
	return func(ctx context.Context, e *environment) error {
		return until(ctx, "only that is left", func(ctx context.Context) error {
			return e.leaves(ctx, overlooked, allowed...)
		})
	}
}

// leaves returns an error if objects other than the allowed ones are left.
func (e *environment) leaves(ctx context.Context, overlooked string, allowed ...string) error {
	left, err := e.speaking(ctx)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(name string) bool {
		return slices.Contains(e.before, name) || strings.HasPrefix(name, overlooked)
	})
	if !slices.Equal(left, allowed) {
		return fmt.Errorf("found %q, expected %q", left, allowed)
	}
	return nil
}

// speaking returns the objects that mention Darkroom.
func (e *environment) speaking(ctx context.Context) ([]string, error) {
	kinds, err := e.kubectl(ctx, "api-resources", "--verbs=list", "--output=name")
	if err != nil {
		return nil, err
	}
	var asked []string
	for _, kind := range strings.Fields(kinds) {
		// Events describe the past, and nodes list their images.
		if kind != "nodes" && !strings.HasPrefix(kind, "events") {
			asked = append(asked, kind)
		}
	}
	text, err := e.kubectl(ctx, "get", strings.Join(asked, ","), "--all-namespaces", "--output=json")
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
