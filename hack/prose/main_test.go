package main

import (
	"strings"
	"testing"
)

// planted are sentences with one habit each.
var planted = []string{
	"What users delete by hand comes back.",
	"The condition tells whether the host is routed.",
	"Its name stands in the address.",
	"The annotation has the operator leave it alone.",
	"A status, of which it gets the summary, follows.",
	"The release is made anew.",
	"This is no label selector.",
	"The upgrade is done again.",
	"It serves pictures.",
	"Fields that show what changed in the objects that belong to a Darkroom.",
}

func TestEachHabitIsFound(t *testing.T) {
	found := map[string]bool{}
	for _, planted := range planted {
		findings := lint("Some text.\n\n" + planted + "\n")
		if len(findings) != 1 || !strings.HasPrefix(findings[0], "3: ") {
			t.Errorf("%q: got %q, want one finding in line 3", planted, findings)
			continue
		}
		found[findings[0][strings.LastIndex(findings[0], ": write ")+len(": write "):]] = true
	}
	for _, habit := range habits {
		if !found[habit.write] {
			t.Errorf("no planted sentence has the habit %q", habit.found)
		}
	}
}

func TestAHabitIsFoundAcrossLines(t *testing.T) {
	if findings := lint("The upgrade is done\nagain.\n"); len(findings) != 1 {
		t.Errorf("got %q, want one finding", findings)
	}
}

func TestEachHabitIsFoundInGoFiles(t *testing.T) {
	for _, sentence := range planted {
		for name, source := range map[string]string{
			"comment":          "package p\n\n// " + sentence + "\nvar x = 1\n",
			"trailing comment": "package p\n\nvar x = 1 // " + sentence + "\n",
			"block comment":    "package p\n\n/* " + sentence + " */\n",
			"string":           "package p\n\nvar x = \"" + sentence + "\"\n",
			"raw string":       "package p\n\nvar x = `" + sentence + "`\n",
			"struct tag":       "package p\n\ntype t struct{ F int `doc:\"Some text. " + sentence + "\"` }\n",
		} {
			if findings := lint(proseOf([]byte(source))); len(findings) != 1 || !strings.HasPrefix(findings[0], "3: ") {
				t.Errorf("%s %q: got %q, want one finding in line 3", name, sentence, findings)
			}
		}
	}
}

func TestGoCodeAndDirectivesPass(t *testing.T) {
	for _, source := range []string{
		"package p\n\nvar somebody, pictures = 1, \"pictures\"\n",
		"package p\n\n//nolint:errcheck // somebody\nvar x = 1\n",
		"package p\n\n// It\nvar tells = 1 // whether it\n",
	} {
		if findings := lint(proseOf([]byte(source))); len(findings) > 0 {
			t.Errorf("%q: got %q, want none", source, findings)
		}
	}
}

func TestPlainTextAndCodePass(t *testing.T) {
	for _, text := range []string{
		"There is no cluster. The host is no longer routed. What does it do?",
		"Run `grep somebody` and see [the list](docs/pictures.md).",
		"```sh\ntest -d pictures\n```\n",
		"# What runs\n\nThe operator has the label and the name of the release.",
	} {
		if findings := lint(text); len(findings) > 0 {
			t.Errorf("%q: got %q, want none", text, findings)
		}
	}
}
