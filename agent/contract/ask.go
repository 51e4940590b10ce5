package contract

import (
	"bytes"
	"encoding/json"
	"strings"

	"atelier/agent/internal/plain"
	"atelier/agent/internal/schemas"
	"atelier/media"
	"atelier/media/wire"
)

// MaxQuestion is how many characters a question may have, maxForm how many bytes its JSON
// Schema. What is longer is refused, not cut.
const (
	MaxQuestion = 4000
	maxForm     = 16 << 10
)

// AnswerForm is the form of a question that brings none.
const AnswerForm = `{"type":"object","required":["answer"],"properties":{"answer":{"type":"string","minLength":1,"title":"Answer"}},"additionalProperties":false}`

// Checked gives the question and the form of its answer, or says what is wrong with them.
func (a *Ask) Checked() (question string, form json.RawMessage, err error) {
	if len(a.Schema) == 0 {
		return CheckQuestion(a.Question, nil)
	}
	return CheckQuestion(a.Question, plain.JSON(a.Schema))
}

// CheckQuestion checks a question of an agent. Without a schema the form is {answer: string}.
func CheckQuestion(question string, schema json.RawMessage) (text string, form json.RawMessage, err error) {
	text, err = asked(question)
	if err == nil {
		form, err = formOf(schema)
	}
	return text, form, err
}

// asked is the text of a question, not too long.
func asked(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := len([]rune(text)); {
	case n == 0:
		return "", media.Errorf(media.CodeInvalid, "the question is empty: say what the person shall answer")
	case n > MaxQuestion:
		return "", media.Errorf(media.CodeInvalid, "the question has %d characters: at most %d, put the rest into the message", n, MaxQuestion)
	}
	return text, nil
}

// formOf checks the schema of a question as a model or a program wrote it; empty gives the
// default. The error says what to change.
func formOf(schema []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(AnswerForm), nil
	}
	if len(schema) > maxForm {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question has %d bytes: at most %d, ask for less", len(schema), maxForm)
	}
	if wire.NameMedia(string(schema)) != string(schema) {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question holds media as base64: take it out and name media by ref in the question")
	}
	if _, err := schemas.Compile(json.RawMessage(schema)); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "the schema of the question is not a valid JSON Schema: %s", schemas.Problem(err))
	}
	return bytes.Clone(schema), nil
}
