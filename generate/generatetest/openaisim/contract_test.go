package openaisim_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"testing"

	"atelier/internal/sim"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
)

// form writes the call of an edit: fields as name and value, files as name and type.
func form(t *testing.T, fields [][2]string, files [][2]string) sim.Captured {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		p, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="` + f[0] + `"; filename="a"`}, "Content-Type": {f[1]},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write(generatetest.PNG(64, 64, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return sim.Captured{
		Method: http.MethodPost, Path: "/v1/images/edits", Body: body.Bytes(),
		Header: http.Header{"Content-Type": {w.FormDataContentType()}, "Authorization": {"[key]"}},
	}
}

// TestForms: the schema of edits applies to the fields and files of a form.
func TestForms(t *testing.T) {
	t.Parallel()
	model, prompt, file := [2]string{"model", "gpt-image-2"}, [2]string{"prompt", "bluer"}, [2]string{"image[]", "image/png"}
	good := [][2]string{model, prompt}
	for name, c := range map[string]struct {
		fields, files [][2]string
		fits          bool
	}{
		"good":          {good, [][2]string{file}, true},
		"two pictures":  {good, [][2]string{file, file}, true},
		"one, bare":     {good, [][2]string{{"image", "image/png"}}, true},
		"mask":          {good, [][2]string{file, {"mask", "image/png"}}, true},
		"n":             {append(good, [2]string{"n", "10"}), [][2]string{file}, true},
		"no picture":    {good, nil, false},
		"no prompt":     {[][2]string{model}, [][2]string{file}, false},
		"unknown field": {append(good, [2]string{"moderation", "low"}), [][2]string{file}, false},
		"field twice":   {append(good, prompt), [][2]string{file}, false},
		"n too large":   {append(good, [2]string{"n", "11"}), [][2]string{file}, false},
		"unknown file":  {good, [][2]string{file, {"markup", "image/png"}}, false},
		"two masks":     {good, [][2]string{file, {"mask", "image/png"}, {"mask", "image/png"}}, false},
		"mask a JPEG":   {good, [][2]string{file, {"mask", "image/jpeg"}}, false},
		"no type":       {good, [][2]string{{"image[]", "application/octet-stream"}}, false},
	} {
		err := openaisim.New(openaisim.Config{}).Violation(form(t, c.fields, c.files))
		if (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
