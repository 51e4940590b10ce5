package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/journal"
	"atelier/media"
)

// fetchAttempts is how often a link is tried in a row: fetching costs nothing. A result that still fails becomes
// pending, see [delivery.isAvailableLater].
const fetchAttempts = 3

const fetchesAtOnce = 8

type linkDownload struct {
	download
	err  error
	done chan struct{} // closed when it has arrived or failed
}

// fetchAhead starts to fetch all links of an update in parallel, so that a slow one does not delay the others, whose
// links expire. end stops the downloads in progress.
func (d *delivery) fetchAhead(ctx context.Context, u driver.Update) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	room := make(chan struct{}, fetchesAtOnce)
	d.inFlight = map[string]*linkDownload{}
	for _, link := range d.links(u) {
		if d.inFlight[link] != nil {
			continue
		}
		a := &linkDownload{done: make(chan struct{})}
		d.inFlight[link] = a
		running.Go(func() {
			defer close(a.done)
			room <- struct{}{}
			defer func() { <-room }()
			a.download, a.err = d.x.downloads.fetch(d.trusting(ctx), link, d.attempts())
		})
	}
	return func() {
		cancel()
		running.Wait()
		d.inFlight = nil
	}
}

// links returns the links of an update to fetch: of pending results, and of new items without a filled slot.
func (d *delivery) links(u driver.Update) (links []string) {
	items := make([]driver.Item, 0, len(u.Items))
	for _, p := range d.pending {
		items = append(items, p.newest(u))
	}
	for i, item := range u.Items[min(d.seen, len(u.Items)):] {
		if at := d.got + i; at < d.call.n() && d.x.board.slot(d.call.slots[at]).Output != nil {
			continue
		}
		items = append(items, item)
	}
	for _, item := range items {
		if item.Err == nil && item.Blob == nil && strings.TrimSpace(item.Text) == "" && item.URL != "" {
			links = append(links, item.URL)
		}
	}
	return links
}

// attempts is how often a link is tried in a row: pending results are tried again later anyway.
func (d *delivery) attempts() int {
	if d.updateCount > 1 {
		return 1
	}
	return fetchAttempts
}

// fetch returns a result that came as a link, or waits for it if its download has started.
func (d *delivery) fetch(ctx context.Context, link string) (download, error) {
	if a := d.inFlight[link]; a != nil {
		<-a.done // it ends with ctx
		return a.download, a.err
	}
	return d.x.downloads.fetch(d.trusting(ctx), link, d.attempts())
}

// downloads fetches results that providers returned as links, and stores them. It does not wait for a download that
// takes too long; a later result of it serves the next try of its link. It is safe for concurrent use.
type downloads struct {
	storage      generate.Storage
	get          Fetch
	finishedLate sync.Map // downloads that finished after their time limit, by link
}

// fetch downloads the result of a link at once, because links expire. It makes at most the given number of attempts.
func (l *downloads) fetch(ctx context.Context, url string, attempts int) (download, error) {
	for number := 1; ; number++ {
		d, err := l.once(ctx, url)
		code := media.CodeOf(err) // errors that an immediate retry does not fix
		if err == nil || number >= attempts || !fetchable(fault.Of(err)) || code == media.CodeDeadline || code == media.CodeDiskFull {
			return d, err
		}
		// A plain wait, not a journalled one: a replay fetches anew or not at all.
		if err := (journal.Memory{}).Sleep(ctx, time.Duration(number)*fetchPause); err != nil {
			return download{}, fault.Of(err)
		}
	}
}

const fetchTime = 2 * time.Minute

// fetchPause grows with each attempt, up to maxFetchPause.
const (
	fetchPause    = 100 * time.Millisecond
	maxFetchPause = 20 * time.Second
)

// fetchable reports whether another try can fix a download error.
func fetchable(err *media.Error) bool { return err.Retryable || operation.Transient(err.Code) }

// errRefusedLink is the cause if a link does not work, or no longer works.
var errRefusedLink = errors.New("link refused")

func (l *downloads) once(ctx context.Context, url string) (download, error) {
	if l.storage == nil {
		return download{}, media.Errorf(media.CodeUnsupported, "the result is a link, and this gateway was set up without Storage")
	}
	if came, ok := l.finishedLate.LoadAndDelete(url); ok {
		d, _ := came.(download)
		return d, nil
	}
	brief, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	got, err := callWithGrace(brief, func() (download, error) {
		d, err := l.store(brief, url)
		if err == nil && brief.Err() != nil {
			l.finishedLate.Store(url, d)
		}
		return d, err
	})
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "the download of a result took longer than %s", fetchTime)
	}
	return got, err
}

type download struct {
	blob     media.Blob
	declared string
}

func (l *downloads) store(ctx context.Context, url string) (download, error) {
	body, declared, err := l.get(ctx, url)
	switch media.CodeOf(err) {
	case "":
	case media.CodeNotFound, media.CodeForbidden: // the link fails, but its result was made
		e := media.Errorf(media.CodeBadResponse, "the provider made the result, but its link no longer works (%s): it may be billed; ask again if you accept that", fault.Of(err).Message)
		e.Cause = errRefusedLink
		return download{}, e
	default:
		return download{}, fault.Wrap("fetch result", err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // it is late, but still kept
		longer, over := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer over()
		ctx = longer
	}
	stop := context.AfterFunc(ctx, func() { _ = body.Close() }) // a body may ignore ctx
	defer stop()
	b, err := l.storage.Store(ctx, body, declared)
	if stop() {
		err = errors.Join(err, body.Close())
	}
	if err != nil {
		return download{}, fault.Wrap("store fetched result", err)
	}
	return download{b, declared}, nil
}

// defaultLinkLife is the lifetime of a result's link at a provider that does not document it: a link that is refused
// before that is requested again.
const defaultLinkLife = 24 * time.Hour

// pending is a result that its provider made and that could not yet be fetched or stored.
type pending struct {
	at    int // its index in the provider's list
	index int // its slot
	item  driver.Item
	why   *media.Error
}

// isAvailableLater reports whether a result that could not be fetched or stored may be available later: its link may
// work, or there may be a new link, or free space.
func (d *delivery) isAvailableLater(item driver.Item, err *media.Error) bool {
	switch {
	case err.Code == media.CodeDiskFull:
		return true
	case item.URL == "" || item.Blob != nil:
		return false
	case errors.Is(err, errRefusedLink):
		life := cmp.Or(time.Duration(d.call.plan.Model.LinkSeconds)*time.Second, defaultLinkLife)
		dead := !d.begun.IsZero() && d.x.g.config.Now().Sub(d.begun) > life
		return d.pollable && (!dead || d.updateCount < 2 && !d.x.once) // past the lifetime, a newer update may have another link
	default:
		return fetchable(err)
	}
}

// newest returns the result as in a newer update, whose link may differ.
func (p pending) newest(u driver.Update) driver.Item {
	if p.at < len(u.Items) && p.item.URL != "" {
		return u.Items[p.at]
	}
	return p.item
}

func (d *delivery) pendingReason() *media.Error {
	if len(d.pending) > 0 {
		return d.pending[0].why
	}
	return d.blocked
}

// leaveResults leaves results that could not be fetched or stored to the process that continues the operation. It
// returns nil if no process can; the results are then lost.
func (d *delivery) leaveResults(reason *media.Error) *media.Error {
	x := d.x
	if !x.departure.resumable {
		return nil
	}
	return x.departure.leave(media.CodeDeadline, "leave the results to be fetched",
		"a result is made and paid for, but could not be fetched or stored yet, so it was left to be fetched (atelier generate --wait ", x.op.ID, "): ", reason.Message)
}

// undecided leaves a call whose answer came and could not be stored, until a person decides whether to pay for it
// again. It returns nil for any other call, and if the operation cannot be resumed.
func (d *delivery) undecided() *media.Error {
	reason := d.pendingReason()
	if reason == nil || reason.Code != media.CodeDiskFull || d.pollable || !d.x.departure.resumable {
		return nil
	}
	for i := range d.pending {
		d.pending[i].why = d.lost(d.pending[i].why)
	}
	if d.blocked != nil {
		d.blocked = d.lost(d.blocked)
	}
	d.why = slotError(d.pendingReason())
	return d.x.departure.leave(media.CodeDiskFull, "leave the lost results to a decision")
}

// lost returns the error of a result that cannot be fetched again.
func (d *delivery) lost(reason *media.Error) *media.Error {
	e := *reason
	e.Retryable = false
	e.Message = fmt.Sprintf("the provider made the result, and it could not be stored: %s: the answer cannot be fetched again; atelier operations retry %s --all asks again and pays again, atelier operations cancel %[2]s ends it", reason.Message, d.x.op.ID)
	return &e
}

// unanswered reports whether a call was sent, is not over and has no task to poll.
func unanswered(a operation.Attempt) bool {
	return a.Status == generate.StatusSubmitted && a.Task == (driver.Handle{})
}

// isLost reports whether the answer of a call came and could not be stored.
func isLost(a operation.Attempt) bool {
	return unanswered(a) && a.Error != nil && a.Error.Code == media.CodeDiskFull
}

// undecided reports whether an operation lacks only answers that came and could not be stored. It then waits for
// [Gateway.Retry] with [RetryOptions.All], or for [Gateway.Cancel].
func (c *claim) undecided() bool {
	lost := false
	for _, a := range c.Attempts {
		if !a.Status.Finished() && !isLost(a) {
			return false
		}
		lost = lost || isLost(a)
	}
	return lost && !c.Finished()
}

// fetchAgain keeps fetching the results of an answer that has no task to poll, until the model's wait is over. Results
// that are still missing then are lost.
func (d *delivery) fetchAgain(ctx context.Context, u driver.Update) {
	x, waited := d.x, time.Duration(0)
	wait := cmp.Or(time.Duration(d.call.plan.Model.WaitSeconds)*time.Second, defaultWait)
	for tries := 0; ; tries++ {
		reason := d.pendingReason()
		if reason == nil {
			return
		}
		pause := min(fetchPause<<min(tries, 10), maxFetchPause)
		if waited += pause; waited > wait || x.once || reason.Code == media.CodeDiskFull || x.steps.Sleep(ctx, pause) != nil {
			return
		}
		d.take(ctx, u)
	}
}

// conclude ends pending results: if the call is left, their slots are left with the reason; otherwise they are lost.
func (d *delivery) conclude(ctx context.Context, failed *media.Error) {
	waits := d.pending
	d.pending = nil
	if d.blocked != nil {
		waits = append(waits, pending{index: d.place(ctx, &driver.Item{}), why: d.blocked})
		d.got, d.producedCount = d.got+1, d.producedCount+1
	}
	d.blocked = nil
	for _, p := range waits {
		d.settle(ctx)
		if stillRunning(failed) {
			d.x.settleSlot(ctx, generate.Slot{Index: p.index, Error: slotError(p.why)}, operation.EventLeave)
			continue
		}
		reason := *p.why
		if failed != nil && operation.GaveUp(failed.Code) {
			reason.Code = failed.Code
		}
		what := " --all asks for it again, and it is paid for again"
		if d.pollable {
			what = " looks for it there"
		}
		reason.Message = "the provider made the result, and it could not be fetched or stored: " + reason.Message + ": it may be billed; atelier operations retry " + d.x.op.ID + what
		reason.Cause, reason.Retryable = nil, false
		d.fail(generate.Slot{Index: p.index}, &reason)
	}
}

// fail makes a slot without a result the newest one.
func (d *delivery) fail(s generate.Slot, err *media.Error) {
	s.Error = slotError(err)
	d.bad = append(d.bad, slotEnd(s))
	if d.why == nil { // a result's retry does not depend on its call's
		d.why = &generate.SlotError{Code: s.Error.Code, Message: s.Error.Message}
	}
	d.last = &s
}
