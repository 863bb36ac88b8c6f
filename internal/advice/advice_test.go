package advice

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// reporting are the packages whose constants appear in a status or an event.
var reporting = []string{"api/v1alpha1", "internal/controller", "internal/release", "internal/status"}

// constants returns the values of the exported constants with a prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^\s*(?:const )?` + prefix + `[A-Z]\w*( \w+)? += "(.+)"`)
	var found []string
	for _, folder := range reporting {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no Go files in %s: %v", folder, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			expect.NoError(t, err)
			for _, match := range declaration.FindAllStringSubmatch(string(source), -1) {
				found = append(found, match[2])
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestEverythingThatIsReportedIsDescribed(t *testing.T) {
	for prefix, tables := range map[string][]Table{
		"Phase": {phases}, "Condition": {conditions}, "Reason": Reasons(), "Event": {events},
	} {
		var described []string
		for _, table := range tables {
			for _, entry := range table.Entries {
				described = append(described, entry.Name)
				if entry.Meaning == "" || entry.Remedy == "" {
					t.Errorf("%s: half of the description is missing", entry.Name)
				}
			}
		}
		slices.Sort(described)
		expect.Equal(t, prefix, constants(t, prefix), described)
	}
}

func TestAdviceIsOfTheReasonAndNotOfAPhaseOfTheSameName(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{OfReason("Pending"), "Wait."},
		{OfPhase("Pending"), "Wait. If it takes long, check that an operator watches the namespace and the labels."},
		{OfReason("ImageServed"), ""},
		{OfReason("ProbeForbidden"), "Grant the permission, see security.md."},
		{OfReason("Unknown"), ""},
	} {
		expect.Equal(t, "advice", test.want, test.got)
	}
}
