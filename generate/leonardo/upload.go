package leonardo

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"atelier/generate/internal/post"
	"atelier/media"
)

// ticket is the leave to upload one picture. Fields is JSON in a string.
type ticket struct {
	Upload struct {
		ID     string `json:"id"`
		URL    string `json:"url"`
		Fields string `json:"fields"`
	} `json:"uploadInitImage"`
}

// upload puts a picture into the provider's storage and gives its id. Nothing of it is
// billed, so what fails on the way can be done again.
func (d *Driver) upload(ctx context.Context, o media.Output) (string, error) {
	if err := d.client.Stored(ctx, o.Blob); err != nil {
		return "", err
	}
	_, ending, _ := strings.Cut(o.MIMEType, "/")
	var leave ticket
	if _, err := d.client.Do(ctx, post.Call{
		Path: apiPath + "/init-image", Body: map[string]string{"extension": ending}, Of: "the upload of a picture", Into: &leave, Free: true,
	}); err != nil {
		return "", err
	}
	form, err := d.form(ctx, leave, o)
	if err != nil {
		return "", err
	}
	_, err = d.storage.Do(ctx, post.Call{Path: leave.Upload.URL, Body: form, Of: "the picture", Free: true})
	return leave.Upload.ID, err
}

// form writes the upload: the fields as they came, then the file, which has to be last.
func (d *Driver) form(ctx context.Context, leave ticket, o media.Output) (*post.Form, error) {
	var fields post.Body
	u, err := url.Parse(leave.Upload.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !d.client.Owns(u) ||
		leave.Upload.ID == "" || json.Unmarshal([]byte(leave.Upload.Fields), &fields) != nil {
		return nil, media.Errorf(media.CodeBadResponse, "Leonardo gave no usable leave to upload a picture: try again later")
	}
	return d.storage.Form(ctx, fields, post.File{Name: "file", Blob: o.Blob})
}

// stored reads an answer of the storage that is not a success.
func stored(a *post.Answer) (post.Fault, bool) {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return post.Fault{}, true
	case a.Status == http.StatusForbidden: // the leave is good for two minutes
		return post.Fault{Code: media.CodeUnavailable, Advice: "it is sent again with a new leave"}, true
	}
	return post.Fault{Code: media.CodeBadResponse, Advice: "try another picture or format"}, true
}
