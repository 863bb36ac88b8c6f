package ownership

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func photos() *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "photos", UID: "uid-1"}}
}

// objectOf returns an object of the Darkroom photos, modified by the given functions.
func objectOf(change func(*metav1.ObjectMeta)) metav1.Object {
	object := &metav1.ObjectMeta{
		Name:            "photos",
		Labels:          map[string]string{v1alpha1.LabelDarkroom: "photos"},
		OwnerReferences: []metav1.OwnerReference{Reference(photos())},
	}
	change(object)
	return object
}

func TestOnlyLabelAndControllerReferenceTogetherMakeAnObjectADarkrooms(t *testing.T) {
	for name, test := range map[string]struct {
		change         func(*metav1.ObjectMeta)
		owns, revision bool
		uid            types.UID
	}{
		"both":     {func(*metav1.ObjectMeta) {}, true, true, "uid-1"},
		"no label": {func(o *metav1.ObjectMeta) { o.Labels = nil }, false, false, "uid-1"},
		"another Darkroom's label": {
			func(o *metav1.ObjectMeta) { o.Labels[v1alpha1.LabelDarkroom] = "cats" },
			false, false, "uid-1",
		},
		"no owner": {func(o *metav1.ObjectMeta) { o.OwnerReferences = nil }, false, false, ""},
		"owner, and no controller": {
			func(o *metav1.ObjectMeta) { o.OwnerReferences[0].Controller = ptr.To(false) },
			false, false, "",
		},
		"a Darkroom of another UID": {
			func(o *metav1.ObjectMeta) { o.OwnerReferences[0].UID = "uid-0" },
			false, false, "uid-0",
		},
		"a controller of other kind": {func(o *metav1.ObjectMeta) {
			o.OwnerReferences[0].Kind = "Other"
			o.OwnerReferences[0].UID = "uid-9"
		}, false, false, ""},
		"Helm's annotations alone": {func(o *metav1.ObjectMeta) {
			o.Labels, o.OwnerReferences = nil, nil
			o.Annotations = map[string]string{AnnotationReleaseName: "photos", AnnotationReleaseNamespace: "shop"}
		}, false, false, ""},
		"rewritten by a Helm client": {func(o *metav1.ObjectMeta) {
			o.OwnerReferences = nil
			o.Labels[v1alpha1.LabelDarkroomUID] = "uid-1"
		}, false, true, "uid-1"},
		"the UID label of another Darkroom": {func(o *metav1.ObjectMeta) {
			o.OwnerReferences = nil
			o.Labels[v1alpha1.LabelDarkroomUID] = "uid-0"
		}, false, false, "uid-0"},
		"a controller takes precedence over the UID label": {func(o *metav1.ObjectMeta) {
			o.OwnerReferences[0].UID = "uid-0"
			o.Labels[v1alpha1.LabelDarkroomUID] = "uid-1"
		}, false, false, "uid-0"},
	} {
		t.Run(name, func(t *testing.T) {
			object := objectOf(test.change)
			if got := Owns(photos(), object); got != test.owns {
				t.Errorf("owned: got %t, want %t", got, test.owns)
			}
			if got := OwnsRevision(photos(), object); got != test.revision {
				t.Errorf("its revision: got %t, want %t", got, test.revision)
			}
			if got := UID(object); got != test.uid {
				t.Errorf("got UID %q, want %q", got, test.uid)
			}
		})
	}
}

func TestMessagesNameTheOwner(t *testing.T) {
	for want, change := range map[string]func(*metav1.ObjectMeta){
		"controlled by Darkroom photos": func(*metav1.ObjectMeta) {},
		"belongs to the Helm release web": func(o *metav1.ObjectMeta) {
			o.OwnerReferences = nil
			o.Annotations = map[string]string{AnnotationReleaseName: "web"}
		},
		"has no controller": func(o *metav1.ObjectMeta) { o.OwnerReferences = nil },
	} {
		if got := Owner(objectOf(change)); !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
}
