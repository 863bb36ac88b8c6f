// Package jpeg decodes JPEG files (ITU-T T.81) at full size or at a half, a quarter or an eighth of it, and encodes
// images with optimal Huffman tables.
//
// A block of a file has 64 coefficients, sorted by frequency. The lowest 4x4, 2x2 or 1x1 coefficients represent the
// block at a smaller size, so a thumbnail of a large photo needs neither the time nor the memory for all its pixels.
// Most of the time is spent on Huffman decoding:
//
//   - reader.go keeps the next bits of a scan in a register,
//   - huffman.go decodes a code and its value with one lookup,
//   - header.go reads the segments before and between scans,
//   - scan.go iterates over the blocks of a scan, and resumes at restart markers after damaged data,
//   - sequential.go and progressive.go decode the coefficients of a block,
//   - transform.go and inverse.go transform coefficients to samples,
//   - output.go returns the samples as an image,
//   - encode.go replaces the Huffman tables of a file from image/jpeg.
//
// Baseline, extended sequential and progressive files with 8 bits per sample are supported, with all subsampling
// ratios of package image. Other files, such as one with sampling factors of 3x1, return ErrUnsupported. image/jpeg
// decodes none of them, so there is no decoder to fall back to.
//
// Damaged and incomplete files are decoded as in browsers: unreadable parts are gray.
package jpeg
