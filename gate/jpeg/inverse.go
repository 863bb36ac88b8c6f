package jpeg

// Factors of the eight-point transform by Arai, Agui and Nakajima, with precision fractional bits. The other factors
// are included in the factors of components.
const (
	root2     = 92682  // √2
	double1   = 121095 // 2 cos(π/8)
	doubleDif = 70936  // 2 (cos(π/8) - cos(3π/8))
	doubleSum = 171254 // 2 (cos(π/8) + cos(3π/8))
	tangent   = 27146  // tan(π/8), for four points
)

func times(value, factor int) int { return value * factor >> precision }

// even8 returns the sums of the even frequencies 0, 2, 4 and 6 at the first four of eight points. The sums at the
// other points are the same in reverse order.
func even8(f0, f2, f4, f6 int) (e0, e1, e2, e3 int) {
	sum := f2 + f6
	difference := times(f2-f6, root2) - sum
	return f0 + f4 + sum, f0 - f4 + difference, f0 - f4 - difference, f0 + f4 - sum
}

// odd8 returns the sums of the odd frequencies. The sums at the other points have the opposite sign.
func odd8(f1, f3, f5, f7 int) (o0, o1, o2, o3 int) {
	outer, outerDifference := f1+f7, f1-f7
	inner, innerDifference := f5+f3, f5-f3
	rotated := times(innerDifference+outerDifference, double1)
	o0 = outer + inner
	o1 = rotated - times(innerDifference, doubleSum) - o0
	o2 = times(outer-inner, root2) - o1
	o3 = rotated - times(outerDifference, doubleDif) - o2
	return o0, o1, o2, o3
}

// inverse8 transforms columns, then rows. A single point is the mean of its block and needs no transform.
func inverse8(b *[65]int32, samples []byte, stride int) {
	for x := range 8 {
		e0, e1, e2, e3 := even8(int(b[x]), int(b[x+16]), int(b[x+32]), int(b[x+48]))
		o0, o1, o2, o3 := odd8(int(b[x+8]), int(b[x+24]), int(b[x+40]), int(b[x+56]))
		//nolint:gosec // wrong only in damaged files
		b[x], b[x+8], b[x+16], b[x+24] = int32(e0+o0), int32(e1+o1), int32(e2+o2), int32(e3+o3)
		//nolint:gosec // wrong only in damaged files
		b[x+32], b[x+40], b[x+48], b[x+56] = int32(e3-o3), int32(e2-o2), int32(e1-o1), int32(e0-o0)
	}
	for y := range 8 {
		row := b[8*y : 8*y+8 : 8*y+8]
		e0, e1, e2, e3 := even8(int(row[0]), int(row[2]), int(row[4]), int(row[6]))
		o0, o1, o2, o3 := odd8(int(row[1]), int(row[3]), int(row[5]), int(row[7]))
		line := samples[y*stride:][:8:8]
		line[0], line[1], line[2], line[3] = clamp(e0+o0), clamp(e1+o1), clamp(e2+o2), clamp(e3+o3)
		line[4], line[5], line[6], line[7] = clamp(e3-o3), clamp(e2-o2), clamp(e1-o1), clamp(e0-o0)
	}
}

// points4 transforms four points.
func points4(f0, f1, f2, f3 int) (p0, p1, p2, p3 int) {
	outer, inner := f1+times(f3, tangent), times(f1, tangent)-f3
	return f0 + f2 + outer, f0 - f2 + inner, f0 - f2 - inner, f0 + f2 - outer
}

func inverse4(b *[65]int32, samples []byte, stride int) {
	for x := range 4 {
		p0, p1, p2, p3 := points4(int(b[x]), int(b[x+4]), int(b[x+8]), int(b[x+12]))
		//nolint:gosec // wrong only in damaged files
		b[x], b[x+4], b[x+8], b[x+12] = int32(p0), int32(p1), int32(p2), int32(p3)
	}
	for y := range 4 {
		row := b[4*y : 4*y+4 : 4*y+4]
		p0, p1, p2, p3 := points4(int(row[0]), int(row[1]), int(row[2]), int(row[3]))
		line := samples[y*stride:][:4:4]
		line[0], line[1], line[2], line[3] = clamp(p0), clamp(p1), clamp(p2), clamp(p3)
	}
}

func inverse2(b *[65]int32, samples []byte, stride int) {
	left, right := int(b[0]+b[2]), int(b[1]+b[3])
	samples[0], samples[1] = clamp(left+right), clamp(left-right)
	left, right = int(b[0]-b[2]), int(b[1]-b[3])
	samples[stride], samples[stride+1] = clamp(left+right), clamp(left-right)
}
