package signing

import (
	"bufio"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
)

const firstKey, secondKey = "the first key, 0123456789", "the second key, 0123456789"

// newVerifier returns a verifier, its key file, and the counted results.
func newVerifier(t testing.TB, options Options, keys string) (*Verifier, string, map[string]int) {
	t.Helper()
	counted := map[string]int{}
	options.File = filepath.Join(t.TempDir(), "keys")
	options.Count = func(result string) { counted[result]++ }
	options.Log = slog.New(slog.DiscardHandler)
	if err := os.WriteFile(options.File, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return v, options.File, counted
}

// served is the kind of a response without a problem.
const served problem.Kind = ""

func verify(v *Verifier, target string) problem.Kind {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err)
	}
	if _, err := v.Verify(u); err != nil {
		return problem.Of(err).Kind
	}
	return served
}

// withSignature signs a URL with a key.
func withSignature(key, target string) string {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err)
	}
	return target + map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")] + "s=" +
		sign([]byte(key), u.Path, u.Query())
}

func TestRecordedURLsAreValid(t *testing.T) {
	file, err := os.Open("../testdata/signatures.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	v, _, counted := newVerifier(t, Options{Mode: Require}, secondKey+"\n\n "+firstKey+" \n")
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") && verify(v, line) != served {
			t.Errorf("%s: %q", line, verify(v, line))
		}
	}
	if counted["valid"] < 5 {
		t.Errorf("counted %v", counted)
	}
}

func TestWhatIsRefusedAndCounted(t *testing.T) {
	past, future := strconv.FormatInt(time.Now().Unix()-1, 10), strconv.FormatInt(time.Now().Unix()+60, 10)
	valid := withSignature(firstKey, "/a.jpg?w=300")
	for _, test := range []struct {
		target string
		kind   problem.Kind
		result string
	}{
		{target: valid, kind: served, result: "valid"},
		{target: withSignature(firstKey, "/a.jpg?w=300&expires="+future), kind: served, result: "valid"},
		{target: "/a.jpg", kind: problem.Forbidden, result: "missing"},
		{target: "/a.jpg?s=", kind: problem.Forbidden, result: "invalid"},
		{target: valid + "&s=" + valid[len(valid)-64:], kind: problem.Forbidden, result: "invalid"},
		{target: valid[:len(valid)-1], kind: problem.Forbidden, result: "invalid"},
		{target: strings.ToUpper(valid), kind: problem.Forbidden, result: "missing"},
		{target: withSignature(secondKey, "/a.jpg"), kind: problem.Forbidden, result: "invalid"},
		{target: withSignature(firstKey, "/a.jpg?expires="+past), kind: problem.Expired, result: "expired"},
		{target: withSignature(firstKey, "/a.jpg?expires=soon"), kind: problem.Invalid, result: "invalid"},
		{target: withSignature(firstKey, "/a.jpg?expires=1767225600000"), kind: problem.Invalid, result: "invalid"},
		{target: withSignature(firstKey, "/a.jpg?w=50") + "&zz=%", kind: problem.Forbidden, result: "invalid"},
		{target: withSignature(firstKey, "/a.jpg?w=50") + "&a;b", kind: problem.Forbidden, result: "invalid"},
		{target: strings.Replace(valid, "/a.jpg", "/a.jpg/", 1), kind: problem.Forbidden, result: "invalid"},
		{target: strings.Replace(valid, "/a.jpg", "///a.jpg", 1), kind: problem.Forbidden, result: "invalid"},
		{target: "/a.jpg?expires=soon", kind: problem.Forbidden, result: "missing"},
		{target: "/probe.jpg?w=16", kind: served},
		{target: "/probe.jpg?w=17", kind: problem.Forbidden, result: "missing"},
	} {
		v, _, counted := newVerifier(t, Options{Mode: Require, Public: "/probe.jpg?w=16"}, firstKey)
		got, want := verify(v, test.target), map[string]int{test.result: 1}
		if test.result == "" {
			want = map[string]int{}
		}
		if got != test.kind || !maps.Equal(counted, want) {
			t.Errorf("%s: %q %v, want %q %s", test.target, got, counted, test.kind, test.result)
		}
		v, _, counted = newVerifier(t, Options{Mode: Report, Public: "/probe.jpg?w=16"}, firstKey)
		if got := verify(v, test.target); got != served || !maps.Equal(counted, want) {
			t.Errorf("%s is only reported: %q %v", test.target, got, counted)
		}
	}
}

// A URL is valid only with the signed path and parameters.
func TestASignatureBindsThePathAndAllParameters(t *testing.T) {
	v, _, _ := newVerifier(t, Options{Mode: Require}, firstKey)
	property.Check(t, func(t *rapid.T) {
		paths := rapid.SampledFrom([]string{"/a", "/a/b", "/a?w=1", "/a?", "/é", "/a&w=1", "/a/../b", "/b", "//a"})
		queries := rapid.MapOf(rapid.SampledFrom([]string{"w", "h", "v", "expires", ""}),
			rapid.SliceOfN(rapid.SampledFrom([]string{"1", "4102444800", "", "a&w=1", "é", "1?"}), 1, 2))
		draw := func() (string, url.Values) {
			return paths.Draw(t, "path"), url.Values(queries.Draw(t, "query"))
		}
		signedPath, signedQuery := draw()
		otherPath, otherQuery := draw()
		if rapid.Bool().Draw(t, "same path") {
			otherPath = signedPath
		}
		if rapid.Bool().Draw(t, "same query") {
			otherQuery = maps.Clone(signedQuery)
		}
		same := path.Clean(otherPath) == otherPath && otherPath == signedPath && reflect.DeepEqual(otherQuery, signedQuery)
		other := maps.Clone(otherQuery)
		other.Set("s", sign([]byte(firstKey), signedPath, signedQuery))
		_, err := v.Verify(&url.URL{Path: otherPath, RawQuery: other.Encode()})
		if accepted := err == nil || !problem.Is(err, problem.Forbidden); accepted != same {
			t.Fatalf("signed %s %v, sent %s %v: %v", signedPath, signedQuery, otherPath, otherQuery, err)
		}
	})
}

func TestKeysAreRotatedWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, file, _ := newVerifier(t, Options{Mode: Require}, firstKey)
		steps := []struct {
			keys  string
			valid []string
		}{
			{keys: firstKey + "\n" + secondKey, valid: []string{firstKey, secondKey}},
			{keys: secondKey + "\n" + firstKey, valid: []string{firstKey, secondKey}},
			{keys: "", valid: []string{firstKey, secondKey}}, // the previous keys remain
			{keys: "short", valid: []string{firstKey, secondKey}},
			{keys: secondKey, valid: []string{secondKey}},
		}
		for _, step := range steps {
			if err := os.WriteFile(file, []byte(step.keys), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(reread)
			for _, key := range []string{firstKey, secondKey} {
				if valid := verify(v, withSignature(key, "/a?w=1")) == served; valid != slices.Contains(step.valid, key) {
					t.Errorf("after %q the signature of %q is valid: %t", step.keys, key, valid)
				}
			}
		}
	})
}

func TestAFileWithoutUsableKeysIsNamed(t *testing.T) {
	for keys, reason := range map[string]string{"": "has no signing keys", "0123456789abcdef\nsecret": "signing key 2"} {
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{File: file})
		if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), file) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", keys, err)
		}
	}
	if _, err := New(Options{File: "missing"}); err == nil {
		t.Error("a missing file is accepted")
	}
}

// testdata/clients.mjs signs with the first key.
func TestURLsOfClientLibrariesOfImgix(t *testing.T) {
	file, err := os.ReadFile("../testdata/clients.txt")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)^imgix-signed [0-9x]+ (.+)$").FindAllStringSubmatch(string(file), -1)
	if len(found) < 10 {
		t.Fatalf("%d URLs", len(found))
	}
	for _, line := range found {
		target := line[1]
		with, _, _ := newVerifier(t, Options{Mode: Require, Scheme: Imgix}, firstKey)
		without, _, _ := newVerifier(t, Options{Mode: Require, Scheme: SHA256}, firstKey)
		if verify(with, target) != served || verify(without, target) != problem.Forbidden || verify(with, "/x"+target) != problem.Forbidden {
			t.Errorf("%s: %q with the scheme, %q without", target, verify(with, target), verify(without, target))
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	v, _, _ := newVerifier(b, Options{Mode: Require}, firstKey+"\n"+secondKey)
	u, _ := url.ParseRequestURI(withSignature(secondKey, "/images/2026/cat.jpg?w=300&h=200&fit=crop&auto=compress"))
	for b.Loop() {
		if _, err := v.Verify(u); err != nil {
			b.Fatal(err)
		}
	}
}
