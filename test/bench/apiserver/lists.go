package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// readers is the number of concurrent readers of lists.
const readers = 2

// measureLists requests lists of 100 and returns the sorted durations.
func measureLists(ctx context.Context, url string, tokens []string, n int) ([]time.Duration, error) {
	var mu sync.Mutex
	var took []time.Duration
	group, ctx := errgroup.WithContext(ctx)
	for reader := range readers {
		group.Go(func() error {
			for range n / readers {
				began := time.Now()
				if err := list(ctx, url, tokens[reader%len(tokens)]); err != nil {
					return err
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
			return nil
		})
	}
	err := group.Wait()
	slices.Sort(took)
	return took, err
}

func list(ctx context.Context, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/darkrooms?limit=100", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || len(body) < 10_000) {
		err = fmt.Errorf("list: got status %d with %d bytes", answer.StatusCode, len(body))
	}
	return err
}
