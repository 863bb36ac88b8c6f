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

// MaxURL is the maximum length of a URL in bytes.
const MaxURL = 4096

// parameters are the parameters of the gate and Darkroom. Other parameters may be credentials and are dropped.
var parameters = []string{"auto", "blur", "crop", "dpr", "fit", "flip", "h", "mono", "preset", "q", "rot", "w"}

// URL is the URL of an image.
type URL struct {
	Scheme, Host string
	// Path is the decoded path.
	Path string
	// Query contains the image parameters.
	Query url.Values
	// given is the URL as entered. Only its signature is used.
	given url.URL
}

// Parse parses a URL. Its errors do not quote the URL.
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

// String returns the URL without parts that may contain credentials.
func (u URL) String() string {
	host := u.Host
	if port := u.given.Port(); port != "" {
		host = net.JoinHostPort(u.Host, port)
	}
	return (&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawQuery: u.Query.Encode()}).String()
}

// Signature is the state of the signature of a URL.
type Signature string

// States of signatures. A signature that cannot be verified counts as accepted, and so does a URL that needs none. The
// expiry of an untimely signature cannot be parsed.
const (
	SignatureAccepted Signature = ""
	SignatureMissing  Signature = "missing"
	SignatureInvalid  Signature = "invalid"
	SignatureExpired  Signature = "expired"
	SignatureUntimely Signature = "untimely"
)

// signature verifies the signature of a URL as the gate does. keys is empty if the keys are unknown or cannot verify
// it.
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
