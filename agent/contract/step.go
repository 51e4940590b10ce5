// Package contract defines the step contract: the JSON object that a model answers with, its JSON Schema, and
// the instruction that explains it. It finds a step in an answer, complete or while it is being written.
//
// Errors are media.Error values: bad_response, retryable, with a message for the model, and invalid for
// invalid questions. It may import media and wire.
package contract

import (
	"bytes"
	"cmp"
	_ "embed" // the step's schema and its explanation to models
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/internal/schemas"
	"atelier/media"
	"atelier/media/wire"
)

// Schema is the JSON Schema of a step.
//
//go:embed step.schema.json
var Schema []byte

// Instruction explains the contract to a model.
//
//go:embed contract.md
var Instruction string

// SchemaName is the name of the schema for providers with structured output.
const SchemaName = "agent_step"

// MaxAnswer is the maximum number of bytes of a model's answer that are read.
const MaxAnswer = 8 << 20

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

// ActionCall requests an action.
type ActionCall struct {
	Name   string         `json:"name"`
	Params map[string]any `json:"params,omitempty"`
}

// AgentCall requests a sub-agent and grants it media by ref.
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
	Question string          `json:"question"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

// Acts reports whether the step requests any actions or sub-agents.
func (s *Step) Acts() bool { return len(s.Actions)+len(s.Agents) > 0 }

// Parser parses steps with a schema that is compiled once.
type Parser struct{ schema *jsonschema.Schema }

// NewParser compiles the schema.
func NewParser() (*Parser, error) {
	s, err := schemas.Compile(json.RawMessage(Schema))
	if err != nil {
		return nil, media.Errorf(media.CodeInternal, "compile step schema: %w", err)
	}
	return &Parser{schema: s}, nil
}

// Parse finds the step in a model's answer. The error has code bad_response, is retryable and tells
// the model what is wrong.
func (p *Parser) Parse(text string) (*Step, error) {
	obj, text, err := extractObject(text)
	if err != nil {
		return nil, err
	}
	readOldNames(obj)
	if err := p.schema.Validate(obj); err != nil {
		return nil, BadStep("the step does not fit its schema: %s", schemas.Problem(err))
	}
	s, err := stepOf(obj, text)
	if err != nil {
		return nil, BadStep("the step does not fit its schema: %w", err)
	}
	if !s.Acts() && !s.Done && s.Ask == nil {
		return nil, BadStep("the step asks for nothing: name actions or agents, or set done to true")
	}
	if s.Ask != nil {
		if _, _, err := CheckQuestion(s.Ask.Question, s.Ask.Schema); err != nil {
			return nil, BadStep("ask: %w", err)
		}
	}
	return s, nil
}

// BadStep returns the error for an answer that cannot be used: bad_response and retryable.
func BadStep(format string, args ...any) *media.Error {
	e := media.Errorf(media.CodeBadResponse, format, args...)
	e.Retryable = true
	return e
}

// readOldNames accepts names from older prompts: persist for promote, refId for ref, and bare refs instead of objects.
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

// stepOf decodes an object that matches the schema. The form of a question is taken from the step's text, because its
// fields have an order.
func stepOf(obj map[string]any, text string) (*Step, error) {
	var s Step
	err := object.Decode(plain.JSON(obj), &s)
	if s.Ask == nil {
		return &s, err
	}
	s.Ask.Schema = nil
	ask, _ := obj["ask"].(map[string]any)
	if form, _ := ask["schema"].(map[string]any); len(form) > 0 {
		var written struct {
			Ask Ask `json:"ask"`
		}
		var schema bytes.Buffer
		err = cmp.Or(err, object.Decode([]byte(text), &written))
		err = cmp.Or(err, json.Compact(&schema, written.Ask.Schema))
		s.Ask.Schema = schema.Bytes()
	}
	return &s, err
}

// MaxQuestion is the maximum length of a question in characters; maxForm is the maximum size of its
// JSON Schema in bytes. Anything longer is refused, not cut.
const (
	MaxQuestion = 4000
	maxForm     = 16 << 10
)

// AnswerForm is the form of a question without a schema.
const AnswerForm = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"string","minLength":1,"title":"Answer"}},"additionalProperties":false}`

// CheckQuestion checks a question. Without a schema, the form is {answer: string}.
func CheckQuestion(question string, schema json.RawMessage) (text string, form json.RawMessage, err error) {
	text = strings.TrimSpace(question)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", nil, media.Errorf(media.CodeInvalid, "the question is empty: say what the person shall answer")
	case n > MaxQuestion:
		return "", nil, media.Errorf(media.CodeInvalid, "the question has %d characters: at most %d, put the rest into the message", n, MaxQuestion)
	}
	if len(bytes.TrimSpace(schema)) == 0 {
		return text, json.RawMessage(AnswerForm), nil
	}
	if len(schema) > maxForm {
		return text, nil, media.Errorf(media.CodeInvalid, "the schema of the question has %d bytes: at most %d, ask for less", len(schema), maxForm)
	}
	if wire.NameMedia(string(schema)) != string(schema) {
		return text, nil, media.Errorf(media.CodeInvalid, "the schema of the question contains media as base64: remove it and name media by ref in the question")
	}
	if _, err := schemas.Compile(schema); err != nil {
		return text, nil, media.Errorf(media.CodeInvalid, "the schema of the question is not a valid JSON Schema: %s", schemas.Problem(err))
	}
	return text, bytes.Clone(schema), nil
}
