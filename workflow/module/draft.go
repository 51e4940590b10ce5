package module

import (
	"context"
	"strings"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/template"
)

// draft implements prompt.draft: it writes prompts for each provider from a brief.
type draft struct{ asking }

// draft returns {prompts}, by provider and key. Without an agent, each prompt is the brief itself, which a person can
// edit.
func (c Config) draft(ctx context.Context, run workflow.Run) (*ordered.Object, error) {
	brief, _ := run.Inputs.Get("brief")
	wanted := providers(run.Inputs)
	agent := run.Inputs.Text("agent")
	if agent == "" {
		prompts := &ordered.Object{}
		for provider, keys := range wanted.All() {
			of := &ordered.Object{}
			for _, key := range keys.([]any) {
				of.Set(key.(string), ordered.Clone(brief))
			}
			prompts.Set(provider, of)
		}
		return ordered.New("prompts", prompts), nil
	}
	reply, err := c.ask(ctx, run, Task{Agent: agent, Message: draftTask(brief, wanted)})
	if err != nil {
		return nil, err
	}
	prompts := reply.Payload.Object("prompts")
	if err := complete(prompts, wanted); err != nil {
		return nil, err
	}
	return ordered.New("prompts", prompts), nil
}

// providers returns the keys of the prompts by provider. A provider without keys gets prompt_a.
func providers(in *ordered.Object) *ordered.Object {
	if o := in.Object("providers"); o != nil {
		return o
	}
	out := &ordered.Object{}
	for _, name := range list(in, "providers") {
		out.Set(name, []any{"prompt_a"})
	}
	return out
}

func draftTask(brief any, wanted *ordered.Object) string {
	written, ok := brief.(string)
	if !ok {
		written = string(ordered.Encode(brief))
	}
	return "Write prompts for image models from this brief:\n\n" + written +
		"\n\nAnswer with the payload {\"prompts\": {PROVIDER: {KEY: PROMPT}}}, where a prompt is a text, or an object of texts such as subject, environment, style, light. Providers and keys: " +
		string(ordered.Encode(wanted))
}

// complete checks that an agent wrote all requested prompts.
func complete(prompts, wanted *ordered.Object) error {
	var missing []string
	for provider, keys := range wanted.All() {
		for _, key := range keys.([]any) {
			v, _ := prompts.Object(provider).Get(key.(string))
			_, isObject := v.(*ordered.Object)
			if s, isText := v.(string); !isObject && (!isText || strings.TrimSpace(s) == "") {
				missing = append(missing, provider+"."+key.(string))
			}
		}
	}
	if len(missing) > 0 {
		return media.Errorf(media.CodeBadResponse, "the agent wrote no prompt for %s", strings.Join(missing, ", "))
	}
	return nil
}

var _ workflow.Checker = draft{}

// Check reports duplicate and forbidden keys.
func (draft) Check(in *ordered.Object) []problem.Problem {
	var found problem.List
	providers, _ := in.Get("providers")
	template.Walk(providers, func(at, key string) any {
		if key == ordered.Forbidden {
			found.Fail("/providers"+at, "%s is not allowed as a key", key)
		}
		return key
	})
	for provider, v := range in.Object("providers").All() {
		keys, _ := v.([]any)
		seen := map[string]bool{}
		for _, v := range keys {
			key, ok := v.(string) // others are reported when the run starts the step
			if ok && seen[key] {
				found.Fail(ordered.Pointer("providers", provider), "key %s occurs twice", key)
			}
			seen[key] = true
		}
	}
	return found
}
