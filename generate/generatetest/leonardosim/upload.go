package leonardosim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // a format of uploads
	_ "image/png"  // a format of uploads
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"time"

	_ "golang.org/x/image/webp" // a format of uploads

	"atelier/internal/sim"
	"atelier/media"
)

// uploadGrantTTL is how long the form of an upload is valid.
const uploadGrantTTL = 2 * time.Minute

// uploadGrant is the permission to upload one picture.
type uploadGrant struct {
	fields  map[string]string
	expires time.Time
	stored  bool
}

// grantUpload grants the permission to upload one picture.
func (s *Simulator) grantUpload(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Extension string `json:"extension"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil || !slices.Contains([]string{"png", "jpg", "jpeg", "webp"}, q.Extension) {
		fail(http.StatusBadRequest, "unexpected", "Invalid file extension").Write(w)
		return
	}
	s.mu.Lock()
	id := fmt.Sprintf("%08x-0a1b-4c2d-9e3f-aabbccddeeff", len(s.uploadGrants)+1)
	key := "users/1/initImages/" + id + "." + q.Extension
	l := &uploadGrant{expires: s.Now().Add(uploadGrantTTL), fields: map[string]string{ //nolint:gosec // Not real credentials.
		"Content-Type": "image/" + q.Extension, "bucket": "image-uploads", "key": key, "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
		"X-Amz-Credential": "AKIASIMULATED/20261121/us-east-1/s3/aws4_request", "X-Amz-Date": "20261121T120000Z",
		"Policy": "eyJleHBpcmF0aW9uIjoiMjAyNi0xMS0yMVQxMjowMjowMFoifQ==", "X-Amz-Signature": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
	}}
	s.uploadGrants[id] = l
	s.mu.Unlock()
	fields, _ := json.Marshal(l.fields) // it holds only texts
	sim.JSON(w, http.StatusOK, map[string]any{"uploadInitImage": map[string]any{
		"id": id, "url": sim.Origin(r, s.config.UploadOrigin) + "/storage/" + id, "fields": string(fields), "key": key,
	}})
}

// has reports whether a picture was uploaded.
func (s *Simulator) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.uploadGrants[id]
	return ok && l.stored
}

// refused returns an error of the storage.
func refused(status int, code string) sim.Answer {
	return sim.Answer{Status: status, Type: "application/xml", Body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>` + code + `</Code></Error>`}
}

// store accepts one picture: the fields of the permission first, the file last, and no other
// credentials.
func (s *Simulator) store(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	l, ok := s.uploadGrants[r.PathValue("id")]
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "":
		refused(http.StatusBadRequest, "InvalidArgument").Write(w)
		return
	case !ok || !s.Now().Before(l.expires):
		refused(http.StatusForbidden, "AccessDenied").Write(w)
		return
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		refused(http.StatusPreconditionFailed, "PreconditionFailed").Write(w)
		return
	}
	raw, code := l.read(multipart.NewReader(r.Body, params["boundary"]))
	if code != "" {
		refused(http.StatusBadRequest, code).Write(w)
		return
	}
	s.mu.Lock()
	l.stored = true
	s.uploads = append(s.uploads, media.DigestOf(raw))
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// read returns the file of a form, or the code of its error.
func (l *uploadGrant) read(form *multipart.Reader) (file []byte, code string) {
	seen := map[string]string{}
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart returns it unwrapped.
			break
		}
		if err != nil {
			return nil, "MalformedPOSTRequest"
		}
		b, err := io.ReadAll(part)
		switch {
		case err != nil:
			return nil, "IncompleteBody"
		case file != nil: // parts after the file are ignored
		case part.FormName() == "file":
			file = b
		default:
			seen[part.FormName()] = string(b)
		}
	}
	for name, value := range l.fields {
		if seen[name] != value {
			return nil, "AccessDenied"
		}
	}
	if _, _, err := image.DecodeConfig(bytes.NewReader(file)); err != nil {
		return nil, "InvalidArgument"
	}
	return file, ""
}
