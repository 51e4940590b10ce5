package post

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"atelier/media"
)

// Leave is a provider's leave to put one file into its storage by a signed form.
type Leave struct {
	// ID is how later requests name the file.
	ID string `json:"id"`
	// URL is where the form goes: by https, or to the provider's own origin. The key does not.
	URL string `json:"url"`
	// Fields come before the file, as they are.
	Fields Fields `json:"fields"`
}

// Fields reads a JSON object, or a text that holds one; nil for all else.
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

// Upload puts a stored picture where a provider wants it that takes none in its requests: ask is the call that the
// leave is read from, the file is the last field of its form, called "file". Nothing of it is billed, so what fails on
// the way can be done again. It gives the leave's ID. Config.Storage has to be set.
func (c *Client) Upload(ctx context.Context, b media.Blob, ask Call, leave *Leave) (string, error) {
	r, err := c.config.Codec.Open(ctx, b.Digest) // it has to be there before a leave is asked for
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
		return "", media.Errorf(media.CodeBadResponse, "%s gave no usable leave to upload a picture: try again later", c.Name)
	}
	form, err := c.storage.Form(ctx, Body(leave.Fields), File{Name: "file", Blob: b})
	if err != nil {
		return "", err
	}
	_, err = c.storage.Do(ctx, Call{Path: leave.URL, Body: form, Of: "the picture", Free: true})
	return leave.ID, err
}

// refusedFile reads an answer of a storage that is not a success.
func refusedFile(a *Answer) (Fault, bool) {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return Fault{}, true
	case a.Status == http.StatusForbidden: // leaves are good for some minutes
		return Fault{Code: media.CodeUnavailable, Advice: "it is sent again with a new leave"}, true
	}
	return Fault{Code: media.CodeBadResponse, Advice: "try another picture or format"}, true
}
