package bfl

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// signatureHeader carries "sha256=" and the HMAC of the body in hexadecimal.
const signatureHeader = "X-Bfl-Signature"

// Notification reads a call of the webhook. With a secret a call without its
// signature is refused; without one the call names the task and no more is believed.
func (d *Driver) Notification(_ context.Context, n generate.Notification) (generate.Update, error) {
	if d.secret != "" && !d.signed(n) {
		return generate.Update{}, media.Errorf(media.CodeUnauthorized, "a webhook call in the name of Black Forest Labs is not signed with the secret of its task")
	}
	var got result
	if err := json.Unmarshal(n.Body, &got); err != nil || got.ID == "" {
		return generate.Update{}, media.Errorf(media.CodeInvalid, "a webhook call in the name of Black Forest Labs is not JSON that names a task")
	}
	h := generate.Handle{ID: got.ID}
	if d.secret == "" {
		return generate.Update{Task: h, Progress: -1}, nil
	}
	return d.update(h, got)
}

// signed checks the signature of the body as it came.
func (d *Driver) signed(n generate.Notification) bool {
	said, ok := strings.CutPrefix(http.Header(n.Header).Get(signatureHeader), "sha256=")
	have, err := hex.DecodeString(said)
	if !ok || err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(d.secret))
	_, _ = mac.Write(n.Body) // a hash does not fail
	return hmac.Equal(have, mac.Sum(nil))
}
