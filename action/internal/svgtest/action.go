package svgtest

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"atelier/action"
	"atelier/media"
)

// Draw runs a drawing action and gives the file and the result; refusals fail the test.
func Draw(tb testing.TB, a action.Action, params map[string]any) ([]byte, action.Result) {
	tb.Helper()
	res, err := a.Run(tb.Context(), &action.Call{Params: params})
	if err != nil {
		tb.Fatalf("%s: %v", a.Name, err)
	}
	for _, p := range a.Params {
		if p.ValueType != action.Binary {
			continue
		}
		item, _ := res.Outputs[p.Name].(map[string]any)
		data, _ := item["data"].([]byte)
		if len(data) == 0 || item["mimeType"] != "image/svg+xml" || item["label"] == "" || item["description"] != res.Outputs["Description"] || item["description"] == "" {
			tb.Fatalf("%s gave %v", a.Name, item["mimeType"])
		}
		if !strings.HasSuffix(item["fileName"].(string), ".svg") {
			tb.Errorf("file name %v", item["fileName"])
		}
		return data, res
	}
	tb.Fatalf("%s has no Binary output", a.Name)
	return nil, res
}

// Good draws twice, wants the same bytes, and checks the drawing in every way.
func Good(tb testing.TB, a action.Action, params map[string]any) (Drawing, action.Result) {
	tb.Helper()
	one, res := Draw(tb, a, params)
	two, _ := Draw(tb, a, maps.Clone(params))
	if !bytes.Equal(one, two) {
		tb.Error("equal input gave different bytes")
	}
	return Check(tb, one), res
}

// Hostile are texts that drawings must survive.
func Hostile() []string {
	return []string{
		`</title><script>alert(1)</script> & "quoted" 'single' <b onload=x>`,
		"مخطط سير العمل עברית",
		"👩🏽‍🚀🚀 emoji 🏳️‍🌈",
		"漢字とかなだけの長い文章がここにあります",
		"Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
		strings.Repeat("long label ", 60),
		"a\x00b\x1b[31m\ufffe\xff%s%!d(MISSING)",
		"${media:img-7k3m9q2x}",
		" ",
	}
}

// Survives draws with each hostile text, put into the parameters by fill. Texts that
// an action refuses must be refused as invalid.
func Survives(t *testing.T, a action.Action, fill func(text string) map[string]any) {
	t.Helper()
	for _, text := range Hostile() {
		params := fill(text)
		if _, err := a.Run(t.Context(), &action.Call{Params: params}); err != nil {
			if strings.TrimSpace(text) != "" || media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		data, _ := Draw(t, a, params)
		Check(t, data)
		if body := string(data); strings.Contains(body, "<script") || strings.Contains(body, "<b ") {
			t.Errorf("%q is not escaped", text)
		}
	}
}

// Refuses wants each set of parameters refused as invalid with words of the message.
func Refuses(t *testing.T, a action.Action, cases map[string]map[string]any) {
	t.Helper()
	for says, params := range cases {
		_, err := a.Run(t.Context(), &action.Call{Params: params})
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want invalid with %q", err, says)
		}
	}
}
