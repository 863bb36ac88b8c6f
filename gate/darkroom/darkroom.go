// Package darkroom transforms images in memory with a Darkroom. Darkroom is configured with a web folder as its
// source, which is the inner face of the gate. During a transformation the original is published there at an
// unguessable path, which is requested from Darkroom.
package darkroom

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

const (
	// timeout bounds a transformation. The limits of requests keep transformations far below it.
	timeout    = 2 * time.Minute
	retryAfter = 2 * time.Second
)

// Darkroom is a client of Darkroom and a handler for the inner face. Its methods are safe for concurrent use.
type Darkroom struct {
	base      *url.URL
	maxResult int64
	client    *http.Client

	// published contains the originals that are being transformed, by path, as *publication.
	published sync.Map
}

type publication struct {
	original []byte
	fetched  atomic.Bool
}

// New returns a client for the Darkroom at a base URL. Results larger than maxResult bytes are refused.
func New(base *url.URL, maxResult int64) *Darkroom {
	return &Darkroom{
		base: base, maxResult: maxResult,
		client: &http.Client{
			Timeout:   timeout,
			Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true},
		},
	}
}

// ServeHTTP serves the originals that are being transformed to Darkroom.
func (d *Darkroom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := d.published.Load(r.URL.Path)
	if !ok || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	p := found.(*publication)
	p.fetched.Store(true)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(p.original)))
	_, _ = bytes.NewReader(p.original).WriteTo(w)
}

// Transform applies a query string of Darkroom to an original. The transformation continues when the client leaves,
// because Darkroom cannot cancel it, and the memory of Darkroom must be counted until it ends. All errors are
// problems.
func (d *Darkroom) Transform(ctx context.Context, original []byte, query string) ([]byte, error) {
	p := &publication{original: original}
	path := "/" + rand.Text()
	d.published.Store(path, p)
	defer d.published.Delete(path)

	status, body, err := d.get(context.WithoutCancel(ctx), &url.URL{Path: path, RawQuery: query})
	switch {
	case err != nil:
		return nil, problem.New(problem.Busy, "Darkroom is not available; retry later").Because(err).Retry(retryAfter)
	case status == http.StatusOK && int64(len(body)) > d.maxResult:
		return nil, problem.New(problem.TooLarge, "the result exceeds %d bytes", d.maxResult)
	case status == http.StatusOK:
		return body, nil
	case status == http.StatusUnprocessableEntity && p.fetched.Load():
		return nil, problem.New(problem.Untransformable, "Darkroom cannot transform this image")
	}
	return nil, problem.New(problem.UpstreamFailed, "Darkroom responded with status %d", status).Retry(retryAfter)
}

// Ping reports whether Darkroom responds.
func (d *Darkroom) Ping(ctx context.Context) bool {
	status, _, err := d.get(ctx, &url.URL{Path: "/ping"})
	return err == nil && status == http.StatusOK
}

func (d *Darkroom) get(ctx context.Context, target *url.URL) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base.ResolveReference(target).String(), nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, d.maxResult+1))
	if err != nil {
		return 0, nil, fmt.Errorf("read response from Darkroom: %w", err)
	}
	return response.StatusCode, body, nil
}
