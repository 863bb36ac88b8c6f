package explain

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/signing"
)

// MaxURL bounds the length of a URL, in bytes.
const MaxURL = 4096

// parameters are the parameters that the gate or Darkroom knows. Others may be credentials, and are dropped.
var parameters = []string{"auto", "blur", "crop", "dpr", "fit", "flip", "h", "mono", "preset", "q", "rot", "w"}

// URL is the URL of an image.
type URL struct {
	Scheme, Host string
	// Path is decoded.
	Path string
	// Query has the parameters of images.
	Query url.Values
	// given is the URL as it was entered. Only the signature in it is verified.
	given url.URL
}

// Parse reads a URL. Its errors do not repeat the URL.
func Parse(text string) (URL, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxURL {
		return URL{}, errors.New("must have at most " + strconv.Itoa(MaxURL) + " bytes")
	}
	if !strings.Contains(text, "://") {
		text = "https://" + strings.TrimPrefix(text, "//")
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return URL{}, errors.New(
			"must be a URL such as https://photos.example.com/cat.jpg?w=300: copy it from the address bar " +
				"or the src of the image",
		)
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return URL{}, errors.New("must begin with http:// or https://")
	case parsed.Hostname() == "":
		return URL{}, errors.New("must have a host, as in https://photos.example.com/cat.jpg")
	}
	parsed.User, parsed.Fragment, parsed.RawFragment = nil, "", ""
	out := URL{
		Scheme: parsed.Scheme, Host: strings.TrimSuffix(strings.ToLower(parsed.Hostname()), "."),
		Path: parsed.Path, Query: url.Values{}, given: *parsed,
	}
	if out.Path == "" {
		out.Path = "/"
	}
	for name, values := range parsed.Query() {
		if slices.Contains(parameters, name) {
			out.Query[name] = values
		}
	}
	return out, nil
}

// String returns the URL without the parts that may contain credentials.
func (u URL) String() string {
	host := u.Host
	if port := u.given.Port(); port != "" {
		host = net.JoinHostPort(u.Host, port)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawQuery: u.Query.Encode()}).String()
}

// Signature is the state of the signature of a URL.
type Signature string

// States of signatures. One that cannot be verified is accepted, and so is a URL that needs none. The time at which an
// untimely one expires cannot be read.
const (
	SignatureAccepted Signature = ""
	SignatureMissing  Signature = "missing"
	SignatureInvalid  Signature = "invalid"
	SignatureExpired  Signature = "expired"
	SignatureUntimely Signature = "untimely"
)

// signature judges the signature of a URL as the gate does; keys are empty if they are not known, or cannot verify it.
func (u URL) signature(keys string, now time.Time) Signature {
	query := u.given.Query()
	given, until := query["s"], query.Get("expires")
	expires, err := strconv.ParseInt(until, 10, 64)
	switch {
	case query.Get("s") == "":
		return SignatureMissing
	case len(given) > 1, keys != "" && !signing.Verifies(keys, u.given):
		return SignatureInvalid
	case until != "" && err != nil:
		return SignatureUntimely
	case err == nil && expires <= now.Unix():
		return SignatureExpired
	}
	return SignatureAccepted
}
