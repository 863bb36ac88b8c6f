//go:build race

package controller_test

// raceDetector tells that allocations are counted with those of the race detector.
const raceDetector = true
