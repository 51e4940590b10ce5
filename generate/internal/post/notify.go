package post

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"atelier/generate"
)

// Signed tells whether a header of a webhook's call holds "sha256=" and the HMAC-SHA256 of
// its body with the secret, in hexadecimal.
func Signed(n generate.Notification, header, secret string) bool {
	said, ok := strings.CutPrefix(http.Header(n.Header).Get(header), "sha256=")
	have, err := hex.DecodeString(said)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(n.Body) // a hash does not fail
	return ok && err == nil && hmac.Equal(have, mac.Sum(nil))
}

// Bearer tells whether a webhook's call carries the key, in a time that tells nothing
// about it.
func Bearer(n generate.Notification, key string) bool {
	x := sha256.Sum256([]byte(http.Header(n.Header).Get("Authorization")))
	y := sha256.Sum256([]byte("Bearer " + key))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
