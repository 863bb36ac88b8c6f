package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// valuesOf are two values of each type of flag that differ from all defaults.
var valuesOf = map[string][2]string{
	"string": {"one", "other"}, "stringSlice": {"a,b", "c"}, "int": {"1001", "1002"}, "float64": {"1001.5", "1002.5"},
	"duration": {"17m1s", "17m2s"},
}

// parsed returns the flags of a command after the arguments and the environment.
func parsed(t *testing.T, name string, args ...string) (*pflag.FlagSet, error) {
	t.Helper()
	root := newRoot()
	command, _, err := root.Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	command.RunE = func(*cobra.Command, []string) error { return nil }
	root.SetArgs(append([]string{name}, args...))
	return command.Flags(), root.ExecuteContext(t.Context())
}

// TestEveryFlagCanBeSetByTheEnvironment checks this for each command, with the precedence flag, environment, default.
// The help names the variable.
func TestEveryFlagCanBeSetByTheEnvironment(t *testing.T) {
	for _, command := range []*cobra.Command{newManager(), newAPIServer(), newTemplate()} {
		name := command.Name()
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			t.Run(name+" "+flag.Name, func(t *testing.T) {
				variable := "DARKROOM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
				values, found := valuesOf[flag.Value.Type()]
				if flag.Value.Type() == "bool" {
					values, found = [2]string{fmt.Sprint(flag.DefValue != "true"), flag.DefValue}, true
				}
				if !found {
					t.Fatalf("--%s has the type %s, for which the test has no values", flag.Name, flag.Value.Type())
				}
				one, other := values[0], values[1]
				for _, set := range []struct {
					environment string
					args        []string
					want        string
				}{
					{"", nil, strings.Trim(flag.DefValue, "[]")},
					{one, nil, one},
					{one, []string{"--" + flag.Name + "=" + other}, other},
				} {
					t.Setenv(variable, set.environment)
					flags, err := parsed(t, name, set.args...)
					if err != nil {
						t.Fatal(err)
					}
					got := flags.Lookup(flag.Name)
					if strings.Trim(got.Value.String(), "[]") != set.want {
						t.Errorf("%s=%s %q: --%s is %s, want %s", variable, set.environment, set.args, flag.Name, got.Value, set.want)
					}
					if !strings.Contains(got.Usage, variable) {
						t.Errorf("the help of --%s does not name %s: %s", flag.Name, variable, got.Usage)
					}
				}
			})
		})
	}
}

func TestNamespacesOfTheOperatorGroupAreTheDefault(t *testing.T) {
	t.Setenv(envWatchNamespace, "cats,dogs")
	for variable, want := range map[string][]string{"": {"cats", "dogs"}, "birds, bats,": {"birds", "bats"}} {
		t.Setenv("DARKROOM_WATCH_NAMESPACES", variable)
		flags, err := parsed(t, "apiserver")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := flags.GetStringSlice("watch-namespaces"); err != nil || !slices.Equal(got, want) {
			t.Errorf("with %q: got %q (%v), want %q", variable, got, err, want)
		}
	}
}

// TestTheOperatorsChartHasAValueForEachFlag also checks that the chart passes the value on.
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
	for command, values := range map[*cobra.Command]map[string]any{
		newManager():   sections.Manager,
		newAPIServer(): sections.APIServer,
	} {
		program := command.Name()
		template, err := os.ReadFile(filepath.Join(chart, "templates", program+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			name := regexp.MustCompile("-[a-z]").ReplaceAllStringFunc(flag.Name,
				func(s string) string { return strings.ToUpper(s[1:]) })
			if _, found := values[name]; !found {
				t.Errorf("values.yaml has no %s.%s for --%s", program, name, flag.Name)
			}
			// Namespaces are passed by the environment variable that OLM also sets.
			if flag.Name != "watch-namespaces" && !strings.Contains(string(template), `"`+flag.Name+`"`) {
				t.Errorf("templates/%s.yaml does not pass --%s on", program, flag.Name)
			}
		})
	}
}
