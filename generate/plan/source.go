package plan

import (
	"strings"

	"atelier/generate"
	"atelier/media/imaging"
)

// SourceType says how the pixels came to be. A rule that edits what a model made leaves
// a picture with parts that a model made.
func (p *Plan) SourceType() string {
	edited := p.Request.Method == generate.MethodEdit
	if p.Model.Provider != Offline {
		if edited {
			return imaging.SourceEdited
		}
		return imaging.SourceGenerated
	}
	for _, in := range p.Request.Inputs {
		if t, _ := in.Metadata["digital_source_type"].(string); t == Term(imaging.SourceGenerated) || t == Term(imaging.SourceEdited) {
			return imaging.SourceEdited
		}
	}
	return imaging.SourceAlgorithmic
}

// Term is an IPTC digital source type without its scheme.
func Term(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }
