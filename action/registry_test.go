package action

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier/media"
	"atelier/media/wire"

	"github.com/google/go-cmp/cmp"
)

func nothing(context.Context, *Call) (Result, error) { return Result{}, nil }

func TestRegisterRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	in := func(p Param) Action { return Action{Name: "A", Run: nothing, Params: []Param{p}} }
	tests := map[string]struct {
		actions []Action
		want    string
	}{
		"no name":        {[]Action{{Run: nothing}}, "requires a name"},
		"no run":         {[]Action{{Name: "A"}}, "Run function"},
		"twice":          {[]Action{{Name: "Read File", Run: nothing}, {Name: "read_file", Run: nothing}}, "registered twice"},
		"direction":      {[]Action{in(Param{Name: "P", Direction: "Sideways"})}, "direction"},
		"value type":     {[]Action{in(Param{Name: "P", Direction: Input, ValueType: "Blob"})}, "value type"},
		"format":         {[]Action{in(Param{Name: "P", Direction: Output, ValueType: Binary, Format: "Hex"})}, "format"},
		"type":           {[]Action{in(Param{Name: "P", Direction: Input, Type: "date"})}, "type"},
		"default":        {[]Action{in(Param{Name: "P", Direction: Input, Type: "integer", Default: "many"})}, "default"},
		"param no name":  {[]Action{in(Param{Direction: Input})}, "no name"},
		"param declared": {[]Action{{Name: "A", Run: nothing, Params: []Param{{Name: "P", Direction: Input}, {Name: "p", Direction: Input}}}}, "declared twice"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil)
			err := r.Register(test.actions...)
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("Register: %v, want invalid with %q", err, test.want)
			}
			if names := r.Names(); len(names) != 0 {
				t.Fatalf("after a refused registration there is %v", names)
			}
		})
	}
}

func TestConfigNeedsAStore(t *testing.T) {
	t.Parallel()
	if _, err := NewRegistry(Config{}); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "Store") {
		t.Fatalf("NewRegistry: %v", err)
	}
	var codec *wire.Codec
	if _, err := NewRegistry(Config{Store: codec, Threshold: -1}); media.CodeOf(err) != media.CodeInvalid {
		t.Fatalf("negative threshold: %v", err)
	}
}

func TestLookupWithoutCase(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t, nil, Action{Name: "Read File", Run: nothing}, Action{Name: "List Files", Run: nothing})
	for _, name := range []string{"Read File", "read file", "READ_FILE", "ReadFile", "read-file"} {
		if a, err := r.Lookup(name); err != nil || a.Name != "Read File" {
			t.Errorf("Lookup(%q) = %q, %v", name, a.Name, err)
		}
	}
	out := r.run(t, "Draw Unicorn", nil)
	if out.Success || out.Error.Code != media.CodeNotFound || !out.Error.Retryable {
		t.Fatalf("unknown action: %+v", out)
	}
	if diff := cmp.Diff([]string{"List Files", "Read File"}, out.Error.Valid); diff != "" {
		t.Errorf("valid names: %s", diff)
	}
}

func TestDescribeIsWhatAModelReads(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t, nil, Action{
		Name: "Edit", Description: "Edits.", Tags: []string{"media"}, Run: nothing,
		Params: []Param{
			{Name: "Prompt", Direction: Input, Required: true, Description: "What."},
			{Name: "Images", Direction: Both, ValueType: Binary, IsArray: true},
			{Name: "Count", Direction: Input, Type: "integer", Default: 1},
			{Name: "Style", Direction: Input, Values: []string{"natural", "vivid"}},
			{Name: "Options", Direction: Input, ValueType: SimpleObject},
			{Name: "Model", Direction: Output},
		},
	})
	docs, err := r.Describe("edit")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(docs)
	want := `[{"name":"Edit","description":"Edits.","params":[` +
		`{"name":"Prompt","type":"string","required":true,"description":"What."},` +
		`{"name":"Images","type":"media[]"},` +
		`{"name":"Count","type":"integer","default":1},` +
		`{"name":"Style","type":"string","values":["natural","vivid"]},` +
		`{"name":"Options","type":"object"}]}]`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("Describe: %s", diff)
	}
	edit, err := r.Lookup("edit")
	if full := Document(edit); err != nil || len(full) != 1 || len(full[0].Outputs) != 2 || len(full[0].Tags) != 1 {
		t.Errorf("Document: %+v, %v", full, err)
	}
	if _, err := r.Describe("nope"); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("Describe of an unknown name: %v", err)
	}
}
