//go:build linux

package cluster

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// filters are the packet filter's commands; each has a -save and a -restore.
var filters = []string{"iptables", "ip6tables"}

// save returns the rules, as `iptables-save` writes them.
func save(command string) (string, error) {
	out, err := exec.Command(command).Output()
	if err != nil {
		return "", fmt.Errorf("read the packet filter's rules with %s: %w", command, err)
	}
	return string(out), nil
}

// chainsOf lists the chains in the output of `<filter>-save`.
func chainsOf(filter, rules string) []string {
	var chains []string
	table := ""
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "*"):
			table = line[1:]
		case strings.HasPrefix(line, ":"):
			chain, _, _ := strings.Cut(line[1:], " ")
			chains = append(chains, chainKey(filter, table, chain))
		}
	}
	return chains
}

func chainKey(filter, table, chain string) string { return filter + " " + table + " " + chain }

// undo returns input for `<filter>-restore --noflush` that removes from the
// rules what a node made: the chains of Kubernetes and of the network plugins
// that did not exist before, what leads to them, and rules marked with the
// node's name. Empty if there is nothing to remove.
func undo(filter, rules string, before []string) string {
	var script strings.Builder
	var table string
	var deletes, flushes []string
	ours := map[string]bool{}
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "*"):
			table = line[1:]
			deletes, flushes = nil, nil
			clear(ours)
		case strings.HasPrefix(line, ":"):
			chain, _, _ := strings.Cut(line[1:], " ")
			made := strings.HasPrefix(chain, "KUBE-") || strings.HasPrefix(chain, "CNI-")
			if made && !slices.Contains(before, chainKey(filter, table, chain)) {
				ours[chain] = true
				flushes = append(flushes, chain)
			}
		case strings.HasPrefix(line, "-A "):
			// Rules come after all chains of their table.
			words := strings.Fields(line)
			if !ours[words[1]] && (leadsTo(words, ours) || strings.Contains(line, "--comment "+mark)) {
				deletes = append(deletes, "-D "+line[len("-A "):])
			}
		case line == "COMMIT" && len(deletes)+len(flushes) > 0:
			writeUndo(&script, table, deletes, flushes)
		}
	}
	return script.String()
}

// writeUndo writes the part for one table. Chains are emptied before they are deleted, because
// they lead to each other.
func writeUndo(script *strings.Builder, table string, deletes, flushes []string) {
	fmt.Fprintf(script, "*%s\n", table)
	for _, rule := range deletes {
		fmt.Fprintln(script, rule)
	}
	for _, chain := range flushes {
		fmt.Fprintf(script, "-F %s\n", chain)
	}
	for _, chain := range flushes {
		fmt.Fprintf(script, "-X %s\n", chain)
	}
	fmt.Fprintln(script, "COMMIT")
}

// leadsTo reports whether a rule jumps or goes to one of the chains.
func leadsTo(words []string, chains map[string]bool) bool {
	for i, word := range words[:len(words)-1] {
		if (word == "-j" || word == "-g") && chains[words[i+1]] {
			return true
		}
	}
	return false
}

// restoreFilters removes the node's rules.
func restoreFilters(before []string) error {
	for _, f := range filters {
		rules, err := save(f + "-save")
		if err != nil {
			return err
		}
		script := undo(f, rules, before)
		if script == "" {
			continue
		}
		cmd := exec.Command(f+"-restore", "--noflush", "-w", "5")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("remove the node's packet filter rules with %s: %w: %s", cmd.Path, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
