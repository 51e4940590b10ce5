package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/media"
	"atelier/wire"
)

// QuestionKind says why a run waits for a person.
type QuestionKind string

// The kinds of questions.
const (
	QuestionAsk       QuestionKind = "question"  // an agent asks for something that it has to know
	QuestionApproval  QuestionKind = "approval"  // an action is to be allowed
	QuestionGuardrail QuestionKind = "guardrail" // the message, or an answer, is to be allowed
)

// Limits of questions and answers. What is longer is refused, not cut.
const (
	maxQuestion = 4000     // characters
	maxForm     = 16 << 10 // bytes of JSON Schema
	maxReply    = 64 << 10 // bytes of JSON, after media was taken out
)

// Question is something that a paused run waits for.
type Question struct {
	// ID names it in a [Reply].
	ID   string       `json:"id"`
	Kind QuestionKind `json:"kind"`
	// RunID is the run that waits, the root or a sub-agent's; AgentPath its way from the root.
	RunID     string `json:"run_id"`
	AgentPath string `json:"agent_path"`
	// Step is the full name of the step that waits, under which the answer is remembered.
	Step string `json:"step"`
	// Question is for people, at most 4,000 characters. It may hold placeholders.
	Question string `json:"question"`
	// Schema is the JSON Schema (2020-12) of the answer's value, at most 16 KiB. An
	// approval has {approve: boolean, note?: string}; an agent that gives no schema gets
	// {answer: string}.
	Schema json.RawMessage `json:"schema"`
	// Details say what an approval is about; nil for questions of agents.
	Details *Details `json:"details,omitempty"`
	// AskedAt is when it was first asked, UTC.
	AskedAt time.Time `json:"asked_at"`
}

// Details are what a person has to know to approve.
type Details struct {
	// Action is the name of the action, Params a summary of what it was asked; long texts
	// are cut, media stands by ref.
	Action string          `json:"action,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	// EstimatedUSD is what it would cost in US dollars, exact decimal text; nil is unknown.
	EstimatedUSD *string `json:"estimated_usd"`
	// Estimate says how the price came about, or why it is not known.
	Estimate string `json:"estimate,omitempty"`
	// Reason is why it needs approval.
	Reason string `json:"reason,omitempty"`
}

// Reply is what a person answers to a [Question].
type Reply struct {
	// Question is the ID; empty means the oldest open one.
	Question string `json:"question,omitempty"`
	// Value fits the question's schema; at most 64 KiB of JSON. Media data in it is stored,
	// and its placeholder stands in its place.
	Value json.RawMessage `json:"value"`
	// Images come with the answer and are shown to the model, as [Request.Images] are with
	// the message. Approvals take none.
	Images []Image `json:"images,omitempty"`
	// ReplaceImages takes the pictures that came before, with the message and with earlier
	// answers, out of the model's sight.
	ReplaceImages bool `json:"replace_images,omitempty"`
	// LenientImages is [Request.LenientImages] for the rest of the run.
	LenientImages bool `json:"lenient_images,omitempty"`
	// Note is a word beside the value, for the model.
	Note string `json:"note,omitempty"`
}

// replied is a reply as the step that waited for it gives it.
type replied struct {
	Value   json.RawMessage `json:"value"`
	Note    string          `json:"note,omitempty"`
	Images  []InputImage    `json:"images,omitempty"`
	Granted []media.Output  `json:"granted,omitempty"`
	Replace bool            `json:"replace_images,omitempty"`
	// Warning says how the guardrail changed the reply.
	Warning string `json:"warning,omitempty"`
	// Free marks an approval that was not needed.
	Free bool `json:"free,omitempty"`
}

// approval is the value of an answer to an approval.
type approval struct {
	Approve bool   `json:"approve"`
	Note    string `json:"note"`
}

// approval reads the value; what does not say yes is a no.
func (p replied) approval() approval {
	var a approval
	if err := json.Unmarshal(p.Value, &a); err != nil {
		return approval{}
	}
	return a
}

// The forms of questions that bring none.
const (
	answerForm   = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"string","minLength":1,"title":"Answer"}},"additionalProperties":false}`
	approvalForm = `{"type":"object","required":["approve"],"properties":{"approve":{"type":"boolean","title":"Approve"},"note":{"type":"string","maxLength":2000,"title":"Note"}},"additionalProperties":false}`
)

// form checks the schema of a question as a model or a program wrote it; empty gives the
// default. The error says what to change.
func form(schema []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(answerForm), nil
	}
	if len(schema) > maxForm {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question has %d bytes: at most %d, ask for less", len(schema), maxForm)
	}
	if wire.NameMedia(string(schema)) != string(schema) {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question holds media as base64: take it out and name media by ref in the question")
	}
	if _, err := compileForm(schema); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question is no valid JSON Schema: %s", schemaProblem(err))
	}
	return bytes.Clone(schema), nil
}

func compileForm(schema []byte) (*jsonschema.Schema, error) {
	return compileSchema(json.RawMessage(schema))
}

// fits checks the value of an answer. The error has code invalid and names the place
// that does not fit.
func (q Question) fits(value json.RawMessage) error {
	if len(value) == 0 {
		return media.Errorf(media.CodeInvalid, "the answer has no value: give JSON that fits %s", q.Schema)
	}
	if len(value) > maxReply {
		return media.Errorf(media.CodeInvalid, "the answer has %d bytes: at most %d", len(value), maxReply)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return media.Errorf(media.CodeInvalid, "the answer is no JSON: give JSON that fits %s", clip(string(q.Schema), 1000))
	}
	schema, err := compileForm(q.Schema)
	if err != nil {
		return media.Errorf(media.CodeCorrupt, "the schema of question %s cannot be read: %w", q.ID, err)
	}
	if err := schema.Validate(doc); err != nil {
		return media.Errorf(media.CodeInvalid, "the answer does not fit the form: %s", strings.TrimPrefix(schemaProblem(err), "- "))
	}
	return nil
}

// asked is the text of a question, not too long.
func asked(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := len([]rune(text)); {
	case n == 0:
		return "", media.Errorf(media.CodeInvalid, "the question is empty: say what the person shall answer")
	case n > maxQuestion:
		return "", media.Errorf(media.CodeInvalid, "the question has %d characters: at most %d, put the rest into the message", n, maxQuestion)
	}
	return text, nil
}
