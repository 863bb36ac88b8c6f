// Benchgate compares Darkroom alone, behind nginx with proxy_cache, and behind the gate, under loads that overload
// Darkroom. It prints a Markdown table of status codes, times, processor time, and the peak memory of all processes.
//
// Each row starts new processes, because it reports peak memory. All traffic stays on loopback. stack.go starts and
// measures processes, peer.go supports another proxy, source.go serves originals, and photos.go, rows.go, formats.go
// and flood.go define the loads. With -soak, soak.go runs a mixed load behind the gate instead.
//
// ImageMagick makes progressive photos, and references for their quality.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "benchgate:", err)
		os.Exit(1)
	}
}

func run() error {
	var programs programs
	var other peer
	flag.StringVar(&programs.darkroom, "darkroom", "bin/darkroom", "Darkroom or its test double")
	flag.StringVar(&programs.gate, "gate", "bin/gate", "the gate")
	span := flag.Duration("soak", 0,
		"run a mixed load for this time instead, and report memory, file descriptors and disk")
	corpus := flag.String("corpus", "bin/corpus", "folder with one file of each kind of image, for the mixed load")
	flag.IntVar(&urls, "urls", 5000, "number of different URLs in the row about many different URLs")
	only := flag.String("run", ".", "regular expression of the rows to run")
	behind := flag.String("behind", ".", "regular expression of the columns to run")
	flag.StringVar(&other.url, "peer", "", "URL of another proxy that runs, in which {w}, {format} and {url}, "+
		"the URL of the original, are replaced, such as http://127.0.0.1:8000/unsafe/{w}x0/filters:format({format})/{url}; "+
		"its column is beside the gate's, in the rows of photos")
	flag.IntVar(&other.pid, "peer-pid", 0, "process of the other proxy, whose processor time and memory count")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	columns, err := regexp.Compile(*behind)
	if err != nil {
		return err
	}
	if *span > 0 {
		return soak(programs, *span, *corpus)
	}
	contenders := []contender{{"Darkroom alone", alone}}
	if path, err := exec.LookPath("nginx"); err == nil {
		programs.nginx = path
		contenders = append(contenders, contender{"behind nginx proxy_cache", behindNginx})
	} else {
		fmt.Fprintln(os.Stderr, "nginx is not installed and is omitted")
	}
	contenders = append(contenders, contender{"behind the gate", startGate})
	if other.url != "" {
		contenders = []contender{{"behind the gate", startGate}, {"the other proxy", other.start}}
		rows = slices.DeleteFunc(rows, func(r row) bool { return !r.plain })
	}
	contenders = slices.DeleteFunc(contenders, func(c contender) bool { return !columns.MatchString(c.name) })

	origin, err := newOrigin()
	if err != nil {
		return err
	}
	defer origin.close()
	if origin.corpus, err = readCorpus(*corpus); err != nil {
		return err
	}
	fmt.Print("| load |")
	for _, c := range contenders {
		fmt.Printf(" %s |", c.name)
	}
	fmt.Print("\n|---|" + strings.Repeat("---|", len(contenders)) + "\n")
	for _, row := range rows {
		if !pattern.MatchString(row.name) {
			continue
		}
		fmt.Printf("| %s |", row.name)
		for _, c := range contenders {
			fmt.Printf(" %s |", measure(programs, origin, c, row))
		}
		fmt.Println()
	}
	return nil
}

// measure runs one row of one contender. A failure becomes the content of the cell.
func measure(p programs, o *origin, c contender, r row) string {
	o.reset()
	s, err := c.start(p, o.url, r.environ...)
	if err != nil {
		return "failed: " + err.Error()
	}
	defer s.stop()
	return r.load(s, o)
}
