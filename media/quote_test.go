package media

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Errors quote invalid input, but never enough of it to reveal a picture.
func TestErrorsQuoteNoBase64(t *testing.T) {
	t.Parallel()
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 20)
	var s Set
	for _, given := range []string{picture, "data:image/png;base64," + picture, "${media:" + picture + "}", "sha256-" + picture, picture[:60]} {
		_, noDigest := ParseDigest(given)
		_, noRef := ParseRef(given)
		_, noModality := ParseModality(given)
		_, notFound := s.Find(given)
		text := errors.Join(noDigest, noRef, noModality, notFound, s.Unknown(given)).Error()
		if i := strings.Index(text, picture[:40]); i >= 0 {
			t.Errorf("%.30s: %s", given, text[i:])
		}
		if strings.Count(text, "[base64, ") != 5 {
			t.Errorf("%.30s: the base64 is not named: %s", given, text)
		}
	}
}

func TestUnknownLeavesItsArgumentsAlone(t *testing.T) {
	t.Parallel()
	given := []string{strings.Repeat("long ", 50), "image_1"}
	want := slices.Clone(given)
	var s Set
	if err := s.Unknown(given...); !strings.Contains(err.Error(), "image_1") || !slices.Equal(given, want) {
		t.Errorf("%v, arguments are now %.40q", err, given)
	}
}

// An item passes from a child's set to its parent's; lineage that one set learns must not be written into the other's.
func TestSetsDoNotShareLineage(t *testing.T) {
	t.Parallel()
	o := item("a", "")
	o.Lineage = append(make([]Parent, 0, 8), Parent{Ref: "img-00000000", Role: "input"})
	var child, parent Set
	for s, more := range map[*Set]Ref{&child: "img-11111111", &parent: "img-22222222"} {
		if _, err := s.Add(o); err != nil {
			t.Fatal(err)
		}
		again := item("a", "")
		again.Lineage = []Parent{{Ref: more, Role: "mask"}}
		if _, err := s.Add(again); err != nil {
			t.Fatal(err)
		}
	}
	for s, want := range map[*Set]Ref{&child: "img-11111111", &parent: "img-22222222"} {
		if got := s.All()[0].Lineage; len(got) != 2 || got[1].Ref != want {
			t.Errorf("%v, want %s second", got, want)
		}
	}
}
