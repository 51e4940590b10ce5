package geminisim

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
	{Path: `/v1beta/models/[a-z0-9.-]+:generateContent`, Schema: "api.json#/$defs/generateContent"},
}
