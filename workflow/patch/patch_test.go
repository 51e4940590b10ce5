package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/problem"
)

func object(t *testing.T, s string) *ordered.Object {
	t.Helper()
	o, err := ordered.DecodeObject([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ops(t *testing.T, s string) []patch.Operation {
	t.Helper()
	p, err := patch.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestApply(t *testing.T) {
	t.Parallel()
	const before = `{"a":{"x":"1","y":["p","q"]},"b":2}`
	for in, want := range map[string]string{
		`[{"op":"replace","path":"/a/x","value":"2"}]`:   `{"a":{"x":"2","y":["p","q"]},"b":2}`,
		`[{"op":"add","path":"/a/z","value":{"n":1.0}}]`: `{"a":{"x":"1","y":["p","q"],"z":{"n":1.0}},"b":2}`,
		`[{"op":"remove","path":"/a/x"}]`:                `{"a":{"y":["p","q"]},"b":2}`,
		`[{"op":"add","path":"/a/y/0","value":"o"}]`:     `{"a":{"x":"1","y":["o","p","q"]},"b":2}`,
		`[{"op":"add","path":"/a/y/-","value":"r"}]`:     `{"a":{"x":"1","y":["p","q","r"]},"b":2}`,
		`[{"op":"remove","path":"/a/y/0"},{"op":"test","path":"/a/y/0","value":"q"},{"op":"replace","path":"/a/y/0","value":"z"}]`: `{"a":{"x":"1","y":["z"]},"b":2}`,
	} {
		d := patch.Document{Value: object(t, before), Version: 4}
		next, err := d.Apply(4, ops(t, in))
		if err != nil || string(ordered.Encode(next.Value)) != want || next.Version != 5 {
			t.Errorf("%s: %s, %v", in, ordered.Encode(next.Value), err)
		}
		if got := string(ordered.Encode(d.Value)); got != before {
			t.Errorf("%s changed the document: %s", in, got)
		}
	}
	for in, want := range map[string]string{
		`[{"op":"replace","path":"/a/none","value":1}]`:                                  "/0",
		`[{"op":"replace","path":"/a/x","value":1},{"op":"test","path":"/b","value":3}]`: "/1",
		`[{"op":"add","path":"/a/y/3","value":1}]`:                                       "/0",
		`[{"op":"replace","path":"/a/y/-","value":1}]`:                                   "/0",
		`[{"op":"add","path":"/b/c","value":1}]`:                                         "/0",
		`[{"op":"add","path":"/a/__proto__","value":1}]`:                                 "/0",
		`[{"op":"remove","path":""}]`:                                                    "/0",
	} {
		d := patch.Document{Value: object(t, before)}
		_, err := d.Apply(0, ops(t, in))
		if found := problem.Of(err); len(found) != 1 || found[0].Pointer != want {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{}`, `[]`, `[{"op":"move","path":"/a","from":"/b"}]`, `[{"op":"add","path":"/a"}]`, `[{"op":"add","value":1}]`, `[{"op":"add","path":"a","value":1}]`, `[{"op":"add","path":"/a","value":{"__proto__":1}}]`, `[1]`} {
		if _, err := patch.Parse([]byte(in)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestMerge: an edit of version 1 merges with an edit in between, unless both touch the same path.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		between, late string
		conflict      bool
	}{
		{`[{"op":"replace","path":"/a/x","value":"n"}]`, `[{"op":"replace","path":"/a/z","value":"m"}]`, false},
		{`[{"op":"replace","path":"/a/x","value":"n"}]`, `[{"op":"replace","path":"/a/x","value":"m"}]`, true},
		{`[{"op":"replace","path":"/a/x","value":"n"}]`, `[{"op":"replace","path":"/a","value":{}}]`, true},
		{`[{"op":"replace","path":"/a","value":{"x":"n"}}]`, `[{"op":"replace","path":"/a/x","value":"m"}]`, true},
		{`[{"op":"remove","path":"/a/x"}]`, `[{"op":"replace","path":"/a/x","value":"m"}]`, true},
		{`[{"op":"replace","path":"/a/x","value":"n"}]`, `[{"op":"add","path":"/a/xy","value":"m"}]`, false},
		{`[{"op":"replace","path":"/l/0","value":"n"}]`, `[{"op":"replace","path":"/l/1","value":"m"}]`, false},
		{`[{"op":"remove","path":"/l/0"}]`, `[{"op":"replace","path":"/l/1","value":"m"}]`, true},
		{`[{"op":"add","path":"/l/-","value":"n"}]`, `[{"op":"add","path":"/l/-","value":"m"}]`, true},
	} {
		d := patch.Document{Value: object(t, `{"a":{"x":"1","z":"2"},"l":["p","q"]}`), Version: 1}
		d, err := d.Apply(1, ops(t, c.between))
		if err != nil {
			t.Fatal(err)
		}
		next, err := d.Apply(1, ops(t, c.late))
		switch {
		case c.conflict && (media.CodeOf(err) != media.CodeVersion || !strings.Contains(err.Error(), "newer version (2)")):
			t.Errorf("%s then %s: %v, %d", c.between, c.late, err, next.Version)
		case !c.conflict && (err != nil || next.Version != 3):
			t.Errorf("%s then %s: %v", c.between, c.late, err)
		}
	}
	d := patch.Document{Value: object(t, `{"a":1}`), Version: 5}
	if _, err := d.Apply(3, ops(t, `[{"op":"replace","path":"/a","value":2}]`)); media.CodeOf(err) != media.CodeVersion {
		t.Errorf("an edit of a version whose successors are not known: %v", err)
	}
	if _, err := d.Apply(6, ops(t, `[{"op":"replace","path":"/a","value":2}]`)); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("a version that does not exist: %v", err)
	}
}

// TestOnlyForms: only values with a form can be edited, and each must keep to its form's schema.
func TestOnlyForms(t *testing.T) {
	t.Parallel()
	d := patch.Document{Value: object(t, `{"prompts":{"p":{"subject":"cat"}},"generations":{"p":[]}}`), Version: 1}
	forms := map[string]*ordered.Object{"/prompts/p": object(t, `{"type":"object","required":["subject"],"properties":{"subject":{"type":"string"}}}`)}
	next, err := d.Edit(1, ops(t, `[{"op":"replace","path":"/prompts/p/subject","value":"dog"}]`), forms)
	if err != nil || next.Version != 2 {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]patch.Edit{{Version: 2, Touched: []string{"/prompts/p/subject"}}}, next.Edits); diff != "" {
		t.Error(diff)
	}
	for in, want := range map[string]string{
		`[{"op":"add","path":"/generations/p/-","value":{}}]`:            "/0/path",
		`[{"op":"replace","path":"/prompts","value":{}}]`:                "/0/path",
		`[{"op":"add","path":"/prompts/pq","value":{}}]`:                 "/0/path",
		`[{"op":"remove","path":"/prompts/p"}]`:                          "/0/path",
		`[{"op":"replace","path":"/prompts/p/subject","value":{"x":1}}]`: "/prompts/p/subject",
		`[{"op":"remove","path":"/prompts/p/subject"}]`:                  "/prompts/p",
	} {
		_, err := d.Edit(1, ops(t, in), forms)
		if found := problem.Of(err); len(found) != 1 || found[0].Pointer != want || media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestListOfForms: the items of a list that are forms can be replaced; an addition would insert an item before them.
func TestListOfForms(t *testing.T) {
	t.Parallel()
	d := patch.Document{Value: object(t, `{"prompts":["cat",{"a":"dog"}]}`)}
	forms := map[string]*ordered.Object{"/prompts/0": object(t, `{"type":"string"}`), "/prompts/1/a": object(t, `{"type":"string"}`)}
	if _, err := d.Edit(0, ops(t, `[{"op":"add","path":"/prompts/0","value":"x"}]`), forms); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/0/path" {
		t.Errorf("an item is inserted: %v", err)
	}
	next, err := d.Edit(0, ops(t, `[{"op":"replace","path":"/prompts/0","value":"x"},{"op":"add","path":"/prompts/1/a","value":"y"}]`), forms)
	if got := string(ordered.Encode(next.Value)); err != nil || got != `{"prompts":["x",{"a":"y"}]}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestOperationsAreWritten: an operation is written as it was read, with a value of null.
func TestOperationsAreWritten(t *testing.T) {
	t.Parallel()
	const in = `[{"op":"replace","path":"/a","value":null},{"op":"remove","path":"/b"},{"op":"add","path":"/c/-","value":{"z":1.0,"a":[]}}]`
	if out, err := json.Marshal(ops(t, in)); err != nil || string(out) != in {
		t.Errorf("%s, %v", out, err)
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	d := patch.Document{Value: object(t, `{"generations":{}}`), Version: 1}
	for range 2 {
		added, err := patch.Append(d.Value, []string{"generations", "a.b", "k"}, "x")
		if err == nil {
			d, err = d.Apply(d.Version, added)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := string(ordered.Encode(d.Value)); got != `{"generations":{"a.b":{"k":["x","x"]}}}` || d.Version != 3 {
		t.Errorf("%s, version %d", got, d.Version)
	}
	for _, path := range [][]string{{"generations", "a.b"}, {"generations", "a.b", "k", "0"}} {
		if _, err := patch.Append(d.Value, path, "x"); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("results replace the value of %v: %v", path, err)
		}
	}
}

// FuzzPatch: no patch panics, and none changes the original document.
func FuzzPatch(f *testing.F) {
	f.Add([]byte(`[{"op":"remove","path":"/a/y/0"},{"op":"add","path":"/a/y/-","value":[]}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		const before = `{"a":{"x":"1","y":["p",["q"]]},"b":2}`
		p, err := patch.Parse(b)
		if err != nil {
			return
		}
		d := patch.Document{Value: object(t, before)}
		_, _ = d.Apply(0, p)
		if got := string(ordered.Encode(d.Value)); got != before {
			t.Errorf("the document became %s", got)
		}
	})
}
