package request

import (
	"mime"
	"strconv"
	"strings"
)

// Negotiate resolves auto=format for a client with an Accept header: it sets WebP if the client accepts it. It
// reports whether the response depends on the header.
func (r Request) Negotiate(accept []string) (negotiated Request, varies bool) {
	varies = r.Transform.format()
	r.WebP = varies && accepts(accept, "image/webp")
	r.Transform, r.Own = r.Transform.withoutFormat(), r.Own.withoutFormat()
	return r, varies
}

func (t Transform) format() bool { return strings.HasSuffix(t.Auto, "format") }

// withoutFormat returns the transformation without auto=format, which never changes the format in Darkroom.
func (t Transform) withoutFormat() Transform {
	t.Auto = strings.TrimSuffix(strings.TrimSuffix(t.Auto, "format"), ",")
	return t
}

// accepts reports whether an Accept header names a media type. Wildcards do not count, because clients send them for
// types that they do not support.
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
