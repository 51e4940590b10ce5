package contract

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

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
