package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// Plan lists the changes that an upgrade of the operator would make.
type Plan struct {
	// Darkrooms are all compared Darkrooms.
	Darkrooms []Darkroom `json:"darkrooms"`
}

// Darkroom lists the changes to one Darkroom.
type Darkroom struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Skipped is the reason why the operator would ignore the Darkroom; empty if it would not.
	Skipped string `json:"skipped,omitempty"`
	// Refused is the reason why the Darkroom could not be applied. Its objects would stay unchanged.
	Refused string `json:"refused,omitempty"`
	// RefusedAlready is set if the running operator also rejects this generation.
	RefusedAlready bool `json:"refusedAlready,omitempty"`
	// Rolls is set if the pods would be replaced.
	Rolls bool `json:"rolls,omitempty"`
	// Fields are the fields of its objects that would change.
	Fields []Field `json:"fields,omitempty"`
	// Created and Deleted are the objects that would be created and deleted.
	Created []string `json:"created,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
	// LosesHosts are the hosts that would no longer be routed to the Darkroom, and GetsHosts the hosts that would be
	// routed to it in addition.
	LosesHosts []string `json:"losesHosts,omitempty"`
	GetsHosts  []string `json:"getsHosts,omitempty"`
	// Dropped are the fields of the Darkroom that the CRD of this version lacks.
	Dropped []string `json:"dropped,omitempty"`
}

// Field is a field of an object that would change. Values that may be secret are shown as an ellipsis, and absent
// values as an empty string.
type Field struct {
	Object string `json:"object"`
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
}

// ofPods reports whether the field belongs to the pods or to their configuration.
func (f Field) ofPods() bool {
	if f.Object == "ConfigMap" || f.Object == "Secret" {
		return strings.HasPrefix(f.Path, "data")
	}
	return f.Object == "Deployment" && strings.HasPrefix(f.Path, "spec.template")
}

// Changes reports whether anything would change for the Darkroom.
func (d Darkroom) Changes() bool {
	return d.isRefused() || d.Rolls || len(d.Fields)+len(d.Created)+len(d.Deleted)+len(d.Dropped) > 0
}

// isRefused reports whether the Darkroom would be rejected but is not rejected today.
func (d Darkroom) isRefused() bool { return d.Refused != "" && !d.RefusedAlready }

// Changes reports whether anything would change.
func (p *Plan) Changes() bool { return slices.ContainsFunc(p.Darkrooms, Darkroom.Changes) }

// section lists findings, each with the Darkrooms that it applies to.
type section struct {
	title string
	lines map[string][]string
}

func (s *section) add(line string, d Darkroom) {
	if s.lines == nil {
		s.lines = map[string][]string{}
	}
	if at := s.lines[line]; !slices.Contains(at, d.Namespace+"/"+d.Name) {
		s.lines[line] = append(at, d.Namespace+"/"+d.Name)
	}
}

// change is a field that would change in some objects.
type change struct {
	path           string
	objects, pairs []string
	of             []Darkroom
}

// changes groups the changed fields of all Darkrooms by path, either fields of pods or all others.
func (p *Plan) changes(ofPods bool) []*change {
	var all []*change
	byPath := map[string]*change{}
	for _, d := range p.Darkrooms {
		for _, field := range d.Fields {
			if ofPods != (d.Rolls && field.ofPods()) {
				continue
			}
			c := byPath[field.Path]
			if c == nil {
				c = &change{path: field.Path}
				byPath[field.Path], all = c, append(all, c)
			}
			c.objects, c.of = append(c.objects, field.Object), append(c.of, d)
			if field.From != field.To {
				c.pairs = append(c.pairs, cmp.Or(field.From, "(none)")+" → "+cmp.Or(field.To, "(none)"))
			}
		}
	}
	return all
}

func (c *change) String() string {
	line := strings.Join(unique(c.objects), ", ") + " " + c.path
	switch pairs := unique(c.pairs); len(pairs) {
	case 0:
		return line
	case 1:
		return line + ": " + pairs[0]
	default:
		return fmt.Sprintf("%s: %d different changes", line, len(pairs))
	}
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// sections groups the changes of all Darkrooms.
func (p *Plan) sections() []section {
	refused, rolls := section{title: "Refused: what serves stays as it is"}, section{title: "Replaces pods"}
	already := section{title: "Refused already"}
	changes, hosts := section{title: "Changes without replacing pods"}, section{title: "Hosts"}
	drops, skipped := section{title: "Fields that the CRD of this version drops"}, section{title: "Left alone"}
	for _, d := range p.Darkrooms {
		if d.Skipped != "" {
			skipped.add(d.Skipped, d)
		}
		switch {
		case d.isRefused():
			refused.add(d.Refused, d)
		case d.Refused != "":
			already.add(d.Refused, d)
		}
		d.addObjects(&changes)
		for _, host := range d.LosesHosts {
			hosts.add("loses "+host, d)
		}
		for _, host := range d.GetsHosts {
			hosts.add("gets "+host, d)
		}
		for _, field := range d.Dropped {
			drops.add(field, d)
		}
	}
	for to, ofPods := range map[*section]bool{&rolls: true, &changes: false} {
		for _, change := range p.changes(ofPods) {
			line := change.String()
			for _, d := range change.of {
				to.add(line, d)
			}
		}
	}
	all := []section{refused, rolls, changes, hosts, drops, already, skipped}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.lines) == 0 })
}

// addObjects adds created and deleted objects.
func (d Darkroom) addObjects(to *section) {
	for verb, names := range map[string][]string{"creates": d.Created, "deletes": d.Deleted} {
		for _, name := range names {
			kind, _, _ := strings.Cut(name, " ")
			to.add(verb+" "+kind, d)
		}
	}
}

// sorted returns the lines of a section, the ones with the most Darkrooms first.
func (s section) sorted() []string {
	lines := make([]string, 0, len(s.lines))
	for line := range s.lines {
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(s.lines[b]), len(s.lines[a])), strings.Compare(a, b))
	})
	return lines
}

// shown is the maximum number of Darkrooms named in a line.
const shown = 3

func named(darkrooms []string) string {
	if more := len(darkrooms) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(darkrooms[:shown], ", "), more)
	}
	return strings.Join(darkrooms, ", ")
}

// summary summarizes the plan in a sentence.
func (p *Plan) summary() string {
	var change, roll, refused, skipped int
	for _, d := range p.Darkrooms {
		for count, is := range map[*int]bool{
			&change: d.Changes(), &roll: d.Rolls, &refused: d.isRefused(), &skipped: d.Skipped != "",
		} {
			if is {
				*count++
			}
		}
	}
	summary := plural(len(p.Darkrooms)-skipped) + ": "
	if change == 0 {
		summary += "nothing changes."
	} else {
		summary += fmt.Sprintf("%d would change, %d of them with new pods; %d would be refused.", change, roll, refused)
	}
	if skipped > 0 {
		summary += fmt.Sprintf(" Not compared: %d.", skipped)
	}
	return summary
}

func plural(n int) string {
	if n == 1 {
		return "1 Darkroom"
	}
	return fmt.Sprintf("%d Darkrooms", n)
}

// Formats are the formats of Write.
var Formats = []string{"text", "json", "markdown"}

// Write writes the plan in one of Formats.
func (p *Plan) Write(out io.Writer, format string) error {
	if format == "json" {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(p); err != nil {
			return err
		}
		_, err := io.WriteString(out, terminal.Escape(b.String()))
		return err
	}
	heading, item := "\n%s:\n", "  %s: %s\n    %s\n"
	if format == "markdown" {
		heading, item = "\n### %s\n\n", "- **%s**: `%s`  \n  %s\n"
	}
	var b strings.Builder
	b.WriteString(p.summary() + "\n")
	for _, section := range p.sections() {
		fmt.Fprintf(&b, heading, section.title)
		for _, line := range section.sorted() {
			shown := terminal.Line(line)
			if format == "markdown" {
				shown = strings.ReplaceAll(shown, "`", "'")
			}
			fmt.Fprintf(&b, item, plural(len(section.lines[line])), shown, named(section.lines[line]))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
