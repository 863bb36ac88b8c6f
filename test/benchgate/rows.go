package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

type row struct {
	name string
	load func(*stack, *origin) string
	// environ contains variables of the gate. $SOURCE is replaced by the URL of the source.
	environ []string
	// plain rows use images and sizes that other proxies support.
	plain bool
}

var rows = append(photoRows(), []row{
	{name: "8 sizes of one 12-megapixel photo at once", load: sizes, plain: true},
	{name: "200 requests of one URL at once", load: func(s *stack, o *origin) string {
		codes := together(200, func(int) answer { return get(s, "/small.jpg?w=300") })
		return fmt.Sprintf("%s, source asked %d times", codes, o.requests.Load())
	}},
	{
		name: "PNG of 16000×16000 pixels in 31 kB",
		load: func(s *stack, _ *origin) string { return once(s, "/bomb.png?w=300") },
	},
	{name: "`?blur=999` on 1200×800", load: func(s *stack, _ *origin) string { return once(s, "/small.jpg?blur=999") }},
	{
		name: "`?w=9999&h=9999&fit=crop`",
		load: func(s *stack, _ *origin) string { return once(s, "/small.jpg?w=9999&h=9999&fit=crop") },
	},
	{name: "40 answers 500 of the source, then a good image", load: func(s *stack, _ *origin) string {
		for i := range 40 {
			get(s, fmt.Sprintf("/bad%d.jpg?w=300", i))
		}
		return fmt.Sprint(get(s, "/small.jpg?w=300").code)
	}},
	{name: "a missing image", load: func(s *stack, _ *origin) string {
		a := get(s, "/none.jpg")
		return fmt.Sprintf("%d, `%s`, `%s`, nosniff: %v", a.code, a.header.Get("Content-Type"), a.header.Get("Cache-Control"),
			a.header.Get("X-Content-Type-Options") == "nosniff")
	}},
	{name: "`HEAD` · `If-None-Match` · `Range`", load: func(s *stack, _ *origin) string {
		etag := get(s, "/small.jpg?w=300").header.Get("ETag")
		if etag == "" {
			etag = `"none"`
		}
		return fmt.Sprintf("%d · %d · %d", do(s, http.MethodHead, "/small.jpg?w=300", nil).code,
			do(s, http.MethodGet, "/small.jpg?w=300", http.Header{"If-None-Match": {etag}}).code,
			do(s, http.MethodGet, "/small.jpg?w=300", http.Header{"Range": {"bytes=0-9"}}).code)
	}},
	{name: "the source is down: image seen before · not seen", load: func(s *stack, o *origin) string {
		get(s, "/small.jpg?w=300")
		o.setDown(true)
		return fmt.Sprintf("%d · %d", get(s, "/small.jpg?w=300").code, get(s, "/small2.jpg?w=300").code)
	}},
	{name: "a repeated image, 8 at a time", load: repeat("/small.jpg?w=300"), plain: true},
	{name: "the same with a signed URL", load: repeat(signed("/small.jpg?w=300")), environ: signing()},
	{name: "400 different resizes, one after the other", load: resizes("w=300", nil), plain: true},
	{name: "400 different resizes of a fallback, one after the other", load: resizes("w=300", nil), environ: []string{
		"SOURCE_BASEURL=$SOURCE/none", "GATE_ADDITIONAL_SOURCES=former", "GATE_SOURCE_1_FALLBACK=true",
		"SOURCE_1_KIND=webfolder", "SOURCE_1_BASEURL=$SOURCE",
	}},
	{name: "400 different resizes as WebP, one after the other", load: resizes("auto=format&w=300", webp), plain: true},
	{name: "40 different photos of 1200×800 as WebP at once", load: photosAsWebP},
	{name: "100 images for two kinds of clients, JPEG first", load: twoKinds},
	{name: "a known image, while 40 others are encoded", load: knownMeanwhile},
	{name: "small images of another client, while one client requests 60 12-megapixel photos as WebP", load: neighbor},
	{name: "many different URLs by one client, while others request ordinary images", load: flood},
}...)

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// once measures a single request. The processor time includes work that continues after the response.
func once(s *stack, path string) string {
	get(s, "/small.jpg?w=10") // warm up connections and code
	before, start := s.cpu(), time.Now()
	a := get(s, path)
	took := time.Since(start)
	return fmt.Sprintf("%d in %.0f ms, %.2f CPU-s, %s", a.code, ms(took), (s.cpu() - before).Seconds(), s.peak())
}

func repeat(path string) func(*stack, *origin) string {
	return func(s *stack, _ *origin) string { return repeated(s, path) }
}

func repeated(s *stack, path string) string {
	get(s, path)
	const span = 5 * time.Second
	var mu sync.Mutex
	total := 0
	before, start := s.cpu(), time.Now()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for n := 0; ; n++ {
				if time.Since(start) > span {
					mu.Lock()
					defer mu.Unlock()
					total += n
					return
				}
				get(s, path)
			}
		})
	}
	wait.Wait()
	took, cpu := time.Since(start), s.cpu()-before
	return fmt.Sprintf("%.0f a second, %.2f CPU-ms each", float64(total)/took.Seconds(), ms(cpu)/float64(total))
}

type answer struct {
	code   int
	header http.Header
	body   []byte
}

var client = &http.Client{
	Timeout:   3 * time.Minute,
	Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
}

func get(s *stack, path string) answer { return do(s, http.MethodGet, path, nil) }

// do returns the code 0 if there is no response.
func do(s *stack, method, path string, header http.Header) answer {
	request, err := http.NewRequest(method, s.at(path), nil)
	if err != nil {
		return answer{}
	}
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, body}
}

// together sends requests at once and counts the status codes of the responses.
func together(n int, send func(int) answer) string {
	var mu sync.Mutex
	codes := map[int]int{}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			a := send(i)
			mu.Lock()
			defer mu.Unlock()
			codes[a.code]++
		})
	}
	wait.Wait()
	return counted(codes)
}

// counted lists status codes or media types with their numbers.
func counted[K cmp.Ordered](kinds map[K]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d × %v", kinds[kind], kind))
	}
	return strings.Join(parts, ", ")
}
