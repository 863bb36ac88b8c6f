package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

const (
	from = "gojektech/darkroom:v0.4.1"
	to   = "gojektech/darkroom:v0.4.2"
)

// objectsOf returns a Deployment with an image, a variable and a ConfigMap whose name contains a digest of its data.
func objectsOf(image, token, cacheTime string) objects {
	out := objects{}
	name := "photos-" + cacheTime
	for _, object := range []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
			"data": map[string]any{"CACHE_TIME": cacheTime},
		}},
		{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "photos"}, "spec": map[string]any{
				"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
					"name": "darkroom", "image": image,
					"env":     []any{map[string]any{"name": "TOKEN", "value": token}},
					"envFrom": []any{map[string]any{"configMapRef": map[string]any{"name": name}}},
				}}}},
			},
		}},
	} {
		out[manifest.KeyOf(object)] = object
	}
	return out
}

func TestAPlanIsGroupedByTheFieldsThatChange(t *testing.T) {
	p := &Plan{}
	for i := range 5 {
		d := Darkroom{Namespace: fmt.Sprintf("team-%d", i), Name: "photos"}
		d.fill(darkrooms.New("photos", d.Namespace).Obj(), objectsOf(from, "old secret", "10"),
			objectsOf(to, "new secret", "20"))
		p.Darkrooms = append(p.Darkrooms, d)
	}
	p.Darkrooms = append(p.Darkrooms,
		Darkroom{Namespace: "team-9", Name: "same"},
		Darkroom{Namespace: "team-9", Name: "away", Skipped: "it is paused"},
		Darkroom{Namespace: "team-9", Name: "wrong", Refused: "spec.baseDomain: is not offered"},
		Darkroom{
			Namespace: "team-9", Name: "moves", LosesHosts: []string{"a.example.com"}, GetsHosts: []string{"b.example.com"},
			Dropped: []string{"spec.old"},
			Fields:  []Field{{Object: "Ingress", Path: "spec.ingressClassName", To: "nginx"}},
		},
	)
	var b strings.Builder
	if err := p.Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"8 Darkrooms: 7 would change, 5 of them with new pods; 1 would be refused. Not compared: 1.",
		"Refused: what serves stays as it is:\n  1 Darkroom: spec.baseDomain: is not offered\n    team-9/wrong\n",
		"Replaces pods:\n",
		"  5 Darkrooms: Deployment spec.template.spec.containers[darkroom].image: " + from + " → " + to +
			"\n    team-0/photos, team-1/photos, team-2/photos and 2 more\n",
		"  5 Darkrooms: ConfigMap data.CACHE_TIME: 10 → 20\n",
		"Changes without replacing pods:\n",
		"  1 Darkroom: Ingress spec.ingressClassName: (none) → nginx\n",
		"  1 Darkroom: loses a.example.com\n", "  1 Darkroom: gets b.example.com\n",
		"Fields that the CRD of this version drops:\n  1 Darkroom: spec.old\n",
		"Left alone:\n  1 Darkroom: it is paused\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "configMapRef") || strings.Contains(text, "creates") {
		t.Errorf("the plan shows the value of a variable, or a digest:\n%s", text)
	}
}

// Inherited labels change in each object and have a different value in each Darkroom.
func TestChangesOfOnePathAreOneLine(t *testing.T) {
	p := &Plan{}
	for i := range 4 {
		d := Darkroom{Namespace: fmt.Sprintf("team-%d", i), Name: "photos", Rolls: true}
		for _, object := range []string{"ConfigMap", "Deployment", "Service"} {
			d.Fields = append(d.Fields, Field{Object: object, Path: "metadata.labels.team", To: d.Namespace})
		}
		d.Fields = append(d.Fields, Field{Object: "Deployment", Path: "spec.template.metadata.labels.team", To: d.Namespace},
			Field{Object: "ConfigMap", Path: "data.A", From: "1", To: "2"}, Field{Object: "Secret", Path: "data"})
		p.Darkrooms = append(p.Darkrooms, d)
	}
	var b strings.Builder
	if err := p.Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	const who = "\n    team-0/photos, team-1/photos, team-2/photos and 1 more\n"
	want := "4 Darkrooms: 4 would change, 4 of them with new pods; 0 would be refused.\n\nReplaces pods:\n" +
		"  4 Darkrooms: ConfigMap data.A: 1 → 2" + who +
		"  4 Darkrooms: Deployment spec.template.metadata.labels.team: 4 different changes" + who +
		"  4 Darkrooms: Secret data" + who + "\nChanges without replacing pods:\n" +
		"  4 Darkrooms: ConfigMap, Deployment, Service metadata.labels.team: 4 different changes" + who
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", &b, want)
	}
}

// One Darkroom of a fleet may be invalid for a long time.
func TestADarkroomThatIsAlreadyRefusedIsNoChange(t *testing.T) {
	for reason, isAlready := range map[string]bool{
		v1alpha1.ReasonInvalid: true, v1alpha1.ReasonReleaseFailed: true, v1alpha1.ReasonForeignRelease: true,
		v1alpha1.ReasonAllReplicasReady: false, "": false,
	} {
		for _, generation := range []int64{1, 2} {
			darkroom := darkrooms.New("photos", "team-a").Generation(2).Condition(v1alpha1.Condition{
				Type: v1alpha1.ConditionReady, Reason: reason, ObservedGeneration: generation,
			}).Obj()
			d := Darkroom{Namespace: "team-a", Name: "photos"}
			d.refuse(darkroom, errors.New("spec.baseDomain: is not offered"))
			isAlready := isAlready && generation == 2
			p := &Plan{Darkrooms: []Darkroom{d}}
			if p.Changes() == isAlready {
				t.Errorf("%s of generation %d: the plan has a change: %t", reason, generation, p.Changes())
			}
			var b strings.Builder
			if err := p.Write(&b, "text"); err != nil || strings.Contains(b.String(), "Refused already") != isAlready ||
				strings.Contains(b.String(), "nothing changes") != isAlready {
				t.Errorf("%s of generation %d: %s (%v)", reason, generation, &b, err)
			}
		}
	}
}

func TestADarkroomBesideAHelmReleaseOfItsNameIsRefused(t *testing.T) {
	foreign := func(conditionType string) v1alpha1.Condition {
		return v1alpha1.Condition{
			Type: conditionType, Reason: v1alpha1.ReasonForeignRelease, Message: "rename it", ObservedGeneration: 1,
		}
	}
	darkroom := darkrooms.New("photos", "team-a").Generation(1).
		Condition(foreign(v1alpha1.ConditionDeployed)).Condition(foreign(v1alpha1.ConditionReady)).Obj()
	got, err := (&Planner{}).compare(t.Context(), subject{darkroom: darkroom})
	if err != nil || got.Refused != "rename it" || !got.RefusedAlready {
		t.Errorf("got %+v (%v), want a refusal that contains %q", got, err, "rename it")
	}
}

func TestDarkroomsThatAreNotComparedAreCounted(t *testing.T) {
	p := &Plan{Darkrooms: []Darkroom{{Name: "photos"}, {Name: "cats", Skipped: "it is paused"}}}
	const want = "1 Darkroom: nothing changes. Not compared: 1."
	if got := p.summary(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPlanWithoutAChangeSaysSo(t *testing.T) {
	d := Darkroom{Namespace: "team-a", Name: "photos"}
	d.fill(darkrooms.New("photos", "team-a").Obj(), objectsOf(to, "a", "10"), objectsOf(to, "a", "10"))
	p := &Plan{Darkrooms: []Darkroom{d}}
	var b strings.Builder
	if err := p.Write(&b, "markdown"); err != nil || p.Changes() || b.String() != "1 Darkroom: nothing changes.\n" {
		t.Errorf("got %q (%v)", b.String(), err)
	}
}

// secret is the value of a variable. It is a number, which is not redacted in messages, and no Darkroom contains it any
// more.
const secret = "48151623"

// somePods returns the containers of a Deployment of a random size. Their variables contain the secret.
func somePods(t *rapid.T, label string) *unstructured.Unstructured {
	containers := func(of string) (out []any) {
		for i := range rapid.IntRange(0, 2).Draw(t, label+of) {
			container := map[string]any{"name": fmt.Sprintf("%s-%d", of, i), "image": to}
			var variables []any
			for j := range rapid.IntRange(0, 2).Draw(t, label+"variables") {
				variable := map[string]any{"value": secret}
				if rapid.Bool().Draw(t, label+"named") {
					variable["name"] = fmt.Sprintf("V%d", j)
				}
				variables = append(variables, variable)
			}
			if variables != nil {
				container["env"] = variables
			}
			out = append(out, container)
		}
		return out
	}
	spec := map[string]any{}
	for _, of := range []string{"containers", "initContainers"} {
		if some := containers(of); some != nil {
			spec[of] = some
		}
	}
	out := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "photos"},
	}}
	if rapid.Bool().Draw(t, label+"template") {
		out.Object["spec"] = map[string]any{"template": map[string]any{"spec": spec}}
	}
	return out
}

func TestAPlanHasNoValueOfAVariable(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		before, after := somePods(t, "before "), somePods(t, "after ")
		d := Darkroom{Namespace: "team-a", Name: "photos"}
		d.fill(darkrooms.New("photos", "team-a").Obj(), objects{manifest.KeyOf(before): before},
			objects{manifest.KeyOf(after): after})
		for _, format := range Formats {
			var b strings.Builder
			if err := (&Plan{Darkrooms: []Darkroom{d}}).Write(&b, format); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), secret) {
				t.Errorf("the plan shows the value of a variable:\n%s", &b)
			}
		}
	})
}

func TestTextsInAPlanStayOnTheirLineAndDoNotControlTheTerminal(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a \n\r\t\\\"`\x1b\x7f\u009b\u202e\u2028"))).Draw(t, "text")
		of := func(text string) *Plan {
			return &Plan{Darkrooms: []Darkroom{{
				Namespace: "team-a", Name: "photos", Refused: "policy: " + text, Skipped: "why: " + text,
				Dropped: []string{"spec." + text},
				Fields:  []Field{{Object: "Ingress", Path: "spec", From: "x" + text, To: "y" + text}},
			}}}
		}
		for _, format := range Formats {
			var b, plain strings.Builder
			if err := errors.Join(of(text).Write(&b, format), of("").Write(&plain, format)); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\r\x1b\x7f\u009b\u202e") ||
				strings.Count(b.String(), "\n") != strings.Count(plain.String(), "\n") {
				t.Errorf("%s: %q", format, &b)
			}
			got := &Plan{}
			err := json.Unmarshal([]byte(b.String()), got)
			if format == "json" && (err != nil || !reflect.DeepEqual(got, of(text))) {
				t.Errorf("%q is read as %+v (%v)", &b, got, err)
			}
		}
	})
}
