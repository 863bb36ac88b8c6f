package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// TestTheOperatorsChartHasAValueForEachFlag, and passes it on.
func TestTheOperatorsChartHasAValueForEachFlag(t *testing.T) {
	chart := filepath.Join("..", "..", "charts", "darkroom-operator")
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sections := struct{ Manager, APIServer map[string]any }{}
	if err := yaml.Unmarshal(text, &sections); err != nil {
		t.Fatal(err)
	}
	for command, values := range map[*cobra.Command]map[string]any{newManager(): sections.Manager, newAPIServer(): sections.APIServer} {
		program := command.Name()
		template, err := os.ReadFile(filepath.Join(chart, "templates", program+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			name := regexp.MustCompile("-[a-z]").ReplaceAllStringFunc(flag.Name, func(s string) string { return strings.ToUpper(s[1:]) })
			if _, found := values[name]; !found {
				t.Errorf("values.yaml has no %s.%s for --%s", program, name, flag.Name)
			}
			// Namespaces are passed by the environment, which OLM sets too.
			if flag.Name != "watch-namespaces" && !strings.Contains(string(template), `"`+flag.Name+`"`) {
				t.Errorf("templates/%s.yaml does not pass --%s on", program, flag.Name)
			}
		})
	}
}
