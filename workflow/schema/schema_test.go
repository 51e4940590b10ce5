package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := ordered.Decode([]byte(s))
	if err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func cases(t *testing.T, file string) (*ordered.Object, []*ordered.Object) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, string(b)).(*ordered.Object)
	var list []*ordered.Object
	for _, c := range o.List("cases") {
		list = append(list, c.(*ordered.Object))
	}
	return o, list
}

const action = `"id": "g", "label": "L", "action_type": "media.{{ $provider }}.txt2img", "result_target": "generations.{{ $key }}"`

// TestRefused: a fault of a display schema is refused with its pointer when the schema is parsed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`[]`:                                 "",
		`{"_ux": {"render_as": "carousel"}}`: "/_ux/render_as",
		`{"_ux": {"colour": "red"}}`:         "/_ux/colour",
		`{"tpye": "object"}`:                 "/tpye",
		`{"properties": {"a/b": {"items": {"_ux": {"x": 1}}}}}`:                                                                  "/properties/a~1b/items/_ux/x",
		`{"_ux": {"display_label": "{{ key"}}`:                                                                                   "/_ux/display_label",
		`{"_ux": {"display_label": "{{ {{ key }} }}"}}`:                                                                          "/_ux/display_label",
		`{"_ux": {"display_label": "{{ state.secret }}"}}`:                                                                       "/_ux/display_label",
		`{"_ux": {"display_label": "{{ $param_schemas[env] }}"}}`:                                                                "/_ux/display_label",
		`{"_ux": {"vars": {"data": "x"}}}`:                                                                                       "/_ux/vars",
		`{"_ux": {"sub_action": {"label": "L", "action_type": "a.b.c", "result_target": "generations.x"}}}`:                      "/_ux/sub_action",
		`{"_ux": {"sub_action": {` + action + `, "url": "http://x"}}}`:                                                           "/_ux/sub_action/url",
		`{"_ux": {"sub_action": [{` + action + `}, {` + action + `}]}}`:                                                          "/_ux/sub_action/1/id",
		`{"_ux": {"sub_action": {"id": "g", "label": "L", "action_type": "a", "result_target": "prompts.x"}}}`:                   "/_ux/sub_action/result_target",
		`{"_ux": {"sub_action": {"id": "g", "label": "L", "action_type": "a", "result_target": "{{ $key }}.x"}}}`:                "/_ux/sub_action/result_target",
		`{"_ux": {"sub_action": {"id": "g", "label": "L", "action_type": "a", "result_target": "generations"}}}`:                 "/_ux/sub_action/result_target",
		`{"_ux": {"sub_action": {` + action + `, "param_schema": {"type": "strnig"}}}}`:                                          "/_ux/sub_action/param_schema/type",
		`{"_ux": {"sub_action": {` + action + `, "param_schema": "text"}}}`:                                                      "/_ux/sub_action/param_schema",
		`{"_ux": {"sub_action": {` + action + `, "enabled_when": {"field": "a", "eval": "1"}}}}`:                                 "/_ux/sub_action/enabled_when/eval",
		`{"_ux": {"layout": {"sections": [{"visible_when": {"field": "/a~b"}}]}}}`:                                               "/_ux/layout/sections/0/visible_when/field",
		`{"_ux": {"input_schema": {"properties": {"a": {"type": "strnig"}}}}}`:                                                   "/_ux/input_schema/properties/a/type",
		`{"_ux": {"layout": {}}, "properties": {"a": {"properties": {"b": {"_ux": {"sub_action": {` + action + `}}}}}}}`:         "/properties/a/properties/b/_ux",
		`{"_ux": {"sub_action": {` + action + `}}, "additionalProperties": {"type": "array", "_ux": {"selectable": true}}}`:      "/additionalProperties/_ux",
		`{"_ux": {"layout": {"rows": [["a", "a"]]}}}`:                                                                            "/_ux/layout/rows/0/1",
		`{"_ux": {"input_schema": {"properties": {"name": {}}}, "layout": {"rows": [["nme"]]}}}`:                                 "/_ux/layout/rows/0/0",
		`{"items": {"type": "object", "_ux": {"selectable": true}}}`:                                                             "/items/_ux/selectable",
		`{"_ux": {"selectable": true, "selection_mode": "single", "selection_max": 3}}`:                                          "/_ux",
		`{"_ux": {"selectable": true, "selection_group": "__proto__"}}`:                                                          "/_ux/selection_group",
		`{"_ux": {"selectable": true, "selection_mode": "multiple", "selection_min": 3, "selection_max": 2}}`:                    "/_ux",
		`{"properties": {"a": {"_ux": {"selectable": true}}, "b": {"_ux": {"selectable": true, "selection_mode": "multiple"}}}}`: "/properties/b/_ux",
		`{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}}`:                                    "/$defs/a",
		`{"properties": {"a": {"$ref": "#"}}}`:                                                                                   "/properties/a/$ref",
		`{"properties": {"a": {"$ref": "#/$defs/none"}}}`:                                                                        "/properties/a/$ref",
		`{"properties": {"a": {"$ref": "https://example.org/x"}}}`:                                                               "/properties/a/$ref",
	} {
		_, err := schema.Parse(decode(t, in))
		found := problem.Of(err)
		if media.CodeOf(err) != media.CodeInvalid || len(found) == 0 || !strings.HasPrefix(found[0].Pointer, want) || want == "" && found[0].Pointer != "" {
			t.Errorf("%s: %v, want a problem at %s", in, err, want)
		}
		if len(found) > 3 {
			t.Errorf("%s: %d problems for one fault: %v", in, len(found), err)
		}
	}
}

// TestLimits: schemas that are too deep, too wide or made wide by $ref are refused.
func TestLimits(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"items": `, 100) + `{}` + strings.Repeat(`}`, 100)
	var wide, doubled strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&wide, `"f%d": {},`, i)
	}
	for i := range 12 {
		fmt.Fprintf(&doubled, `"d%d": {"properties": {"a": {"$ref": "#/$defs/d%d"}, "b": {"$ref": "#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	for name, in := range map[string]string{
		"levels deep":        deep,
		"more than 1000":     `{"properties": {` + wide.String() + `"last": {}}}`,
		"more than 1000 too": `{"$ref": "#/$defs/d0", "$defs": {` + doubled.String() + `"d12": {}}}`,
	} {
		if _, err := schema.Parse(decode(t, in)); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, " too")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	o, list := cases(t, "conditions.json")
	value, _ := o.Get("value")
	for _, c := range list {
		when := c.Object("when")
		if want, _ := c.Get("holds"); schema.Holds(when, value) != want {
			t.Errorf("%s: %v", ordered.Encode(when), schema.Holds(when, value))
		}
	}
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	_, list := cases(t, "layouts.json")
	for _, c := range list {
		var fields []string
		for _, f := range c.List("fields") {
			fields = append(fields, f.(string))
		}
		err := schema.CheckLayout(c.Object("layout"))
		var blocks []schema.Block
		if err == nil {
			blocks, err = schema.Arrange(c.Object("layout"), fields)
		}
		if want := c.Text("error"); want != "" {
			if found := problem.Of(err); len(found) == 0 || found[0].Pointer != want {
				t.Errorf("%s: %v, want a problem at %s", ordered.Encode(c), err, want)
			}
			continue
		}
		b, other := json.Marshal(blocks)
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		want, _ := c.Get("blocks")
		if diff := cmp.Diff(string(ordered.Encode(want)), string(ordered.Encode(decode(t, string(b))))); diff != "" {
			t.Errorf("%s: %s", ordered.Encode(c), diff)
		}
	}
}

// TestRefIsFollowed: keywords beside $ref take precedence over those of its target.
func TestRefIsFollowed(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse(decode(t, `{"properties": {"a": {"$ref": "#/$defs/card", "title": "Mine"}}, "$defs": {"card": {"type": ["string", "null"], "title": "Card", "_ux": {"render_as": "markdown"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	a := s.Root.Property("a")
	if a.Title != "Mine" || a.UX.Render != "markdown" || !slices.Equal(a.Types, []string{"string", "null"}) {
		t.Errorf("%+v", a)
	}
}

// TestVocabularyIsClosed: every object of the published schema refuses unknown names.
func TestVocabularyIsClosed(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("display.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, string(b)).(*ordered.Object)
	for _, name := range []string{"node", "ux", "sub_action", "layout", "field", "block"} {
		if open, ok := o.Object("$defs").Object(name).Get("additionalProperties"); !ok || open != false {
			t.Errorf("%s accepts any name", name)
		}
	}
}

// FuzzParse: no schema panics.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"items": {"_ux": {"layout": {"tabs": [{"rows": [["x"]]}]}}}}}}`))
	f.Add([]byte(`{"_ux": {"sub_action": {` + action + `, "enabled_when": {"not": {"field": "/a/0", "min": 1}}}, "vars": {"a": "{{ key }}"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ordered.Decode(b)
		if err != nil {
			return
		}
		_, _ = schema.Parse(v) // most are refused
	})
}
