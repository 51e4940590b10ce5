package contract

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/media"
)

func FuzzStep(f *testing.F) {
	for _, s := range []string{
		`{"done":true}`, "x {y} ```json\n{\"actions\":[{\"name\":\"a\",\"params\":{}}],}\n```", `{"message":"a` + "\n" + `b","done":true}`,
		`{"promote":["x",{"refId":"y"}],"persist":true,"done":true}`, strings.Repeat(`{"`, 80), `{"done":1e999}`, `{"ask":{"question":"q","schema":{}}}`,
	} {
		f.Add(s)
	}
	p, err := NewParser()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := p.Parse(text)
		if err != nil {
			if media.CodeOf(err) != media.CodeBadResponse || !media.Retryable(err) || err.Error() == "" {
				t.Fatalf("%q: error %v cannot be sent back", text, err)
			}
			return
		}
		if !s.Acts() && !s.Done && s.Ask == nil {
			t.Fatalf("%q: a step that asks for nothing", text)
		}
		// The parsed step can be written and parsed again with the same meaning.
		again, err := p.Parse(string(plain.JSON(s)))
		if err != nil {
			t.Fatalf("%q: written as %s: %v", text, plain.JSON(s), err)
		}
		if utf8.ValidString(text) && string(plain.JSON(again)) != string(plain.JSON(s)) {
			t.Fatalf("%q: %s became %s", text, plain.JSON(s), plain.JSON(again))
		}
	})
}

func TestFieldsOfAQuestionKeepTheirOrder(t *testing.T) {
	t.Parallel()
	p, err := NewParser()
	if err != nil {
		t.Fatal(err)
	}
	const form = `{"type":"object","properties":{"width":{"type":"integer"},"depth":{"type":"integer"},"colour":{"enum":[1.50,"<b>"]}}}`
	for _, answer := range []string{
		`{"ask":{"question":"How large?","schema":` + form + `}}`,
		`{"ask":{"question":"How large?","schema":` + strings.ReplaceAll(form, ":", " :\n ") + `,},}`, // repaired
	} {
		s, err := p.Parse("Sure:\n" + answer)
		if err != nil {
			t.Fatal(err)
		}
		if string(s.Ask.Schema) != form {
			t.Errorf("schema %s", s.Ask.Schema)
		}
	}
	for _, none := range []string{`{}`, `null`} {
		if s, err := p.Parse(`{"ask":{"question":"How large?","schema":` + none + `},"Done":false}`); err != nil || s.Ask.Schema != nil {
			t.Errorf("%s: %+v, %v", none, s, err)
		}
	}
	if _, err := p.Parse(`{"done":true,"Ask":{"question":"How large?"},"Message":1}`); media.CodeOf(err) != media.CodeBadResponse {
		t.Errorf("error %v", err)
	}
}

// TestRepeatedFields: the last of several fields of the same name counts, without parts of those before it.
func TestRepeatedFields(t *testing.T) {
	t.Parallel()
	p, err := NewParser()
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"actions":[{"name":"a","params":{"x":1}},{"name":"c"}],"actions":[{"name":"b","params":{"y":2}}]}`: `{"actions":[{"name":"b","params":{"y":2}}],"done":false}`,
		`{"agents":[{"name":"a","task":"t","media":["img-1"]}],"agents":[{"name":"b","task":"u"}]}`:          `{"agents":[{"name":"b","task":"u"}],"done":false}`,
		`{"message":"one","message":null,"done":true}`:                                                       `{"done":true}`,
		`{"ask":{"question":"a","schema":{"type":"object"}},"ask":{"question":"b"}}`:                         `{"ask":{"question":"b"},"done":false}`,
	} {
		if s, err := p.Parse(answer); err != nil || string(plain.JSON(s)) != want {
			t.Errorf("%s: %s, %v", answer, plain.JSON(s), err)
		}
	}
}

func TestOldNamesOfPromotions(t *testing.T) {
	t.Parallel()
	p, err := NewParser()
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Parse(`{"promote":["a",{"refId":"b","label":"L"}],"persist":{"ref":"c"},"payload":{"n":12345678901234567890},"payloadPatch":{"x":null},"done":true}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"promote":[{"ref":"a"},{"ref":"b","label":"L"},{"ref":"c"}],"payload":{"n":12345678901234567890},"payloadPatch":{"x":null},"done":true}`
	if got := string(plain.JSON(s)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestMergePatchFollowsTheRFC(t *testing.T) {
	t.Parallel()
	// The object cases of RFC 7396, appendix A.
	for _, tt := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var target, patch map[string]any
		if json.Unmarshal([]byte(tt[0]), &target) != nil || json.Unmarshal([]byte(tt[1]), &patch) != nil {
			t.Fatal("bad case")
		}
		if got := string(plain.JSON(object.Patch(target, patch))); got != tt[2] {
			t.Errorf("%s + %s: got %s, want %s", tt[0], tt[1], got, tt[2])
		}
		if string(plain.JSON(target)) != string(plain.JSON(mustObject(t, tt[0]))) {
			t.Errorf("%s was changed to %s", tt[0], plain.JSON(target))
		}
	}
}

func mustObject(t *testing.T, s string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPlaceAt(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"":    `{"a":1}`,
		".":   `{"a":1,"x":2}`,
		"r":   `{"a":1,"r":{"x":2}}`,
		"r.f": `{"a":1,"r":{"f":{"x":2}}}`,
	} {
		got := object.Place(map[string]any{"a": 1}, key, map[string]any{"x": 2})
		if string(plain.JSON(got)) != want {
			t.Errorf("%q: got %s, want %s", key, plain.JSON(got), want)
		}
	}
	// A sub-agent that runs again adds to its earlier findings.
	first := object.Place(nil, "r", map[string]any{"findings": []any{"a", map[string]any{"n": 1}}, "note": "x", "empty": []any{}})
	got := object.Place(first, "r", map[string]any{"findings": []any{map[string]any{"n": 1}, "b"}, "note": "y"})
	if want := `{"r":{"empty":[],"findings":["a",{"n":1},"b"],"note":"y"}}`; string(plain.JSON(got)) != want || strings.Contains(string(plain.JSON(first)), `"note":"y"`) {
		t.Errorf("got %s after %s", plain.JSON(got), plain.JSON(first))
	}
}
