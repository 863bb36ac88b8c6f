// Package listen serves HTTP on listeners whose connections are bounded: as a whole, and those whose
// callers are not known yet. Where there are too many of these, the oldest of the address that has
// most of them is closed, so that who fills a listener keeps nobody else out. (A listener that only
// stops accepting, such as netutil.LimitListener, would make everybody wait for the attacker.)
//
// A connection belongs to a known caller from Keep until the end of the request.
package listen
