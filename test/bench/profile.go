package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
)

// profilerAddress is where the operator serves its profiles.
const profilerAddress = "127.0.0.1:16060"

// profile writes one of the operator's profiles to a file, if profiles are wanted.
// Its channel tells when that is done.
func (r *round) profile(file, path string) <-chan error {
	done := make(chan error, 1)
	if !r.process.profiled {
		done <- nil
		return done
	}
	go func() {
		done <- download(filepath.Join(r.profiles, file), "http://"+profilerAddress+"/debug/pprof/"+path)
	}()
	return done
}

func download(file, url string) error {
	response, err := http.Get(url) //nolint:gosec // the operator under test, on loopback
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	log.Printf("wrote %s", file)
	return out.Close()
}
