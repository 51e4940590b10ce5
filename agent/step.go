package agent

import (
	"bytes"
	_ "embed" // the step's schema and its explanation to models
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/media"
)

//go:embed step.schema.json
var stepSchema []byte

//go:embed contract.md
var stepContract string

// schemaName is what providers with structured output call the answer.
const schemaName = "agent_step"

// maxAnswer is how many bytes of a model's answer are looked at.
const maxAnswer = 8 << 20

// Step is one answer of a model: what to do next.
type Step struct {
	Reasoning string       `json:"reasoning,omitempty"`
	Actions   []ActionCall `json:"actions,omitempty"`
	Agents    []AgentCall  `json:"agents,omitempty"`
	Promote   []Promotion  `json:"promote,omitempty"`
	Ask       *Ask         `json:"ask,omitempty"`
	Message   string       `json:"message,omitempty"`
	// Payload replaces top-level keys; PayloadPatch is a merge patch (RFC 7396).
	Payload      map[string]any `json:"payload,omitempty"`
	PayloadPatch map[string]any `json:"payloadPatch,omitempty"`
	Done         bool           `json:"done"`
}

// ActionCall asks for an action.
type ActionCall struct {
	Name   string         `json:"name"`
	Params map[string]any `json:"params,omitempty"`
}

// AgentCall asks for a sub-agent and grants it media by ref.
type AgentCall struct {
	Name  string   `json:"name"`
	Task  string   `json:"task"`
	Media []string `json:"media,omitempty"`
}

// Promotion chooses an item for the answer.
type Promotion struct {
	Ref         string `json:"ref"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
}

// Ask puts a question to a person.
type Ask struct {
	Question string         `json:"question"`
	Schema   map[string]any `json:"schema,omitempty"`
}

// acts reports whether the step asks for anything to be done.
func (s *Step) acts() bool { return len(s.Actions)+len(s.Agents) > 0 }

// stepParser reads steps; its schema is compiled once.
type stepParser struct{ schema *jsonschema.Schema }

func newStepParser() (*stepParser, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(stepSchema))
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "read step schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("step.json", doc); err != nil {
		return nil, media.Errorf(media.CodeInternal, "add step schema: %w", err)
	}
	s, err := c.Compile("step.json")
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "compile step schema: %w", err)
	}
	return &stepParser{schema: s}, nil
}

// parse finds the step in a model's answer. The error has code bad_response, is
// retryable and says to the model what is wrong.
func (p *stepParser) parse(text string) (*Step, error) {
	obj, err := extractObject(text)
	if err != nil {
		return nil, err
	}
	readOldNames(obj)
	if err := p.schema.Validate(obj); err != nil {
		return nil, badStep("the step does not fit its schema: %s", schemaProblem(err))
	}
	s := stepOf(obj)
	if !s.acts() && !s.Done && s.Ask == nil {
		return nil, badStep("the step asks for nothing: name actions or agents, or set done to true")
	}
	if _, err := s.Ask.inquiry(); err != nil {
		return nil, badStep("ask: %w", err)
	}
	return s, nil
}

func badStep(format string, args ...any) *media.Error {
	e := media.Errorf(media.CodeBadResponse, format, args...)
	e.Retryable = true
	return e
}

// schemaProblem puts the validator's findings on one line.
func schemaProblem(err error) string {
	var v *jsonschema.ValidationError
	text := err.Error()
	if errors.As(err, &v) {
		lines := strings.Split(text, "\n")
		text = strings.Join(lines[min(1, len(lines)-1):], ";")
	}
	return clip(media.ErrorText(strings.Join(strings.Fields(text), " ")), 600)
}

// readOldNames understands what older prompts taught models: persist for promote,
// refId for ref, bare refs instead of objects.
func readOldNames(obj map[string]any) {
	var all []any
	for _, key := range []string{"promote", "persist"} {
		switch v := obj[key].(type) {
		case []any:
			all = append(all, v...)
		case string, map[string]any:
			all = append(all, v)
		}
	}
	delete(obj, "persist")
	if len(all) == 0 {
		if _, isBool := obj["promote"].(bool); isBool {
			delete(obj, "promote")
		}
		return
	}
	for i, v := range all {
		switch t := v.(type) {
		case string:
			all[i] = map[string]any{"ref": t}
		case map[string]any:
			if id, ok := t["refId"]; ok && t["ref"] == nil {
				t["ref"] = id
			}
		}
	}
	obj["promote"] = all
}

// stepOf builds the step from an object that fits the schema.
func stepOf(obj map[string]any) *Step {
	s := &Step{Reasoning: str(obj, "reasoning"), Message: str(obj, "message")}
	s.Payload, _ = obj["payload"].(map[string]any)
	s.PayloadPatch, _ = obj["payloadPatch"].(map[string]any)
	s.Done, _ = obj["done"].(bool)
	for _, a := range objects(obj["actions"]) {
		params, _ := a["params"].(map[string]any)
		s.Actions = append(s.Actions, ActionCall{Name: str(a, "name"), Params: params})
	}
	for _, a := range objects(obj["agents"]) {
		call := AgentCall{Name: str(a, "name"), Task: str(a, "task")}
		list, _ := a["media"].([]any)
		for _, m := range list {
			ref, _ := m.(string)
			call.Media = append(call.Media, ref)
		}
		s.Agents = append(s.Agents, call)
	}
	for _, p := range objects(obj["promote"]) {
		s.Promote = append(s.Promote, Promotion{Ref: str(p, "ref"), Label: str(p, "label"), Description: str(p, "description")})
	}
	if a, ok := obj["ask"].(map[string]any); ok {
		schema, _ := a["schema"].(map[string]any)
		s.Ask = &Ask{Question: str(a, "question"), Schema: schema}
	}
	return s
}

func str(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// plain marshals v as JSON without escaping HTML; v holds JSON types only.
func plain(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null") // a value of another type: nothing of it may be shown
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
