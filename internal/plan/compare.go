package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// fill compares the objects before and after.
func (d *Darkroom) fill(darkroom *v1alpha1.Darkroom, before, after objects) {
	for _, key := range sorted(after) {
		old := before[key]
		if old == nil {
			d.Created = append(d.Created, key.String())
			continue
		}
		if key.Kind == "Deployment" {
			d.Rolls = d.Rolls || !reflect.DeepEqual(template(old), template(after[key]))
		}
	}
	for _, key := range sorted(before) {
		if after[key] == nil {
			d.Deleted = append(d.Deleted, key.String())
		}
	}
	d.compareFields(darkroom, before, after)
	lost, gained := hostsOf(before), hostsOf(after)
	for _, host := range lost {
		if !slices.Contains(gained, host) {
			d.LosesHosts = append(d.LosesHosts, host)
		}
	}
	for _, host := range gained {
		if !slices.Contains(lost, host) {
			d.GetsHosts = append(d.GetsHosts, host)
		}
	}
}

func sorted(of objects) []manifest.Key {
	return slices.SortedFunc(maps.Keys(of), func(a, b manifest.Key) int { return strings.Compare(a.String(), b.String()) })
}

func template(deployment *unstructured.Unstructured) any {
	out, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
	return out
}

// compareFields lists the fields that differ. The name of a ConfigMap or Secret contains a digest, so a change replaces
// the object. Its fields are compared with the fields of the replaced object, and the new name does not count as a
// difference.
func (d *Darkroom) compareFields(darkroom *v1alpha1.Darkroom, before, after objects) {
	renamed := map[string]string{}
	rename := func(text string) string { return cmp.Or(renamed[text], text) }
	for _, kind := range []string{"ConfigMap", "Secret"} {
		replaced, replacing := only(before, after, kind), only(after, before, kind)
		for i := range min(len(replaced), len(replacing)) {
			renamed[replaced[i].Name] = replacing[i].Name
			d.Deleted = slices.DeleteFunc(d.Deleted, func(name string) bool { return name == replaced[i].String() })
			d.Created = slices.DeleteFunc(d.Created, func(name string) bool { return name == replacing[i].String() })
			d.differ(darkroom, kind, before[replaced[i]].Object["data"], after[replacing[i]].Object["data"], "data")
			if kind == "Secret" {
				d.Fields = append(d.Fields, Field{Object: kind, Path: "data"})
			}
		}
	}
	for _, key := range sorted(after) {
		if old := before[key]; old != nil {
			d.differ(darkroom, key.Kind, manifest.EachText(old.Object, rename), after[key].Object, "")
		}
	}
}

// only returns the keys of a kind that other objects lack.
func only(of, other objects, kind string) []manifest.Key {
	return slices.DeleteFunc(sorted(of), func(key manifest.Key) bool { return key.Kind != kind || other[key] != nil })
}

// differ appends the fields in which two values differ.
func (d *Darkroom) differ(darkroom *v1alpha1.Darkroom, object string, before, after any, path string) {
	if reflect.DeepEqual(before, after) || object == "Secret" {
		return
	}
	old, new, parts := pairs(before, after)
	if !parts {
		field := Field{Object: object, Path: path, From: text(darkroom, path, before), To: text(darkroom, path, after)}
		d.Fields = append(d.Fields, field)
		return
	}
	keys := slices.Sorted(maps.Keys(old))
	for key := range new {
		if _, found := old[key]; !found {
			keys = append(keys, key)
		}
	}
	for _, key := range slices.Sorted(slices.Values(keys)) {
		d.differ(darkroom, object, old[key], new[key], join(path, key))
	}
}

func join(path, key string) string {
	if path == "" || strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

// pairs splits two values of the same shape into their parts: fields of objects, or items of lists.
func pairs(before, after any) (old, new map[string]any, ok bool) {
	oldFields, isOld := before.(map[string]any)
	newFields, isNew := after.(map[string]any)
	if isOld && isNew {
		return oldFields, newFields, true
	}
	oldItems, isOld := before.([]any)
	newItems, isNew := after.([]any)
	if isOld && isNew {
		return byName(oldItems), byName(newItems), true
	}
	return nil, nil, false
}

// byName returns items by name, or by position if an item has no name.
func byName(items []any) map[string]any {
	named, placed := map[string]any{}, map[string]any{}
	for i, item := range items {
		placed[fmt.Sprintf("[%d]", i)] = item
		fields, _ := item.(map[string]any)
		if name, isNamed := fields["name"].(string); isNamed {
			named["["+name+"]"] = item
		}
	}
	if len(named) == len(items) {
		return named
	}
	return placed
}

// longest is the maximum length of a printed value.
const longest = 80

// text describes a value. It conceals variables, because they may be credentials, and omits digests, because they are
// not informative.
func text(darkroom *v1alpha1.Darkroom, path string, value any) string {
	switch {
	case value == nil:
		return ""
	case strings.HasSuffix(path, ".env") || strings.Contains(path, ".env[") || strings.Contains(path, "checksum/"):
		return "…"
	}
	written, isText := value.(string)
	if !isText {
		// Added and removed containers have variables, too.
		shown := runtime.DeepCopyJSONValue(value)
		manifest.ConcealVariables(shown)
		raw, err := json.Marshal(shown)
		if err != nil {
			return "…"
		}
		written = string(raw)
	}
	written = redact.Message(darkroom, written)
	if cut := []rune(written); len(cut) > longest {
		return string(cut[:longest]) + "…"
	}
	return written
}

// hostsOf returns the routed hosts.
func hostsOf(of objects) []string {
	var hosts []string
	for key, object := range of {
		var route client.Object
		switch key.Kind {
		case "Ingress":
			route = &networkingv1.Ingress{}
		case "HTTPRoute":
			route = &gatewayv1.HTTPRoute{}
		default:
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, route); err == nil {
			hosts = append(hosts, gateway.Hosts(route)...)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
