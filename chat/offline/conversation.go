package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier/chat"
)

// conversation is what the model has been told, parsed from the same text that a language model reads.
type conversation struct {
	actions []string
	agents  []callee
	sources map[string]source
	task    string
	input   map[string]any
	media   []item
	// seen are the pictures shown with the messages.
	seen []seen
	// painter reports what can be drawn; if nil, another model paints.
	painter Painter
	// results are the answers to earlier steps, in order.
	results []result
	// answer is the person's answer to the latest question; nil if there was none.
	answer *answered
}

type callee struct {
	Slug string `json:"slug"`
}

type source struct {
	Configured bool   `json:"configured"`
	Reason     string `json:"reason"`
}

// item is a media item as prompts show it.
type item struct {
	Ref    string `json:"refId"`
	Label  string `json:"label"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type result struct {
	Actions []actionResult `json:"actions"`
	Agents  []agentResult  `json:"agents"`
	Errors  []problem      `json:"errors"`
	Answer  *answered      `json:"answer"`
}

type actionResult struct {
	Name    string          `json:"name"`
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Outputs json.RawMessage `json:"outputs"`
}

type agentResult struct {
	Name    string         `json:"name"`
	Slug    string         `json:"slug"`
	Success bool           `json:"success"`
	Message string         `json:"message"`
	Payload map[string]any `json:"payload"`
	Media   []item         `json:"media"`
}

type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// fence opens the JSON blocks of prompts.
const fence = "```json\n"

func read(r chat.Request) *conversation {
	var agent struct {
		Actions []struct {
			Name string `json:"name"`
		} `json:"actions"`
		Agents  []callee          `json:"agents"`
		Sources map[string]source `json:"sources"`
	}
	if i := strings.LastIndex(r.System, "## Callable"); i >= 0 {
		if _, text, ok := strings.Cut(r.System[i:], fence); ok {
			// A block that is not JSON is a person's own text.
			_ = json.NewDecoder(strings.NewReader(text)).Decode(&agent)
		}
	}
	c := &conversation{agents: agent.Agents, sources: agent.Sources}
	for _, a := range agent.Actions {
		c.actions = append(c.actions, a.Name)
	}
	for _, m := range r.Messages {
		if m.Role != chat.RoleUser {
			continue
		}
		text := m.Text()
		var block struct {
			Context struct {
				Input map[string]any `json:"input"`
				Media []item         `json:"media"`
			} `json:"context"`
			Results *result `json:"results"`
		}
		task := text
		if i := strings.LastIndex(text, fence); i >= 0 && json.NewDecoder(strings.NewReader(text[i+len(fence):])).Decode(&block) == nil {
			task = text[:i]
		}
		if r := block.Results; r != nil {
			if r.Answer != nil {
				c.answer, c.media = r.Answer, append(c.media, r.Answer.Media...)
			}
			if len(r.Actions)+len(r.Agents)+len(r.Errors) > 0 || r.Answer == nil {
				c.results = append(c.results, *r)
			}
			continue
		}
		// The latest message of a person is the task; a new one starts over.
		c.task, c.results, c.answer = strings.TrimSpace(task), nil, nil
		c.input, c.media = block.Context.Input, append(c.media, block.Context.Media...)
	}
	return c
}

func (c *conversation) canCall(action string) bool { return slices.Contains(c.actions, action) }

// actionResults returns the results of every call of an action so far.
func (c *conversation) actionResults(action string) []actionResult {
	var out []actionResult
	for _, r := range c.results {
		for _, a := range r.Actions {
			if a.Name == action {
				out = append(out, a)
			}
		}
	}
	return out
}

// resultOf returns the last result of a sub-agent.
func (c *conversation) resultOf(slug string) (agentResult, bool) {
	for _, r := range slices.Backward(c.results) {
		for _, a := range r.Agents {
			if a.Slug == slug || a.Name == slug {
				return a, true
			}
		}
	}
	return agentResult{}, false
}

// step is the answer, in the form that the agent's step contract requires.
type step struct {
	Reasoning string         `json:"reasoning"`
	Actions   []actionCall   `json:"actions,omitempty"`
	Agents    []agentCall    `json:"agents,omitempty"`
	Promote   []promotion    `json:"promote,omitempty"`
	Ask       *inquiry       `json:"ask,omitempty"`
	Message   string         `json:"message,omitempty"`
	Payload   map[string]any `json:"payload,omitempty"`
	Done      bool           `json:"done"`
	// warnings reach the run outside the step.
	warnings []string
}

type actionCall struct {
	Name   string         `json:"name"`
	Params map[string]any `json:"params"`
}

type agentCall struct {
	Name string `json:"name"`
	Task string `json:"task"`
}

type promotion struct {
	Ref   string `json:"ref"`
	Label string `json:"label,omitempty"`
}
