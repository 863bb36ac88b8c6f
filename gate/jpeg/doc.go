// Package jpeg decodes JPEG files (ITU-T T.81) at a half, a quarter or an eighth of their size, or whole, and encodes
// images with optimal Huffman tables.
//
// A block of a file has 64 coefficients, sorted by frequency. The lowest 4x4, 2x2 or 1x1 of them are the block at the
// smaller size, so that a thumbnail of a large photograph needs neither the time nor the memory of its pixels. What
// remains is Huffman decoding, which takes most of the time:
//
//   - reader.go holds the next bits of a scan in a register,
//   - huffman.go decodes a code and the bits of its value with one look-up,
//   - header.go reads the segments before and between scans,
//   - scan.go goes through the blocks of a scan and continues at restart markers behind damaged data,
//   - sequential.go and progressive.go decode the coefficients of a block,
//   - transform.go turns them into samples,
//   - output.go returns the samples as an image,
//   - encode.go replaces the Huffman tables of a file that image/jpeg has written.
//
// Baseline, extended sequential and progressive files with 8 bits per sample are decoded, in all samplings that package
// image has names for. Other files are ErrUnsupported: the caller can try image/jpeg.
//
// Damaged and incomplete files are decoded as browsers do: what cannot be read is gray.
package jpeg
