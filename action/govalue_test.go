package action

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type (
	State  string
	Answer any
	Shared struct {
		Page int `json:"page"`
	}
)

// TestStructsLikeJSON: a struct has the fields that encoding/json writes.
func TestStructsLikeJSON(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t, nil)
	for _, v := range []any{
		struct {
			State
			Answer
			Shared
			At    time.Time `json:"at,omitzero"`
			Dash  int       `json:"-,"` //nolint:staticcheck // its name is a dash
			Never int       `json:"-"`
		}{State: "open", Answer: 42.0, Shared: Shared{3}, Dash: 7},
		struct {
			*Shared
			At time.Time `json:",omitzero"`
		}{&Shared{4}, time.Unix(0, 0)},
	} {
		got, err := json.Marshal(r.Interceptor().Value(t.Context(), Target{Media: r.set, Source: "test"}, v).Value)
		want, werr := json.Marshal(v)
		var g, w any
		if err := errors.Join(err, werr, json.Unmarshal(got, &g), json.Unmarshal(want, &w)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCyclicTree: a tree whose nodes know their parent is walked once; what appears twice beside itself is kept.
func TestCyclicTree(t *testing.T) {
	t.Parallel()
	type node struct {
		Name     string
		Parent   *node
		Children []*node
	}
	root := &node{Name: "root"}
	for range 8 {
		root.Children = append(root.Children, &node{Name: "child", Parent: root})
	}
	same := map[string]any{"a": 1}
	r := newTestRegistry(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan any, 1)
	go func() {
		done <- r.Interceptor().Value(ctx, Target{Media: r.set, Source: "test"}, []any{root, same, same, []any{}, []any{}}).Value
	}()
	select {
	case got := <-done:
		child := map[string]any{"Name": "child", "Parent": "[a *action.node that contains itself]", "Children": nil}
		children := slices.Repeat([]any{child}, 8)
		want := []any{map[string]any{"Name": "root", "Parent": nil, "Children": children}, same, same, []any{}, []any{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	case <-ctx.Done():
		t.Fatal("it does not end")
	}
}

// TestCyclicList: a declared list that contains itself ends in an error of the item, not of the process.
func TestCyclicList(t *testing.T) {
	t.Parallel()
	loop := make([]any, 1)
	loop[0] = loop
	r := newTestRegistry(t, nil, outputAction(Param{Name: "Images", Direction: Output, ValueType: Binary, IsArray: true}, loop))
	if out := r.run(t, "Give", nil); len(out.Media) != 0 {
		t.Errorf("media of a cycle: %+v", out)
	}
}

// TestEnumerations: a list of numbers of a type of its own is a list, not bytes.
func TestEnumerations(t *testing.T) {
	t.Parallel()
	type level uint8
	r := newTestRegistry(t, nil)
	got := r.Interceptor().Value(t.Context(), Target{Media: r.set, Source: "test"}, map[string]any{"levels": []level{1, 2}, "none": []level(nil), "pair": [2]level{3, 4}})
	want := map[string]any{"levels": []any{json.Number("1"), json.Number("2")}, "none": nil, "pair": []any{json.Number("3"), json.Number("4")}}
	if diff := cmp.Diff(want, got.Value); diff != "" || len(got.Warnings) != 0 || len(got.Media) != 0 {
		t.Errorf("%s %v %v", diff, got.Warnings, got.Media)
	}
}
