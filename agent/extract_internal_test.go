package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier/media"
)

func FuzzStep(f *testing.F) {
	for _, s := range []string{
		`{"done":true}`, "x {y} ```json\n{\"actions\":[{\"name\":\"a\",\"params\":{}}],}\n```", `{"message":"a` + "\n" + `b","done":true}`,
		`{"promote":["x",{"refId":"y"}],"persist":true,"done":true}`, strings.Repeat(`{"`, 80), `{"done":1e999}`, `{"ask":{"question":"q","schema":{}}}`,
	} {
		f.Add(s)
	}
	p, err := newStepParser()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := p.parse(text)
		if err != nil {
			if media.CodeOf(err) != media.CodeBadResponse || !media.Retryable(err) || err.Error() == "" {
				t.Fatalf("%q: error %v cannot be sent back", text, err)
			}
			return
		}
		if !s.acts() && !s.Done && s.Ask == nil {
			t.Fatalf("%q: a step that asks for nothing", text)
		}
		// What was read can be written and read again, and means the same.
		again, err := p.parse(string(plain(s)))
		if err != nil {
			t.Fatalf("%q: written as %s: %v", text, plain(s), err)
		}
		if utf8.ValidString(text) && string(plain(again)) != string(plain(s)) {
			t.Fatalf("%q: %s became %s", text, plain(s), plain(again))
		}
	})
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
		if got := string(plain(mergePatch(target, patch))); got != tt[2] {
			t.Errorf("%s + %s: got %s, want %s", tt[0], tt[1], got, tt[2])
		}
		if string(plain(target)) != string(plain(mustObject(t, tt[0]))) {
			t.Errorf("%s was changed to %s", tt[0], plain(target))
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
		got := placeAt(map[string]any{"a": 1}, key, map[string]any{"x": 2})
		if string(plain(got)) != want {
			t.Errorf("%q: got %s, want %s", key, plain(got), want)
		}
	}
	// A sub-agent that is asked again adds to what it found before.
	first := placeAt(nil, "r", map[string]any{"findings": []any{"a", map[string]any{"n": 1}}, "note": "x", "empty": []any{}})
	got := placeAt(first, "r", map[string]any{"findings": []any{map[string]any{"n": 1}, "b"}, "note": "y"})
	if want := `{"r":{"empty":[],"findings":["a",{"n":1},"b"],"note":"y"}}`; string(plain(got)) != want || strings.Contains(string(plain(first)), `"note":"y"`) {
		t.Errorf("got %s after %s", plain(got), plain(first))
	}
}

func TestSumUSD(t *testing.T) {
	t.Parallel()
	a, b := "0.1", "0.2"
	if got := *AddUSD(&a, &b); got != "0.3" {
		t.Errorf("got %s", got)
	}
	if AddUSD(nil, nil) != nil || *AddUSD(nil, &b) != "0.2" || *AddUSD(&a, nil) != "0.1" {
		t.Error("unknown adds nothing")
	}
	tiny := "0.000000000000000001"
	if got := *AddUSD(&tiny, &a); got != "0.100000000000000001" {
		t.Errorf("got %s", got)
	}
	z := "10"
	if got := *AddUSD(&z, &z); got != "20" {
		t.Errorf("got %s", got)
	}
}

func TestEventTypesAreClosed(t *testing.T) {
	t.Parallel()
	seen := map[EventType]bool{}
	for _, e := range EventTypes() {
		if seen[e] || !strings.Contains(string(e), "-") && e != EventWarning {
			t.Errorf("event %q", e)
		}
		seen[e] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d events", len(seen))
	}
}
