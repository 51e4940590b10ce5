package definition

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"atelier/action"
	"atelier/agent/internal/plain"
	"atelier/media"
)

// VisionContextPolicy determines which pictures made by an agent's actions its model is shown
// without requesting them. A sub-agent gets the narrower of its own policy and that of its parent.
type VisionContextPolicy struct {
	// Enabled is false unless a definition or a request sets it.
	Enabled bool `json:"enabled"`
	// MaxImages is the maximum number of such pictures shown at a time, the newest ones; 1 to 100, default 4.
	MaxImages int `json:"max_images,omitempty"`
	// MaxTotalBytes limits their total size after they were reduced for the model; default 8 MiB.
	MaxTotalBytes int64 `json:"max_total_bytes,omitempty"`
	// AllowedSources lists names or tags of actions; empty allows none.
	AllowedSources []string `json:"allowed_sources,omitempty"`
	// AllowMIMETypes lists the types that are shown; default PNG, JPEG, WebP and GIF.
	AllowMIMETypes []string `json:"allow_mime_types,omitempty"`
	// TurnsToLive is the number of turns for which a picture stays in sight; default 1.
	TurnsToLive int `json:"turns_to_live,omitempty"`
}

// Limits of a policy in a definition.
const (
	maxVisionImages = 100
	maxVisionBytes  = 256 << 20
)

// DefaultVisionContext returns the default policy of a definition: disabled.
func DefaultVisionContext() VisionContextPolicy {
	return VisionContextPolicy{
		MaxImages: 4, MaxTotalBytes: 8 << 20, TurnsToLive: 1,
		AllowMIMETypes: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	}
}

// Validate checks the values of a policy; nil is valid and means no policy.
func (p *VisionContextPolicy) Validate() error {
	if p == nil {
		return nil
	}
	if p.MaxImages < 0 || p.MaxImages > maxVisionImages || p.MaxTotalBytes < 0 || p.TurnsToLive < 0 {
		return media.Errorf(media.CodeInvalid, "Vision: MaxImages must be 0 to %d, MaxTotalBytes and TurnsToLive must not be negative; 0 means the default", maxVisionImages)
	}
	return nil
}

// WithDefaults sets the fields that a request leaves empty.
func (p VisionContextPolicy) WithDefaults() VisionContextPolicy {
	d := DefaultVisionContext()
	p.MaxImages, p.MaxTotalBytes = cmp.Or(p.MaxImages, d.MaxImages), cmp.Or(p.MaxTotalBytes, d.MaxTotalBytes)
	p.TurnsToLive = cmp.Or(p.TurnsToLive, d.TurnsToLive)
	if len(p.AllowMIMETypes) == 0 {
		p.AllowMIMETypes = d.AllowMIMETypes
	}
	return p
}

// Within returns the narrower of two policies, field by field. It keeps the sources and types that both allow.
func (p VisionContextPolicy) Within(outer VisionContextPolicy) VisionContextPolicy {
	return VisionContextPolicy{
		Enabled:   p.Enabled && outer.Enabled,
		MaxImages: min(p.MaxImages, outer.MaxImages), MaxTotalBytes: min(p.MaxTotalBytes, outer.MaxTotalBytes),
		TurnsToLive:    min(p.TurnsToLive, outer.TurnsToLive),
		AllowedSources: intersect(p.AllowedSources, outer.AllowedSources), AllowMIMETypes: intersect(p.AllowMIMETypes, outer.AllowMIMETypes),
	}
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return plain.SameName(x, y) })
	})
}

// Allows reports whether a picture made by an action is shown.
func (p VisionContextPolicy) Allows(a action.Action, o media.Output) bool {
	return p.Enabled && slices.Contains(p.AllowMIMETypes, o.MIMEType) &&
		slices.ContainsFunc(p.AllowedSources, func(s string) bool {
			return plain.SameName(s, a.Name) || slices.ContainsFunc(a.Tags, func(t string) bool { return plain.SameName(s, t) })
		})
}

// visionContext reads a policy.
func (r *reader) visionContext(d *Agent, n *yaml.Node) {
	p, bytes := &d.VisionContext, 0
	r.fields(n, map[string]func(*yaml.Node){
		"enabled":         r.flag(&p.Enabled, "true", "true", "false"),
		"max_images":      r.number(&p.MaxImages, 1, maxVisionImages),
		"max_total_bytes": r.number(&bytes, 1, maxVisionBytes),
		"turns_to_live":   r.number(&p.TurnsToLive, 1, MaxTurns),
		"allowed_sources": func(e *yaml.Node) { r.texts(&p.AllowedSources)(e); d.sourcesAt = r.each(e) },
		"allow_mime_types": func(e *yaml.Node) {
			p.AllowMIMETypes = nil
			r.texts(&p.AllowMIMETypes)(e)
			for _, t := range p.AllowMIMETypes {
				if !strings.HasPrefix(t, "image/") {
					r.fail(e, "allow_mime_types: %q is not an image type: use types such as image/png", plain.Clip(t, 40))
				}
			}
		},
	})
	if bytes > 0 {
		p.MaxTotalBytes = int64(bytes)
	}
}

// unknownSources finds allowed sources that are neither the name nor a tag of an action.
func (d *Agent) unknownSources(known []string) (problems []Problem) {
	for i, s := range d.VisionContext.AllowedSources {
		if slices.ContainsFunc(known, func(k string) bool { return plain.SameName(k, s) }) {
			continue
		}
		problems = append(problems, problemAt(d.sourcesAt[i], "allowed_sources: %q is neither an action nor a tag of one", plain.Clip(s, 60)))
	}
	return problems
}
