package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// flight is an original in use. It is fetched once and decoded once for all results that wait for it.
type flight struct {
	body []byte
	info original.Info
	cache.Origin
	release fairqueue.Release
	// ctx is canceled when no request needs the original any more.
	ctx context.Context //nolint:containedctx // for all requests that use the original

	// mu guards batches and their fields.
	mu      sync.Mutex
	batches []*batch
}

// firstRead limits the memory reserved for an original of unknown length. A longer original is requested again with the
// maximum reserved, because waiting for more memory while holding some could deadlock.
const firstRead = 8 << 20

// notModified is the error of a fetch whose source confirmed the known version. There is no original in this case.
type notModified struct {
	cache.Origin
	known original.Validators
}

func (e *notModified) Error() string { return "the original is unchanged" }

// fetchOnce fetches an original, once for concurrent requests with any known versions. A request with a version other
// than the confirmed one fetches again.
func (p *Pipeline) fetchOnce(ctx context.Context, asked source.Request) (f *flight, done func(), err error) {
	key := asked
	key.Known = original.Validators{}
	for {
		f, _, done, err = doShared(ctx, &p.flights, key, func(ctx context.Context) (*flight, error) {
			return p.fetch(ctx, asked)
		})
		var unchanged *notModified
		if !errors.As(err, &unchanged) || unchanged.known == asked.Known {
			return f, done, err
		}
	}
}

// fetch reads an original when there is memory for it, and inspects it.
func (p *Pipeline) fetch(ctx context.Context, r source.Request) (f *flight, err error) {
	done, err := p.queues.fetches.Acquire(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer done(0)
	f = &flight{release: func(int64) {}, ctx: ctx}
	defer func() {
		if err != nil {
			f.release(0)
		}
	}()
	defer recovered(&err)
	measure := since(ctx, "fetch", p.metrics.fetches)
	err = p.read(ctx, r, f, min(firstRead, p.MaxSourceBytes))
	if errors.Is(err, errLonger) {
		f.release(0)
		err = p.read(ctx, r, f, p.MaxSourceBytes)
	}
	measure(err)
	if err != nil {
		return f, err
	}
	if f.body == nil { // the source confirmed the known version
		return f, &notModified{f.Origin, r.Known}
	}
	if f.info, err = original.Inspect(f.body); err != nil {
		return f, err
	}
	if size := f.info.Size; size.Pixels() > p.MaxSourcePixels {
		return f, problem.New(problem.TooLarge,
			"the original is %dx%d pixels; the maximum is %d pixels in total", size.Width, size.Height, p.MaxSourcePixels)
	}
	sum := sha256.Sum256(f.body)
	f.Original, f.OriginalBytes = hex.EncodeToString(sum[:16]), int64(len(f.body))
	return f, nil
}

// errLonger is returned for an original of unknown length that exceeds its reservation.
var errLonger = errors.New("the original is longer than was reserved")

// read requests an original and reads it. If the length is unknown, the given number of bytes is reserved.
func (p *Pipeline) read(ctx context.Context, r source.Request, f *flight, reserved int64) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = source.Failure(context.DeadlineExceeded)
		}
	}()
	timer := time.AfterFunc(source.Timeout, func() { cancel(context.DeadlineExceeded) })
	defer timer.Stop()
	response, err := p.Source.Open(ctx, r)
	timer.Stop()
	if err != nil {
		return err
	}
	defer response.Body.Close()
	f.Origin = cache.Origin{Source: response.Validators, Control: response.Control, Validated: time.Now()}
	if response.Unchanged {
		return nil
	}
	size, most := response.Length, p.MaxSourceBytes
	if size < 0 {
		size, most = reserved, reserved
	}
	release, err := p.queues.originals.Acquire(ctx, min(size, p.MaxSourceBytes))
	if err != nil {
		return err
	}
	f.release = release
	timer.Reset(source.Timeout)
	if f.body, err = response.Read(most); err != nil {
		if most < p.MaxSourceBytes && problem.Is(err, problem.TooLarge) {
			return errLonger
		}
		return err
	}
	f.release(int64(cap(f.body))) // more was reserved if the length was unknown
	return nil
}
