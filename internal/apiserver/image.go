package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/imageproxy"
)

const (
	// maxImage limits the size of an image, in bytes.
	maxImage = 8 << 20
	// maxBlur limits the processing time.
	maxBlur = 100
	// maxRotation is a full turn, in degrees.
	maxRotation = 360
	// imageTimeout limits the time to send an image to the client.
	imageTimeout = 15 * time.Second
)

// ImageInput contains the image parameters of Darkroom. They are limited, because an image of 9999×9999 pixels takes
// more than a gigabyte of memory.
type ImageInput struct {
	PathInput
	Path   string `query:"path" required:"true" minLength:"2" maxLength:"1024" doc:"Path of the image, for example /images/cat.jpg"`
	Width  int    `query:"w" minimum:"1" maximum:"2000" doc:"Width in pixels"`
	Height int    `query:"h" minimum:"1" maximum:"2000" doc:"Height in pixels"`
	Fit    string `query:"fit" enum:"crop,scale"`
	Crop   string `query:"crop" maxLength:"64" pattern:"^[a-z,]*$" doc:"Where to crop, for example top,left"`
	Mono   string `query:"mono" maxLength:"8" pattern:"^[0-9a-fA-F]*$" doc:"Color, for example 000000"`
	Blur   string `query:"blur" maxLength:"8" pattern:"^([0-9]{1,3}([.][0-9]{1,2})?)?$" doc:"0 to 100"`
	Flip   string `query:"flip" maxLength:"2" pattern:"^[vh]*$" doc:"v, h or vh"`
	Rotate string `query:"rot" maxLength:"8" pattern:"^(-?[0-9]{1,3}([.][0-9]{1,2})?)?$" doc:"Degrees, -360 to 360"`
	Auto   string `query:"auto" maxLength:"64" pattern:"^[a-z,]*$" doc:"compress, format or both, joined by a comma; with format and a gate, the response is WebP if that is smaller"`
}

func (in *ImageInput) query() url.Values {
	out := url.Values{}
	for name, value := range map[string]string{
		"w": positive(in.Width), "h": positive(in.Height), "fit": in.Fit, "crop": in.Crop, "mono": in.Mono,
		"blur": in.Blur, "flip": in.Flip, "rot": in.Rotate, "auto": in.Auto,
	} {
		if value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// bounds checks the limits that patterns cannot express.
func (in *ImageInput) bounds() error {
	for _, parameter := range []struct {
		name, value string
		most        float64
	}{{"blur", in.Blur, maxBlur}, {"rot", in.Rotate, maxRotation}} {
		if parameter.value == "" {
			continue
		}
		number, err := strconv.ParseFloat(parameter.value, 64)
		if err != nil || math.Abs(number) > parameter.most {
			return problem.New(http.StatusUnprocessableEntity, "a parameter is out of range; see errors",
				problem.Field{Location: "query." + parameter.name, Message: fmt.Sprintf("must be at most %g", parameter.most)})
		}
	}
	return nil
}

// accept returns the Accept header for the Darkroom. WebP is requested only with auto=format.
func (in *ImageInput) accept() string {
	if slices.Contains(strings.Split(in.Auto, ","), "format") {
		return "image/webp,image/*"
	}
	return "image/*"
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// imagePath rejects paths that do not name an image.
func imagePath(given string) (string, error) {
	if !imageproxy.IsPlain(given) || imageproxy.IsInternal(given) {
		return "", problem.New(http.StatusUnprocessableEntity, "invalid path of an image",
			problem.Field{Location: "query.path", Message: "must be a plain absolute path such as /images/cat.jpg"})
	}
	return given, nil
}

// image fetches an image from the running Darkroom through the service proxy of the Kubernetes API. It uses the
// caller's token, so the caller needs permission to get services/proxy.
func (s *Server) image(ctx context.Context, in *ImageInput) (*reply.Raw, error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	wanted, err := imagePath(in.Path)
	if err != nil {
		return nil, err
	}
	if err := in.bounds(); err != nil {
		return nil, err
	}
	leave, err := s.limits.Images.Enter(ctx, auth.CallerOf(ctx).Name())
	if err != nil {
		return nil, err
	}
	body, contentType, err := s.fetchImage(ctx, darkroom, wanted, in.query().Encode(), in.accept())
	if err != nil {
		leave()
		return nil, err
	}
	// The place is released once the client has received the image, so that slow clients cannot fill the memory.
	return reply.Written(func(w http.ResponseWriter, _ *http.Request) {
		defer leave()
		// Without support for deadlines, the server's write timeout applies.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(imageTimeout))
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		reply.Send(w, contentType, body)
	}), nil
}

// fetchImage returns an image and its media type. If the Darkroom requires signed URLs, the caller needs permission to
// read the key.
func (s *Server) fetchImage(
	ctx context.Context, darkroom *v1alpha1.Darkroom, wanted, query, accept string,
) (body []byte, contentType string, err error) {
	if imageproxy.NeedsSignature(&darkroom.Spec, wanted, query) {
		signed, err := s.sign(ctx, darkroom, url.URL{Path: wanted, RawQuery: query}, time.Now().Add(imageproxy.SignatureTTL))
		if err != nil {
			return nil, "", err
		}
		query = signed.RawQuery
	}
	request, err := imageproxy.NewRequest(ctx, s.auth.Clients.Core, darkroom, wanted, query, accept)
	if err != nil {
		return nil, "", err
	}
	answer, err := s.auth.Clients.HTTP.Do(request)
	if err != nil {
		return nil, "", wire.FromKubernetes(err, wire.AsIs)
	}
	defer answer.Body.Close()
	// A known length avoids growing the buffer.
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(answer.ContentLength, 0), maxImage)+bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(answer.Body, maxImage+1)); err != nil {
		return nil, "", problem.BadGateway("the image is incomplete; try again")
	}
	contentType, err = judgeImage(answer.StatusCode, answer.Header.Get("Content-Type"), buffer.Bytes())
	return buffer.Bytes(), contentType, err
}

// judgeImage returns the media type of a response, or the reason why it cannot be forwarded as an image.
func judgeImage(status int, header string, body []byte) (contentType string, err error) {
	if refusal := fromProxy(status, body); refusal != nil {
		return "", refusal
	}
	contentType, _, err = mime.ParseMediaType(header)
	switch {
	case status == http.StatusNotFound:
		return "", problem.New(http.StatusNotFound, "the Darkroom has no such image")
	case status != http.StatusOK:
		return "", problem.BadGateway(fmt.Sprintf("the Darkroom responded with %d %s: check its pods and its source",
			status, http.StatusText(status)))
	// SVG can contain scripts.
	case err != nil || !strings.HasPrefix(contentType, "image/") || strings.HasPrefix(contentType, "image/svg"):
		return "", problem.BadGateway("the response of the Darkroom is not an image")
	case len(body) > maxImage:
		return "",
			problem.BadGateway(fmt.Sprintf("the image is larger than %d MiB: request a smaller one with w or h", maxImage>>20))
	}
	return contentType, nil
}

// fromProxy returns the problem of a response that Kubernetes sent in place of the Darkroom.
func fromProxy(status int, body []byte) error {
	refusal := imageproxy.Refusal(status, body)
	switch {
	case refusal == nil:
		return nil
	case imageproxy.IsWithoutPods(refusal):
		return problem.Unavailable("the Darkroom is not installed yet, or none of its pods is ready")
	}
	return wire.FromKubernetes(refusal, wire.AsIs)
}
