package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
)

// lossyDriver is a blob driver whose blobs can disappear or change.
type lossyDriver struct {
	blob.Driver

	mu     sync.Mutex // guards harmed
	harmed map[media.Digest]string
}

// damage makes a blob missing or damaged.
func (l *lossyDriver) damage(number int, how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.harmed == nil {
		l.harmed = map[media.Digest]string{}
	}
	l.harmed[media.DigestOf(picture(number))] = how
}

func (l *lossyDriver) Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error) {
	l.mu.Lock()
	how := l.harmed[d]
	l.mu.Unlock()
	switch how {
	case "missing":
		return nil, media.Errorf(media.CodeNotFound, "blob %s is not in the store", d)
	case "damaged":
		return io.NopCloser(bytes.NewReader(picture(99))), nil
	}
	return l.Driver.Open(ctx, d, offset, length)
}

// TestBytesGoAwayUnderARun: pictures that existed when the run began are missing or damaged later. A model call detects
// it, or the process that adopts the run does.
func TestBytesGoAwayUnderARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how  string
		lost vision.LostImages
		code media.Code
	}{
		"missing":       {"missing", "", ""},
		"damaged":       {"damaged", vision.LostDrop, ""},
		"missing, stop": {"missing", vision.LostStop, media.CodeNotFound},
		"damaged, stop": {"damaged", vision.LostStop, media.CodeCorrupt},
	} {
		t.Run("in a turn, "+name, func(t *testing.T) {
			t.Parallel()
			w, l := lossyEnv(t)
			w.script.answers["painter"] = []any{
				func(chat.Request) string { l.damage(2, c.how); return listStep }, doneStep,
			}
			res, err := w.runner.Run(t.Context(), agent.Request{
				Agent: "painter", Message: "look", LostImages: c.lost, Images: []agent.Image{{Data: picture(1)}, {Data: picture(2)}},
			})
			checkLost(t, w, res, err, c.code)
		})
		t.Run("taken over, "+name, func(t *testing.T) {
			t.Parallel()
			w, l := lossyEnv(t)
			j := &persistentJournal{}
			w.script.answers["painter"] = []any{func(chat.Request) string { return listStep }, media.Errorf(media.CodeUnavailable, "the process dies"), doneStep}
			ask := agent.Request{
				Agent: "painter", Message: "look", LostImages: c.lost, Images: []agent.Image{{Data: picture(1)}, {Data: picture(2)}}, Journal: j,
			}
			ask, err := w.runner.Prepare(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.runner.Run(t.Context(), ask); err == nil {
				t.Fatal("the first process ended well")
			}
			l.damage(2, c.how)
			j.forget("turn-2-model")
			records := w.recorder.count()
			res, err := w.runner.Run(t.Context(), ask)
			checkLost(t, w, res, err, c.code)
			if n := w.recorder.count(); n != records {
				t.Errorf("%d more records", n-records)
			}
		})
	}
}

// lossyEnv returns an agent on a lossy store.
func lossyEnv(t *testing.T) (*testEnv, *lossyDriver) {
	t.Helper()
	l := &lossyDriver{Driver: memblob.New()}
	w := buildOn(t, l, setup{
		agents: map[string]string{"painter": painter}, actions: mediaset.Actions(), answers: map[string][]any{},
	})
	w.script.profile = visionProfile(chat.ImageLimits{})
	return w, l
}

// checkLost checks the end of a run whose second picture was lost.
func checkLost(t *testing.T, w *testEnv, res *agent.Result, err error, code media.Code) {
	t.Helper()
	asked := w.script.allRequests()
	last := asked[len(asked)-1]
	if code != "" {
		if media.CodeOf(err) != code || res.Status != agent.StatusFailed || !strings.Contains(err.Error(), refOf(2)) {
			t.Errorf("%s: %s: %v", res.Status, media.CodeOf(err), err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := shownTo(last); !slices.Equal(got, []string{refOf(1)}) || !strings.Contains(last.Messages[0].Text(), "You cannot see "+refOf(2)+" any more") {
		t.Errorf("shown %v, the message is %s", got, last.Messages[0].Text())
	}
	if !dropped(res.Dispositions, refOf(2)) || !strings.Contains(strings.Join(res.Warnings, " "), refOf(2)+" is no longer shown") {
		t.Errorf("dispositions %+v, warnings %q", res.Dispositions, res.Warnings)
	}
	if len(res.InputImages) != 2 {
		t.Errorf("input images %+v", res.InputImages)
	}
}

// TestALookedAtPictureGoesAway: a lost viewed picture does not stop the run, whatever the policy for images is.
func TestALookedAtPictureGoesAway(t *testing.T) {
	t.Parallel()
	w, l := lossyEnv(t)
	w.script.answers["painter"] = []any{
		paintStep(3),
		func(chat.Request) string { return viewStep(3) },
		media.Errorf(media.CodeNotFound, "the transport found no blob"), doneStep,
	}
	w.script.before = func() { // between the check before the call and the call itself
		if len(w.script.allRequests()) == 2 {
			l.damage(3, "missing")
		}
	}
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", LostImages: vision.LostStop})
	if err != nil {
		t.Fatal(err)
	}
	asked := w.script.allRequests()
	if n := len(asked); n != 4 || len(shownTo(asked[3])) != 0 || !strings.Contains(lastMessage(asked[3]), "You cannot see "+refOf(3)) {
		t.Errorf("%d calls, shown %v, the message is %s", n, shownTo(asked[n-1]), lastMessage(asked[n-1]))
	}
	if !dropped(res.Dispositions, refOf(3)) {
		t.Errorf("dispositions %+v", res.Dispositions)
	}
}

// TestAModelThatIsNotFound: a missing model is not mistaken for a missing picture.
func TestAModelThatIsNotFound(t *testing.T) {
	t.Parallel()
	w, _ := lossyEnv(t)
	w.script.answers["painter"] = []any{media.Errorf(media.CodeNotFound, "no such model"), doneStep}
	_, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
	if media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "no such model") || len(w.script.allRequests()) != 1 {
		t.Errorf("%d calls: %v", len(w.script.allRequests()), err)
	}
	if _, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", LostImages: "keep"}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("an unknown policy: %v", err)
	}
}

// persistentJournal is a journal that outlives a process.
type persistentJournal struct {
	mu    sync.Mutex // guards steps
	steps map[string][]byte
}

var _ journal.Journal = (*persistentJournal)(nil)

func (r *persistentJournal) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	r.mu.Lock()
	b, ok := r.steps[name.String()]
	r.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := fn(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps == nil {
		r.steps = map[string][]byte{}
	}
	r.steps[name.String()] = b
	return b, nil
}

// forget removes a step.
func (r *persistentJournal) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.steps, name)
}

func (r *persistentJournal) Child(context.Context, step.Name) (journal.Journal, error) { return r, nil }

func (r *persistentJournal) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// FuzzImageJSON: an image never has a path from JSON, and reading its written form again returns the same image.
func FuzzImageJSON(f *testing.F) {
	for _, s := range []string{
		`{"ref":"img-7k3m9q2x","detail":"low"}`, `{"id":"m-1"}`, `{"data":"iVBORw0KGgo=","mime_type":"image/png"}`, `{"path":"/etc/passwd"}`, `{"path":null,"id":"x"}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var i agent.Image
		if json.Unmarshal(b, &i) != nil {
			return
		}
		if i.Path != "" {
			t.Fatalf("a path was read from %q", b)
		}
		out, err := json.Marshal(i)
		if len(i.Data) > 0 {
			if err == nil {
				t.Fatalf("bytes were written: %s", out)
			}
			return
		}
		var again agent.Image
		if err != nil || json.Unmarshal(out, &again) != nil && string(b) != "null" || again.Ref != i.Ref || again.ID != i.ID || again.Detail != i.Detail {
			t.Fatalf("%q was read as %+v, written as %s, %v", b, i, out, err)
		}
	})
}
