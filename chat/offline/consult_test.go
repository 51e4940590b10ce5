package offline

import "testing"

func TestAskMe(t *testing.T) {
	t.Parallel()
	const answer = "```json\n{\"results\":{\"answer\":{\"question\":\"q\",\"value\":{\"answer\":\"a red boat.\"}}}}\n```"
	for task, want := range map[string]struct{ question, prompt string }{
		"Ask me what to draw":                                {"What to draw?", "a red boat"},
		"please ask me for a title, then draw it":            {"For a title?", "a red boat"},
		"Ask me which boat and then draw a harbour with it":  {"Which boat?", "a harbour with a red boat"},
		"ask me first which boat? Draw a picture of the sea": {"Which boat?", "the sea, a red boat"},
	} {
		s := ask(t, system(sageCallable), task)
		if s.Ask == nil || s.Ask.Question != want.question || s.Done || len(s.Actions) != 0 {
			t.Errorf("%q: asked %+v", task, s)
			continue
		}
		s = ask(t, system(sageCallable), task, "{}", answer)
		if s.Ask != nil || len(s.Actions) != 1 || s.Actions[0].Params["Prompt"] != want.prompt {
			t.Errorf("%q: with the answer %+v", task, s)
		}
	}
	for _, task := range []string{"draw a boat", "what can you ask me?", "they ask me to draw a boat"} {
		if s := ask(t, system(sageCallable), task); s.Ask != nil {
			t.Errorf("%q: asked %+v", task, s.Ask)
		}
	}
}
