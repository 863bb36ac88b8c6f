package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from a range that neither Services (from 30000) nor
// outgoing connections (on Linux from 32768) use: a port that the kernel
// hands out by itself could be taken again before its program listens on it.
const (
	lowestPort  = 20000
	highestPort = 29999
)

// freePorts returns n different ports of address that are not in use.
func freePorts(address string, n int) ([]int, error) {
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	ports := make([]int, 0, n)
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		// Held until all are chosen, so that none is chosen twice.
		listeners = append(listeners, listener)
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("found %d of %d free ports on %s between %d and %d", len(ports), n, address, lowestPort, highestPort)
}
