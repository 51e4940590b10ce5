package module_test

import (
	"context"
	"strings"
	"testing"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/conform"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/view"
)

func object(t *testing.T, s string) *ordered.Object {
	t.Helper()
	o, err := ordered.DecodeObject([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// agents answers every task with one payload, and records the tasks.
type agents struct {
	payload *ordered.Object
	asked   []module.Task
}

func (a *agents) Ask(_ context.Context, task module.Task) (module.Reply, error) {
	a.asked = append(a.asked, task)
	return module.Reply{Message: "done", Payload: a.payload, Media: []string{"med_1"}}, nil
}

// nodeAt returns the node at a pointer; nil if there is none.
func nodeAt(root *view.Node, pointer string) (found *view.Node) {
	root.Walk(func(n *view.Node) {
		if n.Pointer == pointer {
			found = n
		}
	})
	return found
}

func find(t *testing.T, c module.Config, id string) workflow.Module {
	t.Helper()
	m, err := workflow.NewModules(module.All(c)...)
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func execute(t *testing.T, c module.Config, id, inputs string) (string, error) {
	t.Helper()
	one, in := find(t, c, id), object(t, inputs)
	if err := workflow.CheckInputs(one, in); err != nil {
		return "", err
	}
	run := workflow.Run{WorkflowRunID: "wr_1", StepID: "s", Owner: "ann", Inputs: in}
	if r, err := one.Request(t.Context(), run); r != nil || err != nil {
		t.Errorf("%s asks a person: %v, %v", id, r, err)
	}
	out, err := one.Execute(t.Context(), run, nil)
	if err != nil {
		return "", err
	}
	return string(ordered.Encode(out)), nil
}

// TestSchemas: the input schema of every module compiles.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, m := range module.All(module.Config{}) {
		if _, err := conform.Compile(m.InputSchema()); err != nil {
			t.Errorf("%s: %v", m.ID(), err)
		}
	}
	if _, err := workflow.NewModules(append(module.All(module.Config{}), module.All(module.Config{})[0])...); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("a module twice: %v", err)
	}
}

func TestDraft(t *testing.T) {
	t.Parallel()
	const inputs = `{"brief": "tea", "agent": "sage", "providers": {"leonardo": ["a", "b"]}}`
	a := &agents{payload: object(t, `{"prompts": {"leonardo": {"a": {"subject": "tea"}, "b": "a pot"}}, "notes": 1}`)}
	got, err := execute(t, module.Config{Agents: a}, "prompt.draft", inputs)
	if want := `{"prompts":{"leonardo":{"a":{"subject":"tea"},"b":"a pot"}}}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if task := a.asked[0]; task.Agent != "sage" || !strings.Contains(task.Message, "tea") || !strings.Contains(task.Message, `{"leonardo":["a","b"]}`) ||
		task.Owner != "ann" || task.RunID != "wr_1" || task.StepID != "s" {
		t.Errorf("%+v", task)
	}
	a.payload = object(t, `{"prompts": {"leonardo": {"a": " "}}}`)
	if _, err := execute(t, module.Config{Agents: a}, "prompt.draft", inputs); media.CodeOf(err) != media.CodeBadResponse || !strings.Contains(err.Error(), "leonardo.a, leonardo.b") {
		t.Errorf("%v", err)
	}
	a.payload = nil
	if _, err := execute(t, module.Config{Agents: a}, "prompt.draft", inputs); media.CodeOf(err) != media.CodeBadResponse {
		t.Errorf("no payload: %v", err)
	}
	got, err = execute(t, module.Config{}, "prompt.draft", `{"brief": {"subject": "tea"}, "providers": ["bfl"]}`)
	if want := `{"prompts":{"bfl":{"prompt_a":{"subject":"tea"}}}}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	a := &agents{payload: object(t, `{"report_markdown": "# R"}`)}
	got, err := execute(t, module.Config{Agents: a}, "report.write", `{"task": "write", "data": {"n": 1.50}, "media": "gc_1"}`)
	if want := `{"report":"# R","message":"done"}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if task := a.asked[0]; task.Agent != "research-report-writer" || !strings.Contains(task.Message, `{"n":1.50}`) || len(task.Media) != 1 {
		t.Errorf("%+v", task)
	}
	got, err = execute(t, module.Config{Agents: a}, "agent.run", `{"agent": "sage", "message": "m", "media": ["x", "y"]}`)
	if want := `{"message":"done","payload":{"report_markdown":"# R"},"media":["med_1"]}`; err != nil || got != want || len(a.asked[1].Media) != 2 {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := execute(t, module.Config{Agents: a}, "agent.run", `{"agent": "sage", "message": "m", "media": null}`); err != nil || len(a.asked[2].Media) != 0 {
		t.Errorf("an optional choice of nothing: %v", err)
	}
	a.payload = object(t, `{"x": 1}`)
	if _, err := execute(t, module.Config{Agents: a}, "report.write", `{"task": "write", "data": null}`); media.CodeOf(err) != media.CodeBadResponse {
		t.Errorf("no report: %v", err)
	}
	for id, inputs := range map[string]string{"agent.run": `{"agent": "a", "message": "m"}`, "report.write": `{"task": "t", "data": 1}`, "media.export": `{"media": "gc_1"}`} {
		if _, err := execute(t, module.Config{}, id, inputs); media.CodeOf(err) != media.CodeUnsupported {
			t.Errorf("%s without what it needs: %v", id, err)
		}
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, inputs, want string }{
		{"agent.run", `{"agent": 5, "message": "m"}`, "/inputs/agent"},
		{"agent.run", `{"agent": "a", "message": "m", "model": "x"}`, "/inputs/model"},
		{"media.export", `{"media": "x", "format": "exe"}`, "/inputs/format"},
		{"prompt.draft", `{"brief": "b", "providers": []}`, "/inputs/providers"},
		{"media.generation", `{"title": "t", "data": {}, "display_schema": {"_ux": {"colour": 1}}}`, "/inputs/display_schema/_ux/colour"},
		{"media.generation", `{"title": "t", "data": {}, "input_schema": {"/a": {"type": "thing"}}}`, "/inputs/input_schema/~1a/type"},
		{"media.generation", `{"title": "t", "data": {}, "input_schema": {"a": {}}}`, "/inputs/input_schema/a"},
		{"media.generation", `{"title": "t", "data": {}, "layout": {"/a": {"rows": [["x", "x"]]}}}`, "/inputs/layout/~1a/rows/0/1"},
		{"review.approve", `{"title": "t", "data": 1, "display_schema": {"tpye": 1}}`, "/inputs/display_schema/tpye"},
	} {
		found := problem.Of(workflow.CheckInputs(find(t, module.Config{}, c.id), object(t, c.inputs)))
		if len(found) == 0 || found[0].Pointer != c.want {
			t.Errorf("%s %s: %v, want %s", c.id, c.inputs, found, c.want)
		}
	}
}

// TestReviewShowsEverything: data without a display schema has a node for each value of any type.
func TestReviewShowsEverything(t *testing.T) {
	t.Parallel()
	run := workflow.Run{Inputs: object(t, `{"title": "T", "data": {"s": "{{ key }}", "n": 1.5, "b": true, "none": null, "list": [{"a": 1}, {"b": "x"}], "mixed": [1, {}], "empty": [],
		"deep": {"a": {"b": {"c": {"d": {"e": 1}}}}}}}`)}
	r, err := find(t, module.Config{}, "review.approve").Request(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	i, err := workflow.Open(*r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := i.Request().View
	for pointer, want := range map[string]string{
		"/data/s": "text", "/data/n": "text", "/data/b": "text", "/data/none": "text", "/data/list/1/b": "text", "/data/mixed/1": "key-value", "/data/empty": "code", "/data/deep/a/b/c": "code",
	} {
		n := nodeAt(root, pointer)
		if n == nil || string(n.RenderAs) != want {
			t.Errorf("%s: %+v, want %s", pointer, n, want)
		}
	}
	if len(root.Forms()) != 0 {
		t.Errorf("data that is reviewed can be edited: %v", root.Forms())
	}
	a, err := workflow.ParseAnswer([]byte(`{"comment": "no word of approval"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Result(a); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/approved" {
		t.Errorf("%v", err)
	}
	if a, err = workflow.ParseAnswer([]byte(`{"approved": true, "selected_content_id": "gc_1"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Result(a); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/selected_content_id" {
		t.Errorf("an approval with a choice: %v", err)
	}
}

// TestDraftKeysOfAnyType: keys that are not checked until the run, because one is a template, may have any type. A key
// that no object may have is refused.
func TestDraftKeysOfAnyType(t *testing.T) {
	t.Parallel()
	text := `{"id": "w", "title": "T", "steps": [{"module_id": "prompt.draft", "inputs": {"brief": "b", "providers": {"leonardo": [["a"], {}, "b", "b", "{{ state.key }}"]}}}]}`
	modules, err := workflow.NewModules(module.All(module.Config{})...)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := workflow.Check(modules, object(t, text)); len(found) != 1 || found[0].Pointer != "/steps/0/inputs/providers/leonardo" {
		t.Errorf("%v, want the key that occurs twice", found)
	}
	for providers, want := range map[string]string{`["offline", "__proto__"]`: "/inputs/providers/1", `{"leonardo": ["__proto__"]}`: "/inputs/providers/leonardo/0"} {
		_, err := execute(t, module.Config{}, "prompt.draft", `{"brief": "b", "providers": `+providers+`}`)
		if found := problem.Of(err); len(found) != 1 || found[0].Pointer != want {
			t.Errorf("%s: %v, want a problem at %s", providers, err, want)
		}
	}
}

// TestReviewOfMuchData: data without a display schema is displayed, however much it is; less of it in parts.
func TestReviewOfMuchData(t *testing.T) {
	t.Parallel()
	rows := make([]any, 1)
	row := &ordered.Object{}
	for _, a := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		under := &ordered.Object{}
		for _, b := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			under.Set(b, ordered.New("x", "1", "y", "2"))
		}
		row.Set(a, under)
	}
	rows[0] = row
	for _, data := range []any{row, rows} {
		run := workflow.Run{Inputs: ordered.New("title", "T", "data", data)}
		r, err := find(t, module.Config{}, "review.approve").Request(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		i, err := workflow.Open(*r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := nodeAt(i.Request().View, "/data"); n == nil || len(n.Children) == 0 {
			t.Errorf("the data is not displayed in parts: %+v", n)
		}
	}
}

// TestNoPayload: the payload of an agent without one is null, as it is when it was saved and read.
func TestNoPayload(t *testing.T) {
	t.Parallel()
	run := workflow.Run{Inputs: object(t, `{"agent": "sage", "message": "m"}`)}
	out, err := find(t, module.Config{Agents: &agents{}}, "agent.run").Execute(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := workflow.Step{Inputs: object(t, `{"title": "t", "data": "{{ state.payload }}"}`)}
	in, err := next.Resolve(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found := problem.Of(workflow.CheckInputs(find(t, module.Config{}, "media.generation"), in)); len(found) != 1 || found[0].Pointer != "/inputs/data" {
		t.Errorf("%v, want a problem of /inputs/data", found)
	}
}
