package draft_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent/contract"
	"atelier/agent/internal/draft"
	"atelier/media"
)

// onePicture returns a set of one picture, and its ref.
func onePicture(t *testing.T) (*media.Set, media.Ref) {
	t.Helper()
	s := &media.Set{}
	o, err := s.Add(media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("known")), SizeBytes: 5, Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{Label: "Known"}))
	if err != nil {
		t.Fatal(err)
	}
	return s, o.Ref
}

const unknownRef = "img-zzzzzzz9" // in no set

// TestKnownRefs: refs of the run become placeholders, in every form in which models write them; other text remains byte
// for byte.
func TestKnownRefs(t *testing.T) {
	t.Parallel()
	set, ref := onePicture(t)
	r, p := string(ref), ref.Placeholder()
	d := &draft.Draft{Set: set}
	for name, c := range map[string]struct{ text, want string }{
		"no ref":             {"Just text with $ and { and img.", "Just text with $ and { and img."},
		"placeholder":        {"See " + p + ".", "See " + p + "."},
		"capitals":           {"See ${MEDIA:" + strings.ToUpper(r) + "}.", "See " + p + "."},
		"blanks":             {"${ media : " + r + " }", p},
		"escaped":            {"$${ media: " + r + "}", "$${ media: " + r + "}"},
		"Markdown":           {"![x](" + r + ")", "![x](" + p + ")"},
		"Markdown, a path":   {"![x](/api/media/" + r + ".png)", "![x](" + p + ")"},
		"HTML":               {`<img src="` + r + `">`, `<img src="` + p + `">`},
		"HTML, a path":       {`<a href='media/${media:` + r + `}'>`, `<a href='` + p + `'>`},
		"bare in a sentence": {"The item " + r + " is good.", "The item " + r + " is good."},
		"unknown":            {"![x](" + unknownRef + ")", "![x](" + unknownRef + ")"},
		"unknown capitals":   {"${MEDIA:" + strings.ToUpper(unknownRef) + "}", "${MEDIA:" + strings.ToUpper(unknownRef) + "}"},
		"longer than a ref":  {"![x](" + r + "0)", "![x](" + r + "0)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := d.KnownRefs(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnknownRefs(t *testing.T) {
	t.Parallel()
	set, ref := onePicture(t)
	d := &draft.Draft{Set: set, Message: ref.Placeholder() + " ${media:" + unknownRef + "} ${media:" + unknownRef + "}", Payload: map[string]any{
		"a": []any{"${media:img-bbbbbbb9}", 1, nil}, "${media:img-ccccccc9}": "a key is no text",
	}}
	if diff := cmp.Diff([]string{"img-bbbbbbb9", unknownRef}, d.UnknownRefs()); diff != "" {
		t.Error(diff)
	}
	if got := (&draft.Draft{Set: set}).UnknownRefs(); len(got) > 0 {
		t.Errorf("an empty draft has unknown refs: %v", got)
	}
}

func TestPromote(t *testing.T) {
	t.Parallel()
	set, ref := onePicture(t)
	d := &draft.Draft{Set: set}
	unknown := d.Promote([]contract.Promotion{
		{Ref: unknownRef}, {Ref: ""}, {Ref: ref.Placeholder(), Label: strings.Repeat("ü", 600)}, {Ref: strings.Repeat("x", 200)},
	})
	if want := []string{unknownRef, "", strings.Repeat("x", 80) + "…"}; !slices.Equal(unknown, want) {
		t.Errorf("unknown are %q, want %q", unknown, want)
	}
	o, _ := set.Lookup(ref)
	if !o.Promoted || o.Label != strings.Repeat("ü", 500) {
		t.Errorf("promoted %v with label %q", o.Promoted, o.Label)
	}
}

// TestEmbedded: items that the answer embeds are promoted and marked as used, in the message and at any depth.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message func(media.Ref) string
		payload func(media.Ref) map[string]any
		used    bool
	}{
		"message": {message: func(r media.Ref) string { return "See " + r.Placeholder() }, used: true},
		"payload": {payload: func(r media.Ref) map[string]any {
			return map[string]any{"a": []any{map[string]any{"b": r.Placeholder()}}}
		}, used: true},
		"a bare ref":    {message: func(r media.Ref) string { return string(r) }},
		"a key":         {payload: func(r media.Ref) map[string]any { return map[string]any{r.Placeholder(): 1} }},
		"another":       {message: func(media.Ref) string { return "${media:" + unknownRef + "}" }},
		"nothing there": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, ref := onePicture(t)
			d := &draft.Draft{Set: set}
			if c.message != nil {
				d.Message = c.message(ref)
			}
			if c.payload != nil {
				d.Payload = c.payload(ref)
			}
			if reason := d.InUse(ref); (reason != "") != c.used {
				t.Errorf("in use: %q, want %v", reason, c.used)
			}
			d.PromoteEmbedded()
			if o, _ := set.Lookup(ref); o.Promoted != c.used {
				t.Errorf("promoted: %v, want %v", o.Promoted, c.used)
			}
		})
	}
}

// TestReturns: each kind of problem is returned to the model once.
func TestReturns(t *testing.T) {
	t.Parallel()
	set, ref := onePicture(t)
	d := &draft.Draft{Set: set}
	if got := d.Corrections(nil, nil); len(got) > 0 {
		t.Fatalf("no problem, and %v goes back", got)
	}
	got := d.Corrections([]string{unknownRef}, nil)
	if len(got) != 1 || got[0].Code != media.CodeUnknownRef || !slices.Contains(got[0].Valid, string(ref)) {
		t.Errorf("%+v", got)
	}
	unfit := errors.New("the payload does not fit")
	if got := d.Corrections([]string{unknownRef}, unfit); len(got) != 1 || !strings.Contains(got[0].Message, unfit.Error()) {
		t.Errorf("the refs went back before, the payload did not: %+v", got)
	}
	if got := d.Corrections([]string{unknownRef}, unfit); len(got) > 0 {
		t.Errorf("a second time: %+v", got)
	}
}
