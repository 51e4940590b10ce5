package post

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"atelier/generate/driver"
	"atelier/media"
)

// State is the meaning of a provider's word for the state of a task; the zero value means that it continues.
type State int

// The states that end a task.
const (
	// Finished is a task with results.
	Finished State = iota + 1
	// Broken is a task that failed: see Config.Failures.
	Broken
	// Stopped is a task that another client stopped at the provider.
	Stopped
)

// Status is the state of a task as the provider reports it.
type Status struct {
	// State is the provider's word, see Config.States.
	State string
	// Progress is 0 to 1 while the task runs; negative if unknown. Preview is as in [driver.Update].
	Progress float64
	Preview  string
	// Reason is the provider's message about a failure.
	Reason string
	// Items returns the results of a finished task.
	Items func() []driver.Item
}

// Update converts a task's status to the contract's form. A task that ends without results has an error for each
// requested result; it may be billed, so it is not repeated.
func (c *Client) Update(t driver.Task, h driver.Handle, s Status) driver.Update {
	u := driver.Update{Task: h, Done: true, Progress: 1}
	switch c.config.States[s.State] {
	case Finished:
		u.Items = s.Items()
	case Broken:
		u.Items = c.Unfinished(t, s.Reason)
	case Stopped:
		e := media.Errorf(media.CodeUnavailable, "the task was stopped at %s, not from here: ask again", c.Name)
		e.Retryable = false
		u.Items = Each(t, driver.Item{Err: e})
	default:
		return driver.Update{Task: h, Progress: s.Progress, Preview: s.Preview}
	}
	return u
}

// Accepted returns the update for a task that the provider accepted, with its price; without an id the error is
// [Client.MissingTaskID].
func (c *Client) Accepted(h driver.Handle, price Price) (driver.Update, error) {
	const places = 12
	if h.ID == "" {
		return driver.Update{}, c.MissingTaskID()
	}
	return driver.Update{
		Task: h, Progress: -1, ReportedUSD: cmp.Or(Amount(price.USD, 1, places), Amount(price.Cents, 100, 6)), ReportedCredits: Amount(price.Credits, 1, places),
	}, nil
}

// Price is the reported price of a task: in dollars; in cents, which are floating point and rounded to a millionth of a
// dollar; or in the provider's own units. Fields that are not reported are empty.
type Price struct{ USD, Cents, Credits string }

var taskID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// DecodeWebhook decodes a webhook call into a value; id returns the task's id in it. believed reports whether the whole
// call is trusted. Errors: media.CodeUnauthorized for a call that is not the provider's, media.CodeInvalid for one that
// names no task.
func (c *Client) DecodeWebhook(n driver.Notification, into any, id func() string) (h driver.Handle, believed bool, err error) {
	believed = c.config.Genuine != nil && c.config.NotifySecret != ""
	if believed && !c.config.Genuine(n, c.config.NotifySecret) {
		return h, false, media.Errorf(media.CodeUnauthorized, "a webhook call in the name of %s does not carry the secret of its webhook", c.Name)
	}
	if !DecodeFirst(n.Body, into) || !taskID.MatchString(id()) {
		return h, false, media.Errorf(media.CodeInvalid, "a webhook call in the name of %s is not JSON that names a task", c.Name)
	}
	return driver.Handle{ID: id()}, believed, nil
}

// Signed returns a check of webhook calls: the header must contain "sha256=" and the HMAC-SHA256 of the body with the
// secret, in hexadecimal.
func Signed(header string) func(n driver.Notification, secret string) bool {
	return func(n driver.Notification, secret string) bool {
		signature, ok := strings.CutPrefix(http.Header(n.Header).Get(header), "sha256=")
		have, err := hex.DecodeString(signature)
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = mac.Write(n.Body) // a hash does not fail
		return ok && err == nil && hmac.Equal(have, mac.Sum(nil))
	}
}

// Bearer reports whether a webhook call carries the key, in constant time.
func Bearer(n driver.Notification, key string) bool {
	x := sha256.Sum256([]byte(http.Header(n.Header).Get("Authorization")))
	y := sha256.Sum256([]byte("Bearer " + key))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
