package main

import (
	"fmt"
	"os"
	"slices"
)

// figures are measurements by name.
type figures map[string]float64

// Names of the figures, in the order of the table.
const (
	burst           = "burst: all installed and reported, s"
	cpuPerInstall   = "CPU per install, ms"
	serverCPU       = "CPU of API server and etcd per install, ms"
	requestsInstall = "API requests per install"
	reconciles      = "reconciles per install"
	statusWrites    = "status writes per install"
	createToIngress = "create → its Ingress exists, ms"
	changeToConfig  = "change of baseUrl → ConfigMap has it, ms"
	serviceBack     = "deleted Service back, ms"
	resyncRequests  = "unchanged resync: API requests each"
	resyncCPU       = "unchanged resync: CPU each, ms"
	rss             = "RSS after, MiB"
	restart         = "restart: all verified, s"
	restartRequests = "restart: API requests each"
	restartWrites   = "restart: of these writes"
	restartCPU      = "restart: CPU each, ms"
	// A default of the operator is about to change, or has changed.
	planTime         = "plan of a changed default, s"
	planRSS          = "plan of a changed default: RSS at most, MiB"
	defaultsTime     = "changed default: all upgraded, s"
	defaultsRequests = "changed default: API requests each"
	defaultsCPU      = "changed default: CPU each, ms"
	defaultsRSS      = "changed default: RSS at most, MiB"
	// The tenants are described in tenants.go.
	besideTrouble      = "create beside troublesome tenants, × alone"
	besideTroubleWorst = "create beside troublesome tenants: the longest, ms"
)

var figureNames = []string{
	burst, cpuPerInstall, serverCPU, requestsInstall, reconciles, statusWrites, createToIngress,
	changeToConfig, serviceBack,
	resyncRequests, resyncCPU, rss, restart, restartRequests, restartWrites, restartCPU,
	planTime, planRSS, defaultsTime, defaultsRequests, defaultsCPU, defaultsRSS,
	besideTrouble, besideTroubleWorst,
}

// result contains the measurements of a subject.
type result struct {
	subject string
	n       int
	median  figures
}

func medians(rounds []figures) figures {
	median := figures{}
	for _, name := range figureNames {
		var values []float64
		for _, round := range rounds {
			if value, measured := round[name]; measured {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			slices.Sort(values)
			median[name] = values[len(values)/2]
		}
	}
	return median
}

// printTable prints a column for each result and, for the operator, its multiple of the floor.
func printTable(out *os.File, results []result) {
	rows := make([]string, len(figureNames))
	head, line := "| figure |", "|---|"
	floor := figures{}
	for _, r := range results {
		if r.subject == floorCommand {
			floor = r.median
		}
		head, line = head+fmt.Sprintf(" %s, N = %d | × floor |", r.subject, r.n), line+"---|---|"
		for i, name := range figureNames {
			cells := " – | |"
			if value, measured := r.median[name]; measured {
				cells = fmt.Sprintf(" %.4g | |", value)
				if floor[name] > 0 {
					cells = fmt.Sprintf(" %.4g | %.1f |", value, value/floor[name])
				}
			}
			rows[i] += cells
		}
	}
	fmt.Fprintf(out, "\n%s\n%s\n", head, line)
	for i, name := range figureNames {
		fmt.Fprintf(out, "| %s |%s\n", name, rows[i])
	}
}
