// Package diagnosis shows the state of one Darkroom to users: on one screen, why it is not ready, and as a report, the
// data for a bug report without credentials. It only reads, with the permissions of a user who may view the namespace.
package diagnosis
