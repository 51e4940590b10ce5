package ledgertest

import (
	"strings"
	"testing"

	"atelier/ledger"
	"atelier/media"
)

func labelling(t *testing.T, f *fixture) {
	t.Helper()
	o := f.record(scoped(t, f.run(t, owner, nil)), t, picture("a", media.Meta{Label: "old", Description: "kept"}))
	if err := f.LabelMedia(t.Context(), owner, o.ID, new("new"), nil); err != nil {
		t.Fatal(err)
	}
	got, err := f.MediaRecord(t.Context(), owner, o.ID)
	if err != nil || got.Label != "new" || got.Description != "kept" {
		t.Errorf("record = %+v, %v", got, err)
	}
	must(t, f.LabelMedia(t.Context(), owner, o.ID, nil, new("")))
	if got, err = f.MediaRecord(t.Context(), owner, o.ID); err != nil || got.Label != "new" || got.Description != "" {
		t.Errorf("after the description was cleared, record = %+v, %v", got, err)
	}
}

func deletion(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx := scoped(t, r)
	one := f.record(ctx, t, picture("a", media.Meta{}))
	two := f.record(scoped(t, f.run(t, owner, nil)), t, picture("a", media.Meta{}))
	f.finishRun(t, r)
	if err := f.DeleteMedia(t.Context(), owner, one.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, f.DeleteMedia(t.Context(), owner, one.ID), media.CodeNotFound)
	_, err := f.MediaRecord(t.Context(), owner, one.ID)
	wantCode(t, err, media.CodeNotFound)
	if _, err := f.MediaRecord(t.Context(), owner, two.ID); err != nil {
		t.Error(err)
	}
	gone, err := f.ListMedia(t.Context(), owner, ledger.MediaQuery{Deleted: true})
	if err != nil || len(gone.Items) != 1 || gone.Items[0].ID != one.ID || gone.Items[0].DeletedAt.IsZero() {
		t.Errorf("deleted %+v, %v", gone.Items, err)
	}
	if again := f.record(ctx, t, picture("a", media.Meta{})); again.ID == one.ID {
		t.Error("a deleted record came back")
	}
}

func restoring(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	one := f.record(scoped(t, r), t, picture("a", media.Meta{Label: "kept"}))
	f.finishRun(t, r)
	before := f.deps.Now()
	wantCode(t, f.RestoreMedia(t.Context(), owner, one.ID, before), media.CodeNotFound)
	must(t, f.DeleteMedia(t.Context(), owner, one.ID))
	wantCode(t, f.RestoreMedia(t.Context(), "bob", one.ID, before), media.CodeNotFound)
	err := f.RestoreMedia(t.Context(), owner, one.ID, f.deps.Now())
	if media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "too long ago") {
		t.Errorf("after the grace: %v", err)
	}
	must(t, f.RestoreMedia(t.Context(), owner, one.ID, before))
	if got, err := f.MediaRecord(t.Context(), owner, one.ID); err != nil || got.Label != "kept" || !got.DeletedAt.IsZero() {
		t.Errorf("record = %+v, %v", got, err)
	}
	must(t, f.DeleteMedia(t.Context(), owner, one.ID))
	f.record(scoped(t, r), t, picture("a", media.Meta{}))
	wantCode(t, f.RestoreMedia(t.Context(), owner, one.ID, before), media.CodeConflict)
}

// inUse checks that media that an unfinished run or operation may need, made there or granted, are not deleted.
func inUse(t *testing.T, f *fixture) {
	t.Helper()
	made, given := f.run(t, owner, nil), f.run(t, owner, nil)
	o := f.record(scoped(t, made), t, picture("a", media.Meta{}))
	f.finishRun(t, made)
	f.record(scoped(t, given), t, o)
	for _, status := range []ledger.Status{ledger.StatusRunning, ledger.StatusPaused} {
		given.Status = status
		must(t, f.FinishRun(t.Context(), given))
		err := f.DeleteMedia(t.Context(), owner, o.ID)
		if media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), given.ID) || !strings.Contains(err.Error(), string(status)) {
			t.Errorf("%s: %v", status, err)
		}
	}
	f.finishRun(t, given)
	op := ledger.Operation{ID: "o", Owner: owner, Tree: given.Tree, Status: "queued"}
	must(t, f.BeginOperation(t.Context(), op))
	wantCode(t, f.DeleteMedia(t.Context(), owner, o.ID), media.CodeConflict)
	op.Status, op.FinishedAt = "succeeded", f.deps.Now()
	must(t, f.FinishOperation(t.Context(), op))
	must(t, f.DeleteMedia(t.Context(), owner, o.ID))
}

func promotion(t *testing.T, f *fixture) {
	t.Helper()
	root := f.run(t, owner, nil)
	child := f.run(t, owner, &root)
	a := f.record(scoped(t, root), t, picture("a", media.Meta{Label: "A"}))
	b := f.record(scoped(t, child), t, picture("b", media.Meta{Label: "B"}))
	b.Label = "chosen"
	for range 2 {
		if w, err := f.PromoteMedia(t.Context(), owner, root.ID, []media.Output{b, a}); err != nil || len(w) > 0 {
			t.Fatalf("promote: %v, %v", w, err)
		}
	}
	list, err := f.ListAgentMedia(t.Context(), owner, root.ID, ledger.Page{})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("agent media = %+v, %v", list, err)
	}
	links, err := f.ListPromptMedia(t.Context(), owner, child.ID, ledger.Page{})
	if err != nil || len(links.Items) != 1 {
		t.Fatalf("links = %+v, %v", links, err)
	}
	if l := list.Items[0]; l.MediaID != b.ID || l.DisplayOrder != 1 || l.Label != "chosen" || l.SourceID != links.Items[0].ID {
		t.Errorf("first = %+v, want %s from %s", l, b.ID, links.Items[0].ID)
	}
	if l := list.Items[1]; l.MediaID != a.ID || l.DisplayOrder != 2 || l.SourceID == "" {
		t.Errorf("second = %+v", l)
	}
	if rec, err := f.MediaRecord(t.Context(), owner, b.ID); err != nil || !rec.Promoted || rec.Label != "chosen" {
		t.Errorf("record = %+v, %v", rec, err)
	}
}

func promotionWarns(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	a := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	w, err := f.PromoteMedia(t.Context(), owner, r.ID, []media.Output{picture("unrecorded", media.Meta{}), a})
	if err != nil || len(w) != 1 || !strings.Contains(w[0], "<image image/png") {
		t.Errorf("warnings = %q, %v", w, err)
	}
	list, err := f.ListAgentMedia(t.Context(), owner, r.ID, ledger.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].MediaID != a.ID {
		t.Errorf("agent media = %+v, %v", list, err)
	}
}

// RecordComesFirst records an item with a parent. The caller has dropped the tables of lineage and links.
func RecordComesFirst(t *testing.T, s ledger.Store) {
	t.Helper()
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "ann", Tree: "t"})
	b := media.Blob{Digest: media.DigestOf([]byte("a")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}
	o, err := s.Record(ctx, media.NewOutput(b, media.Meta{Lineage: []media.Parent{{Ref: "img-00000000", Role: "input"}}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.MediaRecord(ctx, "ann", o.ID); err != nil {
		t.Error(err)
	}
}
