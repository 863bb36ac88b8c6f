// Package cmd is the command line: one file per command, each a function from
// arguments to an error. Output for other programs goes to standard output,
// progress and errors go to standard error.
package cmd
