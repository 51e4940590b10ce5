package definition

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"atelier/agent/internal/plain"
)

// reader converts YAML nodes to a definition and collects problems with their positions.
type reader struct {
	file     string
	problems []Problem
}

func (r *reader) at(n *yaml.Node) position {
	return position{file: r.file, line: n.Line, column: n.Column}
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, problemAt(r.at(n), format, args...))
}

// aliases refuses aliases, because a small file could expand to a huge one.
func (r *reader) aliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		r.fail(n, "aliases such as *%s are not supported: write the value out", plain.Clip(n.Value, 40))
		return
	}
	for _, child := range n.Content {
		r.aliases(child)
	}
}

// fieldName returns a key in its documented form: TurnsToLive and turnsToLive become turns_to_live.
func fieldName(key string) string {
	var b strings.Builder
	for i, c := range key {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// fields calls the function of each key, which may be in snake case or PascalCase. Unknown and
// repeated keys are problems.
func (r *reader) fields(n *yaml.Node, known map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "want a mapping of fields here")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := key.Value
		if _, ok := known[name]; !ok {
			name = fieldName(name)
		}
		read, ok := known[name]
		switch {
		case !ok:
			r.fail(key, "unknown field %q: use %s", plain.Clip(key.Value, 60), plain.Joined(slices.Sorted(maps.Keys(known))))
		case seen[name]:
			r.fail(key, "field %q is given twice", key.Value)
		default:
			read(value)
		}
		seen[name] = true
	}
}

func (r *reader) text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			r.fail(n, "want text here")
			return
		}
		*into = strings.TrimSpace(n.Value)
	}
}

func (r *reader) texts(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			*into = []string{strings.TrimSpace(n.Value)}
			return
		}
		r.list(func(e *yaml.Node) {
			var s string
			r.text(&s)(e)
			if s != "" {
				*into = append(*into, s)
			}
		})(n)
	}
}

func (r *reader) number(into *int, least, most int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < least || v > most {
			r.fail(n, "want a whole number from %d to %d here, not %q", least, most, plain.Clip(n.Value, 40))
			return
		}
		*into = v
	}
}

func (r *reader) oneOf(into *string, values ...string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, v := range values {
			if n.Kind == yaml.ScalarNode && strings.EqualFold(v, n.Value) {
				*into = v
				return
			}
		}
		r.fail(n, "%q is none of %s", plain.Clip(n.Value, 40), plain.Joined(values))
	}
}

// flag reads one of the given words; the word on sets the flag.
func (r *reader) flag(into *bool, on string, words ...string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var word string
		r.oneOf(&word, words...)(n)
		*into = word == on
	}
}

func (r *reader) list(each func(*yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.fail(n, "want a list here")
			return
		}
		for _, e := range n.Content {
			each(e)
		}
	}
}

// definition reads the top level of a file and checks that nothing required is missing and nothing is listed twice. The
// second result names the prompt.
func (r *reader) definition(n *yaml.Node) (*Agent, promptName) {
	d := &Agent{Turns: defaultTurns, VisionContext: DefaultVisionContext(), pos: r.at(n)}
	var prompt promptName
	r.fields(n, map[string]func(*yaml.Node){
		"slug": func(e *yaml.Node) {
			if r.text(&d.Slug)(e); e.Kind == yaml.ScalarNode && !slugForm.MatchString(d.Slug) {
				r.fail(e, "slug %q: want lower case words joined by dashes, such as file-research-agent", plain.Clip(d.Slug, 60))
			}
		},
		"name": r.text(&d.Name), "description": r.text(&d.Description),
		"prompt": func(e *yaml.Node) { r.text(&prompt.name)(e); prompt.value = e }, "chat_models": r.texts(&d.ChatModels), "image_models": r.texts(&d.ImageModels),
		"requires": func(e *yaml.Node) { r.texts(&d.Requires)(e); d.requiresAt = r.each(e) }, "turns": r.number(&d.Turns, 1, MaxTurns),
		"tokens":                 r.number(&d.Tokens, minTokens, maxTokens),
		"interception_threshold": r.number(&d.InterceptionThreshold, 256, 100_000_000),
		"vision":                 r.flag(&d.SeesGranted, "granted", "none", "granted"),
		"vision_context":         func(e *yaml.Node) { r.visionContext(d, e) },
		"payload_schema":         func(e *yaml.Node) { r.payloadSchema(d, e) },
		"actions":                r.list(func(e *yaml.Node) { d.Actions = append(d.Actions, r.action(e)) }),
		"agents":                 r.list(func(e *yaml.Node) { d.Agents = append(d.Agents, r.agent(e)) }),
	})
	if n.Kind != yaml.MappingNode {
		return d, prompt
	}
	if d.Slug == "" {
		r.fail(n, "slug is required: lower case words joined by dashes, such as file-research-agent")
	}
	if d.Name == "" || d.Description == "" {
		r.fail(n, "name and description are required: other agents choose by them")
	}
	for i, a := range d.Actions {
		if slices.ContainsFunc(d.Actions[:i], func(b ActionUse) bool { return plain.SameName(a.Name, b.Name) }) {
			r.problems = append(r.problems, problemAt(a.pos, "action %q is listed twice: take one out", a.Name))
		}
	}
	for i, a := range d.Agents {
		if slices.ContainsFunc(d.Agents[:i], func(b AgentUse) bool { return a.Slug == b.Slug }) {
			r.problems = append(r.problems, problemAt(a.pos, "agent %q is listed twice: take one out", a.Slug))
		}
	}
	return d, prompt
}

// each returns the positions of a list's entries, or the position of a single value.
func (r *reader) each(n *yaml.Node) []position {
	if n.Kind != yaml.SequenceNode {
		return []position{r.at(n)}
	}
	var at []position
	for _, e := range n.Content {
		if strings.TrimSpace(e.Value) != "" { // texts also skips blank entries
			at = append(at, r.at(e))
		}
	}
	return at
}

// action reads one entry: a plain name or a mapping.
func (r *reader) action(n *yaml.Node) ActionUse {
	a := ActionUse{pos: r.at(n), CompactLength: DefaultCompactLength}
	if n.Kind == yaml.ScalarNode {
		r.text(&a.Name)(n)
	} else {
		r.fields(n, map[string]func(*yaml.Node){
			"name":                    r.text(&a.Name),
			"result_expiration_turns": r.number(&a.ExpirationTurns, 0, MaxTurns),
			"result_expiration_mode":  r.oneOf(&a.ExpirationMode, ExpireNone, ExpireRemove, ExpireCompact),
			"compact_mode":            r.oneOf(&a.CompactMode, CompactTruncate, CompactSummarize),
			"compact_length":          r.number(&a.CompactLength, 1, 1_000_000),
			"approval":                r.oneOf(&a.Approval, "always"),
			"approval_over": func(e *yaml.Node) {
				if _, ok := USD(e.Value); !ok || e.Kind != yaml.ScalarNode {
					r.fail(e, "want an amount in US dollars as a plain decimal number, such as 0.05")
					return
				}
				a.ApprovalOver = e.Value
			},
		})
	}
	if a.Name == "" {
		r.fail(n, "an action needs a name")
	}
	return a
}

// agent reads one entry: a plain slug or a mapping.
func (r *reader) agent(n *yaml.Node) AgentUse {
	a := AgentUse{pos: r.at(n)}
	if n.Kind == yaml.ScalarNode {
		r.text(&a.Slug)(n)
	} else {
		r.fields(n, map[string]func(*yaml.Node){
			"slug": r.text(&a.Slug), "payload_key": r.text(&a.PayloadKey), "input": r.texts(&a.Input),
		})
	}
	if a.Slug == "" {
		r.fail(n, "a sub-agent needs a slug")
	}
	return a
}
