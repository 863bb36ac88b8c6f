package outcome

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// Effects of a change on the pods of a Darkroom.
const (
	PodsCreate  = "create"
	podsKeep    = "keep"
	podsRoll    = "roll"
	PodsUnknown = "unknown"
)

// Pods compares the pod templates in the manifests before and after the change.
func (c *Change) Pods(before, wanted string) (string, error) {
	old, errOld := podTemplate(before)
	changed, err := podTemplate(wanted)
	switch {
	case err != nil || errOld != nil:
		return "", errors.Join(err, errOld)
	case !reflect.DeepEqual(changed, old):
		return podsRoll, nil
	case c.NewSecrets:
		return PodsUnknown, nil
	}
	return podsKeep, nil
}

// podTemplate returns the pod template of the Deployment in a manifest, or nil.
func podTemplate(manifest string) (map[string]any, error) {
	for document := range strings.SplitSeq(manifest, "\n---") {
		object := struct {
			Kind string `json:"kind"`
			Spec struct {
				Template map[string]any `json:"template"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		if object.Kind == "Deployment" {
			return object.Spec.Template, nil
		}
	}
	return nil, nil
}
