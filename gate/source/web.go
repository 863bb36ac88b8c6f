package source

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
)

// web reads from a folder of a web server, or from a CloudFront distribution.
type web struct {
	base   *url.URL
	getter getter
}

// NewWebFolder returns a source below an absolute URL.
func NewWebFolder(baseURL string) (Source, error) {
	base, err := parseURL(baseURL)
	if err != nil {
		return nil, err
	}
	return web{base: base, getter: newGetter(base)}, nil
}

// NewCloudFront returns a source of a distribution's host.
func NewCloudFront(host string, secure bool) (Source, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return NewWebFolder(scheme + "://" + host)
}

func (w web) Open(ctx context.Context, path string, known original.Validators) (*Response, error) {
	return w.getter.get(ctx, below(w.base, path), known)
}

// below appends a path that starts with a slash to the path of a URL.
func below(base *url.URL, path string) *url.URL {
	target := *base
	target.Path = strings.TrimSuffix(base.Path, "/") + path
	target.RawPath = ""
	return &target
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse URL of the source: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("URL of the source: %q is not an absolute http or https URL", text)
	}
	return u, nil
}
