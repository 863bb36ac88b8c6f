package status

import (
	"path/filepath"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/documents"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// compareProgress expects one of the conditions Reconciling and Stalled, or none, with the reason and message of Ready.
func compareProgress(t *testing.T, want string, report v1alpha1.DarkroomStatus) {
	t.Helper()
	ready := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionReady)
	for _, conditionType := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		got := v1alpha1.FindCondition(report.Conditions, conditionType)
		switch {
		case (got != nil) != (conditionType == want):
			t.Errorf("got unexpected condition %s: %+v", conditionType, got)
		case got != nil && (got.Status != yes || got.Reason != ready.Reason || got.Message != ready.Message ||
			got.ObservedGeneration != ready.ObservedGeneration):
			t.Errorf("condition %s is %+v, want the reason and message of Ready, %+v", conditionType, got, ready)
		}
	}
}

// checkTools checks how kstatus, which Flux and Helm 4 use to wait for objects, and the health check for Argo CD
// evaluate a Darkroom.
func checkTools(t *testing.T, darkroom *v1alpha1.Darkroom, progress string) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(darkroom)
	expect.NoError(t, err)
	object := &unstructured.Unstructured{Object: fields}
	want, wantHealth := kstatus.CurrentStatus, "Healthy"
	switch phase := darkroom.Status.Phase; {
	case phase == v1alpha1.PhaseTerminating:
		want, wantHealth = kstatus.TerminatingStatus, "Progressing"
	case phase == v1alpha1.PhasePaused:
		want, wantHealth = kstatus.InProgressStatus, "Suspended" // kstatus has no suspended state
	case progress == v1alpha1.ConditionReconciling:
		want, wantHealth = kstatus.InProgressStatus, "Progressing"
	case progress == v1alpha1.ConditionStalled:
		want, wantHealth = kstatus.FailedStatus, "Degraded"
	}
	if result, err := kstatus.Compute(object); err != nil || result.Status != want {
		t.Errorf("kstatus: got %+v (%v), want %s", result, err, want)
	}
	health, message := argoCDHealth(t, object)
	if said := darkroom.Status.Message; health != wantHealth || said != "" && message != said {
		t.Errorf("Argo CD: got %s with the message %q, want %s with %q", health, message, wantHealth, said)
	}
}

// Before the first report, the default observedGeneration of the CRD keeps kstatus from treating the Darkroom as one
// without conditions, which would be current.
func TestADarkroomWithoutStatusIsNotDone(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").Obj()
	darkroom.Status.ObservedGeneration = -1
	checkTools(t, darkroom, v1alpha1.ConditionReconciling)
}

// argoCDHealth runs the health check in docs/argo-cd.md with the Lua interpreter that Argo CD uses.
func argoCDHealth(t *testing.T, object *unstructured.Unstructured) (health, message string) {
	t.Helper()
	blocks, err := documents.Blocks(filepath.Join("..", "..", "docs", "argo-cd.md"), "yaml")
	expect.NoError(t, err)
	var settings struct{ Data map[string]string }
	expect.NoError(t, yaml.Unmarshal([]byte(blocks[len(blocks)-1]), &settings))
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object.Object))
	expect.NoError(t, state.DoString(settings.Data["resource.customizations.health.deployments.example.com_Darkroom"]))
	answer, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the health check returned %s, want a table", state.Get(-1).Type())
	}
	return answer.RawGetString("status").String(), strings.TrimSpace(answer.RawGetString("message").String())
}

func luaValue(state *lua.LState, value any) lua.LValue {
	table := state.NewTable()
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			table.RawSetString(key, luaValue(state, field))
		}
		return table
	case []any:
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	}
	return lua.LNil
}
