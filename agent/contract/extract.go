package contract

import (
	"encoding/json"
	"strings"
)

// maxCandidates bounds how many places of an answer are tried as the start of JSON.
const maxCandidates = 10_000

var stepKeys = []string{"actions", "agents", "done", "payload", "payloadPatch", "message", "ask", "promote", "reasoning"}

// extractObject finds the JSON object of a step in a model's answer: alone, in a
// code fence, or with prose around it. Commas before a closing bracket and raw line
// breaks in strings are forgiven. Numbers stay [json.Number].
func extractObject(text string) (map[string]any, error) {
	if len(text) > MaxAnswer {
		return nil, BadStep("the answer has %d bytes, at most %d are read: answer with a smaller step", len(text), MaxAnswer)
	}
	if strings.TrimSpace(text) == "" {
		return nil, BadStep("the answer is empty: answer with one JSON object")
	}
	text = withoutThoughts(text)
	var other map[string]any
	from := 0
	for range maxCandidates {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			break
		}
		from += i
		obj, used, err := decodeObject(text[from:])
		switch {
		case err == nil && isStep(obj):
			return obj, nil
		case err == nil:
			if other == nil {
				other = obj
			}
			from += used
		default:
			if beginsObject(text[from:]) {
				// The model meant this one; an object inside it is only a part of it.
				return nil, BadStep("the JSON object of the step is broken: %v", err)
			}
			from++
		}
	}
	if other != nil {
		return nil, BadStep("the JSON object is not a step: it has none of the fields %s", strings.Join(stepKeys, ", "))
	}
	return nil, BadStep("the answer holds no JSON object: answer with one JSON object as the contract says, without prose")
}

// withoutThoughts drops the thoughts that some models write before their answer:
// they may hold drafts of it.
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
	for _, k := range stepKeys {
		if _, ok := obj[k]; ok {
			return true
		}
	}
	return false
}

// decodeObject reads the object at the start of text and gives its length.
func decodeObject(text string) (map[string]any, int, error) {
	obj, used, err := decode(text)
	if err == nil {
		return obj, used, nil
	}
	if !beginsObject(text) {
		return nil, 0, err
	}
	mended, changed := mend(text)
	if !changed {
		return nil, 0, err
	}
	if obj, _, err2 := decode(mended); err2 == nil {
		return obj, 1, nil
	}
	return nil, 0, err
}

func decode(text string) (map[string]any, int, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var obj map[string]any
	if err := d.Decode(&obj); err != nil {
		return nil, 0, err
	}
	return obj, int(d.InputOffset()), nil
}

// mend removes commas before closing brackets and escapes raw control characters
// in strings.
func mend(text string) (string, bool) {
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
			b.WriteString(controlEscape(c))
			changed = true
			continue
		case c == '"':
			inString = !inString
		case !inString && c == ',' && closes(text[i+1:]):
			changed = true
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), changed
}

func controlEscape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return " "
}

// closes reports whether the next character that counts is a closing bracket.
func closes(rest string) bool {
	for i := range len(rest) {
		switch rest[i] {
		case ' ', '\n', '\r', '\t':
		case '}', ']':
			return true
		default:
			return false
		}
	}
	return false
}
