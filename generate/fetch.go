package generate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"atelier/journal"
	"atelier/media"
)

// write stores a result in words.
func (d *delivery) write(ctx context.Context, item *Item) *media.Error {
	store := d.x.g.config.Storage
	if store == nil {
		return media.Errorf(media.CodeUnsupported, "the result is a text, and this gateway was set up without Storage")
	}
	b, err := store.Store(ctx, strings.NewReader(strings.TrimSpace(item.Text)+"\n"), "text/plain")
	if err != nil {
		return asError(wrap("store text", err))
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
func (d *delivery) fetchAhead(ctx context.Context, u Update) (end func()) {
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
			a.blob, a.declared, a.err = d.x.fetch(d.trusting(ctx), link, d.attempts())
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
func (d *delivery) links(u Update) (links []string) {
	items := make([]Item, 0, len(u.Items))
	for _, p := range d.pending {
		items = append(items, p.newest(u))
	}
	for i, item := range u.Items[min(d.seen, len(u.Items)):] {
		if at := d.got + i; at < d.call.n() && d.x.filled(d.call.slots[at]) {
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
		return d.x.fetch(d.trusting(ctx), link, d.attempts())
	}
	<-a.done // it ends with ctx
	return a.blob, a.declared, a.err
}

// fetch gets a result that came as a link, at once: links expire. It is tried so often.
func (x *execution) fetch(ctx context.Context, url string, attempts int) (media.Blob, string, error) {
	for number := 1; ; number++ {
		b, declared, err := x.fetchOnce(ctx, url)
		if err == nil || number >= attempts || !passing(asError(err)) || lasting(asError(err).Code) {
			return b, declared, err
		}
		// A plain wait and no journalled one: a replay fetches anew or not at all.
		if err := (journal.Memory{}).Sleep(ctx, time.Duration(number)*fetchPause); err != nil {
			return media.Blob{}, "", asError(err)
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
func passing(err *media.Error) bool { return err.Retryable || passingCode(err.Code) }

// lasting tells the codes of such errors where another try at once is of no use.
func lasting(c media.Code) bool { return c == media.CodeDeadline || c == media.CodeDiskFull }

// passingCode tells the codes of such errors.
func passingCode(c media.Code) bool {
	return c == media.CodeUnavailable || c == media.CodeCorrupt || c == media.CodeDeadline || c == media.CodeDiskFull
}

// errRefusedLink is the cause where a link leads nowhere, or no more.
var errRefusedLink = errors.New("link refused")

func (x *execution) fetchOnce(ctx context.Context, url string) (media.Blob, string, error) {
	c := x.g.config
	if c.Storage == nil {
		return media.Blob{}, "", media.Errorf(media.CodeUnsupported, "the result is a link, and this gateway was set up without Storage")
	}
	brief, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	b, declared, err := store(brief, c, url)
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "the download of a result took longer than %s", fetchTime)
	}
	return b, declared, err
}

// store fetches and stores what a link leads to.
func store(ctx context.Context, c Config, url string) (media.Blob, string, error) {
	body, declared, err := c.Fetch(ctx, url)
	if err != nil {
		return media.Blob{}, "", linkError(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = body.Close() }) // a body need not know ctx
	defer stop()
	b, err := c.Storage.Store(ctx, body, declared)
	if stop() {
		err = errors.Join(err, body.Close())
	}
	if err != nil {
		return media.Blob{}, "", wrap("store fetched result", err)
	}
	return b, declared, nil
}

// linkError says what a link that cannot be fetched means: the answer to it is not the
// provider's answer to the request, and what it led to was made.
func linkError(err error) error {
	switch media.CodeOf(err) {
	case media.CodeNotFound, media.CodeForbidden:
		e := media.Errorf(media.CodeBadResponse, "the provider made the result, but its link leads nowhere any more (%s): it may be billed; ask again if you accept that", asError(err).Message)
		e.Cause = errRefusedLink
		return e
	default:
		return wrap("fetch result", err)
	}
}
