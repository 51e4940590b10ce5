package midjourney

import (
	"cmp"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// phrases are the kinds of failures and the words that tell them, in English or Chinese:
// there is no code.
var phrases = post.Phrases{
	{Any: []string{"banned", "moderat", "sensitive", "inappropriate", "community guidelines", "blocked", "违禁", "敏感", "审核"}, Code: media.CodeModerated, Advice: "Midjourney's moderation refused it: change the prompt"},
	{Any: []string{"value for --v", "value for --version", "value for --niji", "unknown version"}, Code: media.CodeNotFound, Advice: "Midjourney has no such version, or has it no longer: choose another model (atelier models list)"},
	{Any: []string{"subscription", "fast hours", "fast time", "quota", "credits", "billing", "余额", "额度"}, Code: media.CodeQuotaExceeded, Advice: "the Midjourney account has nothing left to draw with: renew it, or use midjourney.speed relax"},
	{Any: []string{"invalid parameter", "invalid link", "invalid value", "invalid request", "unrecognized", "参数"}, Code: media.CodeInvalid, Advice: "Midjourney refused the request: change the prompt or the settings"},
	{Any: []string{"timeout", "timed out", "超时", "queue", "try again", "服务"}, Code: media.CodeUnavailable, Advice: "Midjourney did not finish the job: ask again"},
}

// failed is a job that ended without a picture. It was paid for, so it is not drawn again.
func (d *Driver) failed(t generate.Task, why string) []generate.Item {
	said := cmp.Or(d.client.Clean(why), "no reason given")
	p, ok := phrases.In(why)
	switch {
	case !ok:
		return post.Each(t, generate.Item{Err: media.Errorf(media.CodeBadResponse, "%s drew nothing: ask again, or use other words (%s)", t.Model.Name, said)})
	case p.Code == media.CodeModerated:
		return d.client.Moderated(t, generate.Safety{Stage: stage(strings.ToLower(why)), Categories: []string{said}}, "%s (%s)", p.Advice, said)
	}
	e := media.Errorf(p.Code, "%s (%s)", p.Advice, said)
	e.Retryable = false
	return post.Each(t, generate.Item{Err: e})
}

// stage tells whether the words or the picture were refused, where that is said.
func stage(low string) string {
	switch {
	case strings.Contains(low, "prompt"):
		return "input"
	case strings.Contains(low, "image") || strings.Contains(low, "result"):
		return "output"
	}
	return ""
}
