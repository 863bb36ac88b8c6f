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

// Step is a step of a scenario.
type Step interface {
	// take takes the step and logs its duration.
	take(ctx context.Context, t *testing.T, s *Environment) error
}

// Read runs the commands of a block, a section or a page as they are written.
type Read struct{ Name string }

func (r Read) take(ctx context.Context, t *testing.T, s *Environment) error {
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

// follow runs the commands of a block.
func (s *Environment) follow(ctx context.Context, t *testing.T, block Block) error {
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

// Asides runs the kubectl get commands in the text of a page, except those with a
// placeholder.
type Asides struct{ Page string }

var (
	aside       = regexp.MustCompile("`(kubectl (?:-n darkroom-system )?get [^`]+)`")
	placeholder = regexp.MustCompile(`\b[A-Z]{4,}\b`)
)

func (a Asides) take(ctx context.Context, t *testing.T, s *Environment) error {
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

// Do prepares or checks something that the documents leave to their readers.
type Do struct {
	What string
	Do   func(context.Context, *Environment) error
}

func (d Do) take(ctx context.Context, t *testing.T, s *Environment) error {
	began := time.Now()
	if err := d.Do(ctx, s); err != nil {
		return fmt.Errorf("%s: %w", d.What, err)
	}
	t.Logf("%s: %.1fs", d.What, time.Since(began).Seconds())
	return nil
}
