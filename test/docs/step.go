package docs

import (
	"context"
	"fmt"
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
