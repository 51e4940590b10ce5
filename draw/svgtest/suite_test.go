package svgtest_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"atelier/draw/svgtest"
	"atelier/media"
)

// mostBytes is the maximum size of a drawing's file, whatever the input is.
const mostBytes = 400 << 10

// advice matches words by which messages tell a caller what to do.
var advice = regexp.MustCompile(`(?i)\b(give|use|say|split|start|begin|summarise|group|write|expected|at most|needs?|must be|end|written|leave)\b`)

// TestEveryDrawingHandlesEveryInput draws each shape of data in each way. A drawing is complete, safe, readable and of
// bounded size; a refusal says what to do, and plain data is not refused.
func TestEveryDrawingHandlesEveryInput(t *testing.T) {
	t.Parallel()
	for _, m := range makers() {
		for _, s := range shapes() {
			t.Run(m.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if !judge(t, m.draw, func() map[string]any { return m.params(s) }) && s.plain && !m.refuses[s.name] {
					t.Error("refused, but it is plain")
				}
			})
		}
	}
}

// TestEveryGraphDrawingHandlesEveryGraph does the same with graphs.
func TestEveryGraphDrawingHandlesEveryGraph(t *testing.T) {
	t.Parallel()
	for name, draw := range graphDrawings() {
		for shape, edges := range graphs() {
			t.Run(name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				judge(t, draw, func() map[string]any {
					return map[string]any{"Title": shape, "Edges": edges()}
				})
			})
		}
	}
}

// TestDrawingsDoNotDisturbEachOther puts drawings of all kinds into one document: there are no ids, and no class has
// two meanings.
func TestDrawingsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	means := map[string]string{}
	for _, m := range makers() {
		data, ok := drawn(t, m.draw, m.params(shapes()[0]))
		if !ok {
			t.Fatalf("%s refuses the first shape", m.name)
		}
		if bytes.Contains(data, []byte(" id=")) {
			t.Errorf("%s has ids", m.name)
		}
		for rule, body := range svgtest.Parse(t, data).Rules() {
			if was, known := means[rule]; known && was != body {
				t.Errorf("%s: %s means %q, elsewhere %q", m.name, rule, body, was)
			}
			means[rule] = body
		}
	}
}

func drawn(tb testing.TB, draw svgtest.DrawFunc, params map[string]any) (data []byte, ok bool) {
	tb.Helper()
	d, err := draw(params)
	if err != nil {
		text := err.Error()
		if media.CodeOf(err) != media.CodeInvalid || len(text) > 1200 || !advice.MatchString(text) {
			tb.Errorf("the refusal %q (%s) does not say what to do", text, media.CodeOf(err))
		}
		return nil, false
	}
	return d.Data, true
}

// judge reports whether there is a drawing; a flaw in the drawing or in its refusal fails the test.
func judge(t *testing.T, draw svgtest.DrawFunc, params func() map[string]any) bool {
	t.Helper()
	data, ok := drawn(t, draw, params())
	again, okAgain := drawn(t, draw, params())
	if ok != okAgain || !bytes.Equal(data, again) {
		t.Error("equal input gave different bytes")
	}
	if !ok {
		return false
	}
	if len(data) > mostBytes {
		t.Errorf("%d bytes, want at most %d", len(data), mostBytes)
	}
	svgtest.Check(t, data)
	if body := string(data); strings.Contains(body, "url(") || strings.Contains(body, "@import") || strings.Count(body, "://") != strings.Count(body, "http://www.w3.org/2000/svg") {
		t.Error("it needs something from outside")
	}
	return true
}
