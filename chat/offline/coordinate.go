package offline

import (
	"slices"
	"strings"
)

// coordinate runs an agent that has sub-agents: first all researchers at once, then the writers. Then it returns what
// the writer says, and what failed.
func coordinate(c *conversation) step {
	var writers, researchers []callee
	for _, a := range c.agents {
		if strings.Contains(a.Slug, "writer") || strings.Contains(a.Slug, "infographic") {
			writers = append(writers, a)
		} else {
			researchers = append(researchers, a)
		}
	}
	if s, ok := delegate(c, researchers, "The sources are asked first."); ok {
		return s
	}
	if s, ok := delegate(c, writers, "The sources have answered; now the report is written."); ok {
		return s
	}
	s := step{Reasoning: "Every part has answered.", Done: true}
	var messages, failed []string
	for _, r := range c.results {
		for _, a := range r.Agents {
			isWriter := slices.ContainsFunc(writers, func(w callee) bool { return w.Slug == a.Slug })
			switch {
			case a.Message == "":
			case !a.Success:
				failed = append(failed, a.Message)
			case isWriter || len(writers) == 0 && !strings.Contains(a.Slug, "research"):
				messages = append(messages, a.Message)
			}
		}
	}
	messages = append(messages, failed...)
	research := slices.ContainsFunc(c.agents, func(a callee) bool { return strings.Contains(a.Slug, "research") })
	unanswered := len(messages) == 0 || strings.Contains(strings.Join(messages, " "), refused)
	w := wordsFor(c.task)
	if not := w.unconfigured(c.sources); len(not) > 0 && research && unanswered {
		messages = append(messages, w.Say("Not used:", "Nicht benutzt:")+" "+strings.Join(not, ", ")+".")
	}
	s.Message = strings.Join(messages, " ")
	if s.Message == "" {
		s.Message = refusal(c.task, nil) + " " + Note
	}
	return s
}

// delegate calls the given agents that have not answered.
func delegate(c *conversation, to []callee, reason string) (step, bool) {
	s := step{Reasoning: reason}
	for _, a := range to {
		if _, done := c.resultOf(a.Slug); !done {
			s.Agents = append(s.Agents, agentCall{Name: a.Slug, Task: c.task})
		}
	}
	return s, len(s.Agents) > 0
}

// unconfigured lists the sources that are not configured, with the reason.
func (w wording) unconfigured(sources map[string]source) []string {
	var out []string
	for name, s := range sources {
		if s.Configured {
			continue
		}
		name = w.say(name)
		if s.Reason != "" {
			name += " (" + w.say(s.Reason) + ")"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
