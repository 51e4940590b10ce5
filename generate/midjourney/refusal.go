package midjourney

import (
	"atelier/generate/internal/post"
	"atelier/media"
)

// failures are the kinds of failures and the words that tell them, in English or Chinese:
// there is no code. The last one is of all others.
var failures = post.Phrases{
	{Any: []string{"banned", "moderat", "sensitive", "inappropriate", "community guidelines", "blocked", "违禁", "敏感", "审核"}, Code: media.CodeModerated, Advice: "Midjourney's moderation refused it: change the prompt"},
	{Any: []string{"value for --v", "value for --version", "value for --niji", "unknown version"}, Code: media.CodeNotFound, Advice: "Midjourney has no such version, or has it no longer: choose another model (atelier models list)"},
	{Any: []string{"subscription", "fast hours", "fast time", "quota", "credits", "billing", "余额", "额度"}, Code: media.CodeQuotaExceeded, Advice: "the Midjourney account has nothing left to draw with: renew it, or use midjourney.speed relax"},
	{Any: []string{"invalid parameter", "invalid link", "invalid value", "invalid request", "unrecognized", "参数"}, Code: media.CodeInvalid, Advice: "Midjourney refused the request: change the prompt or the settings"},
	{Any: []string{"timeout", "timed out", "超时", "queue", "try again", "服务"}, Code: media.CodeUnavailable, Advice: "Midjourney did not finish the job: ask again"},
	{Any: []string{""}, Code: media.CodeBadResponse, Advice: "Midjourney drew nothing: ask again, or use other words"},
}
