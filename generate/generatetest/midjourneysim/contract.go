package midjourneysim

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
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/imagine`, Schema: "api.json#/$defs/imagine"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/blend`, Schema: "api.json#/$defs/blend"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/describe`, Schema: "api.json#/$defs/describe"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/change`, Schema: "api.json#/$defs/change"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/action`, Schema: "api.json#/$defs/action"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/modal`, Schema: "api.json#/$defs/modal"},
	{Path: `(/mj-(fast|relax|turbo))?/mj/submit/edits`, Schema: "api.json#/$defs/edits"},
}
