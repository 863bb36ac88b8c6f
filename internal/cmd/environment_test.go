package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// valuesOf returns two values of the type of a flag that differ from its default.
func valuesOf(t *testing.T, flag *pflag.Flag) (one, other string) {
	t.Helper()
	switch kind := flag.Value.Type(); kind {
	case "string":
		return "one", "other"
	case "stringSlice":
		return "a,b", "c"
	case "int":
		return "1001", "1002"
	case "float64":
		return "1001.5", "1002.5"
	case "duration":
		return "1001ms", "1002ms"
	case "bool":
		return fmt.Sprint(flag.DefValue != "true"), flag.DefValue
	default:
		t.Fatalf("--%s has the type %s, for which the test has no values", flag.Name, kind)
		return "", ""
	}
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

// TestEveryFlagCanBeSetByTheEnvironment in each command, with the precedence flag,
// environment, default; and the help names the variable.
func TestEveryFlagCanBeSetByTheEnvironment(t *testing.T) {
	for _, command := range []*cobra.Command{newManager(), newAPIServer(), newTemplate()} {
		name := command.Name()
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			t.Run(name+" "+flag.Name, func(t *testing.T) {
				variable := "DARKROOM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
				one, other := valuesOf(t, flag)
				want := func(what, value string, args ...string) {
					t.Helper()
					flags, err := parsed(t, name, args...)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					want := pflag.NewFlagSet(name, pflag.ContinueOnError)
					want.AddFlag(&pflag.Flag{Name: flag.Name, Value: flag.Value})
					if err := flag.Value.Set(value); err != nil {
						t.Fatal(err)
					}
					if list, ok := flag.Value.(pflag.SliceValue); ok {
						if err := list.Replace(split(value)); err != nil {
							t.Fatal(err)
						}
					}
					if got := flags.Lookup(flag.Name).Value.String(); got != flag.Value.String() {
						t.Errorf("%s: --%s is %s, want %s", what, flag.Name, got, flag.Value)
					}
				}
				t.Setenv(variable, "")
				want("default", strings.Trim(flag.DefValue, "[]"))
				t.Setenv(variable, one)
				want("environment", one)
				want("flag", other, "--"+flag.Name+"="+other)
				help, _ := parsed(t, name)
				if usage := help.Lookup(flag.Name).Usage; !strings.Contains(usage, variable) {
					t.Errorf("the help of --%s does not name %s: %s", flag.Name, variable, usage)
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

func TestInvalidVariablesAreNamed(t *testing.T) {
	for variable, want := range map[string]string{
		"DARKROOM_MAX_HISTORY=many":     "DARKROOM_MAX_HISTORY=many: ",
		"DARKROOM_LEADER_ELECT=perhaps": "DARKROOM_LEADER_ELECT=perhaps: ",
		"DARKROOM_LOG_LEVEL=loud":       "--log-level=loud: ",
	} {
		t.Run(variable, func(t *testing.T) {
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
			root := newRoot()
			root.SetArgs([]string{"manager"})
			root.SetOut(io.Discard)
			if err := root.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want one that begins with %s", err, want)
			}
		})
	}
}
