//go:build race

package controller_test

// raceDetector means that allocations of the race detector are counted too.
const raceDetector = true
