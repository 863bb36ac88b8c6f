package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// budget limits the cost of the operator. Numbers of requests are compared directly. Values that depend on the machine
// are compared only as multiples of the floor in the same run, with generous limits.
type budget struct {
	// Most is the highest value of a figure.
	Most map[string]float64 `json:"most"`
	// TimesFloor is the highest multiple of the floor's value.
	TimesFloor map[string]float64 `json:"timesFloor"`
}

func readBudget(file string) (budget, error) {
	var b budget
	raw, err := os.ReadFile(file)
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, fmt.Errorf("%s: %w", file, err)
	}
	for _, limits := range []map[string]float64{b.Most, b.TimesFloor} {
		for name := range limits {
			if !slices.Contains(figureNames, name) {
				return b, fmt.Errorf("%s: unknown figure %q", file, name)
			}
		}
	}
	return b, nil
}

// check returns the figures that exceed the budget. The results of the floor must precede the results of the operator.
func (b budget) check(results []result) []string {
	var over []string
	var floor result
	for _, operator := range results {
		if operator.subject == floorCommand {
			floor = operator
		}
		if operator.subject != operatorName || floor.n != operator.n {
			continue
		}
		for _, name := range figureNames {
			value := operator.median[name]
			if most, found := b.Most[name]; found && value > most {
				over = append(over, fmt.Sprintf("N = %d: %s: %.4g, at most %.4g", operator.n, name, value, most))
			}
			if times, found := b.TimesFloor[name]; found && value > times*floor.median[name] {
				over = append(over, fmt.Sprintf("N = %d: %s: %.4g, at most %.4g times the floor's %.4g", operator.n, name, value,
					times, floor.median[name]))
			}
		}
	}
	return over
}
