// Package advice explains each phase, condition, reason and event of a Darkroom, and what to do about it.
// docs/conditions.md is generated from it (hack/advice).
package advice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Entry describes a phase, condition, reason or event, in Markdown.
type Entry struct {
	Name, Meaning string
	// Remedy tells users what to do; never empty, but possibly "Nothing.".
	Remedy string
}

// Table is a table of docs/conditions.md with its heading.
type Table struct {
	Heading string
	Entries []Entry
}

// Reasons are the tables of the reasons of conditions. No reason is in two of them.
func Reasons() []Table {
	return []Table{ofReady, ofDomainsReady, ofCredentialsReady, ofSourceReady, ofHelm}
}

// Tables are all tables, in the order of docs/conditions.md.
func Tables() []Table {
	return slices.Concat([]Table{phases, conditions}, Reasons(), []Table{events})
}

// OfReason returns what to do about a reason, as plain text; empty if there is nothing to do or the reason is unknown.
func OfReason(reason string) string {
	for _, table := range Reasons() {
		if remedy := table.remedy(reason); remedy != "" {
			return remedy
		}
	}
	return ""
}

// remedied lists the reasons of Ready whose message ends with a remedy that fits better than the general one. The
// messages of CredentialsReady and SourceReady do too.
var remedied = []string{v1alpha1.ReasonDomainConflict, v1alpha1.ReasonIngressClassMissing}

// IsInMessage reports whether the message of a condition with a reason contains the remedy.
func IsInMessage(reason string) bool {
	has := func(entry Entry) bool { return entry.Name == reason && reason != v1alpha1.ReasonProbePending }
	return slices.Contains(remedied, reason) || slices.ContainsFunc(ofCredentialsReady.Entries, has) ||
		slices.ContainsFunc(ofSourceReady.Entries, has)
}

// OfPhase returns what to do about a Darkroom in a phase, as plain text; empty if there is nothing to do or the phase
// is unknown.
func OfPhase(phase v1alpha1.Phase) string { return phases.remedy(string(phase)) }

func (t Table) remedy(name string) string {
	for _, entry := range t.Entries {
		if entry.Name == name && entry.Remedy != "Nothing." {
			return plain(entry.Remedy)
		}
	}
	return ""
}

var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// plain removes the Markdown markup from a text.
func plain(markdown string) string {
	return strings.ReplaceAll(link.ReplaceAllString(markdown, "$1"), "`", "")
}
