package status

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// Messages of other controllers about pods and routes may quote a rejected object, such as a pod with its variables.
func TestMessagesOfOtherControllersAreQuotedWithoutCredentials(t *testing.T) {
	const secret = "CANARY3SECRET3KEY"
	darkroom := func() *darkrooms.Builder {
		return photos().Env("TOKEN", secret)
	}
	for name, o := range map[string]Observation{
		"of pods":                          seen(darkroom(), deployment(1, pods(1, 1, 0, 0)), problem(v1alpha1.ReasonPodsFailing, "")),
		"of a policy":                      seen(darkroom(), deployment(1, pods(0, 0, 0, 0), overQuota)),
		"of a rollout":                     seen(darkroom(), deployment(1, pods(1, 1, 0, 0), late)),
		"of a Gateway":                     seen(darkroom().Gateway("public"), deployment(1), routed(says("public", notAccepted))),
		"of a Gateway, too":                seen(darkroom().Gateway("public"), deployment(1), routed(says("public", accepted, unresolved))),
		"of a message without credentials": seen(darkroom(), deployment(1)),
	} {
		saying := 0
		say(reflect.ValueOf(&o.Deployment.Status), secret+" is not allowed", &saying)
		say(reflect.ValueOf(&o.Problem), secret+" is not allowed", &saying)
		say(reflect.ValueOf(&o.Route), secret+" is not allowed", &saying)
		raw, err := json.Marshal(Determine(o))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), secret) || strings.Contains(string(raw), v1alpha1.Concealed) != (saying > 0) {
			t.Errorf("%s: a credential is quoted in one of %d messages: %s", name, saying, raw)
		}
	}
}

// say sets every field named Message in a value, and counts these fields.
func say(value reflect.Value, message string, said *int) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			say(value.Elem(), message, said)
		}
	case reflect.Slice:
		for i := range value.Len() {
			say(value.Index(i), message, said)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if field := value.Field(i); value.Type().Field(i).Name == "Message" && field.Kind() == reflect.String {
				field.SetString(message)
				*said++
			} else if field.CanSet() {
				say(field, message, said)
			}
		}
	}
}
