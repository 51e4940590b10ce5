package main

import (
	"cmp"

	"atelier/generate"
	"atelier/generate/bfl"
	"atelier/generate/gemini"
	"atelier/generate/leonardo"
	"atelier/generate/midjourney"
	offlineimage "atelier/generate/offline"
	"atelier/generate/openai"
	"atelier/generate/openrouter"
)

// drivers builds every driver of this program, with or without its key.
func (a *app) drivers() ([]generate.Driver, error) {
	s := a.settings
	var all []generate.Driver
	var failed error
	add := func(d generate.Driver, err error) {
		if err != nil && failed == nil {
			failed = err
		}
		all = append(all, d)
	}
	add(gemini.New(gemini.Config{APIKey: s.keys["gemini"], BaseURL: s.bases["gemini"], Codec: a.codec}))
	add(openai.New(openai.Config{APIKey: s.keys["openai"], BaseURL: s.bases["openai"], Codec: a.codec}))
	add(bfl.New(bfl.Config{APIKey: s.keys["bfl"], BaseURL: s.bases["bfl"], Codec: a.codec}))
	add(leonardo.New(leonardo.Config{
		APIKey: s.keys["leonardo"], BaseURL: s.bases["leonardo"], WebhookKey: s.leonardoWebhook, Codec: a.codec,
	}))
	add(openrouter.New(openrouter.Config{APIKey: s.keys["openrouter"], BaseURL: s.bases["openrouter"], Codec: a.codec}))
	add(midjourney.New(midjourney.Config{ProxyURL: s.bases["midjourney"], Secret: s.keys["midjourney"], Codec: a.codec}))
	add(offlineimage.New(offlineimage.Config{Store: a.codec}))
	for _, e := range a.catalogue.Endpoints() {
		e.BaseVariable, e.BaseURL = baseVariables()[e.Provider], cmp.Or(s.bases[e.Provider], e.BaseURL)
		add(openai.New(openai.Config{APIKey: s.env(e.KeyVariable), Endpoint: &e, Codec: a.codec}))
	}
	return all, failed
}
