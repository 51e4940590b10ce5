package gateway

import (
	"context"
	"errors"
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

// write stores a result in words.
func (d *delivery) write(ctx context.Context, item *driver.Item) *media.Error {
	store := d.x.g.config.Storage
	if store == nil {
		return media.Errorf(media.CodeUnsupported, "the result is a text, and this gateway was set up without Storage")
	}
	b, err := store.Store(ctx, strings.NewReader(strings.TrimSpace(item.Text)+"\n"), "text/plain")
	if err != nil {
		return fault.Of(fault.Wrap("store text", err))
	}
	item.Blob = &b
	return nil
}

// fetchAttempts is how often a link is tried in a row: fetching costs nothing. What does not come so
// is pending, see [delivery.later].
const fetchAttempts = 3

// fetchesAtOnce is how many links of an update are fetched at the same time.
const fetchesAtOnce = 8

// arrival is the result of a link that is being fetched.
type arrival struct {
	done     chan struct{} // closed when it has come, or failed
	blob     media.Blob
	declared string
	err      error
}

// fetchAhead begins to fetch all links of an update at the same time: one that hangs must not keep
// the others waiting, whose links expire. end stops what is still under way.
func (d *delivery) fetchAhead(ctx context.Context, u driver.Update) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	room := make(chan struct{}, fetchesAtOnce)
	d.coming = map[string]*arrival{}
	for _, link := range d.links(u) {
		if d.coming[link] != nil {
			continue
		}
		a := &arrival{done: make(chan struct{})}
		d.coming[link] = a
		running.Go(func() {
			defer close(a.done)
			room <- struct{}{}
			defer func() { <-room }()
			a.blob, a.declared, a.err = d.x.downloads.fetch(d.trusting(ctx), link, d.attempts())
		})
	}
	return func() {
		cancel()
		running.Wait()
		d.coming = nil
	}
}

// links lists those of an update that are to be fetched: of what is pending, and of what is new
// and in no slot.
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

// attempts is how often a link is tried in a row: what is pending is tried again anyway.
func (d *delivery) attempts() int {
	if d.takes > 1 {
		return 1
	}
	return fetchAttempts
}

// fetch gets a result that came as a link, or waits for it where that has begun.
func (d *delivery) fetch(ctx context.Context, link string) (media.Blob, string, error) {
	a := d.coming[link]
	if a == nil {
		return d.x.downloads.fetch(d.trusting(ctx), link, d.attempts())
	}
	<-a.done // it ends with ctx
	return a.blob, a.declared, a.err
}

// downloads fetches results that providers gave as links, and stores them. A download that takes too
// long is not waited for; what comes of it later is given to the next try of its link. It is safe for
// concurrent use.
type downloads struct {
	storage generate.Storage
	get     Fetch
	late    sync.Map // downloads that came after their time, by link
}

// fetch gets a result that came as a link, at once: links expire. It is tried so often.
func (l *downloads) fetch(ctx context.Context, url string, attempts int) (media.Blob, string, error) {
	for number := 1; ; number++ {
		b, declared, err := l.once(ctx, url)
		if err == nil || number >= attempts || !passing(fault.Of(err)) || lasting(fault.Of(err).Code) {
			return b, declared, err
		}
		// A plain wait and no journalled one: a replay fetches anew or not at all.
		if err := (journal.Memory{}).Sleep(ctx, time.Duration(number)*fetchPause); err != nil {
			return media.Blob{}, "", fault.Of(err)
		}
	}
}

// fetchTime is the most that one download takes.
const fetchTime = 2 * time.Minute

// fetchPause grows with every try, up to longestFetchPause.
const (
	fetchPause        = 100 * time.Millisecond
	longestFetchPause = 20 * time.Second
)

// passing tells the errors of a download that another try can mend.
func passing(err *media.Error) bool { return err.Retryable || operation.Passing(err.Code) }

// lasting tells the codes of such errors where another try at once is of no use.
func lasting(c media.Code) bool { return c == media.CodeDeadline || c == media.CodeDiskFull }

// errRefusedLink is the cause where a link leads nowhere, or no more.
var errRefusedLink = errors.New("link refused")

// once tries a link one time.
func (l *downloads) once(ctx context.Context, url string) (media.Blob, string, error) {
	if l.storage == nil {
		return media.Blob{}, "", media.Errorf(media.CodeUnsupported, "the result is a link, and this gateway was set up without Storage")
	}
	if came, ok := l.late.LoadAndDelete(url); ok {
		d, _ := came.(download)
		return d.blob, d.declared, nil
	}
	brief, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	got, err := within(brief, func() (download, error) { return l.store(brief, url) }, func(d download) { l.late.Store(url, d) })
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "the download of a result took longer than %s", fetchTime)
	}
	return got.blob, got.declared, err
}

// download is what a link led to.
type download struct {
	blob     media.Blob
	declared string
}

// store fetches and stores what a link leads to.
func (l *downloads) store(ctx context.Context, url string) (download, error) {
	body, declared, err := l.get(ctx, url)
	if err != nil {
		return download{}, linkError(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // it came late, and is kept all the same
		longer, over := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer over()
		ctx = longer
	}
	stop := context.AfterFunc(ctx, func() { _ = body.Close() }) // a body need not know ctx
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

// linkError says what a link that cannot be fetched means: the answer to it is not the
// provider's answer to the request, and what it led to was made.
func linkError(err error) error {
	switch media.CodeOf(err) {
	case media.CodeNotFound, media.CodeForbidden:
		e := media.Errorf(media.CodeBadResponse, "the provider made the result, but its link no longer works (%s): it may be billed; ask again if you accept that", fault.Of(err).Message)
		e.Cause = errRefusedLink
		return e
	default:
		return fault.Wrap("fetch result", err)
	}
}
