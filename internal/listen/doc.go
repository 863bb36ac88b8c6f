// Package listen serves HTTP on listeners with two limits: on all connections, and on connections of
// callers that are not authenticated yet. At the second limit, the address with the most such
// connections loses its oldest one, so that a client that fills a listener does not keep others out.
// (A listener that only stops accepting, such as netutil.LimitListener, would make everybody wait for
// the attacker.)
//
// A connection belongs to a known caller from Keep until the end of the request.
package listen
