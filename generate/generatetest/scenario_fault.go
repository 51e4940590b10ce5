package generatetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// NotBilled is an optional interface of a [Simulator]. It reports whether the answer to a [sim.FaultServerError] says
// in the provider's words that nothing was made, or the answer to a [sim.FaultQuota] says when to retry.
type NotBilled interface{ Idle(in sim.Injection) bool }

// expectation is the expected result of a fault.
type expectation struct {
	// codes are the slot's possible error codes; none means that the slot succeeds.
	codes []media.Code
	// calls is the number of calls to the provider: a call that may have been billed is
	// never repeated.
	calls int
	// minWait is the minimum wait before the retry.
	minWait time.Duration
	status  generate.Status
	// billingUnknown means that it is unknown whether the call is billed.
	billingUnknown bool
}

// rateLimitWait is the wait that [sim.FaultRateLimit] requests in scenarios.
const rateLimitWait = 7 * time.Second

// expected returns the result of a fault; listed means that the provider can find a task
// whose id was lost.
func expected(f sim.Fault, listed bool) expectation {
	failed := func(codes ...media.Code) expectation {
		return expectation{codes: codes, calls: 1, status: generate.StatusFailed}
	}
	lost := failed(media.CodeBadResponse, media.CodeUnavailable, media.CodeCorrupt)
	lost.billingUnknown = true
	switch f {
	case sim.FaultHalfBody, sim.FaultAnswerLost:
		if listed {
			return expectation{calls: 1, status: generate.StatusSucceeded}
		}
		return lost
	case sim.FaultUnauthorized:
		return failed(media.CodeUnauthorized)
	case sim.FaultForbidden:
		return failed(media.CodeForbidden)
	case sim.FaultDeadModel:
		return failed(media.CodeNotFound)
	case sim.FaultQuota:
		return failed(media.CodeQuotaExceeded)
	case sim.FaultRateLimit:
		return expectation{calls: 2, minWait: rateLimitWait, status: generate.StatusSucceeded}
	case sim.FaultServerError: // something may have been made before the failure
		return lost
	case sim.FaultOverloaded, sim.FaultConflict:
		return expectation{calls: 2, status: generate.StatusSucceeded}
	case sim.FaultHTML, sim.FaultNotJSON, sim.FaultDropped, sim.FaultListLost:
		return lost
	case sim.FaultTinyImage, sim.FaultNotMedia, sim.FaultEmpty:
		return failed(media.CodeBadResponse)
	case sim.FaultInvalid:
		return failed(media.CodeInvalid, media.CodeUnsupported)
	case sim.FaultTaskFailed:
		return failed(media.CodeBadResponse, media.CodeUnavailable)
	case sim.FaultTaskLost:
		return failed(media.CodeBadResponse)
	case sim.FaultExpiredLink: // the host may be at fault: another link is requested, and the task stays unfinished
		return expectation{codes: []media.Code{media.CodeBadResponse}, calls: 1, status: generate.StatusRunning}
	case sim.FaultHugeHeader:
		return failed(media.CodeTooLarge)
	case sim.FaultPrivateURL:
		return failed(media.CodeBlockedAddress)
	case sim.FaultModerated:
		return expectation{codes: []media.Code{media.CodeModerated}, calls: 1, status: generate.StatusModerated}
	default: // sim.FaultLyingType, sim.FaultPollFails, sim.FaultHalfLink
		return expectation{calls: 1, status: generate.StatusSucceeded}
	}
}

// faulty tests one fault.
func faulty(t *testing.T, h Harness, in sim.Injection) {
	t.Helper()
	switch in.Fault {
	case sim.FaultSlow:
		slow(t, h)
		return
	case sim.FaultPartialN:
		partialN(t, h)
		return
	case sim.FaultPartialsThenError:
		streamWithoutResult(t, h)
		return
	case sim.FaultConflict:
		conflictFallsBack(t, h, in)
	case sim.FaultPreviewLost:
		previewLost(t, h, in)
		return
	case sim.FaultRateLimit:
		in.RetryAfter = rateLimitWait
	default:
	}
	b := h.newBench(t, nil)
	_, listed := b.driver.(driver.Listed)
	want := expected(in.Fault, listed)
	if s, ok := b.sim.(NotBilled); ok && s.Idle(in) {
		want = expected(sim.FaultOverloaded, listed)
	}
	b.sim.Inject(in)
	got := b.mustGenerateN(t, 1)
	s := got.Slots[0]
	switch {
	case got.Status != want.status:
		t.Errorf("status %s (%v), want %s", got.Status, got.Err(), want.status)
	case len(want.codes) > 0 && (s.Error == nil || !slices.Contains(want.codes, s.Error.Code)):
		t.Errorf("error %+v, want one of %q", s.Error, want.codes)
	case s.Error != nil && s.Error.Message == "":
		t.Errorf("the error says nothing")
	case want.billingUnknown && got.Usage.Unsettled != 1, got.Status == generate.StatusSucceeded && got.Usage.Unsettled > 0:
		t.Errorf("%d unsettled calls", got.Usage.Unsettled)
	case in.Fault == sim.FaultModerated && (s.Safety == nil || !s.Safety.Blocked):
		t.Errorf("no verdict with the refusal: %+v", s.Safety)
	}
	if have := len(b.sim.Captured()); have != want.calls {
		t.Errorf("the provider was called %d times, want %d", have, want.calls)
	}
	// The pauses between polls of a task follow the wait.
	if waits := b.journal.Slept(); want.minWait > 0 && (len(waits) == 0 || waits[0] < want.minWait) {
		t.Errorf("waited %v, want %s at least", waits, want.minWait)
	}
	if o := s.Output; o != nil && media.ModalityOf(o.MIMEType) != b.model.Modality {
		t.Errorf("output %s is no %s", o, b.model.Modality)
	}
}

// slow: a caller who cancels gets an answer while the provider is still working, and the slot is cancelled.
func slow(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	delay := time.Minute
	if b.model.PollSeconds > 0 { // Generate waits for the task's id, so that the task can be stopped
		delay = 300 * time.Millisecond
	}
	b.sim.Inject(sim.Injection{Fault: sim.FaultSlow, Delay: delay})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for len(b.sim.Captured()) == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	got, err := b.gateway.Generate(scoped(ctx), b.request(t, 1))
	if err != nil || got.Status != generate.StatusCancelled || got.Slots[0].Error.Code != media.CodeCancelled {
		t.Errorf("Generate: %+v, %v; want a cancelled slot", got, err)
	}
}
