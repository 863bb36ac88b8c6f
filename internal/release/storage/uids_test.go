package storage

import (
	"maps"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestUIDsOfDeletedRevisionsAreForgotten(t *testing.T) {
	shown := func(versions ...int) (out []metav1.PartialObjectMetadata) {
		for _, version := range versions {
			label := strconv.Itoa(version)
			out = append(out, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				UID: types.UID("shown-" + label), Labels: map[string]string{labelVersion: label},
			}})
		}
		return out
	}
	read := revisionUIDs{1: "read-1", 2: "read-2", 3: "read-3", 4: "read-4"}
	for name, test := range map[string]struct {
		shown []metav1.PartialObjectMetadata
		last  *known
		want  revisionUIDs
	}{
		"nothing is known":                 {},
		"the cache shows nothing yet":      {nil, &known{uids: read}, read},
		"the first was deleted":            {shown(2, 3, 4), &known{uids: read}, revisionUIDs{2: "read-2", 3: "read-3", 4: "read-4"}},
		"the last is not shown yet":        {shown(2, 3), &known{uids: read}, revisionUIDs{2: "read-2", 3: "read-3", 4: "read-4"}},
		"another client wrote one":         {shown(4, 5), &known{uids: read}, revisionUIDs{5: "shown-5", 4: "read-4"}},
		"nothing was read in this process": {shown(1, 2), nil, revisionUIDs{1: "shown-1", 2: "shown-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := knownUIDs(test.shown, test.last); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
