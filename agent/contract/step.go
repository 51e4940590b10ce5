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
	"slices"
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

// maxCandidates is the maximum number of positions in an answer that are tried as the start of JSON.
const maxCandidates = 10_000

var stepKeys = []string{"actions", "agents", "done", "payload", "payloadPatch", "message", "ask", "promote", "reasoning"}

// extractObject finds the JSON object of a step in a model's answer, and its text: alone, in a code fence, or surrounded
// by prose. It tolerates commas before a closing bracket and raw line breaks in strings. Numbers stay [json.Number].
func extractObject(answer string) (step map[string]any, text string, err error) {
	if len(answer) > MaxAnswer {
		return nil, "", BadStep("the answer has %d bytes, at most %d are read: answer with a smaller step", len(answer), MaxAnswer)
	}
	if strings.TrimSpace(answer) == "" {
		return nil, "", BadStep("the answer is empty: answer with one JSON object")
	}
	rest, foundOther := withoutThoughts(answer), false
	for range maxCandidates {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		rest = rest[i:]
		obj, text, err := decodeObject(rest)
		switch {
		case err == nil && isStep(obj):
			return obj, text, nil
		case err != nil && beginsObject(rest):
			// The model intended this object; an object inside it would only be a part of it.
			return nil, "", BadStep("the JSON object of the step is broken: %v", err)
		case err == nil && strings.HasPrefix(rest, text): // it was not repaired
			foundOther, rest = true, rest[len(text):]
		default:
			foundOther, rest = foundOther || err == nil, rest[1:]
		}
	}
	if foundOther {
		return nil, "", BadStep("the JSON object is not a step: it has none of the fields %s", strings.Join(stepKeys, ", "))
	}
	return nil, "", BadStep("the answer holds no JSON object: answer with one JSON object as the contract says, without prose")
}

// withoutThoughts removes the thoughts that some models write before their answer, because they may
// contain drafts of it.
func withoutThoughts(text string) string {
	text = strings.TrimLeft(text, "\ufeff \n\r\t")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "```") {
		return text
	}
	if _, answer, ok := strings.Cut(text, "</think>"); ok && strings.Contains(answer, "{") {
		return answer
	}
	return text
}

// beginsObject distinguishes JSON from a brace in prose.
func beginsObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text[1:], " \n\r\t"), `"`)
}

func isStep(obj map[string]any) bool {
	return slices.ContainsFunc(stepKeys, func(k string) bool { _, ok := obj[k]; return ok })
}

// decodeObject decodes the object at the start of a text, and returns its own text, repaired if necessary.
func decodeObject(text string) (obj map[string]any, own string, err error) {
	decode := func(text string) error {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		err := d.Decode(&obj)
		own = text[:d.InputOffset()]
		return err
	}
	if err = decode(text); err == nil || !beginsObject(text) {
		return obj, own, err
	}
	if repaired, changed := repairJSON(text); changed && decode(repaired) == nil {
		return obj, own, nil
	}
	return nil, "", err
}

// repairJSON removes commas before closing brackets and escapes raw control characters
// in strings.
func repairJSON(text string) (string, bool) {
	escapes := map[byte]string{'\n': `\n`, '\t': `\t`, '\r': `\r`}
	var b strings.Builder
	inString, changed := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			b.WriteByte(text[i])
			continue
		case inString && c < ' ':
			b.WriteString(cmp.Or(escapes[c], " "))
			changed = true
			continue
		case c == '"':
			inString = !inString
		case !inString && c == ',':
			if next := strings.TrimLeft(text[i+1:], " \n\r\t"); next != "" && (next[0] == '}' || next[0] == ']') {
				changed = true
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String(), changed
}
