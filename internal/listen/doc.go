// Package listen limits the connections of HTTP listeners: all connections, and connections of callers that are not
// authenticated yet. At the second limit, the listener closes the oldest connection of the address with the most
// unauthenticated connections, so that a client that floods the listener does not lock others out. A listener that only
// stops accepting, such as netutil.LimitListener, would make all clients wait for the attacker.
//
// A connection counts as authenticated from the call of Keep until the end of the request.
package listen
