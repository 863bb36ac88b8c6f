package main

import (
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
)

// proseOf returns the comments and string literals of a Go file, in their lines. A bar takes
// the place of code, so that no sentence continues across it.
func proseOf(source []byte) string {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var scan scanner.Scanner
	scan.Init(file, source, nil, scanner.ScanComments)

	var prose strings.Builder
	line := 1
	comment := false // the last token was a comment in the line before
	for {
		position, kind, literal := scan.Scan()
		if kind == token.EOF {
			return prose.String()
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		for at := file.Line(position); line < at; line++ {
			prose.WriteByte('\n')
		}
		switch {
		case kind == token.COMMENT && isDirective(literal):
			literal, comment = "| ", false
		case kind == token.COMMENT && comment:
			literal = " " + uncommented(literal)
		case kind == token.COMMENT:
			literal, comment = "| "+uncommented(literal), true
		case kind == token.STRING:
			literal, comment = "| "+unquoted(literal)+" |", false
		default:
			literal, comment = "|", false
		}
		prose.WriteString(literal)
		line += strings.Count(literal, "\n")
	}
}

// isDirective reports whether a comment is for a tool: //go:embed, //nolint.
func isDirective(comment string) bool {
	return strings.HasPrefix(comment, "//") && len(comment) > 2 && comment[2] != ' ' && comment[2] != '\t'
}

func uncommented(comment string) string {
	if text, isBlock := strings.CutPrefix(comment, "/*"); isBlock {
		return strings.TrimSuffix(text, "*/")
	}
	return strings.TrimPrefix(comment, "//")
}

// unquoted returns the text of a string literal. Only raw strings have more than one line.
func unquoted(literal string) string {
	if strings.HasPrefix(literal, "`") {
		return strings.Trim(literal, "`")
	}
	text, err := strconv.Unquote(literal)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(text, "\n", "| ")
}
