package workflow_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
	"atelier/workflow/view"
)

func modules(tb testing.TB) *workflow.Modules {
	tb.Helper()
	m, err := workflow.NewModules(module.All(module.Config{})...)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func step(inputs string) string {
	return "id: w\ntitle: T\nsteps:\n  - id: first\n    module_id: prompt.draft\n    inputs: {brief: b, providers: [leonardo]}\n  - " + strings.ReplaceAll(inputs, "\n", "\n    ") + "\n"
}

// TestProblemsHaveTheirPlace: a problem has the line, column and pointer of its place in YAML or JSON.
func TestProblemsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"id: w\ntitle: T\nsteps: []\n":              "3:1 /steps",
		"id: W!\ntitle: T\nsteps: [{module_id: x}]": "1:1 /id",
		"id: w\ntitle: T\ncolour: red\nsteps: [{module_id: agent.run, inputs: {agent: a, message: m}}]":                 "3:1 /colour",
		"id: w\ntitle: T\nstand_in: online\nsteps: [{module_id: agent.run}]":                                            "3:1 /stand_in",
		"id: w\ntitle: T\nstate_schema: {type: thing}\nsteps: [{module_id: agent.run, inputs: {agent: a, message: m}}]": "3:16 /state_schema/type",
		"id: w\ntitle: T\n  x: 1":  "3:1 ",
		step("module_id: nothing"): "7:5 /steps/1/module_id",
		step("id: first\nmodule_id: agent.run\ninputs: {agent: a, message: m}"):                                                                                          "7:5 /steps/1/id",
		step("module_id: agent.run\ninputs: {agent: a}"):                                                                                                                 "8:5 /steps/1/inputs",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: 5"):                                                                                                  "10:7 /steps/1/inputs/message",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: m\n  model: x"):                                                                                      "11:7 /steps/1/inputs/model",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: '{{ state.x'"):                                                                                       "10:7 /steps/1/inputs/message",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: '{{ env.HOME }}'"):                                                                                   "10:7 /steps/1/inputs/message",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: '{{ $key }}'"):                                                                                       "10:7 /steps/1/inputs/message",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: '{{ step.none }}'"):                                                                                  "10:7 /steps/1/inputs/message",
		step("module_id: agent.run\ninputs:\n  agent: a\n  message: '{{ steps.later.x }}'"):                                                                              "10:7 /steps/1/inputs/message",
		step("module_id: media.generation\ninputs: {title: t, data: {}, display_schema: '{{ state.s }}'}"):                                                               "8:34 /steps/1/inputs/display_schema",
		step("module_id: media.generation\ninputs: {title: t, data: {}, display_schema: '{{ step.s }}'}\nconfig:\n  s:\n    _ux:\n      display_label: '{{ state.x }}'"): "12:11 /steps/1/config/s/_ux/display_label",
		step("module_id: media.generation\ninputs:\n  title: t\n  data: {}\n  param_schemas: {leonardo: {type: thing}}"):                                                 "11:34 /steps/1/inputs/param_schemas/leonardo/type",
		step("module_id: media.generation\ninputs:\n  title: t\n  data: {}\n  param_schemas: {leonardo: {$ref: '#/$defs/p', $defs: {p: {}}}}"):                           "11:34 /steps/1/inputs/param_schemas/leonardo/$ref",
		step("module_id: prompt.draft\ninputs:\n  brief: b\n  providers: {leonardo: [a, a]}"):                                                                            "10:19 /steps/1/inputs/providers/leonardo",
		step("module_id: agent.run\ninputs: {agent: a, message: '{{ steps.first.promts }}'}"):                                                                            "8:24 /steps/1/inputs/message",
		step("module_id: review.approve\ninputs: {title: t, data: 1}\noutput: {approved: ok, coment: c}"):                                                                "9:28 /steps/1/output/coment",
		step("module_id: media.generation\ninputs: {title: t, data: {}}\noutput: {selected_images: i}"):                                                                  "9:14 /steps/1/output/selected_images",
		step("module_id: agent.run\ninputs: {agent: a, message: m}\noutput: a..b"):                                                                                       "9:5 /steps/1/output",
		step("module_id: agent.run\ninputs: {agent: a, message: m}\noutput: a.__proto__"):                                                                                "9:5 /steps/1/output",
		step("module_id: agent.run\ninputs: {agent: a, message: m}\noutput: {media: __proto__.b}"):                                                                       "9:14 /steps/1/output/media",
	} {
		d, found := workflow.Read(modules(t), "w.yaml", []byte(in))
		if len(found) == 0 || d != nil {
			t.Errorf("%s: taken, want %s", in, want)
			continue
		}
		if got := fmt.Sprintf("%d:%d %s", found[0].Line, found[0].Column, found[0].Pointer); got != want {
			t.Errorf("%s\n%s (%s), want %s", in, got, found[0], want)
		}
	}
	_, found := workflow.Read(modules(t), "w.json", []byte("{\n  \"id\": \"w\",\n  \"title\": 5, \"steps\": [{\"module_id\": \"x\"}]}"))
	if len(found) != 1 || found[0].String()[:10] != "w.json:3:3" {
		t.Errorf("JSON: %v", found)
	}
}

// TestExamples: the shipped examples are valid, their interactions open, and a choice reaches the state.
func TestExamples(t *testing.T) {
	t.Parallel()
	for file, state := range map[string]string{
		"campaign-images.yaml": `{"brief": "tea {{ state.brief }}"}`, "product-variants.yaml": `{"product": "mug"}`, "illustrated-report.yaml": `{"topic": "rivers"}`,
	} {
		text, err := os.ReadFile("../examples/workflows/" + file)
		if err != nil {
			t.Fatal(err)
		}
		d, found := workflow.Read(modules(t), file, text)
		if len(found) > 0 {
			t.Errorf("%v", found)
			continue
		}
		if err := d.CheckState(object(t, state)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := d.CheckState(object(t, `{}`)); len(problem.Of(err)) == 0 {
			t.Errorf("%s begins without its state", file)
		}
		play(t, d, object(t, state))
	}
}

// play runs the steps of a definition with scripted agents and exports.
func play(t *testing.T, d *workflow.Definition, state *ordered.Object) {
	t.Helper()
	m, err := workflow.NewModules(module.All(module.Config{Agents: script{}, Exports: script{}})...)
	if err != nil {
		t.Fatal(err)
	}
	results, answers := &ordered.Object{}, 0
	for _, s := range d.Steps {
		one, err := m.Find(s.ModuleID)
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.Resolve(state, results)
		if err == nil {
			err = workflow.CheckInputs(one, in)
		}
		if err != nil {
			t.Fatalf("%s %s: %v", d.ID, s.ID, err)
		}
		run := workflow.Run{WorkflowRunID: "wr_1", StepID: s.ID, Inputs: in, State: state}
		request, err := one.Request(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		var a *workflow.Answer
		if request != nil {
			answers++
			run.Interaction = open(t, *request)
			run.Interaction, a = decide(t, run.Interaction)
		}
		result, err := one.Execute(t.Context(), run, a)
		if err != nil {
			t.Fatalf("%s %s: %v", d.ID, s.ID, err)
		}
		results.Set(s.ID, result)
		if state, err = s.Store(state, result); err != nil {
			t.Fatal(err)
		}
	}
	if answers == 0 {
		t.Errorf("%s asks no question", d.ID)
	}
	golden(t, d.ID+".state.golden.json", state)
}

// decide approves, or starts every sub-action and chooses the first results.
func decide(t *testing.T, i *workflow.Interaction) (*workflow.Interaction, *workflow.Answer) {
	t.Helper()
	if i.Request().Type == workflow.TypeApproval {
		return i, answer(t, `{"approved": true, "comment": "fine"}`)
	}
	n := 0
	for pointer := range i.Request().View.Forms() {
		s, err := i.Start(workflow.Click{Path: pointer})
		if err != nil {
			t.Fatalf("%s: %v", pointer, err)
		}
		if strings.TrimSpace(s.Plan.Request.Prompt) == "" {
			t.Errorf("%s: nothing is asked for", pointer)
		}
		if i, _, err = i.AppendItems(s.Action.ResultTarget, workflow.Item{ContentID: "gc_" + strings.ReplaceAll(pointer[9:], "/", "_")}); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 {
		t.Fatal("nothing can be started")
	}
	var ids []string
	var mode schema.Mode
	i.Request().View.Walk(func(n *view.Node) {
		if n.Selection != nil {
			mode = n.Selection.Mode
			path, _ := ordered.Path(n.Pointer)
			list, _ := ordered.Get(i.Request().DisplayData, path...)
			for _, e := range list.([]any) {
				ids = append(ids, e.(*ordered.Object).Text("content_id"))
			}
		}
	})
	slices.Sort(ids)
	if mode == "multiple" {
		return i, answer(t, `{"selected_content_ids": ["`+ids[0]+`", "`+ids[1]+`"]}`)
	}
	return i, answer(t, `{"selected_content_id": "`+ids[0]+`"}`)
}

type script struct{}

func (script) Ask(_ context.Context, task module.Task) (module.Reply, error) {
	return module.Reply{Message: task.Agent + " did: " + task.Message, Payload: ordered.New("report_html", "<p>"+strings.Join(task.Media, ",")+"</p>"), Media: []string{"med_1"}}, nil
}

func (script) Export(_ context.Context, _ string, ids []string, format string) ([]module.File, error) {
	var files []module.File
	for _, id := range ids {
		files = append(files, module.File{Name: id + "." + format, URL: "/media/" + id})
	}
	return files, nil
}

// TestModuleConfiguration: the module's configuration works as it is written, with the config that its templates name;
// values from the state are not expanded again.
func TestModuleConfiguration(t *testing.T) {
	t.Parallel()
	o, configured := read(t, "interaction.json"), read(t, "module.json")
	params := object(t, `{"type": "object", "properties": {"aspect_ratio": {"type": "string"}, "speed": {"type": "string"}, "width": {"type": "integer"}, "height": {"type": "integer"}}}`)
	one := ordered.New("id", "generate", "module_id", configured.Text("module_id"), "inputs", configured.Object("inputs"), "config",
		ordered.New("media_generation_schema", o.Object("display_schema"), "midjourney_param_schema", params, "leonardo_param_schema", params))
	d, found := workflow.Check(modules(t), ordered.New("id", "example", "title", "T", "steps", []any{one}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	prompts := o.Object("display_data").Object("prompts")
	prompts.Object("midjourney").Set("prompt_c", "{{ state.secret }} {{ $key }}")
	in, err := d.Steps[0].Resolve(ordered.New("prompts", prompts, "secret", "s3cr3t"), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := modules(t).Find("media.generation")
	if err != nil {
		t.Fatal(err)
	}
	request, err := m.Request(t.Context(), workflow.Run{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	tree := open(t, *request).Request().View
	if n := nodeAt(tree, "/prompts/midjourney/prompt_c"); n.SubActions[0].PromptAsSent != "{{ state.secret }} {{ $key }}" {
		t.Errorf("a person's text is a template: %+v", n.SubActions[0])
	}
	want := []string{"aspect_ratio", "speed", "width", "height"}
	if diff := cmp.Diff(want, nodeAt(tree, promptA).SubActions[0].ParamSchema.Object("properties").Keys()); diff != "" {
		t.Error(diff)
	}
	if _, err := d.Steps[0].Resolve(&ordered.Object{}, nil); len(problem.Of(err)) != 1 || problem.Of(err)[0].Pointer != "/inputs/data" {
		t.Errorf("an unknown path: %v", err)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	result := object(t, `{"a": 1, "b": 2}`)
	for output, want := range map[string]string{
		`null`: `{"x":{"y":0},"a":1,"b":2}`, `"x.r"`: `{"x":{"y":0,"r":{"a":1,"b":2}}}`, `{"b": "x.y", "a": "n.m"}`: `{"x":{"y":2},"n":{"m":1}}`,
		`{"c": "x"}`: "", `"x.y.z"`: "",
	} {
		v, err := ordered.Decode([]byte(output))
		if err != nil {
			t.Fatal(err)
		}
		state := object(t, `{"x": {"y": 0}}`)
		got, err := workflow.Step{Output: v}.Store(state, result)
		if (err != nil) != (want == "") || err == nil && string(ordered.Encode(got)) != want {
			t.Errorf("%s: %s, %v", output, ordered.Encode(got), err)
		}
		if string(ordered.Encode(state)) != `{"x":{"y":0}}` {
			t.Errorf("%s changed the state", output)
		}
	}
}

// TestLongTimeout: a timeout that is too long for a duration is not the same as none.
func TestLongTimeout(t *testing.T) {
	t.Parallel()
	d := &workflow.Definition{Timeout: strings.Repeat("999999h", 3)}
	if wait := d.StepTimeout(workflow.Step{}); wait < 200*365*24*time.Hour {
		t.Errorf("got %s", wait)
	}
	if wait := d.StepTimeout(workflow.Step{Timeout: "72h"}); wait != 72*time.Hour {
		t.Errorf("got %s", wait)
	}
	if wait := new(workflow.Definition).StepTimeout(workflow.Step{}); wait != 0 {
		t.Errorf("got %s", wait)
	}
}

// TestStoreKeepsTheResult: a result that the output stores inside another one of its values changes only the state.
func TestStoreKeepsTheResult(t *testing.T) {
	t.Parallel()
	s := workflow.Step{Output: object(t, `{"payload": "found", "message": "found.text"}`)}
	result := object(t, `{"message": "m", "payload": {"n": 1}}`)
	state, err := s.Store(nil, result)
	if err != nil || string(ordered.Encode(state)) != `{"found":{"n":1,"text":"m"}}` {
		t.Errorf("%s, %v", ordered.Encode(state), err)
	}
	if got := string(ordered.Encode(result)); got != `{"message":"m","payload":{"n":1}}` {
		t.Errorf("the result has become %s", got)
	}
}
