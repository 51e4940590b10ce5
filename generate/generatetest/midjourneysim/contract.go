package midjourneysim

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
	const key = "Mj-Api-Secret"
	return &simulate.Contract{Files: documented, Routes: []simulate.Route{
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/imagine`, Schema: "api.json#/$defs/imagine", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/blend`, Schema: "api.json#/$defs/blend", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/describe`, Schema: "api.json#/$defs/describe", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/change`, Schema: "api.json#/$defs/change", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/action`, Schema: "api.json#/$defs/action", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/modal`, Schema: "api.json#/$defs/modal", Key: key},
		{Method: http.MethodPost, Path: `(/mj-(fast|relax|turbo))?/mj/submit/edits`, Schema: "api.json#/$defs/edits", Key: key},
	}}
}

// Violation tells where a captured call departs from what the provider documents.
func (s *Simulator) Violation(c generatetest.Captured) error { return s.contract.Check(c) }
