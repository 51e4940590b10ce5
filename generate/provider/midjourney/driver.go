// Package midjourney is the driver for Midjourney through midjourney-proxy, a protocol that proxies and resellers
// share; Midjourney has no API of its own. It is off until its address is set: using an account through a proxy may
// violate Midjourney's terms, and that is the operator's decision.
//
// A job draws a grid of four pictures. The item is the whole grid with its tiles, or four items if the proxy returns
// single pictures. Their metadata contains, under "midjourney", the job and its message hash; the job's buttons are the
// item's offers. An output with that metadata can be followed up as the input of a later request, by the option action:
// upscale, variation, reroll, zoom, pan, inpaint, or button with custom_id; the tile selects one of the four, or the
// option index does. Without the option, a variation of such an output is Midjourney's own, an edit with a mask is
// inpaint (Vary Region), and an edit without one uses the proxy's editor. Pictures that Midjourney did not make are
// image prompts; without words they are blended. The catalogue defines what each act accepts, which buttons perform it,
// and which settings are flags of the prompt. While a job continues, its picture is a preview.
//
// The model Midjourney Describe returns a text of four prompts, a document.
//
// Safe to repeat, and therefore Retryable: a request that was never sent, 429, a full queue (code 23), and an internal
// failure (code 9) without a job and below status 500: the proxy itself says that nothing was started. Not safe: a
// connection lost after the request was sent, a page of another server. Polls cost nothing.
//
// The proxy signs no notifications, so [Driver.Notification] trusts none: it returns only the task, which is then
// polled.
//
// Errors are media.Error values: missing_key (no address), unauthorized, forbidden, not_found (a job that the proxy no
// longer knows, an unknown version), moderated, rate_limited, quota_exceeded, invalid, unsupported, unavailable,
// bad_response. It may import generate, media and wire; no other driver.
package midjourney

import (
	"context"
	"net/http"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// Config sets up a [Driver]: the address of the proxy, which the paths from /mj on follow, is MIDJOURNEY_PROXY_URL;
// without it the driver is not ready. The key is MIDJOURNEY_API_SECRET; empty for a proxy that requires none.
type Config = driver.Config

// Driver generates, varies and edits pictures with Midjourney. It is safe for concurrent use.
type Driver struct {
	post.Identity
	client *post.Client
}

var (
	_ driver.Listed   = (*Driver)(nil)
	_ driver.Notified = (*Driver)(nil)
	_ driver.Reviewed = (*Driver)(nil)
)

// New creates a driver. Its error has code media.CodeInvalid and names the setting. A missing address is not an error
// here; [Driver.Ready] reports it.
func New(c Config) (*Driver, error) {
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Mj-Api-Secret", c.APIKey)
	}
	client, err := post.New(post.Config{
		Config: c, Provider: "midjourney", Name: "the Midjourney proxy", BaseVariable: "MIDJOURNEY_PROXY_URL", Version: "/mj",
		Header: header, Explain: explain, Failures: failures,
		States: map[string]post.State{"SUCCESS": post.Finished, "FAILURE": post.Broken, "CANCEL": post.Stopped},
		Advice: map[media.Code]string{
			media.CodeMissingKey:    "set MIDJOURNEY_PROXY_URL, and MIDJOURNEY_API_SECRET if it asks for a secret",
			media.CodeUnauthorized:  "check MIDJOURNEY_API_SECRET",
			media.CodeForbidden:     "look at its account list",
			media.CodeNotFound:      "check MIDJOURNEY_PROXY_URL, leave midjourney.speed out, or use another midjourney.action",
			media.CodeQuotaExceeded: "top the account up",
		},
	})
	return &Driver{client, client}, err
}

// Review reports the handling of image prompts and of a blend's shape; the row describes follow-ups. Its error is that
// of a task that cannot be submitted.
func (d *Driver) Review(t driver.Task) ([]generate.Disposition, error) {
	j, err := newJob(t)
	if err != nil {
		return nil, err
	}
	return j.notes, nil
}

// Start submits the job and returns its task. If the proxy waits for a dialog to be confirmed, as for inpaint, Start
// confirms it.
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	j, err := newJob(t)
	if err != nil {
		return driver.Update{}, err
	}
	var pictures []string // the transport streams the bytes from the store
	for _, o := range t.Inputs {
		pictures = append(pictures, d.client.DataURL(ctx, o.Blob))
	}
	switch {
	case j.Follows || len(pictures) == 0:
	case j.at.list:
		j.body[j.at.field] = pictures
	default:
		j.body[j.at.field] = pictures[0]
	}
	got, u, err := d.submit(ctx, t, j.at.path, j.body)
	if err == nil && got.Code == codeExists && j.window != nil {
		_, u, err = d.submit(ctx, t, "modal", d.confirmation(ctx, t, j, got))
	}
	return u, err
}

// failures maps the words of a failure, in English or Chinese, to its kind, because there is no code. The last entry
// matches all others.
var failures = post.Phrases{
	{Any: []string{"banned", "moderat", "sensitive", "inappropriate", "community guidelines", "blocked", "违禁", "敏感", "审核"}, Code: media.CodeModerated, Advice: "Midjourney's moderation refused it: change the prompt"},
	{Any: []string{"value for --v", "value for --version", "value for --niji", "unknown version"}, Code: media.CodeNotFound, Advice: "Midjourney has no such version, or has it no longer: choose another model (atelier models list)"},
	{Any: []string{"subscription", "fast hours", "fast time", "quota", "credits", "billing", "余额", "额度"}, Code: media.CodeQuotaExceeded, Advice: "the Midjourney account has nothing left to draw with: renew it, or use midjourney.speed relax"},
	{Any: []string{"invalid parameter", "invalid link", "invalid value", "invalid request", "unrecognized", "参数"}, Code: media.CodeInvalid, Advice: "Midjourney refused the request: change the prompt or the settings"},
	{Any: []string{"timeout", "timed out", "超时", "queue", "try again", "服务"}, Code: media.CodeUnavailable, Advice: "Midjourney did not finish the job: ask again"},
	{Any: []string{""}, Code: media.CodeBadResponse, Advice: "Midjourney drew nothing: ask again, or use other words"},
}
