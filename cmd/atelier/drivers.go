package main

import (
	"cmp"
	"errors"
	"net/http"
	"path/filepath"

	"atelier/generate"
	"atelier/generate/bfl"
	"atelier/generate/gemini"
	"atelier/generate/leonardo"
	"atelier/generate/midjourney"
	offlineimage "atelier/generate/offline"
	"atelier/generate/openai"
	"atelier/generate/openrouter"
	"atelier/relay"
)

// drivers builds every driver of this program, with or without its key.
func (a *app) drivers() ([]generate.Driver, error) {
	s, base := a.settings, a.base()
	var all []generate.Driver
	var failed error
	add := func(d generate.Driver, err error) {
		if err != nil && failed == nil {
			failed = err
		}
		all = append(all, d)
	}
	add(gemini.New(gemini.Config{APIKey: s.keys["gemini"], BaseURL: s.bases["gemini"], Codec: a.codec, Base: base}))
	add(openai.New(openai.Config{APIKey: s.keys["openai"], BaseURL: s.bases["openai"], Codec: a.codec, Base: base}))
	add(bfl.New(bfl.Config{APIKey: s.keys["bfl"], BaseURL: s.bases["bfl"], Codec: a.codec, Base: base}))
	add(leonardo.New(leonardo.Config{
		APIKey: s.keys["leonardo"], BaseURL: s.bases["leonardo"], WebhookKey: s.leonardoWebhook, Codec: a.codec, Base: base,
	}))
	add(openrouter.New(openrouter.Config{APIKey: s.keys["openrouter"], BaseURL: s.bases["openrouter"], Codec: a.codec, Base: base}))
	add(midjourney.New(midjourney.Config{ProxyURL: s.bases["midjourney"], Secret: s.keys["midjourney"], Codec: a.codec, Base: base}))
	add(offlineimage.New(offlineimage.Config{Store: a.codec}))
	for _, e := range a.catalogue.Endpoints() {
		e.BaseVariable, e.BaseURL = baseVariables()[e.Provider], cmp.Or(s.bases[e.Provider], e.BaseURL)
		add(openai.New(openai.Config{APIKey: s.env(e.KeyVariable), Endpoint: &e, Codec: a.codec, Base: base}))
	}
	return all, failed
}

// base carries the calls of drivers and chat models: what is paid for by the relay. It is nil where there is
// none, and then they have their usual one.
func (a *app) base() http.RoundTripper {
	if a.relay == nil {
		return nil
	}
	return a.relay.Transport(nil)
}

// relayFolder is where answers wait that nobody has taken yet: in the blob store's folder, because
// they hold media.
const relayFolder = "blobs/relay"

// newRelay is nil where nobody wants one, or this system has none. Its process begins with the
// first call.
func newRelay(s settings) (*relay.Relay, error) {
	if !s.relay {
		return nil, nil
	}
	r, err := relay.New(relay.Config{Folder: filepath.Join(s.data, relayFolder)})
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return r, err
}
