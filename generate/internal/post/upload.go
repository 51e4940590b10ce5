package post

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"atelier/media"
)

// UploadGrant is a provider's permission to upload one file to its storage with a signed form.
type UploadGrant struct {
	// ID identifies the file in later requests.
	ID string `json:"id"`
	// URL is where the form is sent: by https, or to the provider's own origin. The key is not sent.
	URL string `json:"url"`
	// Fields precede the file, unchanged.
	Fields Fields `json:"fields"`
}

// Fields decodes a JSON object, or a string that contains one; nil for anything else.
type Fields Body

// UnmarshalJSON never fails.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		b = []byte(text)
	}
	if json.Unmarshal(b, (*Body)(f)) != nil {
		*f = nil
	}
	return nil
}

// Upload uploads a stored picture for a provider that accepts none in its requests. ask is the call that returns the
// permission (leave); the file is the last field of its form, called "file". Nothing is billed, so failures can be
// retried. Upload returns the ID of leave. It requires Config.Storage.
func (c *Client) Upload(ctx context.Context, b media.Blob, ask Call, leave *UploadGrant) (string, error) {
	r, err := c.config.Codec.Open(ctx, b.Digest) // it must exist before a permission is requested
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		return "", err
	}
	ask.Free = true
	if _, err := c.Do(ctx, ask); err != nil {
		return "", err
	}
	u, err := url.Parse(leave.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !c.Owns(u) || leave.ID == "" || leave.Fields == nil {
		return "", media.Errorf(media.CodeBadResponse, "%s returned no usable upload form: try again later", c.Name)
	}
	form, err := c.storage.Form(ctx, Body(leave.Fields), File{Name: "file", Blob: b})
	if err != nil {
		return "", err
	}
	_, err = c.storage.Do(ctx, Call{Path: leave.URL, Body: form, Of: "the picture", Free: true})
	return leave.ID, err
}

// refusedFile decodes a storage's answer that is not a success.
func refusedFile(a *Answer) (Fault, bool) {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return Fault{}, true
	case a.Status == http.StatusForbidden: // permissions are valid for some minutes
		return Fault{Code: media.CodeUnavailable, Advice: "it is sent again with a new leave"}, true
	}
	return Fault{Code: media.CodeBadResponse, Advice: "try another picture or format"}, true
}
