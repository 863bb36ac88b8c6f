package pipeline

import (
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// freshness determines how an entry of the cache may be used.
type freshness int

const (
	// unusable entries are too old, must not be stored, or have been replaced at the source.
	unusable freshness = iota
	// outdated entries are served while the source is being revalidated.
	outdated
	fresh
)

// minLifetime is the minimum age for revalidation, even if the source demands a lower one.
const minLifetime = time.Second

// lookUp returns an entry of the cache with its freshness, or nil.
func (p *Pipeline) lookUp(r request.Request) (*cache.Entry, freshness) {
	if found := p.cache.Get(r.Key()); found != nil {
		return p.assess(r, found)
	}
	return nil, unusable
}

// assess updates an entry with the last response of the source for its original, and returns its freshness. If the
// source no longer has the original, the entry is removed and nil is returned. Entries that this process has not
// confirmed, such as files of an earlier process, are not fresh.
func (p *Pipeline) assess(r request.Request, known *cache.Entry) (*cache.Entry, freshness) {
	now, found := p.versions.GetIfPresent(r.Original())
	switch {
	case !found || now.Validated.Before(known.Validated):
	case now.Original == "":
		p.cache.Remove(r.Key())
		return nil, unusable
	case now.Original != known.Original:
		replaced := *known
		replaced.Source = original.Validators{} // the next original may have the same modification time
		return &replaced, unusable
	case now.Control != known.Control || !now.Validated.Equal(known.Validated):
		confirmed := *known
		confirmed.Validated, confirmed.Control = now.Validated, now.Control
		known = &confirmed
	}
	switch {
	case !p.servable(known):
		return known, unusable
	case found && p.age(known) < p.lifetime(known):
		return known, fresh
	}
	return known, outdated
}

// servable reports whether an entry may be served while the source is being revalidated or fails.
func (p *Pipeline) servable(known *cache.Entry) bool {
	return !known.Control.NoStore && p.age(known) < p.lifetime(known)+p.StaleIfError
}

// age returns the time since the last validation of an entry. Times in the future, from a clock that was ahead, count
// as old.
func (p *Pipeline) age(known *cache.Entry) time.Duration {
	if age := time.Since(known.Validated); age >= 0 {
		return age
	}
	return p.lifetime(known)
}

// lifetime returns the age from which an entry is outdated.
func (p *Pipeline) lifetime(known *cache.Entry) time.Duration {
	if known.Control.Bounded {
		return min(p.Revalidate, max(known.Control.MaxAge, minLifetime))
	}
	return p.Revalidate
}
