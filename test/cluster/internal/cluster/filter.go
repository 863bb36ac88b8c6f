//go:build linux

package cluster

import (
	"fmt"
	"os/exec"
	"strings"
)

// filters are the commands of the packet filter; each has a -save and a -restore variant.
var filters = []string{"iptables", "ip6tables"}

// save returns the rules in the format of `iptables-save`.
func save(command string) (string, error) {
	out, err := exec.Command(command).Output()
	if err != nil {
		return "", fmt.Errorf("read the packet filter's rules with %s: %w", command, err)
	}
	return string(out), nil
}

// undo returns input for `<filter>-restore --noflush` that removes a node's additions from the rules: the chains of
// Kubernetes, rules that jump to them, and rules marked with the node's name. The result is empty if there is nothing
// to remove. No node starts on a machine with the chains of another node (checkNoOther).
func undo(rules string) string {
	var script strings.Builder
	var table string
	var deletes, chains []string
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		rule, isRule := strings.CutPrefix(line, "-A ")
		switch {
		case strings.HasPrefix(line, "*"):
			table, deletes, chains = line, nil, nil
		case strings.HasPrefix(line, ":"+kubernetesChains):
			chain, _, _ := strings.Cut(line[1:], " ")
			chains = append(chains, chain)
		case isRule && !strings.HasPrefix(rule, kubernetesChains) && isOfNode(rule):
			deletes = append(deletes, rule)
		case line == "COMMIT" && len(deletes)+len(chains) > 0:
			writeUndo(&script, table, deletes, chains)
		}
	}
	return script.String()
}

// kubernetesChains are the prefixes of the names of Kubernetes' chains.
const kubernetesChains = "KUBE-"

// isOfNode reports whether a rule jumps to a chain of Kubernetes or is marked.
func isOfNode(rule string) bool {
	for _, part := range []string{" -j " + kubernetesChains, " -g " + kubernetesChains, " --comment " + mark} {
		if strings.Contains(rule, part) {
			return true
		}
	}
	return false
}

// writeUndo writes the part for one table. Chains are emptied before they are deleted, because they refer to each
// other.
func writeUndo(script *strings.Builder, table string, deletes, chains []string) {
	fmt.Fprintln(script, table)
	for _, rule := range deletes {
		fmt.Fprintln(script, "-D", rule)
	}
	for _, chain := range chains {
		fmt.Fprintln(script, "-F", chain)
	}
	for _, chain := range chains {
		fmt.Fprintln(script, "-X", chain)
	}
	fmt.Fprintln(script, "COMMIT")
}

// restoreFilters removes the node's rules.
func restoreFilters() error {
	for _, f := range filters {
		rules, err := save(f + "-save")
		if err != nil {
			return err
		}
		script := undo(rules)
		if script == "" {
			continue
		}
		cmd := exec.Command(f+"-restore", "--noflush", "-w", "5")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("remove the node's packet filter rules with %s: %w: %s", cmd.Path, err,
				strings.TrimSpace(string(out)))
		}
	}
	return nil
}
