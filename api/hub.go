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
	// gather is how long an event waits for others of its moment, and pause is the least time between
	// two sends, both for each reader: a send takes about 15 µs of a processor per reader, so that
	// ten events of one moment reach a thousand readers sooner together than one by one. Few readers
	// do not wait.
	gather = 10 * time.Microsecond
	pause  = 20 * time.Microsecond
	few    = 100
	// readerBuffer is how many sends a reader may fall behind before it is dropped. It reconnects
	// with its Last-Event-ID.
	readerBuffer = 256
	// pollEvery is how often the events of other processes are read.
	pollEvery = time.Second
	// keptTrees is the number of runs whose conversations are cached.
	keptTrees = 4096
)

// EventSource is the source of a [Hub].
type EventSource interface {
	// EventsAfter lists saved events with positions above after, in order: those of a run's tree,
	// or all. An unknown run is media.CodeNotFound.
	EventsAfter(ctx context.Context, run string, after int64, limit int) ([]ledger.Event, error)
	// LastPosition is the position of the newest event; 0 if there is none.
	LastPosition(ctx context.Context) (int64, error)
	// ConversationOf is the conversation of a run tree; empty if there is none. A tree whose events
	// are not for the streams is media.CodeNotFound.
	ConversationOf(ctx context.Context, tree string) (string, error)
	// Subscribe delivers new events of this process. The channel is closed when its reader is too
	// slow, and by stop. Events that are not saved have no position.
	Subscribe() (events <-chan ledger.Event, stop func())
}

// Hub delivers events to the readers of streams: in the order of their positions, without gaps or
// repeats, including those of other processes. Slow readers are dropped.
type Hub struct {
	src EventSource

	mu      sync.Mutex // guards readers, stopped, texts and pending
	readers map[*eventReader]struct{}
	stopped bool
	// pending are the events since the last send.
	pending []frame
	// texts are messages in progress, by run: a new reader gets the whole text.
	texts map[string]writing

	begun     chan struct{}        // closed when the end of the log is known, from which on readers miss nothing
	transient chan ledger.Event    // what is not saved, and in no run
	trees     map[string]knownTree // of the goroutine of Run alone
	last      int64                // the position up to which everything was delivered; likewise
	next      *time.Timer          // ends with a send; likewise
	waiting   bool                 // next runs; likewise
}

// knownTree is the cached facts of a run tree.
type knownTree struct {
	conversation string
	// foreign means that its events are not for these streams.
	foreign bool
}

// writing is a message in progress.
type writing struct {
	tree string
	text []rune
	show frame
}

// frame is an event as it is sent to all readers.
type frame struct {
	tree     string
	position int64 // 0 for what is not saved
	text     []byte
}

// eventReader is one open stream.
type eventReader struct {
	tree   string
	frames chan []frame
}

// NewHub creates a hub, which delivers nothing until it runs.
func NewHub(src EventSource) *Hub {
	return &Hub{src: src, readers: map[*eventReader]struct{}{}, texts: map[string]writing{}, trees: map[string]knownTree{}, begun: make(chan struct{}), transient: make(chan ledger.Event, readerBuffer)}
}

// Tell delivers an event that is not saved to the readers of all events. It does not block: if the
// queue is full, the event is dropped.
func (h *Hub) Tell(e ledger.Event) {
	select {
	case h.transient <- e:
	default:
	}
}

// Run delivers events until ctx ends; then all streams end.
func (h *Hub) Run(ctx context.Context) {
	defer h.stop()
	events, unsubscribe := h.src.Subscribe()
	defer func() { unsubscribe() }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	h.next = time.NewTimer(0)
	defer h.next.Stop()
	h.waiting = true
	started := h.begin(ctx)
	for {
		select {
		case <-h.next.C:
			h.waiting = false
			h.send()
			continue
		case e, ok := <-events:
			switch {
			case !ok:
				events, unsubscribe = h.src.Subscribe()
			case e.Position == 0:
				h.showRun(ctx, e)
				continue
			case e.Position <= h.last:
				continue
			case e.Position == h.last+1 && started:
				h.pass(ctx, e)
				continue
			}
		case e := <-h.transient:
			h.show(e, "")
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

// begin finds the current end of the log.
func (h *Hub) begin(ctx context.Context) bool {
	last, err := h.src.LastPosition(ctx)
	h.last = max(h.last, last)
	if err == nil {
		close(h.begun)
	}
	return err == nil
}

// catchUp delivers saved events that were not received directly.
func (h *Hub) catchUp(ctx context.Context) {
	for {
		events, err := h.src.EventsAfter(ctx, "", h.last, ledger.MaxLimit)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "events not read", slog.String("error", media.ErrorText(err.Error())))
		}
		for _, e := range events {
			h.pass(ctx, e)
		}
		if len(events) < ledger.MaxLimit {
			return
		}
	}
}

// pass delivers a saved event.
func (h *Hub) pass(ctx context.Context, e ledger.Event) {
	h.last = max(h.last, e.Position)
	h.showRun(ctx, e)
}

// showRun delivers an event of a run, unless the run belongs to another owner.
func (h *Hub) showRun(ctx context.Context, e ledger.Event) {
	h.mu.Lock()
	idle := len(h.readers) == 0
	h.mu.Unlock()
	conversation, visible := "", true
	if !idle || e.Kind == kindDelta {
		conversation, visible = h.conversation(ctx, e.Tree)
	}
	if visible {
		h.show(e, conversation)
	}
}

// show delivers an event to the readers of its tree: now, or with the next send.
func (h *Hub) show(e ledger.Event, conversation string) {
	h.mu.Lock()
	if f, ok := h.frame(e, conversation); ok {
		h.pending = append(h.pending, f)
	}
	readers := len(h.readers)
	h.mu.Unlock()
	switch {
	case h.waiting:
	case readers > few:
		h.wait(readers, gather)
	default:
		h.send()
	}
}

// wait lets the next send wait for a time per reader.
func (h *Hub) wait(readers int, each time.Duration) {
	h.next.Reset(time.Duration(readers) * each)
	h.waiting = true
}

// send sends the pending events, if there are any.
func (h *Hub) send() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pending) > 0 {
		h.flush()
		h.wait(len(h.readers), pause)
	}
}

// flush passes the pending events to their readers; the caller holds mu.
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

// kindDelta is a part of a message.
const kindDelta = "message-delta"

// frame encodes an event, a partial message as the whole text so far. The caller holds mu.
func (h *Hub) frame(e ledger.Event, conversation string) (frame, bool) {
	if e.Kind == kindDelta {
		text, ok := h.written(e)
		if !ok {
			return frame{}, false
		}
		e.Payload, _ = json.Marshal(map[string]string{"text": string(text)}) // text can be written
		f := frame{e.Tree, e.Position, encodeEvent(e, conversation)}
		late := e
		late.Position = 0
		h.texts[e.RunID] = writing{e.Tree, text, frame{e.Tree, 0, encodeEvent(late, conversation)}}
		return f, true
	}
	if e.Kind == "operation-partial" {
		e.Payload = addressed(e.Payload)
	}
	if over := strings.TrimPrefix(e.Kind, "run-"); e.Kind == "message-withdrawn" || over == "succeeded" || over == "failed" || over == "cancelled" || over == "paused" {
		delete(h.texts, e.RunID)
		for run, w := range h.texts {
			if w.tree == e.Tree && e.RunID == e.Tree {
				delete(h.texts, run)
			}
		}
	}
	return frame{e.Tree, e.Position, encodeEvent(e, conversation)}, true
}

// addressed gives the item of a preview, which has no record, an address for its bytes.
func addressed(payload json.RawMessage) json.RawMessage {
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
	b, err := json.Marshal(p)
	if err != nil {
		return payload
	}
	return b
}

// written is the message of a run with a new part. A part that does not follow is omitted.
func (h *Hub) written(e ledger.Event) ([]rune, bool) {
	var part struct {
		Text   string `json:"text"`
		Offset int    `json:"offset"`
	}
	if json.Unmarshal(e.Payload, &part) != nil || part.Offset < 0 {
		return nil, false
	}
	have := h.texts[e.RunID].text
	if part.Offset > len(have) {
		return nil, false
	}
	return append(have[:part.Offset:part.Offset], []rune(part.Text)...), true
}

// conversation is the conversation of a tree, which does not change, and whether the tree is for
// these streams.
func (h *Hub) conversation(ctx context.Context, tree string) (id string, visible bool) {
	if t, ok := h.trees[tree]; ok {
		return t.conversation, !t.foreign
	}
	c, err := h.src.ConversationOf(ctx, tree)
	foreign := media.CodeOf(err) == media.CodeNotFound
	if err != nil && !foreign {
		slog.WarnContext(ctx, "owner of a run not read", slog.String("run", tree), slog.String("error", media.ErrorText(err.Error())))
		h.dropAll() // the readers reconnect, and get what was saved
		return "", false
	}
	if len(h.trees) >= keptTrees {
		clear(h.trees)
	}
	h.trees[tree] = knownTree{c, foreign}
	return c, !foreign
}

// encodeEvent encodes an event for the wire: its payload and its common fields.
func encodeEvent(e ledger.Event, conversation string) []byte {
	about, err := json.Marshal(eventAbout{e.RunID, e.Tree, conversation, e.AgentPath, e.CreatedAt.UTC()})
	if err != nil {
		about = []byte("{}") // strings and a time can be written
	}
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

// join opens a reader of a tree, or of all, with the messages in progress.
func (h *Hub) join(tree string) (r *eventReader, now []frame, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return nil, nil, false
	}
	h.flush() // what is pending is in the messages in progress, or saved
	r = &eventReader{tree: tree, frames: make(chan []frame, readerBuffer)}
	h.readers[r] = struct{}{}
	for _, w := range h.texts {
		if tree == "" || w.tree == tree {
			now = append(now, w.show)
		}
	}
	return r, now, true
}

// Readers is the number of open streams.
func (h *Hub) Readers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.readers)
}

// leave closes a reader.
func (h *Hub) leave(r *eventReader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(r)
}

// drop closes a reader once; the caller holds mu.
func (h *Hub) drop(r *eventReader) {
	if _, ok := h.readers[r]; ok {
		delete(h.readers, r)
		close(r.frames)
	}
}

func (h *Hub) stop() {
	select {
	case <-h.begun:
	default:
		close(h.begun) // waiting readers learn that the hub has stopped
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
