package xaisim

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
	const key = "Authorization"
	return &simulate.Contract{Files: documented, Routes: []simulate.Route{
		{Method: http.MethodPost, Path: `/v1/images/generations`, Schema: "api.json#/$defs/generation", Key: key},
		{Method: http.MethodPost, Path: `/v1/images/edits`, Schema: "api.json#/$defs/edit", Key: key},
	}}
}

// Violation tells where a captured call departs from what the provider documents.
func (s *Simulator) Violation(c generatetest.Captured) error { return s.contract.Check(c) }
