package midjourney

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// banned is a word that the proxy itself refuses, before anything is drawn.
func (d *Driver) banned(got submitted) generate.Item {
	var p struct {
		Word anyText `json:"bannedWord"`
	}
	which := ""
	// Some proxies put null in the place of the object: then no word is named.
	if json.Unmarshal(got.Properties, &p) == nil && p.Word != "" {
		which = " (" + d.client.Clean(string(p.Word)) + ")"
	}
	return generate.Item{
		Err:    media.Errorf(media.CodeModerated, "the Midjourney proxy refuses a word of the prompt%s: use another one", which),
		Safety: &generate.Safety{Blocked: true, Stage: "input", Categories: []string{"banned word"}},
	}
}

// reason is one kind of failure and the words that tell it, in English or Chinese:
// there is no code.
type reason struct {
	code  media.Code
	words []string
	says  string
}

// reasons are tried in order.
func reasons() []reason {
	return []reason{
		{media.CodeModerated, []string{"banned", "moderat", "sensitive", "inappropriate", "community guidelines", "blocked", "违禁", "敏感", "审核"}, "Midjourney's moderation refused it: change the prompt"},
		{media.CodeNotFound, []string{"value for --v", "value for --version", "value for --niji", "unknown version"}, "Midjourney has no such version, or has it no longer: choose another model (atelier models list)"},
		{media.CodeQuotaExceeded, []string{"subscription", "fast hours", "fast time", "quota", "credits", "billing", "余额", "额度"}, "the Midjourney account has nothing left to draw with: renew it, or use midjourney.speed relax"},
		{media.CodeInvalid, []string{"invalid parameter", "invalid link", "invalid value", "invalid request", "unrecognized", "参数"}, "Midjourney refused the request: change the prompt or the settings"},
		{media.CodeUnavailable, []string{"timeout", "timed out", "超时", "queue", "try again", "服务"}, "Midjourney did not finish the job: ask again"},
	}
}

// failed is a job that ended without a picture.
func (d *Driver) failed(t generate.Task, why string) generate.Item {
	said := d.client.Clean(why)
	low := strings.ToLower(why)
	for _, r := range reasons() {
		if !slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(low, w) }) {
			continue
		}
		it := generate.Item{Err: media.Errorf(r.code, "%s (%s)", r.says, said)}
		it.Err.Retryable = false // the job was handed in: it may have used the account's minutes
		if r.code == media.CodeModerated {
			it.Safety = &generate.Safety{Blocked: true, Stage: stage(low), Categories: []string{said}}
		}
		return it
	}
	if said == "" {
		said = "no reason given"
	}
	return generate.Item{Err: media.Errorf(media.CodeBadResponse, "%s drew nothing: ask again, or use other words (%s)", t.Model.Name, said)}
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
