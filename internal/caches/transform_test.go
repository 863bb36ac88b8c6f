package caches_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/caches"
)

func TestCachedObjectsShareTheirMetadata(t *testing.T) {
	options, err := caches.Options(nil, nil, labels.Everything(), "default")
	if err != nil {
		t.Fatal(err)
	}
	cached := func() *corev1.Service {
		object, err := options.DefaultTransform(&corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{strings.Clone("name"): strings.Clone("photos")},
			OwnerReferences: []metav1.OwnerReference{{Name: strings.Clone("photos"), UID: "1"}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "darkroom-operator"}},
		}})
		service, ok := object.(*corev1.Service)
		if err != nil || !ok || service.Labels["name"] != "photos" || service.OwnerReferences[0].UID != "1" ||
			service.ManagedFields != nil {
			t.Fatalf("cached %v, %v", object, err)
		}
		return service
	}
	one, other := cached(), cached()
	for name, pair := range map[string][2]string{
		"label": {one.Labels["name"], other.Labels["name"]},
		"owner": {one.OwnerReferences[0].Name, other.Labels["name"]},
	} {
		if unsafe.StringData(pair[0]) != unsafe.StringData(pair[1]) {
			t.Errorf("%s: equal strings are stored twice", name)
		}
	}
	if reflect.ValueOf(one.Labels).Pointer() != reflect.ValueOf(other.Labels).Pointer() {
		t.Error("equal labels are stored twice")
	}
	message := func() *byte {
		darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}}
		darkroom.Status.Conditions = []v1alpha1.Condition{{Message: strings.Clone("not checked")}}
		_, err := options.DefaultTransform(darkroom)
		if err != nil || darkroom.Status.Conditions[0].Message != "not checked" {
			t.Fatalf("cached %v, %v", darkroom.Status, err)
		}
		return unsafe.StringData(darkroom.Status.Conditions[0].Message)
	}
	if first, second := message(), message(); first != second {
		t.Error("equal messages of conditions are stored twice")
	}
}

// Users may change annotations and labels of an object with a Darkroom's label as often as the API server accepts.
// Earlier values do not stay in memory.
func TestMetadataThatUsersKeepChangingTakesLittleMemory(t *testing.T) {
	t.Cleanup(caches.ForgetShared)
	options, err := caches.Options(nil, nil, labels.Everything(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ changes, keys, size int }{
		"large values": {changes: 1000, keys: 1, size: 200_000},
		"many keys":    {changes: 1000, keys: 1000, size: 200},
		"small values": {changes: 400_000, keys: 1, size: 30},
	} {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			for i := range test.changes {
				annotations := map[string]string{}
				for key := range test.keys {
					annotations[fmt.Sprintf("example.com/%d", key)] = fmt.Sprintf("%*d", test.size, i)
				}
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
					Annotations: annotations, ManagedFields: []metav1.ManagedFieldsEntry{{}},
				}}
				if _, err := options.DefaultTransform(service); err != nil {
					t.Fatal(err)
				}
			}
			if grown := heapInUse() - before; grown > 64<<20 {
				t.Errorf("%d changes of one object keep %d MiB", test.changes, grown>>20)
			}
		})
	}
}

// heapInUse returns the bytes of objects that are in use.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
