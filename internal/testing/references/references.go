// Package references generates references of container images, and parses them in the same way as kubelets.
package references

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"pgregory.net/rapid"
)

// Check returns an error unless kubelets and container runtimes accept an image. CRI-O and older kubelets include the
// registry in the length of the name, or docker.io if there is none.
func Check(image string) error {
	named, err := reference.ParseNormalizedNamed(image)
	if err == nil && len(named.Name()) > reference.RepositoryNameTotalLengthMax {
		err = fmt.Errorf("%s has %d characters: %w", named.Name(), len(named.Name()), reference.ErrNameTooLong)
	}
	return err
}

// lengths are lengths around the limits: 255 characters for names, with or without "docker.io/library/", and 128 for
// tags, to which the chart may add one.
var lengths = rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(125, 130), rapid.IntRange(230, 260))

func parts(from ...string) *rapid.Generator[string] {
	long := rapid.Custom(func(t *rapid.T) string { return strings.Repeat("a", lengths.Draw(t, "length")) })
	return rapid.OneOf(rapid.SampledFrom(from), rapid.SampledFrom(from), long)
}

// Repositories generates names without tag or digest, both valid and invalid ones.
func Repositories() *rapid.Generator[string] {
	hosts := parts("", "", "", "registry.example.com/", "REGISTRY/", "a.b:5000/", "localhost:5000/", "docker.io/", "a:/",
		"-a.b/", "a-/", "a..b/", "a-.b/", "a.b./", "./", "a_b.com/", ":5000/", "[fd00::1]:5000/", "https://a.b/", "/")
	segments := parts("darkroom", "team", "a_b", "a__b", "a___b", "a--b", "a.b", "a..b", "a._b", "a-_b", "-a", "a-", "a.", "_a",
		"A", "", " ", "a b", "ü", "a\n", strings.Repeat("0", 64))
	return rapid.Custom(func(t *rapid.T) string {
		return hosts.Draw(t, "host") + strings.Join(rapid.SliceOfN(segments, 1, 3).Draw(t, "segments"), "/")
	})
}

// Tags generates tags and versions, both valid and invalid ones.
func Tags() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "v", "0.4.2", "0.4.2-", "0.4.2+", "_", "-", ".", ":", "ü"}).Draw(t, "prefix") +
			parts("", "latest", "v1", "A", "a.b-c_d", "a+b", "a/b", "a:b", "a@b", "a b", "a\n").Draw(t, "tag")
	})
}

// Digests generates digests, both valid and invalid ones.
func Digests() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "sha256:", "sha256:", "SHA256:", "sha512:", "md5:", ":"}).Draw(t, "algorithm") +
			strings.Repeat(rapid.SampledFrom([]string{"0", "f", "F", "g"}).Draw(t, "digit"),
				rapid.SampledFrom([]int{0, 63, 64, 64, 65, 128}).Draw(t, "length"))
	})
}

// All generates references with a tag, a digest, both or none, both valid and invalid ones.
func All() *rapid.Generator[string] {
	digest := "@sha256:" + strings.Repeat("0", 64)
	return rapid.Custom(func(t *rapid.T) string {
		image := Repositories().Draw(t, "repository") + rapid.SampledFrom([]string{"", "", ":v1", ":"}).Draw(t, "tagged")
		if strings.HasSuffix(image, ":") {
			image += Tags().Draw(t, "tag")
		}
		image += rapid.SampledFrom([]string{"", "", digest, "@"}).Draw(t, "digested")
		if strings.HasSuffix(image, "@") {
			image += Digests().Draw(t, "digest")
		}
		return image
	})
}
