package openroutersim

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
	{Path: `/api/v1/chat/completions`, Schema: "api.json#/$defs/completion"},
	{Path: `/api/v1/images`, Schema: "api.json#/$defs/images"},
}
