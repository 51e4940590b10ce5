package midjourney

import (
	"context"
	"regexp"

	"atelier/generate"
	"atelier/media"
)

// taskID is how the ids of jobs look: digits at most proxies.
var taskID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// Notification names the task that a call of the hook is about. Nothing in the call
// is signed, so nothing else of it is believed.
func (d *Driver) Notification(_ context.Context, n generate.Notification) (generate.Update, error) {
	s, err := parse(n.Body)
	if err != nil || !taskID.MatchString(string(s.ID)) || s.Status == "" {
		return generate.Update{}, media.Errorf(media.CodeInvalid, "the notification is no task of a Midjourney proxy")
	}
	return generate.Update{Task: generate.Handle{ID: string(s.ID)}, Progress: -1}, nil
}
