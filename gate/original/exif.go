package original

import (
	"encoding/binary"
)

// upright is the orientation of an image that is shown as it is stored.
const upright = 1

// orientationOf returns the orientation in EXIF data, which begins with the header of a TIFF file:
// 1 to 8, as EXIF numbers them; 1 if there is none.
func orientationOf(tiff []byte) int {
	const tag, short, entry = 0x0112, 3, 12
	if len(tiff) < 10 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	start := int64(order.Uint32(tiff[4:]))
	if start > int64(len(tiff)-2) {
		return upright
	}
	directory := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(directory) < entry {
			break
		}
		if order.Uint16(directory) == tag && order.Uint16(directory[2:]) == short {
			if found := order.Uint16(directory[8:]); found >= 1 && found <= 8 {
				return int(found)
			}
			break
		}
		directory = directory[entry:]
	}
	return upright
}
