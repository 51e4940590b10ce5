package ledgertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/ledger"
	"atelier/media"
)

func operationRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	o := ledger.Operation{
		ID: f.deps.NewID(), Owner: owner, Tree: "t", RunID: "r", StepID: "s", Key: "k", Status: "queued", Method: "generate",
		Modality: media.ModalityImage, Request: json.RawMessage(`{"prompt":"a cat","n":2}`),
	}
	must(t, f.BeginOperation(ctx, o))
	seed := int64(42)
	d := media.DigestOf([]byte("a"))
	slots := []ledger.Slot{
		{OperationID: o.ID, Index: 1, Status: "succeeded", MediaID: "m", Ref: media.RefOf(media.ModalityImage, d), Digest: d, Seed: &seed, RevisedPrompt: "a nice cat"},
		{OperationID: o.ID, Index: 2, Status: "failed", Safety: json.RawMessage(`{"blocked":true}`), Failure: ledger.Failure{Code: "moderated", Message: "no"}},
	}
	for _, i := range []int{1, 0, 1} {
		must(t, f.SaveSlot(ctx, slots[i]))
	}
	task := ledger.Task{ID: f.deps.NewID(), OperationID: o.ID, Call: 1, Attempt: 1, Key: "k1", Provider: "openai", Status: "submitted"}
	must(t, f.SaveTask(ctx, task))
	task.TaskID, task.Status, task.FinishedAt, task.Detail = "job-1", "partial", f.deps.Now(), json.RawMessage(`{"slots":[1,2]}`)
	must(t, f.SaveTask(ctx, task))
	o.Status, o.Provider, o.Model, o.APIModel, o.FinishedAt = "partial", "openai", "GPT Image 2", "gpt-image-2", f.deps.Now()
	o.Warnings = []string{"it retires soon"}
	o.Dispositions, o.Usage, o.Metadata = json.RawMessage(`[{"setting":"n"}]`), json.RawMessage(`{"calls":1}`), json.RawMessage(`{"a":1}`)
	o.ReportedUSD = usd("0.0402")
	must(t, f.FinishOperation(ctx, o))
	op, gotSlots, tasks, err := f.Operation(ctx, owner, o.ID)
	must(t, err)
	ignore := cmp.Options{
		cmpopts.IgnoreFields(ledger.Operation{}, "CreatedAt", "UpdatedAt"), cmpopts.IgnoreFields(ledger.Slot{}, "UpdatedAt"),
		cmpopts.IgnoreFields(ledger.Task{}, "CreatedAt", "UpdatedAt"), cmp.Comparer(func(a, b media.Digest) bool { return a == b }),
	}
	if d := cmp.Diff(o, op, ignore) + cmp.Diff(slots, gotSlots, ignore) + cmp.Diff([]ledger.Task{task}, tasks, ignore); d != "" {
		t.Error(d)
	}
	byKey, err := f.OperationByKey(ctx, owner, "k")
	if err != nil || byKey.ID != o.ID {
		t.Errorf("by key: %+v, %v", byKey, err)
	}
	list, err := f.ListOperations(ctx, owner, ledger.OperationQuery{Tree: "t", Status: "partial"})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("list: %+v, %v", list, err)
	}
	if list, err := f.ListOperations(ctx, "bob", ledger.OperationQuery{}); err != nil || len(list.Items) != 0 {
		t.Errorf("bob's list: %+v, %v", list, err)
	}
}

// operationFollowsItsCalls checks that an operation with a call that was sent, or is in progress at a provider, is not
// queued, and that a finished or late call does not move its status back.
func operationFollowsItsCalls(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	o := ledger.Operation{ID: f.deps.NewID(), Owner: owner, Tree: "t", Status: "queued"}
	must(t, f.BeginOperation(ctx, o))
	status := func(want string) {
		t.Helper()
		got, _, _, err := f.Operation(ctx, owner, o.ID)
		must(t, err)
		list, err := f.ListOperations(ctx, owner, ledger.OperationQuery{Status: want})
		if must(t, err); got.Status != want || len(list.Items) != 1 {
			t.Errorf("status %s, %d listed as %s", got.Status, len(list.Items), want)
		}
	}
	save := func(call int, what string) {
		t.Helper()
		must(t, f.SaveTask(ctx, ledger.Task{ID: fmt.Sprint("call-", call), OperationID: o.ID, Call: call, Attempt: 1, Provider: "bfl", Status: what}))
	}
	status("queued")
	for _, step := range []struct {
		call       int
		what, want string
	}{{1, "submitted", "submitted"}, {1, "failed", "submitted"}, {2, "running", "running"}, {3, "submitted", "running"}, {2, "succeeded", "running"}} {
		save(step.call, step.what)
		status(step.want)
	}
	o.Status, o.FinishedAt = "partial", f.deps.Now()
	must(t, f.FinishOperation(ctx, o))
	save(3, "running")
	status("partial")
}

func operationConflicts(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	o := ledger.Operation{ID: "o1", Owner: owner, Tree: "t", Key: "k", Status: "queued"}
	must(t, f.BeginOperation(ctx, o))
	wantCode(t, f.BeginOperation(ctx, o), media.CodeConflict)
	o.ID = "o2"
	wantCode(t, f.BeginOperation(ctx, o), media.CodeConflict)
	o.Owner = "bob"
	must(t, f.BeginOperation(ctx, o))
	o.ID, o.Key = "o3", ""
	must(t, f.BeginOperation(ctx, o))
	o.ID = "o4"
	must(t, f.BeginOperation(ctx, o))
	wantCode(t, f.SaveSlot(ctx, ledger.Slot{OperationID: "nothing", Index: 1, Status: "failed"}), media.CodeNotFound)
	o.ID = "nothing"
	wantCode(t, f.FinishOperation(ctx, o), media.CodeNotFound)
}

func blobs(t *testing.T, f *fixture) {
	t.Helper()
	one, two := picture("a", media.Meta{}), picture("b", media.Meta{})
	ctx := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: "t", Operation: "op"})
	for _, o := range []media.Output{one, two, two} {
		must(t, f.RegisterBlob(ctx, o.Blob))
	}
	wantCode(t, f.RegisterBlob(ctx, media.Blob{}), media.CodeInvalid)
	got, err := f.BlobOf(t.Context(), two.Digest)
	if err != nil || got.OperationID != "op" || got.Blob != two.Blob {
		t.Errorf("blob = %+v, %v", got, err)
	}
	all, err := f.ListBlobs(t.Context(), ledger.Page{Limit: 1})
	if err != nil || len(all.Items) != 1 || all.Next != all.Items[0].Digest.String() {
		t.Errorf("blobs = %+v, %v", all, err)
	}
	_, err = f.BlobOf(t.Context(), media.DigestOf([]byte("c")))
	wantCode(t, err, media.CodeNotFound)
}

func eventsInOrder(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	root, other := f.run(t, owner, nil), f.run(t, owner, nil)
	child := f.run(t, owner, &root)
	var batch []ledger.Event
	at := f.deps.Now()
	for i, r := range []ledger.Run{root, child, other, root} {
		batch = append(batch, ledger.Event{
			Tree: r.Tree, RunID: r.ID, AgentPath: "a", Kind: "turn-started", Payload: json.RawMessage(fmt.Sprintf(`{"turn":%d}`, i)),
		})
	}
	batch[0].CreatedAt = at
	saved, err := f.AppendEvents(ctx, batch[:3])
	must(t, err)
	more, err := f.AppendEvents(ctx, batch[3:])
	must(t, err)
	var last ledger.Event
	for _, e := range append(saved, more...) {
		if e.Position <= last.Position || e.ID == "" || e.CreatedAt.IsZero() {
			t.Errorf("event %+v after %+v", e, last)
		}
		last = e
	}
	got, err := f.ListEvents(ctx, owner, child.ID, 0, 0)
	must(t, err)
	if d := cmp.Diff([]ledger.Event{saved[0], saved[1], more[0]}, got); d != "" {
		t.Error(d)
	}
	if got[0].Sequence != 1 || got[2].Sequence != 3 || !got[0].CreatedAt.Equal(at) {
		t.Errorf("events = %+v", got)
	}
	tail, err := f.ListEvents(ctx, owner, root.ID, 1, 1)
	if err != nil || len(tail) != 1 || tail[0].Sequence != 2 {
		t.Errorf("tail = %+v, %v", tail, err)
	}
}

func eventsNeedRun(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	good := ledger.Event{Tree: r.Tree, RunID: r.ID, Kind: "warning"}
	_, err := f.AppendEvents(t.Context(), []ledger.Event{good, {Tree: "nothing", RunID: "nothing", Kind: "warning"}})
	wantCode(t, err, media.CodeNotFound)
	_, err = f.AppendEvents(t.Context(), []ledger.Event{{Tree: "nothing"}})
	wantCode(t, err, media.CodeInvalid)
	if events, err := f.ListEvents(t.Context(), owner, r.ID, 0, 0); err != nil || len(events) != 0 {
		t.Errorf("half a batch was kept: %+v, %v", events, err)
	}
}

// eventsOnce checks that an event with a known id is saved once and takes no sequence number.
func eventsOnce(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	event := func(id, kind string) ledger.Event { return ledger.Event{ID: id, Tree: r.Tree, RunID: r.ID, Kind: kind} }
	first, err := f.AppendEvents(ctx, []ledger.Event{event("e-1", "run-started"), event("", "warning"), event("e-1", "run-started")})
	must(t, err)
	if len(first) != 2 || first[0].ID != "e-1" {
		t.Errorf("saved %+v", first)
	}
	again, err := f.AppendEvents(ctx, []ledger.Event{event("e-1", "run-started"), event("e-2", "run-failed")})
	must(t, err)
	if len(again) != 1 || again[0].ID != "e-2" || again[0].Sequence != 3 {
		t.Errorf("saved again %+v", again)
	}
	none, err := f.AppendEvents(ctx, []ledger.Event{event("e-2", "run-failed")})
	if err != nil || len(none) != 0 {
		t.Errorf("saved a third time %+v, %v", none, err)
	}
	if all, err := f.ListEvents(ctx, owner, r.ID, 0, 0); err != nil || len(all) != 3 {
		t.Errorf("%d events, %v", len(all), err)
	}
}

func diskFull(t *testing.T, f *fixture) {
	t.Helper()
	if f.h.Fill == nil {
		t.Fatal("ledgertest.Harness.Fill is missing: arrange a full disk")
	}
	r := f.run(t, owner, nil)
	kept := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	f.h.Fill(t, f.Store)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = f.Record(scoped(t, r), picture(fmt.Sprint("more", i), media.Meta{Description: fmt.Sprintf("%4000d", i)}))
	}
	wantCode(t, err, media.CodeDiskFull)
	if _, err := f.MediaRecord(t.Context(), owner, kept.ID); err != nil {
		t.Errorf("what was saved before is gone: %v", err)
	}
}

func readOnly(t *testing.T, f *fixture) {
	t.Helper()
	if f.h.OpenReadOnly == nil {
		t.Fatal("ledgertest.Harness.OpenReadOnly is missing: arrange a database that takes no rows")
	}
	r := f.run(t, owner, nil)
	s := f.h.OpenReadOnly(t, f.name, f.deps)
	defer func() { must(t, s.Close()) }()
	_, err := s.Record(scoped(t, r), picture("a", media.Meta{}))
	wantCode(t, err, media.CodeForbidden)
	wantCode(t, s.Writable(t.Context()), media.CodeForbidden)
	must(t, f.Writable(t.Context()))
	if _, err := s.Run(t.Context(), owner, r.ID); err != nil {
		t.Errorf("reading: %v", err)
	}
}

func afterClose(t *testing.T, f *fixture) {
	t.Helper()
	s := f.open(t)
	must(t, s.Close())
	if _, err := s.ListRuns(t.Context(), owner, ledger.RunQuery{}); err == nil {
		t.Error("a read after Close succeeded")
	}
	if err := s.CreateRun(t.Context(), ledger.Run{ID: "x", Owner: owner, Tree: "x", Agent: "a"}); err == nil {
		t.Error("a write after Close succeeded")
	}
}
