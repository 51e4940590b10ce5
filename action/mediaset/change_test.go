package mediaset

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

// actionNamed returns the action with a name.
func actionNamed(t *testing.T, name string) action.Action {
	t.Helper()
	for _, a := range Actions() {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no action %s", name)
	return action.Action{}
}

// fiveItems returns a set of items of 10, 20, 30, 40 and 50 bytes; the second is promoted.
func fiveItems(t *testing.T) (*media.Set, []string) {
	t.Helper()
	set := &media.Set{}
	var refs []string
	for i := range 5 {
		o, err := set.Add(item(strings.Repeat(string(rune('a'+i)), 10*(i+1)), "image/png", media.Meta{}))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, string(o.Ref))
	}
	set.Promote(media.Ref(refs[1]), "", "")
	return set, refs
}

func TestPrune(t *testing.T) {
	t.Parallel()
	type answer struct {
		Pruned         []string
		Skipped        []skip
		TotalCount     int
		TotalSizeBytes int
	}
	_, r := fiveItems(t)
	const promoted, embedded = "it is promoted", "it is embedded in the answer"
	for name, c := range map[string]struct {
		params map[string]any
		want   answer
	}{
		"named":            {map[string]any{"RefIds": []any{r[0], "${media:" + r[2] + "}"}}, answer{[]string{r[0], r[2]}, []skip{}, 3, 110}},
		"protected":        {map[string]any{"RefIds": []any{r[1], r[3], r[1]}}, answer{[]string{}, []skip{{r[1], promoted}, {r[3], embedded}}, 5, 150}},
		"twice":            {map[string]any{"RefIds": []any{r[0], r[0]}}, answer{[]string{r[0]}, []skip{}, 4, 140}},
		"last two":         {map[string]any{"KeepLast": 2.0}, answer{[]string{r[0], r[2]}, []skip{{r[1], promoted}}, 3, 110}},
		"all":              {map[string]any{"KeepLast": 0.0}, answer{[]string{r[0], r[2], r[4]}, []skip{{r[1], promoted}, {r[3], embedded}}, 2, 60}},
		"more than are":    {map[string]any{"KeepLast": 9.0}, answer{[]string{}, []skip{}, 5, 150}},
		"size":             {map[string]any{"MaxSizeBytes": 125.0}, answer{[]string{r[0], r[2]}, []skip{{r[1], promoted}}, 3, 110}},
		"size fits":        {map[string]any{"MaxSizeBytes": 150.0}, answer{[]string{}, []skip{}, 5, 150}},
		"all in order":     {map[string]any{"RefIds": []any{r[4]}, "KeepLast": 3.0, "MaxSizeBytes": 80.0}, answer{[]string{r[4], r[0], r[2]}, []skip{{r[1], promoted}}, 2, 60}},
		"size out of hand": {map[string]any{"MaxSizeBytes": 0.0}, answer{[]string{r[0], r[2], r[4]}, []skip{{r[1], promoted}, {r[3], embedded}}, 2, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, r := fiveItems(t)
			c2 := &action.Call{Media: set, Params: c.params, InUse: func(ref media.Ref) string {
				if string(ref) == r[3] {
					return embedded
				}
				return ""
			}}
			res, err := actionNamed(t, "Prune Agent Media").Run(t.Context(), c2)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(res.Outputs)
			if err != nil {
				t.Fatal(err)
			}
			var got answer
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if len(set.List()) != c.want.TotalCount || len(set.All()) != 5 {
				t.Errorf("%d in sight of %d: want %d of all 5", len(set.List()), len(set.All()), c.want.TotalCount)
			}
		})
	}
}

func TestBadPrune(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params map[string]any
		code   media.Code
	}{
		"nothing asked":    {map[string]any{}, media.CodeInvalid},
		"empty list":       {map[string]any{"RefIds": []any{}}, media.CodeInvalid},
		"negative count":   {map[string]any{"KeepLast": -1.0}, media.CodeInvalid},
		"negative size":    {map[string]any{"MaxSizeBytes": -5.0}, media.CodeInvalid},
		"unknown":          {map[string]any{"RefIds": []any{"img-00000000"}, "KeepLast": 0.0}, media.CodeUnknownRef},
		"of another run":   {map[string]any{"RefIds": []any{string(item("elsewhere", "image/png", media.Meta{}).Ref)}}, media.CodeUnknownRef},
		"one good, one no": {map[string]any{"RefIds": []any{string(item("aaaaaaaaaa", "image/png", media.Meta{}).Ref), "nonsense"}}, media.CodeUnknownRef},
	} {
		set, _ := fiveItems(t)
		_, err := actionNamed(t, "Prune Agent Media").Run(t.Context(), &action.Call{Media: set, Params: c.params})
		if media.CodeOf(err) != c.code || !media.Retryable(err) || len(set.List()) != 5 {
			t.Errorf("%s: %v, %d items in sight", name, err, len(set.List()))
		}
	}
}

func TestLabelAndPromote(t *testing.T) {
	t.Parallel()
	set, r := fiveItems(t)
	out, err := call(t, actionNamed(t, "Label Agent Media"), set, map[string]any{"RefId": r[0], "Label": " A harbour " + strings.Repeat("QUJD", 30) + " ", "Description": "Seen from the sea"})
	if err != nil || !strings.Contains(out, `"label":"A harbour `+strings.Repeat("QUJD", 30)+`"`) || !strings.Contains(out, "Seen from the sea") {
		t.Errorf("label: %s, %v", out, err)
	}
	if _, err := call(t, actionNamed(t, "Promote Agent Media"), set, map[string]any{"RefId": "/media/" + r[0], "Label": strings.Repeat("ü ", 400)}); err != nil {
		t.Fatal(err)
	}
	o, _ := set.Lookup(media.Ref(r[0]))
	if !o.Promoted || o.Label != strings.Repeat("ü ", 250) || o.Description != "Seen from the sea" {
		t.Errorf("item %+v", o)
	}
	for name, c := range map[string]struct {
		action string
		params map[string]any
		code   media.Code
	}{
		"label of nothing":   {"Label Agent Media", map[string]any{"RefId": "img-00000000", "Label": "x"}, media.CodeUnknownRef},
		"label without text": {"Label Agent Media", map[string]any{"RefId": r[0]}, media.CodeInvalid},
		"promote nothing":    {"Promote Agent Media", map[string]any{"RefId": "picture one"}, media.CodeUnknownRef},
	} {
		if _, err := call(t, actionNamed(t, c.action), set, c.params); media.CodeOf(err) != c.code || !media.Retryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// reading calls an action on a set whose only document holds a text.
func reading(t *testing.T, mime, content string, params map[string]any) (map[string]any, error) {
	t.Helper()
	set := &media.Set{}
	o, err := set.Add(item(content, mime, media.Meta{}))
	if err != nil {
		t.Fatal(err)
	}
	params["RefId"] = string(o.Ref)
	res, err := actionNamed(t, "View Agent Media").Run(t.Context(), &action.Call{
		Media: set, Params: params,
		Open: func(context.Context, media.Output) (io.ReadCloser, error) {
			return io.NopCloser(iotest.OneByteReader(strings.NewReader(content))), nil
		},
	})
	return res.Outputs, err
}

func TestViewText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("äöü ", 3000) // 12,000 characters
	for name, c := range map[string]struct {
		content string
		params  map[string]any
		text    string
		next    any
		total   int
	}{
		"whole":         {"Grüße", map[string]any{}, "Grüße", nil, 5},
		"piece":         {"0123456789", map[string]any{"Offset": 3.0, "Limit": 4.0}, "3456", 7, 10},
		"last piece":    {"0123456789", map[string]any{"Offset": 7.0, "Limit": 4.0}, "789", nil, 10},
		"beyond":        {"0123456789", map[string]any{"Offset": 50.0}, "", nil, 10},
		"default limit": {long, map[string]any{}, long[:2000*7], usualText, 12000},
		"in the middle": {long, map[string]any{"Offset": 2.0, "Limit": 3.0}, "ü ä", 5, 12000},
		"bad UTF-8":     {"a\xffb\x00c", map[string]any{}, "a\ufffdb\ufffdc", nil, 5},
		"base64 inside": {"x " + strings.Repeat("QUJD", 20) + " y", map[string]any{}, "x " + strings.Repeat("QUJD", 20) + " y", nil, 84},
		"media inside":  {"x " + strings.Repeat("iVBORw0KGgoA", 20_000) + " yz", map[string]any{"Offset": 2.0}, "[media as base64 left out] yz", nil, 31},
	} {
		for _, mime := range []string{"text/plain", "text/html", "application/json", "image/svg+xml"} {
			out, err := reading(t, mime, c.content, c.params)
			if err != nil || out["text"] != c.text || out["nextOffset"] != c.next || out["totalCharacters"] != c.total {
				t.Errorf("%s, %s: %.80q next %v of %v, %v; want %.80q next %v of %d", name, mime, out["text"], out["nextOffset"], out["totalCharacters"], err, c.text, c.next, c.total)
			}
		}
	}
}

func TestBadView(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mime   string
		params map[string]any
		code   media.Code
	}{
		"negative offset": {"text/plain", map[string]any{"Offset": -1.0}, media.CodeInvalid},
		"huge limit":      {"text/plain", map[string]any{"Limit": 1e6}, media.CodeInvalid},
		"sound":           {"audio/wav", map[string]any{}, media.CodeUnsupported},
		"pdf":             {"application/pdf", map[string]any{}, media.CodeUnsupported},
		"nobody looks":    {"image/png", map[string]any{}, media.CodeUnsupported},
	} {
		if _, err := reading(t, c.mime, "content", c.params); media.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	set, r := fiveItems(t)
	deny := media.Errorf(media.CodeUnsupported, "this model is blind")
	c := &action.Call{Media: set, Params: map[string]any{"RefId": r[0]}, See: func(media.Output) error { return deny }}
	if _, err := actionNamed(t, "View Agent Media").Run(t.Context(), c); err == nil || err.Error() != deny.Message {
		t.Errorf("a blind model: %v", err)
	}
	if _, err := call(t, actionNamed(t, "View Agent Media"), set, map[string]any{"RefId": "img-00000000"}); media.CodeOf(err) != media.CodeUnknownRef {
		t.Errorf("unknown: %v", err)
	}
}

func FuzzSlice(f *testing.F) {
	f.Add("Grüße", 1, 3)
	f.Add("a\xff\xfeb", 0, 100)
	f.Fuzz(func(t *testing.T, text string, from, limit int) {
		from, limit = from&0xfff, limit&0xfff
		piece, total, err := slice(strings.NewReader(text), from, limit)
		all := []rune(strings.ReplaceAll(text, "\x00", "\ufffd"))
		lo := min(from, len(all))
		if want := string(all[lo:min(len(all), lo+limit)]); err != nil || total != len(all) || piece != want {
			t.Errorf("slice(%q, %d, %d) = %q of %d, %v; want %q of %d", text, from, limit, piece, total, err, want, len(all))
		}
	})
}
