package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"atelier/agent"
)

func TestFieldsOfAQuestionAreShownInTheirOrder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &world{stdout: &out}
	w.question(agent.Question{Question: "How large?", Schema: json.RawMessage(
		`{"type":"object","required":["depth"],"properties":{"width":{"type":"integer"},"depth":{"type":"integer"},"colour":{"enum":["red"]}}}`)})
	if got := strings.Join(regexp.MustCompile(`width|depth|colour`).FindAllString(out.String(), -1), " "); got != "width depth colour" {
		t.Errorf("%s in\n%s", got, &out)
	}
}
