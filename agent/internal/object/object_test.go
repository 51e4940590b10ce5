package object_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/agent/internal/object"
)

type (
	obj  = map[string]any
	list = []any
)

// TestPatch runs the cases of RFC 7396, appendix A, that have objects on both sides, and nil objects.
func TestPatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ target, patch, want obj }{
		"replace":                     {obj{"a": "b"}, obj{"a": "c"}, obj{"a": "c"}},
		"add":                         {obj{"a": "b"}, obj{"b": "c"}, obj{"a": "b", "b": "c"}},
		"remove":                      {obj{"a": "b", "b": "c"}, obj{"a": nil}, obj{"b": "c"}},
		"remove what is not there":    {obj{"a": "b"}, obj{"x": nil}, obj{"a": "b"}},
		"a list replaces a text":      {obj{"a": "b"}, obj{"a": list{"c"}}, obj{"a": list{"c"}}},
		"a list is not merged":        {obj{"a": list{"b"}}, obj{"a": list{"c"}}, obj{"a": list{"c"}}},
		"nested":                      {obj{"a": obj{"b": "c", "d": "e"}}, obj{"a": obj{"b": "x", "d": nil}}, obj{"a": obj{"b": "x"}}},
		"an object replaces a text":   {obj{"a": "b"}, obj{"a": obj{"b": obj{"c": nil}}}, obj{"a": obj{"b": obj{}}}},
		"null in a list stays":        {obj{}, obj{"a": list{nil}}, obj{"a": list{nil}}},
		"of nothing":                  {nil, obj{"a": obj{"b": 1}}, obj{"a": obj{"b": 1}}},
		"nothing":                     {obj{"a": 1}, nil, obj{"a": 1}},
		"nothing of nothing is empty": {nil, nil, obj{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, patch := object.MapStrings(c.target, unchanged), object.MapStrings(c.patch, unchanged)
			if diff := cmp.Diff(c.want, object.Patch(c.target, c.patch)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(target, any(c.target)); c.target != nil && diff != "" {
				t.Error("the target changed:", diff)
			}
			if diff := cmp.Diff(patch, any(c.patch)); c.patch != nil && diff != "" {
				t.Error("the patch changed:", diff)
			}
		})
	}
}

func unchanged(s string) string { return s }

func TestSetKeepsOtherKeys(t *testing.T) {
	t.Parallel()
	target := obj{"a": obj{"b": 1}, "c": 2}
	got := object.Set(target, obj{"a": nil, "d": 3})
	if diff := cmp.Diff(obj{"a": nil, "c": 2, "d": 3}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(obj{"a": obj{"b": 1}, "c": 2}, target); diff != "" {
		t.Error("the target changed:", diff)
	}
	if got := object.Set(nil, nil); got == nil || len(got) != 0 {
		t.Errorf("set nothing in nothing: %#v", got)
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target  obj
		key     string
		payload obj
		want    obj
	}{
		"no key":                    {obj{"a": 1}, "", obj{"b": 2}, obj{"a": 1}},
		"no payload":                {obj{"a": 1}, "k", nil, obj{"a": 1}},
		"new key":                   {nil, "k", obj{"b": 2}, obj{"k": obj{"b": 2}}},
		"at the top":                {obj{"a": 1, "b": list{1}}, ".", obj{"b": list{2}}, obj{"a": 1, "b": list{2}}},
		"deep key":                  {obj{"k": obj{"a": 1}}, "k.l", obj{"b": 2}, obj{"k": obj{"a": 1, "l": obj{"b": 2}}}},
		"through what is no object": {obj{"k": "text"}, "k.l", obj{"b": 2}, obj{"k": obj{"l": obj{"b": 2}}}},
		"over what is no object":    {obj{"k": "text"}, "k", obj{"b": 2}, obj{"k": obj{"b": 2}}},
		"lists grow by what is new": {
			obj{"k": obj{"rows": list{obj{"x": 1}, "a"}}},
			"k",
			obj{"rows": list{"a", obj{"x": 2}, obj{"x": 1}}},
			obj{"k": obj{"rows": list{obj{"x": 1}, "a", obj{"x": 2}}}},
		},
		"the later value counts": {obj{"k": obj{"t": "old", "u": 1}}, "k", obj{"t": "new"}, obj{"k": obj{"t": "new", "u": 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := object.MapStrings(c.target, unchanged)
			if diff := cmp.Diff(c.want, object.Place(c.target, c.key, c.payload)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, any(c.target)); c.target != nil && diff != "" {
				t.Error("the target changed:", diff)
			}
		})
	}
}

// TestStrings: every string is visited, keys and other values are not, and the value is unchanged.
func TestStrings(t *testing.T) {
	t.Parallel()
	value := obj{"key": "a", "list": list{"b", 1, nil, true, obj{"deep": "c"}}}
	if diff := cmp.Diff(any(obj{"key": "A", "list": list{"B", 1, nil, true, obj{"deep": "C"}}}), object.MapStrings(value, strings.ToUpper)); diff != "" {
		t.Error(diff)
	}
	var seen []string
	object.EachString(value, func(s string) { seen = append(seen, s) })
	if slices.Sort(seen); !slices.Equal(seen, []string{"a", "b", "c"}) {
		t.Errorf("visited %v", seen)
	}
	for _, other := range []any{nil, 1, true, struct{ S string }{"x"}} {
		if got := object.MapStrings(other, strings.ToUpper); !cmp.Equal(got, other) {
			t.Errorf("%#v became %#v", other, got)
		}
		object.EachString(other, func(s string) { t.Errorf("found %q in %#v", s, other) })
	}
}
