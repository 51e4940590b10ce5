package ledgertest

import (
	"testing"

	"atelier/ledger"
	"atelier/media"
)

// blobsNamed checks that bytes are needed while referenced, and for some time after their record was deleted.
func blobsNamed(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	named := func(o media.Output, want bool, what string) {
		t.Helper()
		got, err := f.BlobReferenced(ctx, o.Digest, f.deps.Now())
		if err != nil || got != want {
			t.Errorf("%s: named %v, %v", what, got, err)
		}
	}
	forgotten := func(o media.Output, operation string, want bool, what string) {
		t.Helper()
		got, err := f.ForgetBlob(ctx, o.Digest, operation)
		if err != nil || got != want {
			t.Errorf("%s: forgotten %v, %v", what, got, err)
		}
	}
	kept, lost, preview, stray := picture("kept", media.Meta{}), picture("lost", media.Meta{}), picture("preview", media.Meta{}), picture("stray", media.Meta{})
	op := ledger.Operation{ID: "op", Owner: owner, Tree: r.Tree, Status: "queued"}
	must(t, f.BeginOperation(ctx, op))
	of := media.WithScope(ctx, media.Scope{Owner: owner, Tree: r.Tree, Operation: op.ID})
	for _, o := range []media.Output{kept, lost, preview} {
		must(t, f.RegisterBlob(of, o.Blob))
	}
	must(t, f.RegisterBlob(ctx, stray.Blob))
	named(preview, true, "what came for an operation under way")
	named(stray, false, "what nothing names")
	forgotten(preview, "other", false, "the preview of another operation")
	kept = f.record(scoped(t, r), t, kept)
	must(t, f.SaveSlot(ctx, ledger.Slot{OperationID: op.ID, Index: 1, Status: "succeeded", Ref: lost.Ref, Digest: lost.Digest}))
	must(t, f.SaveSlot(ctx, ledger.Slot{OperationID: op.ID, Index: 2, Status: "succeeded", Ref: kept.Ref, Digest: kept.Digest, MediaID: kept.ID}))
	forgotten(preview, op.ID, true, "the preview of this operation")
	forgotten(lost, op.ID, false, "a result without a record")
	op.Status, op.FinishedAt = "succeeded", f.deps.Now()
	must(t, f.FinishOperation(ctx, op))
	f.finishRun(t, r)
	named(preview, false, "a preview")
	named(lost, true, "a result without a record")
	named(kept, true, "a record")
	forgotten(kept, "", false, "a record")
	before := f.deps.Now()
	must(t, f.DeleteMedia(ctx, owner, kept.ID))
	named(kept, false, "a record deleted long ago")
	if got, err := f.BlobReferenced(ctx, kept.Digest, before); err != nil || !got {
		t.Errorf("a record deleted just now: named %v, %v", got, err)
	}
	forgotten(stray, "", true, "what nothing names")
	_, err := f.BlobOf(ctx, stray.Digest)
	wantCode(t, err, media.CodeNotFound)
}

// thumbnails checks that thumbnails are saved for bytes and a width, and are needed as long as the bytes.
func thumbnails(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	o, small, smaller := f.record(scoped(t, r), t, picture("a", media.Meta{})), picture("small", media.Meta{}), picture("smaller", media.Meta{})
	for _, b := range []media.Blob{small.Blob, smaller.Blob} {
		must(t, f.RegisterBlob(ctx, b))
	}
	_, err := f.Thumbnail(ctx, o.Digest, 320)
	wantCode(t, err, media.CodeNotFound)
	for _, d := range []media.Digest{smaller.Digest, small.Digest} {
		must(t, f.SaveThumbnail(ctx, o.Digest, 320, d))
	}
	must(t, f.SaveThumbnail(ctx, o.Digest, 160, smaller.Digest))
	for width, want := range map[int]media.Digest{320: small.Digest, 160: smaller.Digest} {
		if d, err := f.Thumbnail(ctx, o.Digest, width); err != nil || d != want {
			t.Errorf("%d: %s, %v", width, d, err)
		}
	}
	named := func() bool {
		n, err := f.BlobReferenced(ctx, small.Digest, f.deps.Now())
		must(t, err)
		return n
	}
	if gone, err := f.ForgetBlob(ctx, small.Digest, ""); err != nil || gone || !named() {
		t.Errorf("a thumbnail was forgotten: %v", err)
	}
	f.finishRun(t, r)
	must(t, f.DeleteMedia(ctx, owner, o.ID))
	if named() {
		t.Error("the thumbnail of a deleted picture is needed")
	}
	if gone, err := f.ForgetBlob(ctx, small.Digest, ""); err != nil || !gone {
		t.Errorf("it stays, %v", err)
	}
	_, err = f.Thumbnail(ctx, o.Digest, 320)
	wantCode(t, err, media.CodeNotFound)
}
