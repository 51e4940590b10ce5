package workflow_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/generate/catalog"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/subaction"
)

var update = flag.Bool("update", false, "write the golden files")

// day is a date on which the shipped models that the tests name are available.
var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func actions(tb testing.TB) *subaction.Registry {
	tb.Helper()
	c, err := catalog.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return subaction.New(c, func() time.Time { return day })
}

func read(tb testing.TB, name string) *ordered.Object {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return object(tb, string(b))
}

func object(tb testing.TB, s string) *ordered.Object {
	tb.Helper()
	o, err := ordered.DecodeObject([]byte(s))
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// example returns the interaction of interaction.json with the defaults of module.json, as the module media.generation
// requests it.
func example(tb testing.TB) workflow.InteractionRequest {
	tb.Helper()
	o, inputs := read(tb, "interaction.json"), read(tb, "module.json").Object("inputs")
	return workflow.InteractionRequest{
		WorkflowRunID: "wr_1", InteractionID: "in_1", Type: workflow.Type(o.Text("interaction_type")), Title: inputs.Text("title"), Mode: "select",
		DisplayData: o.Object("display_data"), DisplaySchema: o.Object("display_schema"), ParamDefaults: inputs.Object("param_defaults"), Version: 1,
	}
}

func open(tb testing.TB, r workflow.InteractionRequest) *workflow.Interaction {
	tb.Helper()
	i, err := workflow.Open(r, nil, actions(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

// golden compares a value as JSON with a file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestExampleView(t *testing.T) {
	t.Parallel()
	r := example(t) // with its own schemas, so that the file does not change with the catalogue
	r.ParamSchemas = object(t, `{"midjourney": {"type": "object", "properties": {"aspect_ratio": {"type": "string"}, "speed": {"enum": ["fast", "relax"]}}},
		"leonardo": {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}}}`)
	golden(t, "view.golden.json", open(t, r).Request().View)
}
