package main

import (
	"bytes"
	"encoding/binary"
	"image"
)

// turn rotates a JPEG image upright according to its EXIF orientation. Darkroom does so only with auto=compress, and
// after resizing.
func turn(img image.Image, file []byte) image.Image {
	in := asRGBA(img)
	switch orientationOf(file) {
	case 2:
		return mirror(in)
	case 3:
		return mirror(transpose(mirror(transpose(in))))
	case 4:
		return transpose(mirror(transpose(in)))
	case 5:
		return transpose(in)
	case 6:
		return mirror(transpose(in))
	case 7:
		return mirror(transpose(mirror(in)))
	case 8:
		return transpose(mirror(in))
	}
	return img
}

// orientationOf returns the orientation of a JPEG file; 1 if there is none.
func orientationOf(file []byte) int {
	at := bytes.Index(file, []byte("Exif\x00\x00"))
	if at < 0 || !bytes.HasPrefix(file, []byte("\xff\xd8")) {
		return 1
	}
	tiff := file[at+6:]
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(tiff, []byte("MM")) {
		order = binary.BigEndian
	}
	if len(tiff) < 10 || int(order.Uint32(tiff[4:])) > len(tiff)-2 {
		return 1
	}
	directory := tiff[order.Uint32(tiff[4:]):]
	for i := range int(order.Uint16(directory)) {
		if entry := directory[2:]; len(entry) >= 12*(i+1) && order.Uint16(entry[12*i:]) == 0x112 {
			return int(order.Uint16(entry[12*i+8:]))
		}
	}
	return 1
}

// mirror exchanges left and right.
func mirror(in *image.RGBA) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: in.Bounds().Size()})
	for y := range in.Rect.Dy() {
		for x := range in.Rect.Dx() {
			copy(out.Pix[y*out.Stride+4*x:][:4], in.Pix[y*in.Stride+4*(in.Rect.Dx()-1-x):][:4])
		}
	}
	return out
}
