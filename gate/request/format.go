package request

import (
	"mime"
	"strconv"
	"strings"
)

const (
	// DefaultQuality is that of a WebP result without the parameter q.
	DefaultQuality = 75
	maxQuality     = 100
)

// Negotiate returns the request of a client that sends a header Accept, with WebP in place of
// auto=format if the client names that type, and reports whether the response depends on the header.
func (r Request) Negotiate(accept []string) (negotiated Request, varies bool) {
	varies = r.Transform.format()
	if varies && accepts(accept, "image/webp") {
		r.WebP = r.Transform.Quality
		if r.WebP == 0 {
			r.WebP = DefaultQuality
		}
	}
	r.Transform, r.Own = r.Transform.withoutFormat(), r.Own.withoutFormat()
	return r, varies
}

// InItsFormat returns the request of a client that does not accept WebP.
func (r Request) InItsFormat() Request {
	r.WebP = 0
	return r
}

func (t Transform) format() bool { return strings.HasSuffix(t.Auto, "format") }

// withoutFormat returns what Darkroom is asked for. Its auto=format never changes the format.
func (t Transform) withoutFormat() Transform {
	t.Auto = strings.TrimSuffix(strings.TrimSuffix(t.Auto, "format"), ",")
	t.Quality = 0
	return t
}

// accepts reports whether a header Accept names a media type. Wildcards do not count: clients that
// do not know the type send them too.
func accepts(header []string, wanted string) bool {
	for entry := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, parameters, err := mime.ParseMediaType(entry)
		if err != nil || name != wanted {
			continue
		}
		weight, err := strconv.ParseFloat(parameters["q"], 64)
		return err != nil || weight > 0
	}
	return false
}
