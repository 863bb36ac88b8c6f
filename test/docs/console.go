package docs

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// exchange is a command in a console block and its documented output.
type exchange struct {
	command, answer string
}

// exchanges parses a console block: commands follow a "$ " prompt.
func exchanges(text string) ([]exchange, error) {
	var all []exchange
	complete := true
	for line := range strings.Lines(text) {
		command, prompted := strings.CutPrefix(line, "$ ")
		switch {
		case !complete:
			all[len(all)-1].command += line
		case prompted:
			all = append(all, exchange{command: command})
		case len(all) == 0:
			return nil, fmt.Errorf("a console block begins with %q instead of a command after \"$ \"", strings.TrimSpace(line))
		default:
			all[len(all)-1].answer += line
			continue
		}
		complete = isComplete(all[len(all)-1].command)
	}
	if !complete {
		return nil, fmt.Errorf("the command does not end: %s", all[len(all)-1].command)
	}
	return all, nil
}

// isComplete reports whether a command ends here or continues on the next line.
func isComplete(command string) bool {
	if strings.HasSuffix(command, "\\\n") {
		return false
	}
	return exec.Command("bash", "-n", "-c", command).Run() == nil
}

var (
	spaces = regexp.MustCompile(`\s+`)
	// ages are ages as kubectl prints them.
	ages = regexp.MustCompile(`\b(\d+[dhms]){1,2}\b`)
)

// answers returns an error if got lacks a part of the documented output. Text between lines and in place of "…" is
// allowed; white space and ages are ignored.
func answers(shown, got string) error {
	rest := plain(got)
	for line := range strings.Lines(shown) {
		for part := range strings.SplitSeq(line, "…") {
			part = plain(part)
			_, after, found := strings.Cut(rest, part)
			if !found {
				return fmt.Errorf("the document shows\n%s\nbut %q is not in (the rest of) the output\n%s", shown, part, got)
			}
			rest = after
		}
	}
	return nil
}

func plain(text string) string {
	return spaces.ReplaceAllString(ages.ReplaceAllString(text, "AGE"), "")
}
