package leonardo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/wire"
)

// ticket is the leave to upload one picture. Fields is JSON in a string.
type ticket struct {
	Upload struct {
		ID     string `json:"id"`
		URL    string `json:"url"`
		Fields string `json:"fields"`
	} `json:"uploadInitImage"`
}

// upload puts a picture into the provider's storage and gives its id. Nothing of it
// is billed, so what fails on the way can be done again.
func (d *Driver) upload(ctx context.Context, o media.Output) (string, error) {
	if err := d.stored(ctx, o); err != nil {
		return "", err
	}
	_, ending, _ := strings.Cut(o.MIMEType, "/")
	if !slices.Contains([]string{"png", "jpeg", "webp"}, ending) {
		return "", media.Errorf(media.CodeUnsupported, "Leonardo takes no %s: send png, jpeg or webp", o.MIMEType)
	}
	a, err := d.client.Send(ctx, d.api+"/init-image", d.header(), map[string]string{"extension": ending})
	if err != nil {
		return "", unbilled(err)
	}
	if a.Status != http.StatusOK {
		return "", unbilled(d.refused(ctx, a, "the upload of a picture"))
	}
	var got ticket
	if err := d.client.Decode(a, &got); err != nil {
		return "", unbilled(err)
	}
	if a.Cut() {
		return "", media.Errorf(media.CodeUnavailable, "Leonardo gave half of the leave to upload a picture: ask again")
	}
	form, err := d.form(ctx, got, o)
	if err != nil {
		return "", err
	}
	// The form is the leave: the key stays here.
	a, err = d.storage.Send(ctx, got.Upload.URL, nil, form)
	if err != nil {
		return "", unbilled(err)
	}
	return got.Upload.ID, d.uploaded(a)
}

// stored proves that the picture is there before the provider hears of it.
func (d *Driver) stored(ctx context.Context, o media.Output) error {
	r, err := d.codec.Open(ctx, o.Digest)
	if err != nil {
		return err
	}
	return r.Close()
}

// form writes the upload: the fields as they came, then the file, which has to be last.
func (d *Driver) form(ctx context.Context, leave ticket, o media.Output) (*post.Form, error) {
	var fields map[string]string
	u, err := url.Parse(leave.Upload.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !strings.HasPrefix(d.api, u.Scheme+"://"+u.Host+"/") ||
		leave.Upload.ID == "" || json.Unmarshal([]byte(leave.Upload.Fields), &fields) != nil {
		return nil, media.Errorf(media.CodeBadResponse, "Leonardo gave no usable leave to upload a picture: try again later")
	}
	f := &post.Form{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f.Set(name, fields[name])
	}
	f.File("file", o.Blob, d.codec.Marker(media.ScopeOf(ctx).Tree, o.Blob, wire.VariantStd))
	return f, nil
}

// uploaded reads the answer of the storage, which says nothing where all is well.
func (d *Driver) uploaded(a *post.Answer) error {
	switch {
	case a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices:
		return nil
	case a.Status >= http.StatusInternalServerError:
		return media.Errorf(media.CodeUnavailable, "the storage of Leonardo failed with status %d: try again later", a.Status)
	case a.Status == http.StatusForbidden: // the leave is good for two minutes
		return media.Errorf(media.CodeUnavailable, "the storage of Leonardo no longer took the picture: it is sent again with a new leave")
	}
	return media.Errorf(media.CodeBadResponse, "the storage of Leonardo refused the picture with status %d: try another picture or format", a.Status)
}

// unbilled says of a failure before the generation that it costs nothing, so that a
// lost connection or a bad answer is safe to repeat.
func unbilled(err error) error {
	e, ok := errors.AsType[*media.Error](err)
	if !ok || !errors.Is(err, generate.ErrUnsettled) {
		return err
	}
	if e.Code == media.CodeCancelled || e.Code == media.CodeDeadline {
		return media.Errorf(e.Code, "sending the picture to Leonardo was given up; nothing was billed")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || e.Code == media.CodeUnavailable {
		return media.Errorf(media.CodeUnavailable, "the picture could not be sent to Leonardo, nothing was billed: check the network and LEONARDO_BASE_URL")
	}
	return media.Errorf(e.Code, "Leonardo did not say where to send the picture, nothing was billed: check that LEONARDO_BASE_URL and any proxy lead to the API")
}
