package post

import (
	"cmp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Item names a result by what stands in its place in an answer: a link, a data URL, or the
// token of lifted media.
func (p *Provider) Item(from *wire.Collector, said string) driver.Item {
	head, data, isData := strings.Cut(said, ";base64,")
	if isData {
		b, err := p.Take(from, data)
		return driver.Item{Blob: b, Err: err, DeclaredMIME: p.Clean(strings.TrimPrefix(head, "data:"))}
	}
	if said == "" || strings.HasPrefix(said, "https://") || strings.HasPrefix(said, "http://") {
		return p.Link(said)
	}
	b, err := p.Take(from, said)
	return driver.Item{Blob: b, Err: err}
}

// Link is a result that comes by link.
func (p *Provider) Link(url string) driver.Item {
	if url == "" {
		return driver.Item{Err: media.Errorf(media.CodeBadResponse, "%s gave an empty result in place of a picture: try again or use another model", p.Name)}
	}
	return driver.Item{URL: url}
}

// Each is one failure as the results that a task asks for.
func Each(t driver.Task, it driver.Item) []driver.Item {
	return slices.Repeat([]driver.Item{it}, max(t.N, 1))
}

// Unfinished is the end of a task that its provider could not do, by what its words mean:
// see Config.Failures. It was paid for, so it is not made again.
func (p *Provider) Unfinished(t driver.Task, why string) []driver.Item {
	phrase, ok := p.config.Failures.In(why)
	if !ok {
		phrase = Phrase{Code: media.CodeUnavailable, Advice: p.Name + " could not finish the task: ask again, or change the prompt or the settings"}
	}
	said := cmp.Or(p.Clean(why), "no reason given")
	if phrase.Code == media.CodeModerated {
		return p.Moderated(t, generate.Safety{Stage: stage(why), Categories: categories(why)}, "%s (%s)", phrase.Advice, said)
	}
	e := media.Errorf(phrase.Code, "%s (%s)", phrase.Advice, said)
	e.Retryable = false
	return Each(t, driver.Item{Err: e})
}

// stage reports whether the words or the result were refused, where that is said.
func stage(why string) string {
	why = strings.ToLower(why)
	switch {
	case strings.Contains(why, "prompt"):
		return "input"
	case strings.Contains(why, "image") || strings.Contains(why, "result"):
		return "output"
	}
	return ""
}

// Ending is how a success ended that holds no result.
type Ending struct {
	// Blocked says that the request itself was refused, whatever the reasons are.
	Blocked bool
	// Reasons are the words of the provider for why it ended, the first one in its own name.
	Reasons []string
	// Said is the text in the place of the result.
	Said string
	// Categories are the provider's own words beside the reason.
	Categories []string
}

// refusals are parts of reasons that mean a decision about safety or policy.
var refusals = []string{
	"refus", "content_filter", "safety", "prohibited", "blocklist", "recitation", "no_image", "spii", "model_armor", "jailbreak", "image_other",
}

// Without says why a success holds no result: a refusal, as moderated items, or an answer
// that should not be. A text in the place of the result is a refusal.
func (p *Provider) Without(call Call, e Ending) ([]driver.Item, error) {
	noun, first := "picture", ""
	if call.Task.Model.Modality == media.ModalityAudio {
		noun = "sound"
	}
	if len(e.Reasons) > 0 {
		first = e.Reasons[0]
	}
	i := slices.IndexFunc(e.Reasons, func(reason string) bool {
		return e.Blocked || slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(strings.ToLower(reason), r) })
	})
	verdict := generate.Safety{Stage: "output", Categories: e.Categories}
	if e.Blocked {
		verdict.Stage = "input"
	}
	why := "text in place of a " + noun
	switch {
	case i >= 0:
		why = e.Reasons[i]
		verdict.Categories = append([]string{why}, e.Categories...)
	case e.Said != "" && (first == "" || strings.EqualFold(first, "stop")):
	case first == "":
		return nil, media.Errorf(media.CodeBadResponse, "%s answered without a %s and without a reason; the call may have been billed: try other words, or another model", p.Name, noun)
	default:
		return nil, media.Errorf(media.CodeBadResponse, "%s answered without a %s (finish reason %s); the call may have been billed: try other words, or another model", p.Name, noun, p.Clean(first))
	}
	why = strings.TrimSuffix(why+": "+e.Said, ": ")
	return p.Moderated(call.Task, verdict, "%s refused to make the %s: change the prompt (%s)", p.Name, noun, p.Clean(why)), nil
}
