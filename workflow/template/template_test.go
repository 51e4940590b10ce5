package template_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/template"
)

func cases(tb testing.TB) (template.Scope, []*ordered.Object) {
	tb.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		tb.Fatal(err)
	}
	o, err := ordered.DecodeObject(b)
	if err != nil {
		tb.Fatal(err)
	}
	scope := template.Scope{}
	for k, v := range o.Object("scope").All() {
		scope[k] = v
	}
	var list []*ordered.Object
	for _, c := range o.List("cases") {
		list = append(list, c.(*ordered.Object))
	}
	return scope, list
}

func TestCases(t *testing.T) {
	t.Parallel()
	scope, list := cases(t)
	for _, c := range list {
		tpl, err := template.Parse(c.Text("template"))
		var got any
		if err == nil {
			got, err = tpl.Value(scope)
		}
		want, _ := c.Get("value")
		switch wrong := c.Text("error"); {
		case wrong == "" && err != nil:
			t.Errorf("%q: %v", c.Text("template"), err)
		case wrong == "":
			if diff := cmp.Diff(string(ordered.Encode(want)), string(ordered.Encode(got))); diff != "" {
				t.Errorf("%q: %s", c.Text("template"), diff)
			}
		case err == nil || !strings.Contains(err.Error(), wrong) || media.CodeOf(err) != media.CodeInvalid:
			t.Errorf("%q: %v, %v; want an error with %q", c.Text("template"), got, err, wrong)
		}
	}
}

// TestResolveIsOnePass: resolved values are not expanded again, and problems have pointers.
func TestResolveIsOnePass(t *testing.T) {
	t.Parallel()
	scope, _ := cases(t)
	in, err := ordered.Decode([]byte(`{"{{ key }}": ["{{ state.hostile }}", {"n": "{{ state.n }}"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := template.Resolve(in, scope)
	if want := `{"{{ key }}":["{{ state.secret }} }} {{",{"n":3}]}`; err != nil || string(ordered.Encode(out)) != want {
		t.Errorf("%s, %v; want %s", ordered.Encode(out), err, want)
	}
	in, _ = ordered.Decode([]byte(`{"a/b": ["ok", "{{ state.missing }}"], "c": "{{"}`))
	_, err = template.Resolve(in, scope)
	var pointers []string
	for _, p := range problem.Of(err) {
		pointers = append(pointers, p.Pointer)
	}
	if diff := cmp.Diff([]string{"/a~1b/1", "/c"}, pointers); diff != "" {
		t.Error(diff)
	}
	var unknown *template.UnknownError
	tpl, err := template.Parse("{{ state.missing }}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tpl.Value(scope); !errors.As(err, &unknown) || unknown.Path != "state.missing" {
		t.Errorf("%v", err)
	}
	if s, err := tpl.Text(scope, true); s != "" || err != nil {
		t.Errorf("Text of an unknown path: %q, %v", s, err)
	}
}

// TestTargetsAreSplitFirst: a key with dots stays one segment.
func TestTargetsAreSplitFirst(t *testing.T) {
	t.Parallel()
	scope, _ := cases(t)
	target, err := template.ParseTarget(`generations.{{ $provider }}.{{ state["a.b"] }}-{{ $data.subject }}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := target.Path(scope)
	if diff := cmp.Diff([]string{"generations", "leonardo.ai", "dotted-a cat"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"", "a..b", "a.", "a.__proto__", "a.{{ x", "a.{{ {{ x }} }}"} {
		if _, err := template.ParseTarget(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, bad := range []string{"a.{{ state.none }}", "a.{{ state.list }}", "a.{{ state.missing }}"} {
		target, err := template.ParseTarget(bad)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := target.Path(scope); err == nil {
			t.Errorf("%q becomes %q", bad, p)
		}
	}
}

// FuzzTemplate: nothing panics, and a person's text is inserted byte for byte.
func FuzzTemplate(f *testing.F) {
	_, list := cases(f)
	for _, c := range list {
		f.Add(c.Text("template"), "{{ state.a }}")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		scope := template.Scope{"state": ordered.New("a", text)}
		if tpl, err := template.Parse(source); err == nil {
			_, _ = tpl.Value(scope)
			_, _ = tpl.Text(scope, true)
		}
		if target, err := template.ParseTarget(source); err == nil {
			_, _ = target.Path(scope)
		}
		tpl, err := template.Parse("<{{ state.a }}>")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Value(scope); err == nil && got != "<"+text+">" {
			t.Errorf("%q became %q", text, got)
		}
	})
}
