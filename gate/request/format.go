package request

import (
	"mime"
	"strconv"
	"strings"
)

const (
	// DefaultQuality is the quality of a JPEG or WebP result without the parameter q.
	DefaultQuality = 75
	maxQuality     = 100
)

// Negotiate returns the request of a client that sends a header Accept, with WebP in place of
// auto=format if the client names that type, and reports whether the response depends on the header.
func (r Request) Negotiate(accept []string) (negotiated Request, varies bool) {
	varies = r.Transform.format()
	r.WebP = varies && accepts(accept, "image/webp")
	r.Transform, r.Own = r.Transform.withoutFormat(), r.Own.withoutFormat()
	return r, varies
}

func (t Transform) format() bool { return strings.HasSuffix(t.Auto, "format") }

// withoutFormat returns the transformation in any format. Darkroom's auto=format never changes the format.
func (t Transform) withoutFormat() Transform {
	t.Auto = strings.TrimSuffix(strings.TrimSuffix(t.Auto, "format"), ",")
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
