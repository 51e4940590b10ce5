package gateway_test

import (
	"strings"
	"testing"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

func TestOptionRules(t *testing.T) {
	t.Parallel()
	m := catalog.Model{
		Provider: "x",
		SettingRules: catalog.SettingRules{Options: []string{"word", "number", "whole", "switch", "mixed", "free", "text", "list", "object"}, OptionRules: map[string]catalog.OptionRule{
			"word": {Words: []string{"fast", "slow"}}, "number": {Max: 3}, "whole": {Min: 1, Max: 4, Whole: true, Hint: "a corner"},
			"switch": {Switch: true}, "mixed": {Min: 1, Max: 2, Words: []string{"square"}},
			"text": {Text: true}, "list": {List: true, Words: []string{"a", "b"}},
			"object": {Fields: map[string]catalog.OptionRule{"on": {Switch: true}, "of": {List: true, Text: true}, "in": {Fields: map[string]catalog.OptionRule{"n": {Max: 9}}}, "else": {Any: true}}},
		}},
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
		says  string // part of the error, or empty if the value is accepted
	}{
		{"word", " Fast", "fast", ""},
		{"word", "x", "", "fast, slow"},
		{"word", 1, "", "fast, slow"},
		{"number", "2.50", "2.5", ""},
		{"number", 0, "0", ""},
		{"number", 3.1, "", "a number from 0 to 3"},
		{"number", "NaN", "", "NaN"},
		{"whole", 4.0, "4", ""},
		{"whole", 1.5, "", "a corner"},
		{"whole", 0, "", "a corner"},
		{"switch", true, "true", ""},
		{"switch", "F", "false", ""},
		{"switch", "maybe", "", "true or false"},
		{"mixed", "SQUARE", "square", ""},
		{"mixed", "1.5", "1.5", ""},
		{"mixed", 3, "", "a number from 1 to 2, square"},
		{"free", []any{1}, "", ""},
		{"word", []any{1}, "", "fast"},
		{"unknown", 1, "", "x.unknown"},
		{"text", 5.0, "5", ""},
		{"text", media.CodeModerated, "moderated", ""},
		{"text", map[string]any{}, "", "use a text"},
		{"list", []any{"A", "b"}, "", ""},
		{"list", []string{"a"}, "", ""},
		{"list", []any{"a", "c"}, "", `x.list[1] is "c": use a, b`},
		{"list", "a", "", "a list, each of a, b"},
		{"object", map[string]any{"on": "true", "of": []any{"x", 5}, "in": map[string]any{"n": "4"}, "else": []any{map[string]any{}}}, "", ""},
		{"object", map[string]any{}, "", ""},
		{"object", map[string]any{"off": true}, "", "option x.object.off is unknown: x.object takes else, in, of, on"},
		{"object", map[string]any{"on": 3}, "", `x.object.on is "3": use true or false`},
		{"object", map[string]any{"in": map[string]any{"n": 10}}, "", "x.object.in.n"},
		{"object", map[string]any{"of": []any{[]any{}}}, "", "x.object.of[0]"},
		{"object", "on", "", "an object of else, in, of, on"},
	} {
		q := driver.Task{Model: m, Options: map[string]any{c.name: c.value}}
		err := q.CheckOptions()
		if c.says != "" {
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %v: %v, want %q", c.name, c.value, err, c.says)
			}
			continue
		}
		if got := q.Option(c.name); err != nil || got != c.want {
			t.Errorf("%s %v: %q, %v; want %q", c.name, c.value, got, err, c.want)
		}
	}
	if got := (driver.Task{Model: m}).Option("word"); got != "" {
		t.Errorf("an option that was not set: %q", got)
	}
}

func TestBadOptionRules(t *testing.T) {
	t.Parallel()
	for says, row := range map[string]string{
		"not among": "options: [a], option_rules: {b: {switch: true}}", "the minimum": "options: [a], option_rules: {a: {min: 2, max: 1}}",
		"numbr": "options: [a], option_rules: {a: {numbr: true}}",
	} {
		file := "provider: x\nmodels: [{name: X, api_model: x, modality: image, methods: [generate], size: {mode: none}, max_n: 1, " + row + "}]"
		if _, err := catalog.Load(strings.NewReader(file)); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// TestNear: an edit has the size of its picture, within the rule.
func TestNear(t *testing.T) {
	t.Parallel()
	r := catalog.SizeRule{Mode: "free", Step: 8, MinSide: 32, MaxSide: 1536}
	for in, want := range map[[2]int][2]int{{64, 48}: {64, 48}, {3072, 1536}: {1536, 768}, {40, 30}: {40, 32}, {0, 10}: {0, 0}} {
		if w, h := r.Near(in[0], in[1]); [2]int{w, h} != want {
			t.Errorf("%v: %dx%d, want %v", in, w, h, want)
		}
	}
	if w, h := (catalog.SizeRule{Mode: "none"}).Near(8, 8); w != 0 || h != 0 {
		t.Errorf("no rule: %dx%d", w, h)
	}
}
