package openaisim

import (
	"embed"

	"atelier/internal/sim"
)

// documented holds the JSON schemas of the bodies.
//
//go:embed schema/*.json
var documented embed.FS

// routes are the endpoints that the provider documents.
var routes = []sim.Route{
	{Path: `/v1/images/generations`, Schema: "api.json#/$defs/generation"},
	{Path: `/v1/images/edits`, Schema: "api.json#/$defs/edit", Form: true},
	{Path: `/v1/audio/speech`, Schema: "api.json#/$defs/speech"},
}
