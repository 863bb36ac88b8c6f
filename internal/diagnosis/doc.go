// Package diagnosis shows one Darkroom to a person: why it is not ready, on one screen, and what a bug report
// needs, without credentials. It only reads, and needs no more rights than a user has who may see the
// namespace.
package diagnosis
