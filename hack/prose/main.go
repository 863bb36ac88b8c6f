// Command prose reports habits of style that make text hard to read, and what to write
// instead. It reads Markdown without its code, and the comments and strings of Go files.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// habit is something not to write.
type habit struct {
	found *regexp.Regexp
	// except are matches that are fine.
	except *regexp.Regexp
	write  string
}

var habits = []habit{
	{found: words(`what [^.?!:|]*\.`, `(?:^|[.!?|]\s+)`), write: "the noun as the subject, in place of a what-clause"},
	{found: words(`(tells?|says) (whether|if|what|why|how|which|that)`), write: `"reports", "shows" or "describes"`},
	{found: words(`(stands?|lies?|lie) (in|on|at|there|beside|behind|under)`), write: `"is" or "is stored"`},
	{found: words(`(has|have|had) (the|a|an|it|them) (\S+ )?(leave|looked|checked|reconciled|done|made|kept|read)`), write: "an active verb, in place of a causative have"},
	{found: words(`(of|with|by|for|from) (which|whom)`), write: "two sentences, or the preposition at its verb"},
	{found: words(`(anew|seldom|for ever|somebody|nobody|whoever|whichever|whatever)`), write: `"again", "rarely", "users" or a name`},
	{
		found: words(`\w+ (is|are|was|were) no \w+`), except: words(`(there \w+ no|no (longer|more))`),
		write: `"is not a" or "invalid"`,
	},
	{found: words(`((a|each|every|next|two|three) looks?|done again|mend(s|ed)?|carried out|as wanted|is wanted)`), write: `"reconcile", "retried", "fixed", "applied" or "desired"`},
	// As a word of a sentence: in strings it may be a name.
	{found: words(`pictures?`, `(?:^|[^\s|]\s+)`), write: `"image"`},
	{found: words(`(that|which|what)( [\w',-]+){0,7} (that|which|what)( [\w',-]+){0,7} (that|which|what)`), write: "two sentences"},
}

// words returns an expression for whole words, however they are spaced and written.
// A prefix goes before them.
func words(text string, prefix ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)` + strings.Join(prefix, "") + `\b` + strings.ReplaceAll(text, " ", `\s+`) + `(?:\b|[\s"]|$)`)
}

var (
	blocks = regexp.MustCompile("(?ms)^ *```.*?^ *```|<!--.*?-->")
	inline = regexp.MustCompile("`[^`\n]*`|\\]\\([^)\n]*\\)")
	letter = regexp.MustCompile(`\S`)
)

// lint returns what is found in a document, as "line: text: write …".
func lint(document string) (findings []string) {
	// Code is blanked out, so that lines keep their numbers.
	document = blocks.ReplaceAllStringFunc(document, func(code string) string { return letter.ReplaceAllString(code, " ") })
	document = inline.ReplaceAllStringFunc(document, func(code string) string { return strings.Repeat("_", len(code)) })
	for _, habit := range habits {
		for _, at := range habit.found.FindAllStringIndex(document, -1) {
			text := strings.Trim(strings.Join(strings.Fields(document[at[0]:at[1]]), " "), `|!?" `)
			if habit.except != nil && habit.except.MatchString(text) {
				continue
			}
			line := 1 + strings.Count(strings.TrimRight(document[:at[1]], " \t\n"), "\n")
			findings = append(findings, fmt.Sprintf("%d: %q: write %s", line, text, habit.write))
		}
	}
	return findings
}

func main() {
	code := 0
	for _, path := range os.Args[1:] {
		document, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(2)
		}
		text := string(document)
		if filepath.Ext(path) == ".go" {
			text = proseOf(document)
		}
		for _, finding := range lint(text) {
			fmt.Printf("%s:%s\n", path, finding)
			code = 1
		}
	}
	os.Exit(code)
}
