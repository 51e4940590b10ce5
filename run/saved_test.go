package run_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/conversation"
	"atelier/run/durable"
)

// addRows writes missing golden rows. Existing ones are never changed.
var addRows = flag.Bool("update", false, "add missing golden rows")

// TestGoldenRows resumes runs whose rows other versions wrote.
func TestGoldenRows(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]*agent.Reply{"paused": colour("red"), "answered": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, questionAnswers()...)
			h.service = h.newDurableService(t)
			path := filepath.Join("testdata", "states", "v1", name+".json")
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && *addRows {
				h.writeRow(t, path, reply == nil)
			}
			b, err := os.ReadFile(path)
			must(t, err)
			var st ledger.RunState
			must(t, json.Unmarshal(b, &st))
			var kept struct {
				Thread struct {
					ID    string         `json:"id"`
					Asked ledger.Message `json:"asked"`
				} `json:"thread"`
			}
			must(t, json.Unmarshal(st.State, &kept))

			h = build(t, questionAnswers()[2])
			h.service = h.newDurableService(t)
			ctx := t.Context()
			must(t, h.store.CreateRun(ctx, ledger.Run{ID: st.RunID, Owner: st.Owner, Tree: st.RunID, Agent: "painter", Task: "paint", Status: ledger.StatusPaused}))
			must(t, h.store.CreateConversation(ctx, ledger.Conversation{ID: kept.Thread.ID, Owner: st.Owner, Title: "paint"}))
			must(t, h.store.SaveMessage(ctx, st.Owner, kept.Thread.Asked))
			must(t, h.store.SaveRunState(ctx, st))
			res := h.finish(t, st.RunID, reply)
			if res.Status != agent.StatusSucceeded || res.Message != "Painted." || res.Usage.ModelCalls != 3 || len(res.AlsoMade) != 2 || h.modelCalls() != 1 {
				t.Errorf("result %+v", res)
			}
			if messages, _ := h.stored(t, kept.Thread.ID); len(messages) != 2 || messages[1].Text != "Painted." {
				t.Errorf("messages %+v", messages)
			}
		})
	}
}

// writeRow writes a golden row.
func (h *testService) writeRow(t *testing.T, path string, answered bool) {
	t.Helper()
	id := h.paused(t, conversation.New).RunID
	if answered {
		h.answerOnly(t, id)
	}
	st, err := h.store.RunState(t.Context(), owner, id)
	must(t, err)
	b, err := json.MarshalIndent(st, "", " ")
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(path), 0o750))
	must(t, os.WriteFile(path, append(b, '\n'), 0o600))
}

// TestNoBytesInPausedRuns searches ledger and engine for a picture of the message and one of the answer, and for one in
// the answer's text: while the run is paused, paused again, and finished.
func TestNoBytesInPausedRuns(t *testing.T) {
	t.Parallel()
	h := build(t, append([]string{`{"ask":{"question":"What does it show?"}}`}, questionAnswers()[1:]...)...)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	first, second, third := picture(t, 1), picture(t, 2), picture(t, 3)
	search := func(when string) {
		t.Helper()
		known := 0
		for where, db := range h.dump(t) {
			for n, p := range [][]byte{first, second, third} {
				if containsAny(db, substrings(base64.StdEncoding.EncodeToString(p), 48), 48) || containsAny(db, substrings(string(p), 32), 32) {
					t.Errorf("%s: %s holds picture %d", when, where, n+1)
				}
			}
			if strings.Contains(db, "img-") && strings.Contains(db, `"steps"`) {
				known++
			}
		}
		if known == 0 {
			t.Errorf("%s: no saved state was searched", when)
		}
	}
	res, err := h.service.Run(ctx, agent.Request{
		Agent: "painter", Message: "look", Owner: owner, LenientImages: true, Images: []agent.Image{{Data: first}},
	})
	must(t, err)
	search("paused")
	text, err := json.Marshal(map[string]string{"answer": "this: data:image/png;base64," + base64.StdEncoding.EncodeToString(third)})
	must(t, err)
	r, err := h.service.Resume(ctx, owner, res.RunID, &agent.Reply{Value: text, Images: []agent.Image{{Data: second}}, Note: base64.StdEncoding.EncodeToString(third)})
	must(t, err)
	if res, err = r.Wait(ctx); err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("%+v, %v", res, err)
	}
	search("paused again")
	if res = h.finish(t, res.RunID, colour("red")); res.Status != agent.StatusSucceeded || len(res.All()) != 3 {
		t.Errorf("%s with %d items, want the three that came in", res.Status, len(res.All()))
	}
	search("over")
}

// TestNoBytesInForks: data that a fork has in its message, in its input and as pictures is stored as media when the
// fork is saved.
func TestNoBytesInForks(t *testing.T) {
	t.Parallel()
	h := build(t, `{"message":"Seen.","done":true}`)
	h.service = h.newDurableService(t)
	first, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Owner: owner})
	must(t, err)
	var data [3][]byte
	var text [3]string
	for n := range data {
		data[n] = picture(t, uint8(n+1))
		text[n] = "data:image/png;base64," + base64.StdEncoding.EncodeToString(data[n])
	}
	res := h.forked(t, first.RunID, run.Fork{
		From: "turn-1-model", Message: "like " + text[0], Input: map[string]any{"also": text[1]}, Images: []agent.Image{{Data: data[2]}},
	})
	if len(res.All()) != len(data) || len(res.InputImages) != 1 {
		t.Errorf("the fork has %v", res.All())
	}
	searched := 0
	for where, db := range h.dump(t) {
		for n, p := range data {
			if containsAny(db, substrings(base64.StdEncoding.EncodeToString(p), 48), 48) || containsAny(db, substrings(string(p), 32), 32) {
				t.Errorf("%s holds picture %d", where, n+1)
			}
		}
		if strings.Contains(db, "${media:img-") {
			searched++
		}
	}
	if searched == 0 {
		t.Error("what was kept of the fork was not searched")
	}
}

// picture returns a PNG that differs for each number.
func picture(t *testing.T, n uint8) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	for i := range 1600 {
		img.Set(i%40, i/40, color.NRGBA{R: uint8(i*i>>3) ^ n, G: uint8(i * 131), B: uint8(i*i>>5) + 7*n, A: 255})
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, img))
	return b.Bytes()
}

// blockingLedger is a ledger that blocks after the commit of a state.
type blockingLedger struct {
	store
	saved, goOn chan struct{}
}

func (l *blockingLedger) SaveRunState(ctx context.Context, st ledger.RunState) error {
	err := l.store.SaveRunState(ctx, st)
	close(l.saved)
	<-l.goOn
	return err
}

// TestStateSavedWorkflowNotOver: the process ends when the state is saved and the workflow is not finished. The run is
// paused; the rest of the workflow ends without a trace.
func TestStateSavedWorkflowNotOver(t *testing.T) {
	t.Parallel()
	for name, takeOverFirst := range map[string]bool{"taken over, then answered": true, "answered, then taken over": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, questionAnswers()...)
			l := &blockingLedger{store: h.store, saved: make(chan struct{}), goOn: make(chan struct{})}
			engine, err := durable.Open(t.Context(), h.engineConfig())
			must(t, err)
			dying, err := run.NewService(run.Config{Agents: h.runner, Ledger: l, Observer: h.observer, Engine: engine})
			must(t, err)
			r, err := dying.Start(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
			must(t, err)
			<-l.saved
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				dying.HandOver(gone)
			}()
			time.Sleep(20 * time.Millisecond) // the process is ending when the commit is known
			close(l.goOn)
			<-ended

			h.service = h.newDurableService(t)
			takeOver := func(want int) {
				t.Helper()
				n, err := h.service.Adopt(t.Context())
				if n != want || err != nil {
					t.Errorf("took %d over, %v; want %d", n, err, want)
				}
			}
			if takeOverFirst {
				takeOver(1)
				for n := 1; n > 0; { // it finishes as soon as it is adopted
					n, err = h.service.Adopt(t.Context())
					must(t, err)
					time.Sleep(time.Millisecond)
				}
			}
			if got := h.status(t, r.ID); got != ledger.StatusPaused {
				t.Errorf("the run is %s", got)
			}
			if _, err := h.service.Resume(t.Context(), owner, r.ID, nil); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "Which colour?") {
				t.Errorf("resumed without an answer: %v", err)
			}
			res := h.finish(t, r.ID, colour("blue"))
			if res.Status != agent.StatusSucceeded || h.modelCalls() != 3 {
				t.Errorf("%+v after %d questions", res, h.modelCalls())
			}
			if !takeOverFirst {
				takeOver(1)
			}
			if n := h.eventCounts(t, r.ID); n["run-paused"] != 1 || n["run-resumed"] != 1 || n["run-succeeded"] != 1 {
				t.Errorf("events %v", n)
			}
			if got := h.status(t, r.ID); got != ledger.StatusSucceeded {
				t.Errorf("the run is %s", got)
			}
		})
	}
}
