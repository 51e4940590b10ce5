package agent_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/agent"
	"atelier/media"
)

// tickingClock returns a clock that advances whenever it is read.
func tickingClock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(50 * time.Millisecond)
		return at
	}
}

// shownMessages joins the parts of messages as a reader does, and returns the texts that were shown when they were
// withdrawn.
func shownMessages(t *testing.T, events []agent.Event) (text string, parts int, withdrawn []string) {
	t.Helper()
	for _, e := range events {
		switch d := e.Data.(type) {
		case agent.MessageDelta:
			if d.Offset == 0 {
				text = ""
			}
			if d.Offset != len([]rune(text)) {
				t.Errorf("offset %d after %q", d.Offset, text)
			}
			if text += d.Text; d.Partial {
				parts++
			}
			if d.Partial && e.Key != "" || e.Transient() != d.Partial {
				t.Errorf("%+v", e)
			}
		case agent.MessageWithdrawn:
			withdrawn, text = append(withdrawn, text), ""
		}
	}
	return text, parts, withdrawn
}

func TestMessagesAreShownWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	const message = "Grüße aus Köln: drei Bilder, 1,234.5 km und ein langes Wort Donaudampfschifffahrtsgesellschaftskapitänsmütze."
	w := build(t, setup{
		agents:  map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {streamedAnswer{text: `{"reasoning":"short","message":"` + message + `","done":true}`}}},
		now:     tickingClock(),
	})
	res, err := w.run(t, "hello")
	if err != nil || res.Message != message {
		t.Fatalf("%v, %q", err, res.Message)
	}
	text, parts, withdrawn := shownMessages(t, w.watcher.events)
	if text != message || parts < 10 || len(withdrawn) > 0 {
		t.Errorf("%d parts, withdrawn %q, at last %q", parts, withdrawn, text)
	}
}

func TestBrokenAnswersAreWithdrawn(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {
			streamedAnswer{text: `{"message":"It is done","done":maybe}`}, streamedAnswer{text: `{"message":"Done.","done":true}`},
		}},
		now: tickingClock(),
	})
	if _, err := w.run(t, "hello"); err != nil {
		t.Fatal(err)
	}
	text, _, withdrawn := shownMessages(t, w.watcher.events)
	if text != "Done." || len(withdrawn) != 1 || !strings.HasPrefix("It is done", withdrawn[0]) {
		t.Errorf("withdrawn %q, at last %q", withdrawn, text)
	}
}

// TestCancelledMessagesStay: the text that was shown before the run was cancelled is its message.
func TestCancelledMessagesStay(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := build(t, setup{
		agents: map[string]string{"painter": painter},
		answers: map[string][]any{"painter": {streamedAnswer{text: `{"message":"The first half of a long`, after: func() error {
			cancel()
			return context.Cause(ctx)
		}}}},
		now: tickingClock(),
	})
	res, err := w.runner.Run(ctx, agent.Request{Agent: "painter", Message: "hello", Owner: "local"})
	if !errors.Is(err, context.Canceled) && media.CodeOf(err) != media.CodeCancelled {
		t.Fatal(err)
	}
	if res.Status != agent.StatusCancelled || !strings.HasPrefix("The first half of a long", res.Message) || len(res.Message) < 15 {
		t.Errorf("%s, message %q", res.Status, res.Message)
	}
}

// TestPartsHoldNoMedia: no part contains base64 of an answer, however the answer is split.
func TestPartsHoldNoMedia(t *testing.T) {
	t.Parallel()
	raw := strings.Repeat("\x89PNG\r\n\x1a\nbytes", 40)
	for _, before := range []string{"", "data:image/png;base64,", "picture: ", "![x](data:image/png;base64,"} {
		for _, b64 := range []string{base64.StdEncoding.EncodeToString([]byte(raw)), base64.RawURLEncoding.EncodeToString([]byte(raw[:70]))} {
			if before != "data:image/png;base64," && len(b64) < 256 {
				continue // short base64 is text unless it is declared
			}
			w := build(t, setup{
				agents:  map[string]string{"painter": painter},
				answers: map[string][]any{"painter": {streamedAnswer{text: `{"message":"Look: ` + before + b64 + ` nice","done":true}`}}},
				now:     tickingClock(),
			})
			_, _ = w.run(t, "hello") // an answer with a broken picture may fail
			for _, e := range w.watcher.events {
				d, ok := e.Data.(agent.MessageDelta)
				if !ok || !d.Partial {
					continue
				}
				for i := 0; i+48 <= len(b64); i++ {
					if strings.Contains(d.Text, b64[i:i+48]) {
						t.Fatalf("%s: %q is shown", before, d.Text)
					}
				}
				if strings.Contains(d.Text, b64[:12]) {
					t.Errorf("%q: the beginning is shown: %q", before, d.Text)
				}
			}
		}
	}
}
