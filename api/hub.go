package api

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier/ledger"
	"atelier/media"
)

const (
	// batchDelay is how long the hub collects events before it sends them; minSendInterval is the minimum time between
	// two sends. Both are per reader: a send takes about 15 µs of CPU time per reader, so that ten simultaneous events
	// reach a thousand readers sooner together than one by one. With few readers, the hub does not wait.
	batchDelay          = 10 * time.Microsecond
	minSendInterval     = 20 * time.Microsecond
	maxUnbatchedReaders = 100
	// readerBuffer is the number of sends that a reader may fall behind before it is dropped. A dropped reader
	// reconnects with its Last-Event-ID.
	readerBuffer = 256
	// pollEvery is the interval at which events of other processes are read.
	pollEvery = time.Second
	// maxTrees is the number of run trees whose conversations are cached.
	maxTrees = 4096
)

// EventSource is the source of a [Hub].
type EventSource interface {
	// EventsAfter lists saved events with positions greater than after, in order: the events of a run's tree, or all
	// events. The error for an unknown run has code media.CodeNotFound.
	EventsAfter(ctx context.Context, run string, after int64, limit int) ([]ledger.Event, error)
	// LastPosition returns the position of the newest event; 0 if there is none.
	LastPosition(ctx context.Context) (int64, error)
	// ConversationOf returns the conversation of a run tree; empty if there is none. The error for a tree whose events
	// these streams must not deliver has code media.CodeNotFound.
	ConversationOf(ctx context.Context, tree string) (string, error)
	// Subscribe delivers new events of this process. The channel is closed by stop, and when its reader is too slow.
	// Events that are not saved have no position.
	Subscribe() (events <-chan ledger.Event, stop func())
}

// Hub delivers events to the readers of streams, in the order of their positions, without gaps or repeats, and
// including the events of other processes. It drops slow readers.
type Hub struct {
	src EventSource

	mu      sync.Mutex // guards readers, stopped, pending and partialMessages
	readers map[*eventReader]struct{}
	stopped bool
	// pending holds the events since the last send.
	pending []frame
	// partialMessages holds the messages in progress, by run. A new reader gets the whole text.
	partialMessages map[string]partialMessage

	ready     chan struct{}        // closed when the end of the log is known; from then on, readers miss nothing
	transient chan ledger.Event    // events that are not saved and belong to no run
	trees     map[string]knownTree // used only by the goroutine of Run
	last      int64                // all events up to this position were delivered; used only by Run
	sendDue   <-chan time.Time     // fires for a send; nil if none is due; used only by Run
}

// knownTree caches facts about a run tree.
type knownTree struct {
	conversation string
	// foreign means that these streams must not deliver the events of the tree.
	foreign bool
}

// partialMessage is a message in progress.
type partialMessage struct {
	tree string
	text []rune
	show frame
}

// frame is an encoded event, as it is sent to all readers.
type frame struct {
	tree     string
	position int64 // 0 for events that are not saved
	text     []byte
}

// eventReader is one open stream.
type eventReader struct {
	tree   string
	frames chan []frame
}

// NewHub creates a hub. The hub delivers nothing until Run is called.
func NewHub(src EventSource) *Hub {
	return &Hub{src: src, readers: map[*eventReader]struct{}{}, partialMessages: map[string]partialMessage{}, trees: map[string]knownTree{}, ready: make(chan struct{}), transient: make(chan ledger.Event, readerBuffer)}
}

// Publish delivers an event that is not saved to the readers of all events. It does not block: if the queue is full, it
// drops the event.
func (h *Hub) Publish(e ledger.Event) {
	select {
	case h.transient <- e:
	default:
	}
}

// Run delivers events until ctx ends. Then all streams end.
func (h *Hub) Run(ctx context.Context) {
	defer h.stop()
	events, unsubscribe := h.src.Subscribe()
	defer func() { unsubscribe() }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	started := h.begin(ctx)
	for {
		select {
		case <-h.sendDue:
			h.sendDue = nil
			h.send()
			continue
		case e, ok := <-events:
			switch {
			case !ok:
				events, unsubscribe = h.src.Subscribe()
			case e.Position == 0, e.Position == h.last+1 && started:
				h.deliver(ctx, e)
				continue
			case e.Position <= h.last:
				continue
			}
		case e := <-h.transient:
			h.enqueue(e, "")
			continue
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if started = started || h.begin(ctx); started {
			h.catchUp(ctx)
		}
	}
}

// begin determines the current end of the log.
func (h *Hub) begin(ctx context.Context) bool {
	last, err := h.src.LastPosition(ctx)
	h.last = max(h.last, last)
	if err == nil {
		close(h.ready)
	}
	return err == nil
}

// catchUp delivers the saved events that were not received directly.
func (h *Hub) catchUp(ctx context.Context) {
	for {
		events, err := h.src.EventsAfter(ctx, "", h.last, ledger.MaxLimit)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "events not read", slog.String("error", media.ErrorText(err.Error())))
		}
		for _, e := range events {
			h.deliver(ctx, e)
		}
		if len(events) < ledger.MaxLimit {
			return
		}
	}
}

// deliver delivers an event of a run, unless the run belongs to another owner.
func (h *Hub) deliver(ctx context.Context, e ledger.Event) {
	h.last = max(h.last, e.Position)
	h.mu.Lock()
	idle := len(h.readers) == 0 && e.Kind != kindDelta
	if idle {
		h.frame(e, "") // it may end a message in progress; a reader who joins later reads the saved events
	}
	h.mu.Unlock()
	if idle {
		return
	}
	if conversation, visible := h.conversation(ctx, e.Tree); visible {
		h.enqueue(e, conversation)
	}
}

// enqueue delivers an event to the readers of its tree, at once or with the next send.
func (h *Hub) enqueue(e ledger.Event, conversation string) {
	h.mu.Lock()
	if f, ok := h.frame(e, conversation); ok {
		h.pending = append(h.pending, f)
	}
	readers := len(h.readers)
	h.mu.Unlock()
	switch {
	case h.sendDue != nil:
	case readers > maxUnbatchedReaders:
		h.sendDue = time.After(time.Duration(readers) * batchDelay)
	default:
		h.send()
	}
}

// send sends the pending events, if there are any.
func (h *Hub) send() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pending) > 0 {
		h.flush()
		h.sendDue = time.After(time.Duration(len(h.readers)) * minSendInterval)
	}
}

// flush passes the pending events to their readers. The caller must hold mu.
func (h *Hub) flush() {
	all := h.pending
	h.pending = nil
	for r := range h.readers {
		part := all
		if r.tree != "" {
			part = slices.DeleteFunc(slices.Clone(all), func(f frame) bool { return f.tree != r.tree })
		}
		if len(part) == 0 {
			continue
		}
		select {
		case r.frames <- part:
		default:
			h.drop(r)
		}
	}
}

// kindDelta is the kind of events with a part of a message.
const kindDelta = "message-delta"

// frame encodes an event. A partial message becomes the whole text so far. The caller must hold mu.
func (h *Hub) frame(e ledger.Event, conversation string) (frame, bool) {
	if e.Kind == kindDelta {
		text, ok := h.appendDelta(e)
		if !ok {
			return frame{}, false
		}
		e.Payload, _ = json.Marshal(map[string]string{"text": string(text)}) // text can always be encoded
		f := frame{e.Tree, e.Position, encodeEvent(e, conversation)}
		late := e
		late.Position = 0
		h.partialMessages[e.RunID] = partialMessage{e.Tree, text, frame{e.Tree, 0, encodeEvent(late, conversation)}}
		return f, true
	}
	if e.Kind == "operation-partial" {
		e.Payload = withPreviewURL(e.Payload)
	}
	if over := strings.TrimPrefix(e.Kind, "run-"); e.Kind == "message-withdrawn" || over == "succeeded" || over == "failed" || over == "cancelled" || over == "paused" {
		delete(h.partialMessages, e.RunID)
		for run, w := range h.partialMessages {
			if w.tree == e.Tree && e.RunID == e.Tree {
				delete(h.partialMessages, run)
			}
		}
	}
	return frame{e.Tree, e.Position, encodeEvent(e, conversation)}, true
}

// withPreviewURL adds an address for the bytes to the item of a preview, which has no record.
func withPreviewURL(payload json.RawMessage) json.RawMessage {
	var p map[string]any
	if json.Unmarshal(payload, &p) != nil {
		return payload
	}
	output, _ := p["output"].(map[string]any)
	digest, _ := output["digest"].(string)
	if id, _ := output["id"].(string); digest == "" || id != "" {
		return payload
	}
	output["url"] = "/media/" + digest
	b, _ := json.Marshal(p) // it was JSON
	return b
}

// appendDelta returns the message of a run with a new part. A part that leaves a gap is dropped.
func (h *Hub) appendDelta(e ledger.Event) ([]rune, bool) {
	var part struct {
		Text   string `json:"text"`
		Offset int    `json:"offset"`
	}
	if json.Unmarshal(e.Payload, &part) != nil || part.Offset < 0 {
		return nil, false
	}
	have := h.partialMessages[e.RunID].text
	if part.Offset > len(have) {
		return nil, false
	}
	return append(have[:part.Offset:part.Offset], []rune(part.Text)...), true
}

// conversation returns the conversation of a tree, which does not change, and reports whether these streams may deliver
// the events of the tree.
func (h *Hub) conversation(ctx context.Context, tree string) (id string, visible bool) {
	if t, ok := h.trees[tree]; ok {
		return t.conversation, !t.foreign
	}
	c, err := h.src.ConversationOf(ctx, tree)
	foreign := media.CodeOf(err) == media.CodeNotFound
	if err != nil && !foreign {
		slog.WarnContext(ctx, "owner of a run not read", slog.String("run", tree), slog.String("error", media.ErrorText(err.Error())))
		h.dropAll() // the readers reconnect and get the saved events
		return "", false
	}
	if len(h.trees) >= maxTrees {
		clear(h.trees)
	}
	h.trees[tree] = knownTree{c, foreign}
	return c, !foreign
}

// encodeEvent encodes an event as a server-sent event: its common fields and its payload.
func encodeEvent(e ledger.Event, conversation string) []byte {
	// Strings and a time can always be encoded.
	about, _ := json.Marshal(Event{RunID: e.RunID, Tree: e.Tree, ConversationID: conversation, AgentPath: e.AgentPath, At: e.CreatedAt.UTC()})
	var payload bytes.Buffer
	if json.Compact(&payload, e.Payload) != nil || payload.Len() < 2 || payload.Bytes()[0] != '{' {
		payload.Reset()
		payload.WriteString("{}")
	}
	var b bytes.Buffer
	if e.Position > 0 {
		b.WriteString("id: " + strconv.FormatInt(e.Position, 10) + "\n")
	}
	b.WriteString("event: " + e.Kind + "\ndata: ")
	b.Write(about[:len(about)-1])
	if rest := payload.Bytes()[1:]; len(rest) > 1 {
		b.WriteByte(',')
		b.Write(rest)
	} else {
		b.WriteByte('}')
	}
	b.WriteString("\n\n")
	return b.Bytes()
}

// addReader adds a reader of a tree, or of all events, and returns the messages in progress.
func (h *Hub) addReader(tree string) (r *eventReader, now []frame, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return nil, nil, false
	}
	h.flush() // pending events are in the messages in progress, or are saved
	r = &eventReader{tree: tree, frames: make(chan []frame, readerBuffer)}
	h.readers[r] = struct{}{}
	for _, w := range h.partialMessages {
		if tree == "" || w.tree == tree {
			now = append(now, w.show)
		}
	}
	return r, now, true
}

// Readers returns the number of open streams.
func (h *Hub) Readers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.readers)
}

// removeReader closes a reader.
func (h *Hub) removeReader(r *eventReader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(r)
}

// drop closes a reader once. The caller must hold mu.
func (h *Hub) drop(r *eventReader) {
	if _, ok := h.readers[r]; ok {
		delete(h.readers, r)
		close(r.frames)
	}
}

func (h *Hub) stop() {
	select {
	case <-h.ready:
	default:
		close(h.ready) // waiting readers learn that the hub has stopped
	}
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.dropAll()
}

func (h *Hub) dropAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flush()
	for r := range h.readers {
		h.drop(r)
	}
}
