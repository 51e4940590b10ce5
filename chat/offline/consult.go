package offline

import (
	"encoding/json"
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

var (
	// askMe matches a request to ask the person: what to ask, and what comes after it.
	askMe = pattern.Lazy(`(?is)^\s*(?:please,?\s+|(?:can|could|would|will) you\s+(?:please\s+)?)?ask me(?:\s+first)?\s+(.+?)(?:(?:\s*[,;.:?]\s*(?:and\s+)?(?:then\s+)?|\s+(?:and\s+then|and|then|before you)\s+)(\S.*))?[\s.?!]*$`)
	// itself matches a word that stands for the answer in what comes after.
	itself = pattern.Lazy(`(?i)\b(?:it|that|this)\b`)
)

// inquiry is a question to a person.
type inquiry struct {
	Question string `json:"question"`
}

// answered is a person's answer.
type answered struct {
	Question string          `json:"question"`
	Value    json.RawMessage `json:"value"`
	Media    []item          `json:"media"`
}

// consult asks the person if the task says so. Once answered, the task becomes what follows
// the question, with the answer inserted.
func consult(c *conversation) (step, bool) {
	m := askMe().FindStringSubmatch(c.task)
	if m == nil {
		return step{}, false
	}
	if c.answer == nil {
		return step{Reasoning: "The task wants the person to be asked.", Ask: &inquiry{Question: speech.Upper(strings.TrimRight(m[1], " ?.!")) + "?"}}, true
	}
	answer, rest := c.answer.text(), strings.TrimSpace(m[2])
	switch {
	case rest == "":
		c.task = "Draw a picture of " + answer
	case itself().MatchString(rest):
		c.task = itself().ReplaceAllLiteralString(rest, answer)
	default:
		c.task = rest + ", " + answer
	}
	return step{}, false
}

// text returns the answer in words.
func (a *answered) text() string {
	var value any
	if json.Unmarshal(a.Value, &value) != nil {
		return ""
	}
	var words []string
	visit(value, func(v any) bool {
		if s, ok := v.(string); ok {
			words = append(words, strings.TrimSpace(s))
		}
		return true
	})
	return strings.TrimRight(strings.Join(words, ", "), ".!? ")
}
