package original

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// SVG is the media type of images that may contain scripts.
const SVG = "image/svg+xml"

// brands maps brands of the ISO base media file format to media types that browsers show.
var brands = map[string]string{
	"avif": "image/avif", "avis": "image/avif", "heic": "image/heic", "heix": "image/heic",
	"hevc": "image/heic", "mif1": "image/heif",
}

// Type returns the media type of an image, derived from its content; empty if browsers do not show it as an image.
func Type(body []byte) string {
	if len(body) >= 12 && string(body[4:8]) == "ftyp" {
		return brands[string(body[8:12])]
	}
	if bytes.HasPrefix(body, []byte("\xff\x0a")) || bytes.HasPrefix(body, []byte("\x00\x00\x00\x0cJXL \r\n\x87\n")) {
		return "image/jxl"
	}
	if contentType := http.DetectContentType(body); strings.HasPrefix(contentType, "image/") {
		return contentType
	}
	if isSVG(body) {
		return SVG
	}
	return ""
}

// maxProlog bounds the prolog and the root element of an SVG document.
const maxProlog = 64 << 10

// isSVG reports whether the root element of a document is svg.
func isSVG(body []byte) bool {
	document := xml.NewDecoder(bytes.NewReader(asUTF8(body[:min(len(body), maxProlog)])))
	document.Strict = false // the document may declare entities
	document.CharsetReader = func(_ string, ascii io.Reader) (io.Reader, error) { return ascii, nil }
	for {
		token, err := document.RawToken()
		if err != nil {
			return false
		}
		switch token := token.(type) {
		case xml.StartElement:
			return token.Name.Local == "svg"
		case xml.Directive:
			if !bytes.HasPrefix(token, []byte("DOCTYPE svg")) {
				return false
			}
		case xml.CharData:
			if len(bytes.Trim(token, "\ufeff \t\r\n")) > 0 {
				return false
			}
		}
	}
}

// asUTF8 decodes text with a UTF-16 byte order mark. Other text is treated as UTF-8.
func asUTF8(text []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(text, []byte("\xff\xfe")):
		return bytes.ToValidUTF8(text, nil)
	}
	var units []uint16
	for ; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}

// sizeOf returns the size of an image that Go cannot decode, if the header contains it.
func sizeOf(contentType string, body []byte) (size request.Size) {
	if contentType != "image/avif" && contentType != "image/heic" && contentType != "image/heif" {
		return size
	}
	// Parts of an image have smaller sizes; the largest one is the size of the image.
	for rest := body[:min(len(body), 64<<10)]; ; {
		at := bytes.Index(rest, []byte("ispe"))
		if at < 0 || len(rest) < at+16 {
			return size
		}
		rest = rest[at+8:]
		part := request.Size{Width: int(binary.BigEndian.Uint32(rest)), Height: int(binary.BigEndian.Uint32(rest[4:]))}
		if part.Pixels() > size.Pixels() {
			size = part
		}
	}
}
