package ledgertest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/ledger"
	"atelier/media"
)

// grantClauses are the clauses about items that several trees have.
func grantClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"one item, many trees":   granting,
		"lineage through grants": lineageThroughGrants,
		"a file given again":     grantedTwice,
		"grants are refused":     grantsRefused,
		"granted at once":        grantedAtOnce,
	}
}

// grantedOutput returns an item as a run receives it.
func grantedOutput(o media.Output) media.Output {
	o.Origin.Direction, o.Promoted = "input", false
	return o
}

// granting checks that an item granted to other trees has one record, with its origin, and that its ref is valid there.
func granting(t *testing.T, f *fixture) {
	t.Helper()
	first := f.run(t, owner, nil)
	o := f.record(scoped(t, first), t, picture("a", media.Meta{Label: "A lighthouse", Lineage: []media.Parent{{Ref: "img-00000000", Role: "input"}}}))
	var runs []ledger.Run
	for range 3 {
		r := f.run(t, owner, nil)
		runs = append(runs, r)
		for range 2 { // as a replay does
			got := f.record(scoped(t, r), t, grantedOutput(o))
			if got.ID != o.ID || got.Origin.Direction != "input" || got.Promoted || got.Label != "A lighthouse" {
				t.Errorf("granted %+v", got)
			}
		}
		links, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{})
		if err != nil || len(links.Items) != 1 || links.Items[0].MediaID != o.ID || links.Items[0].Direction != "input" {
			t.Errorf("links %+v, %v", links.Items, err)
		}
		for _, q := range []ledger.MediaQuery{{Tree: r.Tree}, {Tree: r.Tree, Ref: o.Ref}} {
			if l, err := f.ListMedia(t.Context(), owner, q); err != nil || len(l.Items) != 1 || l.Items[0].ID != o.ID {
				t.Errorf("in the tree %+v, %v", l.Items, err)
			}
		}
	}
	all, err := f.ListMedia(t.Context(), owner, ledger.MediaQuery{})
	if err != nil || len(all.Items) != 1 {
		t.Fatalf("%d records, %v", len(all.Items), err)
	}
	if r := all.Items[0]; r.Tree != first.Tree || r.Run != first.ID || r.Origin.Direction != "output" {
		t.Errorf("origin %+v", r)
	}
	p, err := f.Provenance(t.Context(), owner, o.ID)
	must(t, err)
	var trees []string
	for _, u := range p.Trees {
		trees = append(trees, u.Tree)
	}
	if d := cmp.Diff([]string{first.Tree, runs[0].Tree, runs[1].Tree, runs[2].Tree}, trees); d != "" {
		t.Error(d)
	}
	// Making the same bytes there adds lineage; promoting them adds no record.
	f.record(scoped(t, runs[0]), t, picture("a", media.Meta{}))
	if e := f.parents(t, o.ID); len(e) != 2 || e[1].Role != "same_bytes" || e[1].RunID != runs[0].ID {
		t.Errorf("lineage %+v", e)
	}
	if w, err := f.PromoteMedia(t.Context(), owner, runs[1].ID, []media.Output{grantedOutput(o)}); err != nil || len(w) > 0 {
		t.Error(w, err)
	}
	if l, err := f.ListAgentMedia(t.Context(), owner, runs[1].ID, ledger.Page{}); err != nil || len(l.Items) != 1 || l.Items[0].MediaID != o.ID {
		t.Errorf("chosen %+v, %v", l.Items, err)
	}
}

// lineageThroughGrants checks that an item made from a granted item has it as its parent, across several trees.
func lineageThroughGrants(t *testing.T, f *fixture) {
	t.Helper()
	c := f.conversation(t, owner, "x")
	var chain []media.Output
	for _, bytes := range []string{"a", "b", "c"} {
		r := f.run(t, owner, nil)
		f.saveMessage(t, c, ledger.RoleUser, r, bytes)
		m := media.Meta{}
		if n := len(chain); n > 0 {
			got := f.record(scoped(t, r), t, grantedOutput(chain[n-1]))
			m.Lineage = []media.Parent{{Ref: got.Ref, Role: "input"}}
			if n > 1 && (len(got.Lineage) != 1 || got.Lineage[0].Ref != chain[n-2].Ref) {
				t.Errorf("what is granted was made from %v", got.Lineage)
			}
		}
		chain = append(chain, f.record(scoped(t, r), t, picture(bytes, m)))
	}
	p, err := f.Provenance(t.Context(), owner, chain[1].ID)
	must(t, err)
	if len(p.Parents) != 1 || p.Parents[0].ParentID != chain[0].ID || len(p.Children) != 1 ||
		p.Children[0].ChildID != chain[2].ID || p.Children[0].ChildRef != chain[2].Ref || p.Children[0].Role != "input" {
		t.Errorf("%+v", p)
	}
	for _, u := range p.Trees {
		if u.Conversation != c.ID || u.CreatedAt.IsZero() {
			t.Errorf("%+v is not in %s", u, c.ID)
		}
	}
}

// grantedTwice checks that a file given to several trees is one item, and that a file with another name is another
// item.
func grantedTwice(t *testing.T, f *fixture) {
	t.Helper()
	file := func(name string) media.Output {
		o := picture("a", media.Meta{Label: name, FileName: name})
		o.Origin.Direction = "input"
		return o
	}
	first, second := f.run(t, owner, nil), f.run(t, owner, nil)
	made := f.record(scoped(t, f.run(t, owner, nil)), t, picture("a", media.Meta{}))
	o := f.record(scoped(t, first), t, file("sea.png"))
	if o.ID == made.ID {
		t.Error("a file that is given became what was made")
	}
	if again := f.record(scoped(t, second), t, file("sea.png")); again.ID != o.ID || again.Label != o.Label || again.Origin.Direction != "input" {
		t.Errorf("given again it is %+v, was %+v", again, o)
	}
	p, err := f.Provenance(t.Context(), owner, o.ID)
	must(t, err)
	if len(p.Trees) != 2 || p.Trees[1].Tree != second.Tree {
		t.Errorf("it is in %+v", p.Trees)
	}
	if got := f.record(scoped(t, f.run(t, owner, nil)), t, file("lake.png")); got.ID == o.ID || got.Label != "lake.png" {
		t.Errorf("under another name it is %+v", got)
	}
	if got := f.record(scoped(t, f.run(t, "bob", nil)), t, file("sea.png")); got.ID == o.ID {
		t.Error("bob was granted what is ann's")
	}
}

// grantsRefused checks that an id grants only undeleted items of its owner, and only with the same bytes.
func grantsRefused(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	o := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	f.finishRun(t, r)
	if got := f.record(scoped(t, f.run(t, "bob", nil)), t, o); got.ID == o.ID {
		t.Error("bob was granted what is ann's")
	}
	other := picture("b", media.Meta{})
	other.ID = o.ID
	if got := f.record(scoped(t, f.run(t, owner, nil)), t, other); got.ID == o.ID || got.Digest != other.Digest {
		t.Errorf("other bytes became %+v", got)
	}
	next := f.run(t, owner, nil)
	clash := picture("c", media.Meta{})
	clash.Ref = o.Ref
	f.record(scoped(t, next), t, clash)
	_, err := f.Record(scoped(t, next), o)
	wantCode(t, err, media.CodeRefCollision)
	must(t, f.DeleteMedia(t.Context(), owner, o.ID))
	_, err = f.Record(scoped(t, f.run(t, owner, nil)), o)
	wantCode(t, err, media.CodeNotFound)
}

// grantedAtOnce grants concurrently through two stores.
func grantedAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	o := f.record(scoped(t, f.run(t, owner, nil)), t, picture("a", media.Meta{}))
	r, stores := f.run(t, owner, nil), []ledger.Store{f.Store, f.open(t)}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got, err := stores[i%2].Record(scoped(t, r), grantedOutput(o)); err != nil || got.ID != o.ID {
				t.Error(got, err)
			}
		})
	}
	all.Wait()
	p, err := f.Provenance(t.Context(), owner, o.ID)
	if err != nil || len(p.Trees) != 2 || len(p.Parents) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
