package workflow_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
	"atelier/workflow/view"
)

const (
	promptA = "/prompts/midjourney/prompt_a"
	phoenix = "/prompts/leonardo/phoenix_1_0"
)

// nodeAt returns the node at a pointer; nil if there is none.
func nodeAt(root *view.Node, pointer string) (found *view.Node) {
	root.Walk(func(n *view.Node) {
		if n.Pointer == pointer {
			found = n
		}
	})
	return found
}

func ops(t *testing.T, s string) []patch.Operation {
	t.Helper()
	p, err := patch.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func edit(t *testing.T, i *workflow.Interaction, s string) (*workflow.Interaction, []string) {
	t.Helper()
	next, err := i.Edit(i.Request().Version, ops(t, s))
	if err != nil {
		t.Fatal(err)
	}
	var pointers []string
	for _, n := range view.Diff(i.Request().View, next.Request().View).Nodes {
		pointers = append(pointers, n.Pointer)
	}
	return next, pointers
}

func complete(t *testing.T, i *workflow.Interaction, key, id string) *workflow.Interaction {
	t.Helper()
	next, _, err := i.AppendItems([]string{"generations", "midjourney", key}, workflow.Item{ContentID: id, MetadataID: "gm_1", URL: "/media/1"})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func answer(t *testing.T, s string) *workflow.Answer {
	t.Helper()
	a, err := workflow.ParseAnswer([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestExampleFromEditToChoice: a prompt is edited and started, and a result is chosen.
func TestExampleFromEditToChoice(t *testing.T) {
	t.Parallel()
	i, changed := edit(t, open(t, example(t)), `[{"op":"replace","path":"`+promptA+`/subject","value":"a {{ state.x }} tea pot"},{"op":"replace","path":"`+promptA+`/environment","value":""}]`)
	if diff := cmp.Diff([]string{promptA}, changed); diff != "" {
		t.Error(diff)
	}
	s, err := i.Start(workflow.Click{InteractionID: "in_1", Path: promptA, SubActionID: "generate", Params: object(t, `{"seed": 3}`)})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Plan.Request
	if r.Prompt != "a {{ state.x }} tea pot" || r.Model != "midjourney/midjourney" || r.AspectRatio != "16:9" || *r.Seed != 3 || r.Options["midjourney"]["speed"] != "fast" {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{"generations", "midjourney", "prompt_a"}, s.Action.ResultTarget); diff != "" {
		t.Error(diff)
	}
	if _, err := i.Result(answer(t, `{"selected_content_id": "gc_1"}`)); len(problem.Of(err)) == 0 {
		t.Errorf("an answer with nothing generated: %v", err)
	}
	i = complete(t, complete(t, i, "prompt_a", "gc_1"), "prompt_b", "gc_2")
	if n := nodeAt(i.Request().View, "/generations/midjourney/prompt_b"); n == nil || n.Selection == nil || len(n.Children) != 1 || n.Children[0].Children[1].Display != "hidden" {
		t.Errorf("the grid: %+v", n)
	}
	got, err := i.Result(answer(t, `{"selected_content_id": "gc_2"}`))
	if err != nil || string(ordered.Encode(got)) != `{"selected_image":"gc_2"}` {
		t.Errorf("%s, %v", ordered.Encode(got), err)
	}
}

// TestModelKeys: Leonardo's text prompts are sent to the models that their keys name.
func TestModelKeys(t *testing.T) {
	t.Parallel()
	s, err := open(t, example(t)).Start(workflow.Click{Path: phoenix})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Plan.Request; r.Prompt != "Primary subject: ..." || r.Model != "leonardo/de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3" || r.Size != "1024x576" {
		t.Errorf("%+v", r)
	}
}

// TestClientWithoutPaths: a click may name its action type, provider and prompt instead of a path.
func TestClientWithoutPaths(t *testing.T) {
	t.Parallel()
	const body = `{"interaction_id": "in_1", "action_type": "media.midjourney.txt2img", "provider": "midjourney", "prompt_id": "prompt_a",
		"operation": "txt2img", "params": {"aspect_ratio": "1:1"}, "source_data": {"environment": "...", "subject": "..."}}`
	i := open(t, example(t))
	start := func(i *workflow.Interaction, body string) (workflow.Start, error) {
		c, err := workflow.ParseClick([]byte(body))
		if err != nil {
			return workflow.Start{}, err
		}
		return i.Start(c)
	}
	s, err := start(i, body)
	if err != nil || s.Key != "prompt_a" || s.Plan.Request.Prompt != "..., ..." || s.Plan.Request.AspectRatio != "1:1" {
		t.Errorf("%+v, %v", s, err)
	}
	edited, _ := edit(t, i, `[{"op":"replace","path":"`+promptA+`/subject","value":"new"}]`)
	for name, c := range map[string]struct {
		in   *workflow.Interaction
		body string
		want media.Code
	}{
		"stale data":          {edited, body, media.CodeStaleData},
		"undeclared action":   {i, strings.Replace(body, "media.midjourney.txt2img", "media.midjourney.upscale", 1), media.CodeNotFound},
		"other operation":     {i, strings.Replace(body, `"operation": "txt2img"`, `"operation": "edit"`, 1), media.CodeNotFound},
		"unknown prompt":      {i, strings.Replace(body, "prompt_a", "prompt_z", 1), media.CodeNotFound},
		"foreign interaction": {i, strings.Replace(body, "in_1", "in_2", 1), media.CodeNotFound},
		"several":             {i, `{"action_type": "media.midjourney.txt2img"}`, media.CodeConflict},
		"nothing":             {i, `{}`, media.CodeNotFound},
		"unknown parameter":   {i, strings.Replace(body, `"aspect_ratio": "1:1"`, `"callback": "http://x"`, 1), media.CodeInvalid},
		"__proto__":           {i, strings.Replace(body, `"aspect_ratio": "1:1"`, `"__proto__": {}`, 1), media.CodeInvalid},
		"parameter's range":   {i, strings.Replace(body, `"aspect_ratio": "1:1"`, `"stop": 1`, 1), media.CodeInvalid},
		"unknown name":        {i, `{"action_type": "x", "url": "y"}`, media.CodeInvalid},
		"no text":             {i, `{"action_type": 1}`, media.CodeInvalid},
		"stand-in":            {i, `{"action_type": "x", "stand_in": "gemini"}`, media.CodeInvalid},
	} {
		if _, err := start(c.in, c.body); media.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestConflict: edits of different fields from two tabs are merged; edits of the same field conflict.
func TestConflict(t *testing.T) {
	t.Parallel()
	i, _ := edit(t, open(t, example(t)), `[{"op":"replace","path":"`+promptA+`/subject","value":"one"}]`)
	merged, err := i.Edit(1, ops(t, `[{"op":"replace","path":"`+promptA+`/environment","value":"two"}]`))
	if err != nil || nodeAt(merged.Request().View, promptA).SubActions[0].PromptAsSent != "one, two" || merged.Request().Version != 3 {
		t.Errorf("%v", err)
	}
	_, err = i.Edit(1, ops(t, `[{"op":"replace","path":"`+promptA+`/subject","value":"two"}]`))
	if media.CodeOf(err) != media.CodeVersion || !strings.Contains(err.Error(), "a newer version (2) has changed "+promptA+"/subject:") {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"/generations/x", "/prompts", "/prompts/midjourney/prompt_c"} {
		if _, err := i.Edit(2, ops(t, `[{"op":"add","path":"`+path+`","value":{}}]`)); len(problem.Of(err)) == 0 {
			t.Errorf("%s is edited: %v", path, err)
		}
	}
	reopened, err := workflow.Open(i.Request(), i.Edits(), actions(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(mustJSON(t, i.Request())), string(mustJSON(t, reopened.Request()))); diff != "" {
		t.Errorf("reopened: %s", diff)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// chooser returns an interaction of grids with results; each ux is the _ux of one grid.
func chooser(t *testing.T, ux ...string) *workflow.Interaction {
	t.Helper()
	properties, data := &ordered.Object{}, &ordered.Object{}
	for n, one := range ux {
		key := "g" + strconv.Itoa(n)
		properties.Set(key, ordered.New("type", "array", "_ux", object(t, one)))
		data.Set(key, []any{ordered.New("content_id", key+"_1"), ordered.New("content_id", key+"_2"), ordered.New("error", "moderated")})
	}
	return open(t, workflow.InteractionRequest{Type: workflow.TypeSubActions, DisplayData: data, DisplaySchema: ordered.New("type", "object", "properties", properties)})
}

func TestChoices(t *testing.T) {
	t.Parallel()
	const single, multiple = `{"selectable": true}`, `{"selectable": true, "selection_mode": "multiple", "selection_min": 2, "selection_max": 3}`
	const cover = `{"selectable": true, "selection_group": "cover"}`
	optional := `{"selectable": true, "selection_optional": true}`
	for _, c := range []struct {
		ux           []string
		answer, want string // want is the result, or the pointer of the problem
	}{
		{[]string{single}, `{"selected_content_id": "g0_2"}`, `{"selected_image":"g0_2"}`},
		{[]string{single, single}, `{"selected_content_id": "g1_1"}`, `{"selected_image":"g1_1"}`},
		{[]string{single}, `{}`, "/selected_content_id"},
		{[]string{single}, `{"selected_content_id": null}`, "/selected_content_id"},
		{[]string{single}, `{"selected_content_id": "foreign"}`, "/selected_content_id"},
		{[]string{single}, `{"selected_content_id": ["g0_1"]}`, "/selected_content_id"},
		{[]string{single}, `{"selected_content_ids": ["g0_1"]}`, "/selected_content_id"},
		{[]string{single}, `{"selected_content_id": "g0_1", "selected": {}}`, "/selected"},
		{[]string{optional}, `{}`, `{"selected_image":null}`},
		{[]string{multiple, multiple}, `{"selected_content_ids": ["g1_1", "g0_2"]}`, `{"selected_images":["g1_1","g0_2"]}`},
		{[]string{multiple}, `{"selected_content_ids": ["g0_1"]}`, "/selected_content_ids"},
		{[]string{multiple}, `{"selected_content_ids": ["g0_1", "g0_1"]}`, "/selected_content_ids"},
		{[]string{multiple, multiple}, `{"selected_content_ids": ["g0_1", "g0_2", "g1_1", "g1_2"]}`, "/selected_content_ids"},
		{[]string{multiple}, `{"selected_content_ids": "g0_1"}`, "/selected_content_ids"},
		{[]string{cover, multiple}, `{"selected": {"default": ["g1_2", "g1_1"], "cover": "g0_1"}}`, `{"selected":{"cover":"g0_1","default":["g1_2","g1_1"]}}`},
		{[]string{cover, multiple}, `{"selected": {"cover": "g1_1", "default": ["g1_2", "g1_1"]}}`, "/selected/cover"},
		{[]string{cover, multiple}, `{"selected": {"cover": "g0_1"}}`, "/selected/default"},
		{[]string{cover, multiple}, `{"selected": {"cover": "g0_1", "default": ["g1_2", "g1_1"], "x": 1}}`, "/selected/x"},
		{[]string{cover, multiple}, `{"selected": 1}`, "/selected"},
		{nil, `{}`, `{}`},
		{nil, `{"selected_content_id": "x"}`, "/selected_content_id"},
		{nil, `{"approved": true}`, "/approved"},
		{[]string{single}, `{"selected_content_id": "g0_2", "comment": "the warmer one"}`, "/comment"},
	} {
		got, err := chooser(t, c.ux...).Result(answer(t, c.answer))
		if strings.HasPrefix(c.want, "/") {
			if found := problem.Of(err); media.CodeOf(err) != media.CodeInvalid || !slices.ContainsFunc(found, func(p problem.Problem) bool { return p.Pointer == c.want }) {
				t.Errorf("%v %s: %v", c.ux, c.answer, err)
			}
		} else if err != nil || string(ordered.Encode(got)) != c.want {
			t.Errorf("%v %s: %s, %v", c.ux, c.answer, ordered.Encode(got), err)
		}
	}
	for _, bad := range []string{`[]`, `{"choice": 1}`, `{"running": "stop"}`, `{"comment": 1}`, `{"version": "1"}`} {
		if _, err := workflow.ParseAnswer([]byte(bad)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := answer(t, `{}`).CheckRunning(1); media.CodeOf(err) != media.CodeActionsRunning || !strings.HasPrefix(err.Error(), "sub-actions are still running (1): ") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(answer(t, `{"running": "keep"}`).CheckRunning(2), answer(t, `{}`).CheckRunning(0)); err != nil {
		t.Error(err)
	}
}

// TestNodes: a schema becomes nodes, and data that its node cannot show stays visible.
func TestNodes(t *testing.T) {
	t.Parallel()
	const node = `{"type": ["string", "object"], "_ux": {"display_label": "{{ $provider }} {{ key }} {{ $data.nothing }}", "sub_action": {
		"id": "g", "label": "Make {{ key }}", "action_type": "media.{{ $provider }}.txt2img", "result_target": "generations.{{ $key }}",
		"prompt": "{{ $data.a }} by {{ $data.b }}", "enabled_when": {"field": "a"}}}}`
	r := workflow.InteractionRequest{
		DisplayData: object(t, `{"prompts": {"offline": {"x.y": {"a": "cat", "nested": {"deep": ["p", ""]}, "seed": 4}, "no": {"a": ""}, "num": 5}, "nobody": {"z": "t"}},
			"extra": {"open": {"depth": [1]}, "list": [1], "none": {}, "known": {"a": 1}, "whole": 2.0, "power": 1e3, "half": 0.5}}`),
		DisplaySchema: object(t, `{"properties": {"prompts": {"additionalProperties": {"additionalProperties": `+node+`}},
			"extra": {"properties": {"open": {}, "list": {"type": "array"}, "none": {"type": "object"}, "known": {"properties": {"a": {}}},
				"whole": {"type": "integer"}, "power": {"type": "integer"}, "half": {"type": "integer"}}}}}`),
	}
	root := open(t, r).Request().View
	n := nodeAt(root, "/prompts/offline/x.y")
	if n == nil || n.Label != "offline x.y " || n.Form == nil {
		t.Fatalf("%+v", n)
	}
	a := n.SubActions[0]
	if a.PromptAsSent != "cat by " || a.Label != "Make x.y" || !a.Enabled || a.LoadingLabel != "Loading..." || !slices.Equal(a.ResultTarget, []string{"generations", "x.y"}) {
		t.Errorf("%+v", a)
	}
	if got := string(ordered.Encode(a.Params)); got != `{"seed":4}` {
		t.Errorf("params %s", got)
	}
	if n := nodeAt(root, "/prompts/offline/no"); n.SubActions[0].Enabled {
		t.Error("a condition that does not hold enables")
	}
	if n := nodeAt(root, "/prompts/offline/num"); n.RenderAs != "code" || n.Type != "integer" || n.Form != nil {
		t.Errorf("data of another type: %+v", n)
	}
	for pointer, want := range map[string]schema.Render{
		"/extra/open": "code", "/extra/list": "code", "/extra/none": "key-value", "/extra/known": "key-value",
		"/extra/whole": "text", "/extra/power": "text", "/extra/half": "code",
	} {
		if n := nodeAt(root, pointer); n.RenderAs != want {
			t.Errorf("%s is drawn as %s", pointer, n.RenderAs)
		}
	}
	if a := nodeAt(root, "/prompts/nobody/z").SubActions[0]; a.Enabled || !strings.Contains(a.Reason, "unknown") || a.PromptAsSent != "t" {
		t.Errorf("an unknown provider: %+v", a)
	}
	r.DisplaySchema = object(t, strings.Replace(string(ordered.Encode(r.DisplaySchema)), "{{ $data.a }} by {{ $data.b }}", "{{ $data }} x", 1))
	if _, err := workflow.Open(r, nil, actions(t)); len(problem.Of(err)) == 0 || !strings.HasSuffix(problem.Of(err)[0].Pointer, "/sub_action/prompt") {
		t.Errorf("an object inside text: %v", err)
	}
	r.DisplaySchema = object(t, strings.Replace(node, "Make {{ key }}", "Make {{ $data.none }}", 1)).With("type", "object")
	r.DisplayData = object(t, `{"a": "x"}`)
	if _, err := workflow.Open(r, nil, actions(t)); err == nil {
		t.Error("an unknown path in a label of a button passes")
	}
}

// TestVarsAndForms: the author's vars, the forms of the request and those of _ux apply in order of precedence.
func TestVarsAndForms(t *testing.T) {
	t.Parallel()
	r := workflow.InteractionRequest{
		DisplayData: object(t, `{"prompts": {"hero": {"subject": "cat"}, "plain": "text", "typed": "x"}}`),
		DisplaySchema: object(t, `{"properties": {"prompts": {"_ux": {"vars": {"provider": "leonardo", "mood": "calm"}}, "properties": {
			"hero": {"_ux": {"sub_action": {"id": "g", "label": "{{ $mood }}", "action_type": "media.{{ $provider }}.txt2img", "result_target": "generations.{{ $provider }}.{{ $key }}"}}},
			"plain": {},
			"typed": {"_ux": {"input_schema": {"type": "string", "maxLength": 3}}}}}}}`),
		InputSchema: object(t, `{"/prompts/plain": {"type": "string", "title": "P"}, "/prompts/typed": {"type": "string", "maxLength": 9}}`),
		Layout:      object(t, `{"/prompts/hero": {"rows": [[{"field": "subject", "widget": "textarea"}]]}}`),
	}
	i := open(t, r)
	hero := nodeAt(i.Request().View, "/prompts/hero")
	if a := hero.SubActions[0]; a.Label != "calm" || a.ActionType != "media.leonardo.txt2img" || a.ResultTarget[1] != "leonardo" {
		t.Errorf("%+v", a)
	}
	if b := hero.Form.Layout; len(b) != 1 || b[0].Fields[0].Widget != "textarea" {
		t.Errorf("%+v", b)
	}
	forms := i.Request().View.Forms()
	if len(forms) != 3 || forms["/prompts/plain"].Text("title") != "P" || string(ordered.Encode(forms["/prompts/typed"])) != `{"type":"string","maxLength":3}` {
		t.Errorf("%v", forms)
	}
	if _, err := i.Edit(0, ops(t, `[{"op":"replace","path":"/prompts/typed","value":"long"}]`)); len(problem.Of(err)) != 1 {
		t.Errorf("an edit that its schema does not take: %v", err)
	}
	r.InputSchema = object(t, `{"/prompts/none": {"type": "string"}}`)
	if _, err := workflow.Open(r, nil, actions(t)); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/input_schema/~1prompts~1none" {
		t.Errorf("a form of nothing: %v", err)
	}
	r.InputSchema, r.Layout = nil, object(t, `{"/prompts/hero": {"rows": [["colour"]]}}`)
	if _, err := workflow.Open(r, nil, actions(t)); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/layout/~1prompts~1hero/rows/0/0" {
		t.Errorf("a layout of an unknown field: %v", err)
	}
}

// TestDerivedForms: a form that is derived from data lets a person replace 1 with 1.5, unless the schema says integer,
// and null with a value of the types in the schema, or with text if it names none.
func TestDerivedForms(t *testing.T) {
	t.Parallel()
	i := open(t, workflow.InteractionRequest{
		DisplayData: object(t, `{"data": {"amount": 1, "weight": 1, "whole": 2.0, "count": null, "size": null, "note": null}}`),
		DisplaySchema: object(t, `{"properties": {"data": {"_ux": {"layout": {"rows": [["amount", "weight"]]}}, "properties": {
			"amount": {"type": "integer"}, "weight": {}, "whole": {"type": "integer"}, "count": {"type": ["integer", "null"]}, "size": {"type": "number"}}}}}`),
	})
	for _, c := range []struct {
		field, value string
		problems     int
	}{
		{"amount", "1.5", 1},
		{"weight", "1.5", 0},
		{"whole", "1.5", 1},
		{"count", "3", 0},
		{"count", `"three"`, 1},
		{"size", "0.5", 0},
		{"note", `"text"`, 0},
		{"note", "1", 1},
	} {
		if _, err := i.Edit(0, ops(t, `[{"op":"replace","path":"/data/`+c.field+`","value":`+c.value+`}]`)); len(problem.Of(err)) != c.problems {
			t.Errorf("%s = %s: %v", c.field, c.value, err)
		}
	}
}

// TestNullIsNoParameter: a parameter of a prompt that is null is not set, and null in a form removes a default.
func TestNullIsNoParameter(t *testing.T) {
	t.Parallel()
	r := example(t)
	r.DisplayData.Object("prompts").Object("midjourney").Object("prompt_a").Set("seed", nil)
	i := open(t, r)
	if params := nodeAt(i.Request().View, promptA).SubActions[0].Params; params.Has("seed") {
		t.Errorf("the form begins with %s", ordered.Encode(params))
	}
	s, err := i.Start(workflow.Click{Path: promptA, Params: object(t, `{"aspect_ratio": null}`)})
	if err != nil || s.Plan.Request.Seed != nil || s.Plan.Request.AspectRatio != "" || s.Params.Has("aspect_ratio") {
		t.Errorf("%s, %+v, %v", ordered.Encode(s.Params), s.Plan.Request, err)
	}
}

func BenchmarkExampleView(b *testing.B) {
	r, a := example(b), actions(b)
	i, err := workflow.Open(r, nil, a)
	if err != nil {
		b.Fatal(err)
	}
	p, err := patch.Parse([]byte(`[{"op":"replace","path":"` + promptA + `/subject","value":"tea"}]`))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := workflow.Open(r, nil, a); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("resolve", func(b *testing.B) {
		s, err := schema.Parse(r.DisplaySchema)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := view.Resolve(view.Input{Schema: s, Data: r.DisplayData, ParamDefaults: r.ParamDefaults, Actions: a}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("edit", func(b *testing.B) {
		for b.Loop() {
			if _, err := i.Edit(1, p); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkManyPictures edits one of 200 prompts with 2,000 pictures below them.
func BenchmarkManyPictures(b *testing.B) {
	r, a := example(b), actions(b)
	prompts, pictures := &ordered.Object{}, &ordered.Object{}
	for n := range 200 {
		key := "prompt_" + strconv.Itoa(n)
		prompts.Set(key, ordered.New("subject", "cat", "environment", "wood"))
		var list []any
		for k := range 10 {
			list = append(list, ordered.New("content_id", "gc_"+key+strconv.Itoa(k), "metadata_id", "gm", "url", "/media/1"))
		}
		pictures.Set(key, list)
	}
	r.DisplayData = ordered.New("prompts", ordered.New("midjourney", prompts), "generations", ordered.New("midjourney", pictures))
	i, err := workflow.Open(r, nil, a)
	if err != nil {
		b.Fatal(err)
	}
	p, err := patch.Parse([]byte(`[{"op":"replace","path":"/prompts/midjourney/prompt_7/subject","value":"tea"}]`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(mustEncode(b, i.Request()))), "request-bytes")
	for b.Loop() {
		if next, err := i.Edit(1, p); err != nil || len(view.Diff(i.Request().View, next.Request().View).Nodes) != 1 {
			b.Fatal(err)
		}
	}
}

func mustEncode(b *testing.B, v any) []byte {
	b.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// TestEditBesideAMixedList: a form without a schema accepts an edit of one field while another holds a list whose items
// differ in type.
func TestEditBesideAMixedList(t *testing.T) {
	t.Parallel()
	for _, list := range []string{`["a", 1]`, `[1, "auto"]`, `[{"w": 1}, {"w": "x", "v": 2}]`, `[null, 1]`, `[[1], ["x"]]`} {
		r := example(t)
		r.DisplayData.Object("prompts").Object("midjourney").Object("prompt_a").Set("list", object(t, `{"v": `+list+`}`).List("v"))
		i, _ := edit(t, open(t, r), `[{"op": "replace", "path": "`+promptA+`/subject", "value": "a pot"}]`)
		if s, err := i.Start(workflow.Click{Path: promptA}); err != nil || !strings.Contains(s.Plan.Request.Prompt, "a pot") {
			t.Errorf("%s: %+v, %v", list, s.Plan.Request, err)
		}
	}
}
