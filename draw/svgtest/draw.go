package svgtest

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"atelier/draw/svg"
	"atelier/media"
)

// DrawFunc is the type of the Draw function of each package of draw.
type DrawFunc func(params map[string]any) (svg.Drawing, error)

// Draw calls draw and returns the file and its description; an error fails the test.
func Draw(tb testing.TB, draw DrawFunc, params map[string]any) ([]byte, svg.Drawing) {
	tb.Helper()
	d, err := draw(params)
	if err != nil {
		tb.Fatal(err)
	}
	if len(d.Data) == 0 || d.Kind == "" || d.Title == "" || d.Alt == "" || len(d.Facts) == 0 {
		tb.Fatalf("the drawing lacks something: %d bytes, %q, %q, %q, %v", len(d.Data), d.Kind, d.Title, d.Alt, d.Facts)
	}
	return d.Data, d
}

// CheckRepeatable draws twice, expects the same bytes, and checks the drawing with [Check].
func CheckRepeatable(tb testing.TB, draw DrawFunc, params map[string]any) (Drawing, svg.Drawing) {
	tb.Helper()
	one, made := Draw(tb, draw, params)
	two, _ := Draw(tb, draw, maps.Clone(params))
	if !bytes.Equal(one, two) {
		tb.Error("equal input gave different bytes")
	}
	return Check(tb, one), made
}

// Hostile returns texts that drawings must survive.
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

// Survives draws with each hostile text, put into the parameters by fill. Only blank text may be
// refused, with code media.CodeInvalid.
func Survives(t *testing.T, draw DrawFunc, fill func(text string) map[string]any) {
	t.Helper()
	for _, text := range Hostile() {
		params := fill(text)
		if _, err := draw(params); err != nil {
			if strings.TrimSpace(text) != "" || media.CodeOf(err) != media.CodeInvalid {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		data, _ := Draw(t, draw, params)
		Check(t, data)
		if body := string(data); strings.Contains(body, "<script") || strings.Contains(body, "<b ") {
			t.Errorf("%q is not escaped", text)
		}
	}
}

// Refuses expects each set of parameters to be refused as invalid, with its key in the message.
func Refuses(t *testing.T, draw DrawFunc, cases map[string]map[string]any) {
	t.Helper()
	for says, params := range cases {
		_, err := draw(params)
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("error = %v, want invalid with %q", err, says)
		}
	}
}
