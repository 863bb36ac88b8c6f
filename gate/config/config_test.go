package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// readme returns the variables of the table in the README, with their defaults.
func readme(t *testing.T) map[string]string {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\x60GATE_[^|]*?) \| ([^|]*?) \|`).
		FindAllStringSubmatch(string(text), -1) {
		names, values := strings.Split(row[1], ", "), strings.Split(row[2], ", ")
		for i, name := range names {
			value := strings.Trim(values[min(i, len(values)-1)], "`")
			if n := 0; strings.HasSuffix(value, "iB") {
				unit := ""
				_, _ = fmt.Sscanf(value, "%d %s", &n, &unit)
				value = fmt.Sprint(n << map[string]int{"MiB": 20, "GiB": 30}[unit])
			}
			if value == "none" || value == "all" {
				value = ""
			}
			found[strings.Trim(name, "`")] = value
		}
	}
	return found
}

// chart returns the variables that the chart sets by default.
func chart(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../helm-charts/testdata/golden/gate-default.diff")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^\+  (GATE_\w+): "(.*)"$`).FindAllStringSubmatch(string(text), -1) {
		found[line[1]] = line[2]
	}
	return found
}

// README and chart contain the defaults of this package, and the README contains all variables.
func TestDefaultsAreTheSameEverywhere(t *testing.T) {
	read := map[string]bool{}
	want, err := Read(func(name string) string {
		read[name] = true
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, environ := range map[string]map[string]string{"README": readme(t), "chart": chart(t)} {
		if len(environ) < 5 {
			t.Errorf("%s has only %v", place, environ)
		}
		if got, err := Read(func(name string) string { return environ[name] }); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v, want\n%+v", place, err, got, want)
		}
	}
	documented := readme(t)
	for name := range read {
		if _, ok := documented[name]; !ok && strings.HasPrefix(name, "GATE_") {
			t.Errorf("the README has no %s", name)
		}
	}
	for name := range documented {
		if !read[name] {
			t.Errorf("%s of the README is not read", name)
		}
	}
}

// The resource rejects parameters with which the gate would not start.
func TestTheGateStartsWithParametersThatTheResourceAccepts(t *testing.T) {
	text, err := os.ReadFile("../../config/crd/bases/deployments.example.com_darkrooms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if names := "(" + strings.Join(request.Parameters, "|") + ")="; !strings.Contains(string(text), names) {
		t.Errorf("no rule contains %s", names)
	}
	rules := regexp.MustCompile(`matches\('+(\^\(\(w\|h\)=[^']*\$)'+\)`).FindAllStringSubmatch(string(text), -1)
	if len(rules) != 2 {
		t.Fatalf("the rules of presets and of default parameters are %q", rules)
	}
	values := []string{
		"", "0", "1", "1.", ".5", "0.25", "5", "5.5", "6", "99", "100", "100.5", "101", "00", "359", "360", "361", "4096",
		"-1", "1e1", "0x1", "000000", "crop", "scale", "max", "min", "clip", "fill", "top", "left", "top,left", "left,top", "bottom,right",
		"top,bottom", "h", "V", "hv", "vH", "hh", "compress", "format", "format,compress", "compress,", "face",
	}
	for _, name := range request.Parameters {
		for _, value := range values {
			for i, variables := range []map[string]string{
				{"GATE_PRESETS": fmt.Sprintf(`{"a":"%s=%s"}`, name, value)}, {"DEFAULTPARAMS": name + "=" + value},
			} {
				_, err := Read(func(variable string) string { return variables[variable] })
				isAccepted := regexp.MustCompile(rules[i][1]).MatchString(name + "=" + value)
				// Unusual notations of numbers, which the CEL rules reject.
				isOdd := slices.Contains([]string{"", ".5", "1e1", "0x1", "000000"}, value) && name != "mono"
				if isAccepted != (err == nil) && (isAccepted || !isOdd) {
					t.Errorf("%v: accepted: %v, and the gate returns %v", variables, isAccepted, err)
				}
			}
		}
	}
}
