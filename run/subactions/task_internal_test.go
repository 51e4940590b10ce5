package subactions

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/journal"
	"atelier/ledger"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/run/runtest"
	"atelier/workflow"
	"atelier/workflow/subaction"
)

// interactions is an interaction that rejects results if refuses is set.
type interactions struct{ refuses error }

func (interactions) Read(context.Context, string, string) (string, *workflow.Interaction, error) {
	return "s", nil, nil
}

func (i interactions) AppendItems(context.Context, string, string, []string, ...workflow.Item) error {
	return i.refuses
}

// open returns a ledger and the configuration of a service without a gateway.
func open(t *testing.T) Config {
	t.Helper()
	dir := t.TempDir()
	runtest.CopyFiles(t, filepath.Join(dir, "a.db"), filepath.Join(dir, "engine.db"))
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "a.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	catalogue, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Ledger: store, Interactions: func() Interactions { return interactions{} }, Actions: subaction.New(catalogue, time.Now), Emit: func(context.Context, agent.Event) {}, Now: time.Now}
}

// service creates a service that ends with the test.
func service(t *testing.T, c Config) *Service {
	t.Helper()
	s := New(c)
	t.Cleanup(func() { s.HandOver(journal.HandOver(0)) })
	return s
}

// save saves an unfinished row.
func save(t *testing.T, s *Service, id, operation string) ledger.ContentGeneration {
	t.Helper()
	row := ledger.ContentGeneration{
		ID: id, Owner: "ann", WorkflowRunID: "wr_1", InteractionID: "wi_1", ActionType: "media.leonardo.img2img", Provider: "leonardo", PromptID: "a", PromptAsSent: "a pot",
		Params: json.RawMessage(`{"images":["img-7k3m9q2x"]}`), ResultTarget: json.RawMessage(`["generations","leonardo","a"]`), Status: "queued", OperationID: operation,
	}
	if err := s.cfg.Ledger.SaveContentGeneration(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	return row
}

// executed executes a row until this process has released it.
func (s *Service) executed(t *testing.T, row ledger.ContentGeneration, res *generate.Result, failed error) {
	t.Helper()
	if err := s.begin(row, func(context.Context) (*generate.Result, error) { return res, failed }); err != nil {
		t.Fatal(err)
	}
	<-s.find(row.ID).done
}

// lastEvent follows a sub-action to its last event; it fails if there is none in time.
func (s *Service) lastEvent(t *testing.T, id string, after int) (e Event) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), eventRetention/4)
	defer stop()
	for next, err := range s.Follow(ctx, "ann", id, after) {
		if err != nil {
			t.Fatal(err)
		}
		if e = next; e.ID <= after {
			t.Errorf("event %d after %d", e.ID, after)
		}
	}
	if !e.Last() {
		t.Fatalf("the stream ended with %+v", e)
	}
	return e
}

// TestFollowWorkOfAnotherProcess: a process that tried to execute a sub-action of another one reports its end.
func TestFollowWorkOfAnotherProcess(t *testing.T) {
	t.Parallel()
	s := service(t, open(t))
	row := save(t, s, "gm_1", "op_1")
	s.executed(t, row, nil, media.Errorf(media.CodeConflict, "another process works on it"))
	row.Status, row.FinishedAt, row.Failure = "failed", time.Now(), ledger.Failure{Code: "timeout", Message: "late"}
	if err := s.cfg.Ledger.SaveContentGeneration(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if e := s.lastEvent(t, row.ID, 0); e.Type != EventError || e.Data.(Failure).Code != "timeout" {
		t.Errorf("%+v", e)
	}
}

// TestFollowAcrossChecks: a reader that has events of an earlier check of a slow generation gets its end at once.
func TestFollowAcrossChecks(t *testing.T) {
	t.Parallel()
	s := service(t, open(t))
	row := save(t, s, "gm_1", "op_1")
	s.executed(t, row, &generate.Result{Operation: "op_1", Status: generate.StatusRunning}, nil)
	s.executed(t, row, &generate.Result{Operation: "op_1", Status: generate.StatusFailed}, nil)
	if e := s.lastEvent(t, row.ID, 5); e.Type != EventError {
		t.Errorf("%+v", e)
	}
}

// TestAdoptWithoutInputs: a sub-action that can never start, because its picture was deleted, fails and is not tried again.
func TestAdoptWithoutInputs(t *testing.T) {
	t.Parallel()
	c := open(t)
	c.Now = func() time.Time { return time.Now().Add(time.Hour) }
	c.Item = func(context.Context, string, string, string) (media.Output, error) {
		return media.Output{}, media.Errorf(media.CodeNotFound, "there is no media item")
	}
	s := service(t, c)
	row := save(t, s, "gm_1", "")
	if _, err := s.Adopt(t.Context()); err != nil {
		t.Error(err)
	}
	st, err := s.Status(t.Context(), "ann", row.ID)
	if err != nil || st.Status != "failed" || st.FinishedAt.IsZero() || st.Failure.Code != string(media.CodeNotFound) {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestResultsWithoutPlace: results that the interaction's data has no place for are kept, and the sub-action ends with
// the reason.
func TestResultsWithoutPlace(t *testing.T) {
	t.Parallel()
	c := open(t)
	c.Interactions = func() Interactions {
		return interactions{media.Errorf(media.CodeInvalid, "results cannot be stored there")}
	}
	s := service(t, c)
	row := save(t, s, "gm_1", "op_1")
	s.executed(t, row, &generate.Result{Operation: "op_1", Status: generate.StatusSucceeded, Slots: []generate.Slot{
		{Index: 1, Status: generate.StatusSucceeded, Output: &media.Output{ID: "med_1", Modality: media.ModalityImage}},
	}}, nil)
	st, err := s.Status(t.Context(), "ann", row.ID)
	if err != nil || st.FinishedAt.IsZero() || len(st.Contents) != 1 || st.Failure.Code != string(media.CodeInvalid) {
		t.Errorf("%+v, %v", st, err)
	}
	if e := s.lastEvent(t, row.ID, 0); e.Type != EventComplete {
		t.Errorf("%+v", e)
	}
}

// TestCancelledInTheQueue: a sub-action that another process cancelled while it was queued here is not executed.
func TestCancelledInTheQueue(t *testing.T) {
	t.Parallel()
	c := open(t)
	here, there := service(t, c), service(t, c)
	here.slots = make(chan struct{}, 1)
	busy := make(chan struct{})
	first, second := save(t, here, "gm_1", ""), save(t, here, "gm_2", "")
	begin := func(row ledger.ContentGeneration, do func()) {
		err := here.begin(row, func(context.Context) (*generate.Result, error) {
			do()
			return nil, media.Errorf(media.CodeDeadline, "late")
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	started := make(chan struct{})
	begin(first, func() { close(started); <-busy })
	<-started
	var executed atomic.Bool
	begin(second, func() { executed.Store(true) })
	if err := there.Cancel(t.Context(), "ann", second.ID); err != nil {
		t.Fatal(err)
	}
	close(busy)
	<-here.find(second.ID).done
	st, err := here.Status(t.Context(), "ann", second.ID)
	if executed.Load() || err != nil || st.Status != string(generate.StatusCancelled) {
		t.Errorf("executed: %v, %s, %v", executed.Load(), st.Status, err)
	}
}

// TestCancelAll: a sub-action that cannot be cancelled does not keep the others.
func TestCancelAll(t *testing.T) {
	t.Parallel()
	c := open(t)
	var err error
	if c.Gateway, err = gateway.New(gateway.Config{Drivers: []driver.Driver{&generatetest.Driver{Name: "leonardo"}}}); err != nil { // it keeps no operations
		t.Fatal(err)
	}
	s := service(t, c)
	save(t, s, "gm_1", "op_1")
	save(t, s, "gm_2", "")
	if err := s.CancelAll(t.Context(), "ann", "wi_1"); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("%v", err)
	}
	if n, err := s.Running(t.Context(), "ann", "wi_1"); n != 1 || err != nil {
		t.Errorf("%d are running, %v", n, err)
	}
}

// TestCancelAllTogether: sub-actions are cancelled together: none that is queued starts because another one has ended, and
// none waits for the end of another one.
func TestCancelAllTogether(t *testing.T) {
	t.Parallel()
	const atOnce = 2
	s := service(t, open(t))
	s.slots = make(chan struct{}, atOnce)
	started, wrong, all := make(chan string, 3), make(chan string, 3), make(chan struct{})
	var cancelled atomic.Int32
	for n, id := range []string{"gm_1", "gm_2", "gm_3"} {
		if err := s.begin(save(t, s, id, ""), func(ctx context.Context) (*generate.Result, error) {
			started <- id
			if n == atOnce && ctx.Err() == nil {
				wrong <- id + " was started"
			}
			<-ctx.Done()
			if cancelled.Add(1) == 3 {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(time.Second):
				wrong <- id + " was cancelled alone"
			}
			return nil, context.Cause(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		if n < atOnce {
			<-started
		}
	}
	if err := s.CancelAll(t.Context(), "ann", "wi_1"); err != nil {
		t.Error(err)
	}
	close(wrong)
	for what := range wrong {
		t.Error(what)
	}
}

// TestSettingsOfAStandIn: a setting that only the provider has is reported as dropped when the offline painter
// substitutes for it.
func TestSettingsOfAStandIn(t *testing.T) {
	t.Parallel()
	s := service(t, open(t))
	row := save(t, s, "gm_1", "op_1")
	row.StandIn, row.ActionType, row.Provider, row.Params = true, "media.midjourney.txt2img", "midjourney", json.RawMessage(`{"aspect_ratio":"16:9","speed":"fast"}`)
	s.executed(t, row, &generate.Result{Operation: "op_1", Status: generate.StatusFailed}, nil)
	st, err := s.Status(t.Context(), "ann", row.ID)
	if err != nil {
		t.Fatal(err)
	}
	var all []generate.Disposition
	if err := json.Unmarshal(st.Dispositions, &all); err != nil || len(all) != 2 || all[1].Setting != "options.midjourney.speed" || all[1].Asked != "fast" || all[1].Outcome != generate.OutcomeDropped || all[1].Reason == "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestStandInOfAnUpscale: the offline painter cannot upscale; a click that needs that of it is refused instead of painted
// as something else.
func TestStandInOfAnUpscale(t *testing.T) {
	t.Parallel()
	c := open(t)
	c.Item = func(context.Context, string, string, string) (media.Output, error) { return media.Output{}, nil }
	s := service(t, c)
	for operation, want := range map[string]media.Code{"upscale": media.CodeUnsupported, "variation": ""} {
		row := ledger.ContentGeneration{ID: "gm_1", StandIn: true, ActionType: "media.midjourney." + operation, Provider: "midjourney", Params: json.RawMessage(`{"images":["gc_1"]}`)}
		plan, err := s.plan(row)
		if err == nil {
			_, err = s.request(t.Context(), row, plan)
		}
		if err == nil != (want == "") || err != nil && media.CodeOf(err) != want {
			t.Errorf("%s: %v", operation, err)
		}
	}
}
