// Package journal is the interface to durable execution: the few methods that an agent run or a generation needs so
// that it can be replayed after a crash. Packages agent and generate know only this package; package run/durable
// implements it.
//
// Steps are named with the types of journal/step, which alone writes and parses names as text.
//
// It may import only journal/step, media, uuid and the standard library.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"atelier/journal/step"
	"atelier/media"
)

// ErrHandedOver is the cause of a context that ends because the process stops and another one will continue the work:
// nothing is finished and nothing is reported, because the replay does both.
var ErrHandedOver = errors.New("handed over to another process")

// HandOver returns [ErrHandedOver] with a grace period for calls in progress: calls that may be billed and cannot be
// repeated may finish within it. Nothing else continues.
func HandOver(grace time.Duration) error { return &handOverError{grace} }

type handOverError struct{ grace time.Duration }

func (l *handOverError) Error() string { return ErrHandedOver.Error() }

// Unwrap returns ErrHandedOver.
func (l *handOverError) Unwrap() error { return ErrHandedOver }

// WithHandOverGrace returns the context of a call that may be billed. It ends with ctx, or, if the cause is a
// [HandOver], after the grace period. The caller must call the function when the call has ended.
func WithHandOverGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	call, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if l, ok := errors.AsType[*handOverError](context.Cause(ctx)); ok {
			_ = Memory{}.Sleep(call, l.grace)
		}
		end(context.Cause(ctx))
	})
	return call, func() {
		stop()
		end(nil)
	}
}

// HandedOver reports whether another process continues the work under ctx.
func HandedOver(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrHandedOver) }

// Journal runs the steps of one workflow.
//
// Step outputs are small JSON values; media bytes never pass through a journal (law 1). Implementations are safe for
// concurrent use by the goroutines of one run. The suite in journaltest tests every clause of this contract.
type Journal interface {
	// Step runs fn and records its result under name. In a replay of the workflow, a finished step returns its recorded
	// result and fn does not run. An error is returned and not recorded: the step runs again in a replay, so a failure
	// that must persist is part of the result. A panic of fn is an error with code media.CodeInternal. A step within a
	// step is part of the outer one. Names are unique within a workflow and do not depend on timing.
	Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error)
	// Sleep waits, durably if the engine is durable. It ends early with ctx.Err(). Sleeps of one journal are
	// sequential; concurrent sleeps need their own Child.
	Sleep(ctx context.Context, d time.Duration) error
	// Child returns the journal of a part of the workflow, which has its own names. name is unique within the parent
	// journal.
	Child(ctx context.Context, name step.Name) (Journal, error)
}

// Do executes do as a step, see [Journal]. Its result passes through JSON also when it is new. Errors are those of do,
// which are not recorded, and media.CodeCorrupt.
func Do[T any](ctx context.Context, j Journal, name step.Name, do func(context.Context) (T, error)) (v T, err error) {
	b, err := j.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		v, err := do(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, media.Errorf(media.CodeCorrupt, "read journalled step %s: %w", name, err)
	}
	return v, nil
}

// Memory is the journal for library use and tests: every step runs, and nothing is recorded.
type Memory struct{}

var _ Journal = Memory{}

// Step runs fn.
func (Memory) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) (_ []byte, err error) {
	defer media.CatchPanic(&err, "step "+name.String())
	return fn(ctx)
}

// Sleep waits for d or for the end of ctx.
func (Memory) Sleep(ctx context.Context, d time.Duration) error {
	nap, wake := context.WithTimeout(ctx, d)
	defer wake()
	<-nap.Done()
	return ctx.Err()
}

// Child returns the same journal.
func (m Memory) Child(context.Context, step.Name) (Journal, error) { return m, nil }

// ID derives an id from that of a workflow, so that a replay gives the same record the same id. The derived id is a
// UUIDv7. Ids of one workflow sort by major and then by minor, each below 4096, and after the workflow's own id if that
// is a UUIDv7; name distinguishes ids with the same major and minor.
func ID(root, name string, major, minor int) string {
	sum := sha256.Sum256([]byte(root + "\x00" + name))
	b, err := uuid.Parse(root)
	if err != nil || b.Version() != 7 { // an id that the caller of the workflow chose
		own := sha256.Sum256([]byte(root))
		b = uuid.UUID(own[:16])
	}
	for i := 5; i >= 0; i-- { // one millisecond later than the workflow
		b[i]++
		if b[i] != 0 {
			break
		}
	}
	copy(b[10:], sum[:])
	major, minor = max(0, min(major, 4095)), max(0, min(minor, 4095))
	binary.BigEndian.PutUint16(b[6:], 0x7000|uint16(major))
	binary.BigEndian.PutUint16(b[8:], 0x8000|uint16(minor)<<2|uint16(sum[31]&3))
	return b.String()
}
