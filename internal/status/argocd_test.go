package status

import (
	"path/filepath"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/documents"
)

// argoCDHealth runs the health check of docs/argo-cd.md with the interpreter of Argo CD.
func argoCDHealth(t *testing.T, object *unstructured.Unstructured) (health, message string) {
	t.Helper()
	blocks, err := documents.Blocks(filepath.Join("..", "..", "docs", "argo-cd.md"), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	var settings struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(blocks[len(blocks)-1]), &settings); err != nil {
		t.Fatal(err)
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(settings.Data["resource.customizations.health.deployments.example.com_Darkroom"]); err != nil {
		t.Fatal(err)
	}
	answer, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the health check returns %s", state.Get(-1).Type())
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
