package midjourney

import (
	"cmp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// reason is one kind of failure and the words that tell it, in English or Chinese:
// there is no code.
type reason struct {
	code  media.Code
	words []string
	says  string
}

// reasons are tried in order.
var reasons = []reason{
	{media.CodeModerated, []string{"banned", "moderat", "sensitive", "inappropriate", "community guidelines", "blocked", "违禁", "敏感", "审核"}, "Midjourney's moderation refused it: change the prompt"},
	{media.CodeNotFound, []string{"value for --v", "value for --version", "value for --niji", "unknown version"}, "Midjourney has no such version, or has it no longer: choose another model (atelier models list)"},
	{media.CodeQuotaExceeded, []string{"subscription", "fast hours", "fast time", "quota", "credits", "billing", "余额", "额度"}, "the Midjourney account has nothing left to draw with: renew it, or use midjourney.speed relax"},
	{media.CodeInvalid, []string{"invalid parameter", "invalid link", "invalid value", "invalid request", "unrecognized", "参数"}, "Midjourney refused the request: change the prompt or the settings"},
	{media.CodeUnavailable, []string{"timeout", "timed out", "超时", "queue", "try again", "服务"}, "Midjourney did not finish the job: ask again"},
}

// failed is a job that ended without a picture. It was paid for, so it is not drawn again.
func (d *Driver) failed(t generate.Task, why string) []generate.Item {
	said, low := cmp.Or(d.client.Clean(why), "no reason given"), strings.ToLower(why)
	i := slices.IndexFunc(reasons, func(r reason) bool {
		return slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(low, w) })
	})
	if i < 0 {
		return repeated(t, generate.Item{Err: media.Errorf(media.CodeBadResponse, "%s drew nothing: ask again, or use other words (%s)", t.Model.Name, said)})
	}
	r := reasons[i]
	if r.code == media.CodeModerated {
		return d.client.Moderated(t.N, generate.Safety{Stage: stage(low), Categories: []string{said}}, "%s (%s)", r.says, said)
	}
	e := media.Errorf(r.code, "%s (%s)", r.says, said)
	e.Retryable = false
	return repeated(t, generate.Item{Err: e})
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
