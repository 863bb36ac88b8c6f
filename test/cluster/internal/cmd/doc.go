// Package cmd is the command line: one file per command, each a function from
// arguments to an error. What a program may read goes to standard output,
// progress and errors to standard error.
package cmd
