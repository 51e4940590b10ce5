package media

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

func item(text, label string) Output {
	d := DigestOf([]byte(text))
	return NewOutput(Blob{Digest: d, SizeBytes: int64(len(text)), Facts: Facts{MIMEType: "image/png"}}, Meta{Label: label})
}

func refs(items []Output) []Ref {
	var out []Ref
	for _, o := range items {
		out = append(out, o.Ref)
	}
	return out
}

func TestSetKeepsOrderAndFirstLabel(t *testing.T) {
	t.Parallel()
	var s Set
	a, b := item("a", "first"), item("b", "second")
	for _, o := range []Output{a, b} {
		if _, err := s.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	again := item("a", "another label")
	again.Promoted, again.Lineage = true, []Parent{{Ref: b.Ref, Role: "input"}}
	got, err := s.Add(again)
	if err != nil || got.Label != "first" || !got.Promoted || len(got.Lineage) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := []Ref{a.Ref, b.Ref}; !slices.Equal(refs(s.List()), want) {
		t.Errorf("order %v, want %v", refs(s.List()), want)
	}
	if got := s.Promoted(); len(got) != 1 || got[0].Ref != a.Ref {
		t.Errorf("promoted %v", got)
	}
}

func TestSetRefusesCollisionsAndLostBytes(t *testing.T) {
	t.Parallel()
	var s Set
	a := item("a", "")
	if _, err := s.Add(a); err != nil {
		t.Fatal(err)
	}
	other := item("b", "")
	other.Ref = a.Ref
	if _, err := s.Add(other); CodeOf(err) != CodeRefCollision {
		t.Errorf("collision: %v", err)
	}
	if _, err := s.Add(Output{Ref: "img-00000000"}); CodeOf(err) != CodeInvalid {
		t.Errorf("no digest: %v", err)
	}
	if err := s.Merge([]Output{other, item("c", "")}); CodeOf(err) != CodeRefCollision || len(s.List()) != 2 {
		t.Errorf("merge: %v, %d items", err, len(s.List()))
	}
}

func TestSetFindUnderstandsEveryForm(t *testing.T) {
	t.Parallel()
	var s Set
	a := item("a", "")
	if _, err := s.Find("img-00000000"); CodeOf(err) != CodeUnknownRef || !strings.Contains(err.Error(), "no media yet") {
		t.Errorf("empty set: %v", err)
	}
	if _, err := s.Add(a); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(a.Ref), a.Ref.Placeholder(), " " + strings.ToUpper(string(a.Ref)), "/media/" + string(a.Ref), "https://x.example/media/" + string(a.Ref) + ".png?w=3"} {
		if got, err := s.Find(text); err != nil || got.Ref != a.Ref {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	_, err := s.Find("image_1")
	if CodeOf(err) != CodeUnknownRef || !Retryable(err) || !strings.Contains(err.Error(), string(a.Ref)) {
		t.Errorf("unknown: %v", err)
	}
}

func TestPrunedItemsStillResolve(t *testing.T) {
	t.Parallel()
	var s Set
	a, b := item("a", ""), item("b", "")
	_ = s.Merge([]Output{a, b})
	_, pruned := s.Apply(Change{Kind: ChangePrune, Ref: a.Ref})
	if _, unknown := s.Apply(Change{Kind: ChangePrune, Ref: "img-00000000"}); !pruned || unknown {
		t.Error("prune: wrong answer")
	}
	if _, ok := s.Lookup(a.Ref); !ok || len(s.List()) != 1 || len(s.All()) != 2 {
		t.Errorf("after prune: %d listed, %d in all", len(s.List()), len(s.All()))
	}
	if _, ok := s.Promote(a.Ref, "shown", "why"); !ok || len(s.List()) != 2 || s.List()[0].Label != "shown" || s.List()[0].Description != "why" {
		t.Errorf("a promoted item is listed again: %v", s.List())
	}
	if got, ok := s.Apply(Change{Kind: ChangeLabel, Ref: b.Ref, Label: "b"}); !ok || got.Label != "b" {
		t.Errorf("label: %v", got)
	}
	if _, ok := s.Promote("img-00000000", "", ""); ok {
		t.Error("an unknown ref was promoted")
	}
}

func TestArrangeMovesOnlyTheNamed(t *testing.T) {
	t.Parallel()
	var s Set
	a, b, c, d := item("a", ""), item("b", ""), item("c", ""), item("d", "")
	_ = s.Merge([]Output{a, b, c, d})
	s.Arrange([]Ref{d.Ref, "img-00000000", b.Ref, d.Ref})
	if want := []Ref{a.Ref, d.Ref, c.Ref, b.Ref}; !slices.Equal(refs(s.List()), want) {
		t.Errorf("got %v, want %v", refs(s.List()), want)
	}
}

func TestSetIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var s Set
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				o, err := s.Add(item(strings.Repeat("x", j+1), "l"))
				if err != nil {
					t.Error(err)
				}
				s.Promote(o.Ref, "", "")
				s.Apply(Change{Kind: ChangePrune, Ref: o.Ref})
				s.List()
				if i == 0 {
					s.Arrange([]Ref{o.Ref})
				}
			}
		})
	}
	wg.Wait()
	if n := len(s.All()); n != 20 {
		t.Errorf("%d items, want 20", n)
	}
}
