package main

import (
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/media"
)

// TestOneItemIsListedOnce: a conversation of five turns lists each of its pictures once, with the run that made it and
// its parent from an earlier message.
func TestOneItemIsListedOnce(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	first := p.runInConversation("new", "Draw a lighthouse at the sea, 128x128")
	turns := []answer{first}
	for _, message := range []string{"Make that picture bluer", "Now put a boat into it", "Make it black and white", "Make it much darker"} {
		turns = append(turns, p.runInConversation(first.Conversation, message))
	}
	byRef := map[string]string{}
	for _, m := range p.mediaList().Items {
		if byRef[m.Ref] != "" {
			t.Errorf("%s is listed twice", m.Ref)
		}
		byRef[m.Ref] = m.Tree
	}
	var parent media.Ref
	for i, turn := range turns {
		made := turn.onlyOutput(t)
		if byRef[string(made.Ref)] != turn.RunID {
			t.Errorf("turn %d: %s is of run %s, want %s", i+1, made.Ref, byRef[string(made.Ref)], turn.RunID)
		}
		v := read[itemView](p, "media", "show", string(made.Ref), "--json")
		if v.Tree != turn.RunID || v.Conversation != first.Conversation || len(v.Trees) != len(turns)-i {
			t.Errorf("turn %d: run %s, conversation %s, trees %+v", i+1, v.Tree, v.Conversation, v.Trees)
		}
		if i > 0 && (len(v.Parents) != 1 || v.Parents[0].ParentRef != parent || v.Parents[0].ParentID == "") {
			t.Errorf("turn %d: made from %+v, want %s", i+1, v.Parents, parent)
		}
		if i < len(turns)-1 && (len(v.Children) != 1 || v.Children[0].ChildRef != turns[i+1].onlyOutput(t).Ref) {
			t.Errorf("turn %d: made into %+v", i+1, v.Children)
		}
		parent = made.Ref
	}
	last := turns[4].onlyOutput(t)
	shown := p.must("media", "show", string(last.Ref)).stdout
	for i, indent := range []string{"      ", "    ", "  ", ""} {
		if want := fmt.Sprintf("\n%sfrom %s as input", indent, turns[i].onlyOutput(t).Ref); !strings.Contains(shown, want) {
			t.Errorf("the chain does not show %q:\n%s", want, shown)
		}
	}
	if given := p.mediaList("--run", turns[4].RunID).Items; len(given) != len(turns) {
		t.Errorf("the last run has %d items, want its own and the %d that it was given", len(given), len(turns)-1)
	}
}

// TestPictureByIDIsNoSecondItem: --image and --edit with a stored item grant it and create no second item.
func TestPictureByIDIsNoSecondItem(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(done(t, "Seen."), done(t, "Seen."))
	p.must("generate", "a fox", "-m", "GPT Image 2", "-o", filepath.Join(p.dir, "fox.png"))
	fox := p.mediaList().Items[0]
	for range 2 {
		p.must("run", "sage", "look", "--image", fox.ID)
	}
	p.must("generate", "make it darker", "--edit", fox.Ref, "-m", "Atelier Offline", "-o", filepath.Join(p.dir, "dark.png"))
	if items := p.mediaList().Items; len(items) != 2 || items[1].ID != fox.ID {
		t.Errorf("listed %+v", items)
	}
	v := read[itemView](p, "media", "show", fox.ID, "--json")
	if len(v.Children) != 1 || len(v.Trees) != 4 || v.Origin.Direction != "output" || v.Tree != fox.Tree {
		t.Errorf("%+v", v)
	}
}

// TestSameFileTwiceIsOneItem: a file that is given with several messages is one item, and so is its derivative
// for the model.
func TestSameFileTwiceIsOneItem(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	file := filepath.Join("..", "..", "media", "probe", "testdata", "still.bmp")
	for _, message := range []string{"What is this?", "Make it bluer", "Make it redder"} {
		p.must("run", "sage", message, "--image", file, "--conversation", "new")
	}
	p.must("generate", "make it darker", "--edit", file, "-m", "Atelier Offline")
	refs := map[string]int{}
	for _, m := range p.mediaList().Items {
		if refs[m.Ref]++; refs[m.Ref] > 1 {
			t.Errorf("%s (%s) is listed %d times", m.Ref, m.Type, refs[m.Ref])
		}
	}
	if len(refs) != 5 { // the file, its derivative and three results
		t.Errorf("listed %v", refs)
	}
}

// TestShowPrintsTheOrigin: media show prints the prompt as asked and as sent, the dispositions, the cost and the label.
func TestShowPrintsTheOrigin(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.must("generate", "a fox", "-m", "GPT Image 2", "--negative-prompt", "rain", "--seed", "7", "-o", filepath.Join(p.dir, "fox.png"))
	ref := p.mediaList().Items[0].Ref
	v := read[itemView](p, "media", "show", ref, "--json")
	if v.Label != "Generated image 1" || v.Made == nil || v.Made.Prompt != "a fox" || v.Made.PromptSent != "a fox\n\nAvoid: rain" ||
		v.Made.Cost.EstimatedUSD == nil || v.Made.Operation != v.Origin.Operation || v.Made.Results != 1 {
		t.Errorf("%+v, %+v", v.Record, v.Made)
	}
	shown := p.must("media", "show", ref).stdout
	for _, want := range []string{"label", "Generated image 1", "prompt: a fox\n", "sent prompt: a fox", "Avoid: rain", "dropped     seed: requested \"7\"", "cost", "$", "GPT Image 2 (openai)", "operation"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
}

// TestDeletedMediaComesBackOrGoes: media rm hides an item, --undo restores it, and after a week media gc deletes its
// bytes.
func TestDeletedMediaComesBackOrGoes(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, name := range []string{"one", "two"} {
		p.must("generate", "a "+name, "--model", "offline", "--size", "64x64", "-o", filepath.Join(p.dir, name+".png"))
	}
	items := p.mediaList().Items
	gone := items[0]
	var bytes []string
	for _, f := range p.blobFiles() {
		if strings.Contains(filepath.Base(f), strings.TrimPrefix(gone.Digest, "sha256-")) {
			bytes = append(bytes, f)
		}
		makeOld(t, f)
	}
	if len(bytes) != 1 {
		t.Fatalf("the bytes of %s are %q", gone.Digest, bytes)
	}
	o := p.must("media", "rm", gone.Ref)
	if !strings.HasPrefix(o.stdout, "deleted "+gone.Ref+"  ") {
		t.Errorf("the message is %q", o.stdout)
	}
	if !strings.Contains(o.stdout, gone.Ref) || !strings.Contains(o.stderr, "media rm --undo "+gone.ID) {
		t.Errorf("%s%s", o.stdout, o.stderr)
	}
	p.atelier("media", "rm", gone.Ref).checkRefused(t, exitInput, "there is no item with the ref "+gone.Ref)
	p.atelier("media", "show", gone.ID).checkRefused(t, exitInput, gone.ID)
	if n, d := len(p.mediaList().Items), p.mediaList("--deleted").Items; n != 1 || len(d) != 1 || d[0].ID != gone.ID {
		t.Errorf("%d items, deleted %+v", n, d)
	}
	if got := read[collected](p, "media", "gc", "--json"); got.Deleted != 0 {
		t.Errorf("bytes went within the grace: %+v", got)
	}
	back := read[struct{ Items []removedView }](p, "media", "rm", "--undo", gone.Ref, "--json")
	if len(back.Items) != 1 || back.Items[0].ID != gone.ID || len(p.mediaList().Items) != 2 {
		t.Errorf("%+v", back)
	}
	p.atelier("media", "rm", "--undo", gone.Ref).checkRefused(t, exitInput, "media list --deleted")
	p.atelier("media", "rm", items[1].Ref, "img-00000000").checkRefused(t, exitInput, "img-00000000")
	if len(p.mediaList().Items) != 2 {
		t.Error("one of two was deleted, though the other is unknown")
	}
	p.must("media", "rm", gone.ID)
	p.sql(t, "UPDATE media SET deleted_at = '"+time.Now().Add(-8*24*time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")+"' WHERE deleted_at IS NOT NULL")
	p.atelier("media", "rm", "--undo", gone.ID).checkRefused(t, exitInput, "too long ago")
	if got := read[collected](p, "media", "gc", "--json"); got.Deleted != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(bytes[0]); !os.IsNotExist(err) {
		t.Errorf("the bytes are still there: %v", err)
	}
	p.must("media", "get", items[1].ID, "-o", filepath.Join(p.dir, "kept.png"))
}

// TestMediaOfAnActiveRunIsKept: media of a run cannot be deleted until the run has ended.
func TestMediaOfAnActiveRunIsKept(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Model": "GPT Image 2"}), `{"ask":{"question":"Is it good?"}}`, done(t, "Done."))
	o := p.atelier("run", "sage", "draw a fox", "--json")
	if o.code != exitPaused {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	run := decode[answer](t, o).RunID
	fox := p.mediaList().Items[0]
	p.atelier("media", "rm", fox.Ref).checkRefused(t, exitInput, "belongs to run "+run+", which is paused")
	p.must("runs", "cancel", run)
	p.must("media", "rm", fox.Ref)
}

// TestEqualItemsAreNamedByID: equal bytes made twice are two items, and media rm refuses their common ref.
func TestEqualItemsAreNamedByID(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for range 2 {
		p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64", "--seed", "3", "-o", filepath.Join(p.dir, "one.png"))
	}
	items := p.mediaList().Items
	if len(items) != 2 || items[0].Ref != items[1].Ref {
		t.Fatalf("%+v", items)
	}
	p.atelier("media", "rm", items[0].Ref).checkRefused(t, exitInput, items[1].ID)
	p.must("media", "rm", items[0].ID, items[1].ID)
	if left := p.mediaList().Items; len(left) != 0 {
		t.Errorf("remaining %+v", left)
	}
}

// TestThumbnailIsMadeOnce: the second call returns the stored bytes.
func TestThumbnailIsMadeOnce(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "1024x1024", "-o", filepath.Join(p.dir, "one.png"))
	ref := p.mediaList().Items[0].Ref
	small := filepath.Join(p.dir, "small.jpg")
	p.must("media", "thumbnail", ref, "--size", "160", "-o", small)
	if c, err := jpeg.DecodeConfig(strings.NewReader(mustRead(t, small))); err != nil || c.Width != 160 || c.Height != 160 {
		t.Errorf("it is %+v, %v", c, err)
	}
	p.atelier("media", "thumbnail", ref, "--size", "160", "-o", filepath.Join(p.dir, "small.png")).checkRefused(t, exitInput, "image/jpeg")
	for name, command := range map[string][]string{"x.bmp": {"media", "thumbnail", ref}, "x.gif": {"media", "get", ref}, "X.PDF": {"conversations", "export", "last"}} {
		p.atelier(append(command, "-o", filepath.Join(p.dir, name))...).checkRefused(t, exitInput, "use the extension")
	}
	files := p.blobFiles()
	times := map[string]time.Time{}
	for _, f := range files {
		makeOld(t, f)
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		times[f] = info.ModTime()
	}
	p.must("media", "thumbnail", ref, "--size", "160", "-o", filepath.Join(p.dir, "again.jpg"))
	if mustRead(t, small) != mustRead(t, filepath.Join(p.dir, "again.jpg")) || !slices.Equal(files, p.blobFiles()) {
		t.Error("another one arrived")
	}
	for f, then := range times { // storing a file again would renew its time
		if info, err := os.Stat(f); err != nil || !info.ModTime().Equal(then) {
			t.Errorf("%s was stored again, %v", f, err)
		}
	}
	if got := read[collected](p, "media", "gc", "--json"); got.Deleted != 0 || got.Kept != 2 {
		t.Errorf("a collection: %+v", got)
	}
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d items are listed", n)
	}
	p.atelier("media", "thumbnail", ref, "--size", "100", "-o", small).checkRefused(t, exitInput, "16, 160, 320, 640, 1280, 2048")
	p.must("media", "rm", ref)
	p.sql(t, "UPDATE media SET deleted_at = '2020-01-01T00:00:00.000000Z'")
	if got := read[collected](p, "media", "gc", "--json"); got.Deleted != 2 {
		t.Errorf("the thumbnail of a deleted item: %+v", got)
	}
}

// sql executes a statement on the ledger of an environment directly.
func (p *testEnv) sql(t *testing.T, statement string) {
	t.Helper()
	if _, err := p.openLedger().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestDeletionMeansOneItem: the start of a ref is as ambiguous as the ref; --run chooses, by id, start or last; an item
// that is named twice is deleted once.
func TestDeletionMeansOneItem(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for range 2 {
		p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64", "--seed", "3")
	}
	items := p.mediaList().Items
	p.atelier("media", "rm", items[0].Ref[:8]).checkRefused(t, exitInput, items[1].ID)
	for _, undo := range [][]string{nil, {"--undo"}} {
		got := read[struct{ Items []removedView }](p, append([]string{"media", "rm", items[1].Ref, items[1].ID, "--json"}, append(undo, "--run", items[1].Tree)...)...)
		if len(got.Items) != 1 || got.Items[0].ID != items[1].ID {
			t.Errorf("%+v", got)
		}
	}
	p.must("run", "sage", "Draw a lighthouse, 128x128")
	drawn := p.mediaList().Items[0]
	p.must("media", "rm", drawn.Ref, "--run", "last")
	p.must("media", "rm", items[1].Ref, "--run", shortestPrefix(items[1].Tree, 6, items[0].Tree, drawn.Tree))
	p.atelier("media", "thumbnail", items[0].ID, "-o", filepath.Join(p.dir, "small.gif")).checkRefused(t, exitInput, "image/")
}
