package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// easel is a custom driver over HTTP. The pictures of an answer are in the blob store before the driver reads the
// answer, and those of a request are streamed from there: the driver handles only tokens.
type easel struct {
	driver.Synchronous
	codec     *wire.Codec
	base, key string
}

func (easel) Provider() string { return "easel" }

func (e easel) Ready() error {
	if e.key == "" {
		return media.Errorf(media.CodeMissingKey, "EASEL_API_KEY is not set: get a key from the studio")
	}
	return nil
}

func (e easel) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	ask := map[string]any{"prompt": t.Prompt, "n": t.N, "key": t.Key}
	if len(t.Inputs) > 0 { // the transport replaces the token with the bytes
		in := t.Inputs[0].Blob
		ask["image"] = "data:" + in.MIMEType + ";base64," + e.codec.Token(media.ScopeOf(ctx).Tree, in, wire.VariantStd)
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return driver.Update{}, fmt.Errorf("write request: %w", err)
	}
	ctx, lifted := wire.WithCollector(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/paint", bytes.NewReader(body))
	if err != nil {
		return driver.Update{}, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.key)
	client := http.Client{Transport: e.codec.Transport(http.DefaultTransport, wire.Fields{Media: []string{"images"}})}
	res, err := client.Do(req)
	if err != nil {
		return driver.Update{}, unsettled("the call was not answered: %v", err)
	}
	defer func() { _ = res.Body.Close() }()
	var got struct {
		Images []string `json:"images"`
		USD    string   `json:"usd"`
	}
	switch err := json.NewDecoder(res.Body).Decode(&got); {
	case res.StatusCode == http.StatusUnauthorized:
		return driver.Update{}, media.Errorf(media.CodeUnauthorized, "the studio refused the key: check EASEL_API_KEY")
	case res.StatusCode != http.StatusOK || err != nil:
		return driver.Update{}, unsettled("the studio answered %s: %v", res.Status, err)
	}
	u := driver.Update{Done: true, ReportedUSD: got.USD}
	for _, token := range got.Images {
		if b, ok := lifted.Take(token); ok { // a picture of this call
			u.Items = append(u.Items, driver.Item{Blob: &b})
			continue
		}
		u.Items = append(u.Items, driver.Item{Err: media.Errorf(media.CodeBadResponse, "the studio sent no picture")})
	}
	return u, nil
}

// unsettled returns the error of a call that may have been billed: it is not repeated.
func unsettled(format string, args ...any) error {
	e := media.Errorf(media.CodeBadResponse, format, args...)
	e.Cause = driver.ErrUnsettled
	return e
}

// drawing plays the service: it draws a grey picture, twice as wide as the picture it receives, if any.
func drawing(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Image string `json:"image"`
		N     int    `json:"n"`
	}
	check(json.NewDecoder(r.Body).Decode(&ask))
	size := image.Rect(0, 0, 64, 64)
	if _, sent, ok := strings.Cut(ask.Image, ";base64,"); ok {
		in, err := png.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(sent)))
		check(err)
		size.Max.X = 2 * in.Width
	}
	var file bytes.Buffer
	check(png.Encode(&file, image.NewGray(size)))
	pictures := make([]string, ask.N)
	for i := range pictures {
		pictures[i] = base64.StdEncoding.EncodeToString(file.Bytes())
	}
	w.Header().Set("Content-Type", "application/json")
	check(json.NewEncoder(w).Encode(map[string]any{"images": pictures, "usd": "0.01"}))
}

// A driver that calls a service sends its calls through the lifting transport.
func ExampleDriver_http() {
	service := httptest.NewServer(http.HandlerFunc(drawing))
	defer service.Close()
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	check(err)
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: []byte("at least sixteen bytes")}}})
	check(err)
	models, err := catalog.New(catalog.Model{
		Name:         "Easel",
		Provider:     "easel",
		APIModel:     "easel-1",
		Modality:     media.ModalityImage,
		Methods:      []generate.Method{generate.MethodGenerate, generate.MethodEdit},
		InputRules:   catalog.InputRules{MaxInputs: 1, InputTypes: []string{"image/png"}, Mask: "none"},
		Size:         catalog.SizeRule{Mode: "none"},
		SettingRules: catalog.SettingRules{MaxN: 2, Formats: []string{"png"}},
		RowSource:    catalog.RowSource{Source: "Our own."},
	})
	check(err)
	drv := easel{codec: codec, base: service.URL, key: "secret"}
	gateway, err := gateway.New(gateway.Config{Drivers: []driver.Driver{drv}, Catalogue: models, Storage: codec})
	check(err)
	made, err := gateway.Generate(context.Background(), generate.Request{Prompt: "grey", N: 2})
	check(err)
	edited, err := gateway.Generate(context.Background(), generate.Request{
		Prompt: "wider", Method: generate.MethodEdit, Inputs: made.Outputs()[:1],
	})
	check(err)
	for _, o := range append(made.Outputs(), edited.Outputs()...) {
		fmt.Println(o.MIMEType, o.Width, "x", o.Height)
	}
	fmt.Println("$" + *made.Cost.ReportedUSD)
	// Output:
	// image/png 64 x 64
	// image/png 64 x 64
	// image/png 128 x 64
	// $0.01
}
