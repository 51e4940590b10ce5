package openai_test

import (
	"net/http"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/provider/openai"
	"atelier/internal/sim"
	"atelier/media"
)

// TestPaidAnswersOfAnyType: a paid sound or picture is stored with its real type, whatever type is declared, even if
// the picture is the whole body.
func TestPaidAnswersOfAnyType(t *testing.T) {
	t.Parallel()
	sound := string(sim.Sound("wav", 700, 1).Bytes())
	picture := string(generatetest.PNG(80, 64, 9))
	for _, kind := range []string{"application/octet-stream", "binary/octet-stream", "text/plain", "application/json", "video/mp4", ""} {
		for name, c := range map[string]struct {
			body     string
			modality media.Modality
			mime     string
		}{"sound": {sound, media.ModalityAudio, "audio/wav"}, "picture": {picture, media.ModalityImage, "image/png"}} {
			d, err := openai.New(openai.Config{APIKey: "k", Codec: wiretest.NewCodec(t), Base: generatetest.Answer{Status: http.StatusOK, Type: kind, Body: c.body}})
			if err != nil {
				t.Fatal(err)
			}
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.Model.Modality = c.modality }))
			if err != nil || len(u.Items) != 1 || u.Items[0].Err != nil || u.Items[0].Blob.MIMEType != c.mime || u.Usage.Calls != 1 {
				t.Errorf("%s as %q: %+v, %v", name, kind, u, err)
			}
		}
	}
}

// TestAnswersThatAreNeither: a page instead of a sound or a picture is a bad response.
func TestAnswersThatAreNeither(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/octet-stream", "text/html", "application/json"} {
		d, err := openai.New(openai.Config{APIKey: "k", Codec: wiretest.NewCodec(t), Base: generatetest.Answer{Status: http.StatusOK, Type: kind, Body: sim.Page}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []media.Modality{media.ModalityAudio, media.ModalityImage} {
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.Model.Modality = m }))
			if media.CodeOf(err) != media.CodeBadResponse || len(u.Items) != 0 {
				t.Errorf("%s as %s: %+v, %v", m, kind, u, err)
			}
		}
	}
}
