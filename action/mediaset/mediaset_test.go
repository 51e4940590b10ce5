package mediaset

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func item(content, mime string, m media.Meta) media.Output {
	b := media.Blob{Digest: media.DigestOf([]byte(content)), SizeBytes: int64(len(content)), Facts: media.Facts{MIMEType: mime, Width: 8, Height: 4}}
	return media.NewOutput(b, m)
}

func filledSet(t *testing.T) (*media.Set, media.Output) {
	t.Helper()
	set := &media.Set{}
	first, err := set.Add(item("one", "image/png", media.Meta{Label: "First"}))
	if err != nil {
		t.Fatal(err)
	}
	second := item("second", "image/svg+xml", media.Meta{Label: "Second", Description: "A chart", FileName: "b.svg", Lineage: []media.Parent{{Ref: first.Ref, Role: "input"}}})
	second.Promoted = true
	second.Origin = media.Origin{Direction: "output", Source: "Create SVG Chart", AgentPath: "a/b", Operation: "op"}
	if second, err = set.Add(second); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Add(item("sound", "audio/wav", media.Meta{})); err != nil {
		t.Fatal(err)
	}
	hidden, err := set.Add(item("pruned", "image/png", media.Meta{}))
	if err != nil {
		t.Fatal(err)
	}
	set.Apply(media.Change{Kind: media.ChangePrune, Ref: hidden.Ref})
	return set, second
}

func call(t *testing.T, a action.Action, set *media.Set, params map[string]any) (string, error) {
	t.Helper()
	res, err := a.Run(t.Context(), &action.Call{Media: set, Params: params})
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

func TestList(t *testing.T) {
	t.Parallel()
	set, second := filledSet(t)
	list := Actions()[0]
	all, err := call(t, list, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		MediaReferences []map[string]any
		TotalCount      int
		TotalSizeBytes  int
	}
	if err := json.Unmarshal([]byte(all), &got); err != nil {
		t.Fatal(err)
	}
	if got.TotalCount != 3 || got.TotalSizeBytes != 3+6+5 {
		t.Errorf("totals: %s", all)
	}
	want := map[string]any{"refId": string(second.Ref), "modality": "image", "mimeType": "image/svg+xml", "sizeBytes": 6.0, "width": 8.0, "height": 4.0, "label": "Second"}
	if diff := cmp.Diff(want, got.MediaReferences[1]); diff != "" {
		t.Error(diff)
	}
	if audio, _ := call(t, list, set, map[string]any{"Modality": "audio"}); !strings.Contains(audio, `"totalCount":1`) {
		t.Errorf("audio alone: %s", audio)
	}
	if none, _ := call(t, list, &media.Set{}, nil); none != `{"mediaReferences":[],"totalCount":0,"totalSizeBytes":0}` {
		t.Errorf("empty set: %s", none)
	}
}

// TestListIsPaged: of a thousand items one page is listed, and the pages return all of them in order.
func TestListIsPaged(t *testing.T) {
	t.Parallel()
	const n = 1000
	set := &media.Set{}
	var want []string
	for i := range n {
		o, err := set.Add(item(fmt.Sprintf("item %d", i), "image/png", media.Meta{Label: fmt.Sprintf("Number %d ", i) + strings.Repeat("long ", 90)}))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(o.Ref))
	}
	var got []string
	offset := 0.0
	for range n {
		page, err := call(t, Actions()[0], set, map[string]any{"Offset": offset, "Limit": 400.0})
		if err != nil || len(page) > 16_000 {
			t.Fatalf("a page of %d characters, %v", len(page), err)
		}
		var d struct {
			MediaReferences []struct{ RefID string }
			TotalCount      int
			NextOffset      *float64
		}
		if err := json.Unmarshal([]byte(page), &d); err != nil || d.TotalCount != n {
			t.Fatalf("%d items in all, %v", d.TotalCount, err)
		}
		for _, r := range d.MediaReferences {
			got = append(got, r.RefID)
		}
		if d.NextOffset == nil {
			break
		}
		offset = *d.NextOffset
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, params := range map[string]map[string]any{"negative offset": {"Offset": -1.0}, "no limit": {"Limit": 0.0}, "negative limit": {"Limit": -5.0}} {
		if _, err := call(t, Actions()[0], set, params); media.CodeOf(err) != media.CodeInvalid || !media.Retryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if beyond, err := call(t, Actions()[0], set, map[string]any{"Offset": 5000.0}); err != nil || !strings.HasPrefix(beyond, `{"mediaReferences":[],"totalCount":1000`) || strings.Contains(beyond, "nextOffset") {
		t.Errorf("beyond the end: %s, %v", beyond, err)
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	set, second := filledSet(t)
	details := Actions()[1]
	for _, ref := range []string{string(second.Ref), second.Ref.Placeholder(), "/media/" + string(second.Ref)} {
		got, err := call(t, details, set, map[string]any{"RefId": ref})
		if err != nil {
			t.Fatal(err)
		}
		var top map[string]any
		if err := json.Unmarshal([]byte(got), &top); err != nil || top["refId"] != string(second.Ref) || top["modality"] != "image" || top["mimeType"] != "image/svg+xml" ||
			top["width"] != 8.0 || top["height"] != 4.0 || top["label"] != "Second" || top["sizeBytes"] != 6.0 || top["placeholder"] != second.Ref.Placeholder() {
			t.Errorf("the seed's fields are not at the top: %s, %v", got, err)
		}
		for _, want := range []string{
			`"placeholder":"` + second.Ref.Placeholder() + `"`, `"description":"A chart"`, `"promoted":true`, `"fileName":"b.svg"`,
			`"agentPath":"a/b"`, `"source":"Create SVG Chart"`, `"role":"input"`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in %s", want, got)
			}
		}
		if strings.Contains(got, "sha256-") || strings.Contains(got, "data:") {
			t.Errorf("details show a digest or data: %s", got)
		}
	}
	_, err := call(t, details, set, map[string]any{"RefId": string(second.Ref), "IncludeData": true})
	if media.CodeOf(err) != media.CodeInvalid || !media.Retryable(err) || !strings.Contains(err.Error(), "View Agent Media") {
		t.Errorf("a model that asks for data: %v", err)
	}
	_, err = call(t, details, set, map[string]any{"RefId": "img-00000000"})
	if media.CodeOf(err) != media.CodeUnknownRef || !media.Retryable(err) || !strings.Contains(err.Error(), string(second.Ref)) {
		t.Errorf("unknown ref: %v", err)
	}
}

func TestActionsAreValid(t *testing.T) {
	t.Parallel()
	for _, a := range Actions() {
		d := a.Describe()
		if d.Name == "" || d.Description == "" || len(d.Params) == 0 || len(d.Outputs) == 0 {
			t.Errorf("description: %+v", d)
		}
	}
}

// TestOutputsAreDeclared: an action returns the outputs that its description declares.
func TestOutputsAreDeclared(t *testing.T) {
	t.Parallel()
	set, second := filledSet(t)
	for name, params := range map[string]map[string]any{
		"List Agent Media": {}, "Get Agent Media Details": {"RefId": string(second.Ref)}, "Prune Agent Media": {"KeepLast": 9.0},
		"Label Agent Media": {"RefId": string(second.Ref), "Label": "x"}, "Promote Agent Media": {"RefId": string(second.Ref)},
	} {
		a := actionNamed(t, name)
		declared := map[string]bool{}
		for _, p := range a.Describe().Outputs {
			declared[p.Name] = true
		}
		res, err := a.Run(t.Context(), &action.Call{Media: set, Params: params})
		if err != nil {
			t.Fatal(err)
		}
		for output := range res.Outputs {
			if !declared[output] {
				t.Errorf("%s returns %s, which it does not declare", name, output)
			}
		}
	}
}
