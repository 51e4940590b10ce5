package bflsim

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
	{Path: `/v1/flux-2-(pro|max|pro-preview)`, Schema: "api.json#/$defs/flux2"},
	{Path: `/v1/flux-2-flex`, Schema: "api.json#/$defs/flux2_flex"},
	{Path: `/v1/flux-2-klein-[49]b`, Schema: "api.json#/$defs/flux2_klein"},
	{Path: `/v1/flux-3-image`, Schema: "api.json#/$defs/flux3"},
	{Path: `/v1/flux-pro-1\.1`, Schema: "api.json#/$defs/flux11"},
	{Path: `/v1/flux-pro-1\.1-ultra`, Schema: "api.json#/$defs/ultra"},
	{Path: `/v1/flux-kontext-(pro|max)`, Schema: "api.json#/$defs/kontext"},
	{Path: `/v1/flux-pro-1\.0-fill`, Schema: "api.json#/$defs/fill"},
}
