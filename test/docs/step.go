package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// Step is one of a story.
type Step interface {
	// take takes the step, and says in the log what it was and how long it took.
	take(ctx context.Context, t *testing.T, s *Scene) error
}

// Read types the commands of a block, a section or a page as they are written.
type Read struct{ Name string }

func (r Read) take(ctx context.Context, t *testing.T, s *Scene) error {
	blocks, err := find(s.blocks, r.Name)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		began := time.Now()
		if err := s.follow(ctx, t, block); err != nil {
			return fmt.Errorf("%s: %w", block, err)
		}
		t.Logf("%s: %.1fs", block, time.Since(began).Seconds())
	}
	return nil
}

// follow does what a block says.
func (s *Scene) follow(ctx context.Context, t *testing.T, block Block) error {
	if block.Language != "console" {
		said, err := s.shell.run(ctx, block.Text)
		t.Logf("%s%s", block.Text, said)
		return err
	}
	all, err := exchanges(block.Text)
	if err != nil {
		return err
	}
	for _, each := range all {
		if err := s.shell.ask(ctx, each); err != nil {
			return fmt.Errorf("%s: %w", each.command, err)
		}
	}
	return nil
}

// Asides types the commands that stand within the sentences of a page, and that look at
// something: those with a NAME to fill in are left out.
type Asides struct{ Page string }

var (
	aside       = regexp.MustCompile("`(kubectl (?:-n darkroom-system )?get [^`]+)`")
	placeholder = regexp.MustCompile(`\b[A-Z]{4,}\b`)
)

func (a Asides) take(ctx context.Context, t *testing.T, s *Scene) error {
	text, err := os.ReadFile(filepath.Join(s.Checkout, a.Page))
	if err != nil {
		return err
	}
	for _, match := range aside.FindAllStringSubmatch(string(text), -1) {
		if placeholder.MatchString(match[1]) {
			continue
		}
		said, err := s.shell.run(ctx, match[1]+"\n")
		t.Logf("%s: %s\n%s", a.Page, match[1], said)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", a.Page, match[1], err)
		}
	}
	return nil
}

// Do sees to what no document says, or looks whether what it says has happened.
type Do struct {
	What string
	Do   func(context.Context, *Scene) error
}

func (d Do) take(ctx context.Context, t *testing.T, s *Scene) error {
	began := time.Now()
	if err := d.Do(ctx, s); err != nil {
		return fmt.Errorf("%s: %w", d.What, err)
	}
	t.Logf("%s: %.1fs", d.What, time.Since(began).Seconds())
	return nil
}
