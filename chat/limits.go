package chat

import (
	"cmp"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

// ImageLimits are the limits of a model for the pictures in one request. 0 and empty mean unknown, and impose no limit.
type ImageLimits struct {
	// MaxImages is the maximum number of pictures in one request.
	MaxImages int `json:"max_images,omitempty" yaml:"max_images"`
	// MaxImageBytes limits the size of one picture, MaxTotalImageBytes that of all pictures in a request. Both are in
	// bytes before base64.
	MaxImageBytes      int64 `json:"max_image_bytes,omitempty" yaml:"max_image_bytes"`
	MaxTotalImageBytes int64 `json:"max_total_image_bytes,omitempty" yaml:"max_total_image_bytes"`
	// MaxImagePixels limits width × height, MaxImageSide each side.
	MaxImagePixels int64 `json:"max_image_pixels,omitempty" yaml:"max_image_pixels"`
	MaxImageSide   int   `json:"max_image_side,omitempty" yaml:"max_image_side"`
	// ManyImages is the number of pictures above which ManyImageSide limits their sides.
	ManyImages    int `json:"many_images,omitempty" yaml:"many_images"`
	ManyImageSide int `json:"many_image_side,omitempty" yaml:"many_image_side"`
	// MediaTypes are the accepted types; empty means PNG, JPEG, WebP and GIF.
	MediaTypes []string `json:"media_types,omitempty" yaml:"media_types"`
	// Detail means that a request can specify a level of detail for each picture: low or high.
	Detail bool `json:"detail,omitempty" yaml:"detail"`
	// ImageTokens is the rule by which the provider counts the tokens of a picture.
	ImageTokens TokenRule `json:"image_tokens,omitzero" yaml:"image_tokens"`
}

// TokenRule is a provider's formula for the tokens of one picture.
type TokenRule struct {
	// Rule is tiles, patches, area or flat; empty means unknown, which counts as 1,600 tokens.
	Rule string `json:"rule,omitempty" yaml:"rule"`
	// Side is the side length of a tile or a patch, in pixels.
	Side int `json:"side,omitempty" yaml:"side"`
	// Small is the maximum length of the longest side of a picture that counts as one tile.
	Small int `json:"small,omitempty" yaml:"small"`
	// Box and Short limit the long and the short side before anything is counted.
	Box   int `json:"box,omitempty" yaml:"box"`
	Short int `json:"short,omitempty" yaml:"short"`
	// Base is added once. Each is the number of tokens of a tile or, with the rule flat, of a picture.
	Base int64 `json:"base,omitempty" yaml:"base"`
	Each int64 `json:"each,omitempty" yaml:"each"`
	// Per is the number of pixels per token (area). Factor multiplies the number of patches.
	Per    float64 `json:"per,omitempty" yaml:"per"`
	Factor float64 `json:"factor,omitempty" yaml:"factor"`
	// Cap is the maximum count of one picture before Factor is applied.
	Cap int64 `json:"cap,omitempty" yaml:"cap"`
	// Low is the number of tokens of a picture with low detail; 0 if the detail cannot be chosen.
	Low int64 `json:"low,omitempty" yaml:"low"`
}

// UnmarshalYAML implements yaml.Unmarshaler. A rule replaces another rule as a whole.
func (t *TokenRule) UnmarshalYAML(n *yaml.Node) error {
	type plain TokenRule
	var p plain
	if err := n.Decode(&p); err != nil {
		return err
	}
	*t = TokenRule(p)
	return nil
}

// unknownImageTokens is used if a provider does not document how it counts.
const unknownImageTokens = 1600

// over returns the limits with unset ones replaced by those of d.
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

// Accepts reports whether a media type is accepted.
func (l ImageLimits) Accepts(mimeType string) bool { return slices.Contains(l.Types(), mimeType) }

// Types returns the accepted media types.
func (l ImageLimits) Types() []string {
	if len(l.MediaTypes) > 0 {
		return l.MediaTypes
	}
	return []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
}

// Tokens estimates the number of input tokens of one picture of a given size. Detail is auto, low or high. An unknown
// size counts as 1024 × 1024.
func (t TokenRule) Tokens(width, height int, detail string) int64 {
	if width <= 0 || height <= 0 {
		width, height = 1024, 1024
	}
	if detail == "low" && t.Low > 0 {
		return t.Low
	}
	w, h := float64(width), float64(height)
	if t.Small > 0 && max(w, h) <= float64(t.Small) {
		return t.Base + t.Each
	}
	// The picture is resized as the provider does it.
	if box := float64(t.Box); box > 0 && max(w, h) > box {
		w, h = w*box/max(w, h), h*box/max(w, h)
	}
	if short := float64(t.Short); short > 0 && min(w, h) > short {
		w, h = w*short/min(w, h), h*short/min(w, h)
	}
	side := float64(max(t.Side, 1))
	squares := math.Ceil(w/side) * math.Ceil(h/side)
	switch t.Rule {
	case "tiles":
		return t.Base + t.Each*int64(squares)
	case "patches":
		if most := float64(t.Cap); most > 0 && squares > most { // the picture is reduced until whole patches fit one side
			r := math.Sqrt(side * side * most / (w * h))
			r *= min(wholePart(w*r/side), wholePart(h*r/side))
			squares = max(1, min(most, math.Ceil(w*r/side-rounding)*math.Ceil(h*r/side-rounding)))
		}
		return int64(math.Ceil(squares * cmp.Or(t.Factor, 1)))
	case "area":
		return int64(min(math.Ceil(w*h/cmp.Or(t.Per, 750)), float64(cmp.Or(t.Cap, math.MaxInt32))))
	case "flat":
		return t.Each
	}
	return unknownImageTokens
}

// rounding is the tolerance for whole numbers.
const rounding = 1e-9

// wholePart returns the fraction of a length that remains after rounding down; 1 for a length below 1.
func wholePart(n float64) float64 {
	if n < 1 {
		return 1
	}
	return math.Floor(n) / n
}

// charactersPerToken is a conservative average for prose and JSON.
const charactersPerToken = 4

// EstimateTokens estimates the input tokens of a request: its text, and its pictures by the provider's own formula. The
// size of pictures in bytes does not count.
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
