package action

import (
	"strings"
	"testing"

	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

// item is an output that a set can hold.
func item(content string, mime string) media.Output {
	b := media.Blob{Digest: media.DigestOf([]byte(content)), SizeBytes: int64(len(content)), Facts: media.Facts{MIMEType: mime}}
	return media.NewOutput(b, media.Meta{})
}

func TestBindCoerces(t *testing.T) {
	t.Parallel()
	str := Param{Name: "P", Direction: Input}
	typed := func(kind string) Param { return Param{Name: "P", Direction: Input, Type: kind} }
	list := Param{Name: "P", Direction: Input, IsArray: true, Type: "number"}
	enum := Param{Name: "P", Direction: Input, Values: []string{"png", "jpeg"}, Default: "png"}
	tests := map[string]struct {
		param Param
		raw   any
		want  any    // nil: absent
		err   string // "": none
	}{
		"text":               {str, "a", "a", ""},
		"number as text":     {str, 3.5, "3.5", ""},
		"bool as text":       {str, true, "true", ""},
		"object is no text":  {str, map[string]any{}, nil, "must be text"},
		"integer":            {typed("integer"), 3.0, 3.0, ""},
		"integer in text":    {typed("integer"), " 3 ", 3.0, ""},
		"fraction":           {typed("integer"), 3.5, nil, "whole number"},
		"word for a number":  {typed("number"), "three", nil, "must be a number"},
		"not a number":       {typed("number"), "NaN", nil, "must be a number"},
		"boolean in text":    {typed("boolean"), "Yes", true, ""},
		"boolean as 0":       {typed("boolean"), 0.0, false, ""},
		"no boolean":         {typed("boolean"), "maybe", nil, "true or false"},
		"object in text":     {typed("object"), `{"a":1}`, map[string]any{"a": 1.0}, ""},
		"no object":          {typed("object"), "[]", nil, "must be an object"},
		"array":              {list, []any{1.0, "2"}, []any{1.0, 2.0}, ""},
		"array in text":      {list, "[1,2]", []any{1.0, 2.0}, ""},
		"scalar for array":   {list, 1.0, []any{1.0}, ""},
		"bad item":           {list, []any{1.0, "x"}, nil, "item 2 must be a number"},
		"enum without case":  {enum, "JPEG", "jpeg", ""},
		"enum default":       {enum, nil, "png", ""},
		"enum blank":         {enum, "  ", "png", ""},
		"enum unknown":       {enum, "tiff", nil, "one of png, jpeg"},
		"absent":             {str, nil, nil, ""},
		"anything":           {typed("any"), []any{1.0}, []any{1.0}, ""},
		"base64 is not told": {typed("integer"), strings.Repeat("iVBORw0KGgo", 40), nil, "whole number"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Action{Name: "A", Params: []Param{test.param}}
			got, err := a.bind(map[string]any{"p": test.raw}, &media.Set{})
			if test.err != "" {
				if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), test.err) || len(err.Error()) > 300 {
					t.Fatalf("bind: %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got["P"]); diff != "" {
				t.Errorf("bound: %s", diff)
			}
		})
	}
}

func TestBindNamesEveryComplaint(t *testing.T) {
	t.Parallel()
	a := Action{Name: "Draw", Params: []Param{
		{Name: "Prompt", Direction: Input, Required: true, Description: "What to draw."},
		{Name: "NumberOfImages", Direction: Input, Type: "integer"},
		{Name: "Images", Direction: Output, ValueType: Binary},
	}}
	_, err := a.bind(map[string]any{"number_of_images": "many", "Colour": "red", "images": 1}, &media.Set{})
	for _, want := range []string{"Draw", `"Colour"`, `"images"`, "Prompt is required", "What to draw", "NumberOfImages must be a whole number", "use Prompt, NumberOfImages"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("complaint %q is missing in %v", want, err)
		}
	}
	if _, err := a.bind(map[string]any{"Prompt": "a", "prompt": "b"}, &media.Set{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("given twice: %v", err)
	}
}

func TestBindResolvesRefs(t *testing.T) {
	t.Parallel()
	set := &media.Set{}
	one, err := set.Add(item("one", "image/png"))
	if err != nil {
		t.Fatal(err)
	}
	a := Action{Name: "Edit", Params: []Param{
		{Name: "Image", Direction: Input, ValueType: Binary},
		{Name: "Images", Direction: Input, ValueType: Binary, IsArray: true},
		{Name: "Html", Direction: Input},
		{Name: "Data", Direction: Input, ValueType: Other},
	}}
	for name, text := range map[string]any{
		"ref": string(one.Ref), "placeholder": one.Ref.Placeholder(), "url": "/media/" + string(one.Ref) + ".png",
		"view": View(one), "upper case": strings.ToUpper(string(one.Ref)),
	} {
		got, err := a.bind(map[string]any{"Image": text, "Images": text}, set)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o, ok := got["Image"].(media.Output); !ok || o.Ref != one.Ref {
			t.Errorf("%s: Image is %v", name, got["Image"])
		}
		if list, ok := got["Images"].([]media.Output); !ok || len(list) != 1 {
			t.Errorf("%s: Images is %v", name, got["Images"])
		}
	}
	if got, err := a.bind(map[string]any{"Html": "<img src=\"" + one.Ref.Placeholder() + "\">"}, set); err != nil || got["Html"] == nil {
		t.Errorf("known placeholder in text: %v", err)
	}
	for name, params := range map[string]map[string]any{
		"unknown ref":           {"Image": "img-00000000"},
		"invented":              {"Image": "image_1"},
		"one of an array":       {"Images": []any{string(one.Ref), "img-00000000"}},
		"placeholder in text":   {"Html": "see ${media:img-00000000}"},
		"invented in text":      {"Html": "see ${media:image_1}"},
		"placeholder deep down": {"Data": map[string]any{"a": []any{"${media:img-00000000}"}}},
	} {
		_, err := a.bind(params, set)
		if media.CodeOf(err) != media.CodeUnknownRef || !media.Retryable(err) || !strings.Contains(err.Error(), string(one.Ref)) {
			t.Errorf("%s: %v, want a retryable unknown_ref that lists %s", name, err, one.Ref)
		}
	}
	if _, err := a.bind(map[string]any{"Image": []any{string(one.Ref), string(one.Ref)}}, set); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("two refs for one: %v", err)
	}
	if _, err := a.bind(map[string]any{"Image": 7.0}, set); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("number for a ref: %v", err)
	}
}
