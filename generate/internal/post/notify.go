package post

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"atelier/generate/driver"
	"atelier/media"
)

// Webhook is how the calls of a provider's webhook are told from others.
type Webhook struct {
	// Secret is what calls are signed with or carry. Without one nobody can tell: then a
	// call names its task, and no more of it is believed.
	Secret string
	// Genuine proves a call by the secret: [Signed], [Bearer].
	Genuine func(n driver.Notification, secret string) bool
}

// taskID is how providers name tasks.
var taskID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// Hear reads a call of a webhook into a value, of which id is the name of the task, and
// reports whether all of it is believed. Errors: media.CodeUnauthorized for a call that is not
// the provider's, media.CodeInvalid for one that names no task.
func (p *Provider) Hear(n driver.Notification, w Webhook, into any, id func() string) (h driver.Handle, believed bool, err error) {
	if w.Secret != "" && !w.Genuine(n, w.Secret) {
		return h, false, media.Errorf(media.CodeUnauthorized, "a webhook call in the name of %s does not carry the secret of its webhook", p.Name)
	}
	if json.Unmarshal(n.Body, into) != nil || !taskID.MatchString(id()) {
		return h, false, media.Errorf(media.CodeInvalid, "a webhook call in the name of %s is not JSON that names a task", p.Name)
	}
	return driver.Handle{ID: id()}, w.Secret != "", nil
}

// Signed reports whether a header of a webhook's call holds "sha256=" and the HMAC-SHA256 of
// its body with the secret, in hexadecimal.
func Signed(header string) func(n driver.Notification, secret string) bool {
	return func(n driver.Notification, secret string) bool {
		said, ok := strings.CutPrefix(http.Header(n.Header).Get(header), "sha256=")
		have, err := hex.DecodeString(said)
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write(n.Body) // a hash does not fail
		return ok && err == nil && hmac.Equal(have, mac.Sum(nil))
	}
}

// Bearer reports whether a webhook's call carries the key, in a time that tells nothing
// about it.
func Bearer(n driver.Notification, key string) bool {
	x := sha256.Sum256([]byte(http.Header(n.Header).Get("Authorization")))
	y := sha256.Sum256([]byte("Bearer " + key))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
