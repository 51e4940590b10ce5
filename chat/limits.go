package chat

import (
	"cmp"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

// ImageLimits are what a model takes of pictures in one request. 0 and empty mean
// unknown, which bounds nothing.
type ImageLimits struct {
	// MaxImages is how many pictures one request may carry.
	MaxImages int `json:"max_images,omitempty" yaml:"max_images"`
	// MaxImageBytes bounds one picture, MaxTotalImageBytes all of a request, as bytes
	// before base64.
	MaxImageBytes      int64 `json:"max_image_bytes,omitempty" yaml:"max_image_bytes"`
	MaxTotalImageBytes int64 `json:"max_total_image_bytes,omitempty" yaml:"max_total_image_bytes"`
	// MaxImagePixels bounds width × height, MaxImageSide each of them.
	MaxImagePixels int64 `json:"max_image_pixels,omitempty" yaml:"max_image_pixels"`
	MaxImageSide   int   `json:"max_image_side,omitempty" yaml:"max_image_side"`
	// ManyImages is the number of pictures above which ManyImageSide bounds their sides.
	ManyImages    int `json:"many_images,omitempty" yaml:"many_images"`
	ManyImageSide int `json:"many_image_side,omitempty" yaml:"many_image_side"`
	// MediaTypes are the accepted types; empty means PNG, JPEG, WebP and GIF.
	MediaTypes []string `json:"media_types,omitempty" yaml:"media_types"`
	// Detail tells that a request can say how closely to look: low or high.
	Detail bool `json:"detail,omitempty" yaml:"detail"`
	// ImageTokens is how the provider counts a picture.
	ImageTokens TokenRule `json:"image_tokens,omitzero" yaml:"image_tokens"`
}

// TokenRule is a provider's formula for the tokens of one picture.
type TokenRule struct {
	// Rule is tiles, patches, area or flat; empty means unknown, counted as 1,600.
	Rule string `json:"rule,omitempty" yaml:"rule"`
	// Side is the edge of a tile or patch in pixels.
	Side int `json:"side,omitempty" yaml:"side"`
	// Small is the longest side of a picture that counts as one tile.
	Small int `json:"small,omitempty" yaml:"small"`
	// Box and Short bound the long and the short side before tiles are counted; Box also
	// before an area is.
	Box   int `json:"box,omitempty" yaml:"box"`
	Short int `json:"short,omitempty" yaml:"short"`
	// Base is added once, Each is the price of a tile, or of a picture where flat.
	Base int64 `json:"base,omitempty" yaml:"base"`
	Each int64 `json:"each,omitempty" yaml:"each"`
	// Per is how many pixels make a token (area); Factor multiplies patches.
	Per    float64 `json:"per,omitempty" yaml:"per"`
	Factor float64 `json:"factor,omitempty" yaml:"factor"`
	// Cap is the most that one picture counts before Factor.
	Cap int64 `json:"cap,omitempty" yaml:"cap"`
	// Low is what a picture of low detail counts; 0 where there is no detail to choose.
	Low int64 `json:"low,omitempty" yaml:"low"`
}

// UnmarshalYAML implements yaml.Unmarshaler: a rule replaces another as a whole.
func (t *TokenRule) UnmarshalYAML(n *yaml.Node) error {
	type plain TokenRule
	var p plain
	if err := n.Decode(&p); err != nil {
		return err
	}
	*t = TokenRule(p)
	return nil
}

// unknownImageTokens stands where a provider does not say how it counts.
const unknownImageTokens = 1600

// over fills the limits that are not set from others.
func (l ImageLimits) over(d ImageLimits) ImageLimits {
	l.MaxImages = cmp.Or(l.MaxImages, d.MaxImages)
	l.MaxImageBytes = cmp.Or(l.MaxImageBytes, d.MaxImageBytes)
	l.MaxTotalImageBytes = cmp.Or(l.MaxTotalImageBytes, d.MaxTotalImageBytes)
	l.MaxImagePixels = cmp.Or(l.MaxImagePixels, d.MaxImagePixels)
	l.MaxImageSide = cmp.Or(l.MaxImageSide, d.MaxImageSide)
	l.ManyImages = cmp.Or(l.ManyImages, d.ManyImages)
	l.ManyImageSide = cmp.Or(l.ManyImageSide, d.ManyImageSide)
	if len(l.MediaTypes) == 0 {
		l.MediaTypes = d.MediaTypes
	}
	l.Detail = l.Detail || d.Detail
	l.ImageTokens = cmp.Or(l.ImageTokens, d.ImageTokens)
	return l
}

// Accepts reports whether a media type may be sent.
func (l ImageLimits) Accepts(mimeType string) bool { return slices.Contains(l.Types(), mimeType) }

// Types lists the accepted media types.
func (l ImageLimits) Types() []string {
	if len(l.MediaTypes) > 0 {
		return l.MediaTypes
	}
	return []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
}

// Tokens estimates what one picture of this size costs in input tokens. Detail is
// auto, low or high; a size that is not known counts as 1024 × 1024.
func (t TokenRule) Tokens(width, height int, detail string) int64 {
	if width <= 0 || height <= 0 {
		width, height = 1024, 1024
	}
	if detail == "low" && t.Low > 0 {
		return t.Low
	}
	w, h := float64(width), float64(height)
	switch t.Rule {
	case "tiles":
		return t.tiles(w, h)
	case "patches":
		return int64(math.Ceil(t.patches(w, h) * cmp.Or(t.Factor, 1)))
	case "area":
		if box := float64(t.Box); box > 0 && max(w, h) > box {
			w, h = w*box/max(w, h), h*box/max(w, h)
		}
		n := math.Ceil(w * h / cmp.Or(t.Per, 750))
		if t.Cap > 0 {
			n = min(n, float64(t.Cap))
		}
		return int64(n)
	case "flat":
		return t.Each
	}
	return unknownImageTokens
}

// patches counts squares; a picture with more than Cap of them is made smaller, to a whole
// number of them on one side.
func (t TokenRule) patches(w, h float64) float64 {
	side := float64(max(t.Side, 1))
	n := math.Ceil(w/side) * math.Ceil(h/side)
	if most := float64(t.Cap); most > 0 && n > most {
		r := math.Sqrt(side * side * most / (w * h))
		across, down := w*r/side, h*r/side
		r *= min(wholePart(across), wholePart(down))
		n = max(1, min(most, math.Ceil(w*r/side-rounding)*math.Ceil(h*r/side-rounding)))
	}
	return n
}

// rounding is how far a whole number may be missed.
const rounding = 1e-9

// wholePart is what rounding down leaves of a length, which one below 1 keeps.
func wholePart(n float64) float64 {
	if n < 1 {
		return 1
	}
	return math.Floor(n) / n
}

// tiles counts squares after the picture was fitted as the provider does it.
func (t TokenRule) tiles(w, h float64) int64 {
	if t.Small > 0 && max(w, h) <= float64(t.Small) {
		return t.Base + t.Each
	}
	if box := float64(t.Box); box > 0 && max(w, h) > box {
		w, h = w*box/max(w, h), h*box/max(w, h)
	}
	if short := float64(t.Short); short > 0 && min(w, h) > short {
		w, h = w*short/min(w, h), h*short/min(w, h)
	}
	side := float64(max(t.Side, 1))
	n := math.Ceil(w/side) * math.Ceil(h/side)
	return t.Base + t.Each*int64(n)
}

// charactersPerToken is a cautious average for prose and JSON.
const charactersPerToken = 4

// EstimateTokens estimates the input tokens of a request: its text, and its pictures by
// the provider's own formula. A picture's bytes count for nothing.
func (f Profile) EstimateTokens(r Request) int64 {
	n := int64(len(r.System)) / charactersPerToken
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += int64(len(p.Text)) / charactersPerToken
			if p.Media != nil {
				n += f.ImageTokens.Tokens(p.Media.Width, p.Media.Height, p.Detail)
			}
		}
	}
	return n
}
