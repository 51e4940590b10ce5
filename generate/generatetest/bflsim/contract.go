package bflsim

import (
	"embed"
	"net/http"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// documented holds the schemas of the bodies.
//
//go:embed schema/*.json
var documented embed.FS

// contract is what the provider documents.
func contract() *simulate.Contract {
	const key = "X-Key"
	return &simulate.Contract{Files: documented, Routes: []simulate.Route{
		{Method: http.MethodPost, Path: `/v1/flux-2-(pro|max|pro-preview)`, Schema: "api.json#/$defs/flux2", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-2-flex`, Schema: "api.json#/$defs/flux2_flex", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-2-klein-[49]b`, Schema: "api.json#/$defs/flux2_klein", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-3-image`, Schema: "api.json#/$defs/flux3", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-pro-1\.1`, Schema: "api.json#/$defs/flux11", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-pro-1\.1-ultra`, Schema: "api.json#/$defs/ultra", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-kontext-(pro|max)`, Schema: "api.json#/$defs/kontext", Key: key},
		{Method: http.MethodPost, Path: `/v1/flux-pro-1\.0-fill`, Schema: "api.json#/$defs/fill", Key: key},
	}}
}

// Violation tells where a captured call departs from what the provider documents.
func (s *Simulator) Violation(c generatetest.Captured) error { return s.contract.Check(c) }
