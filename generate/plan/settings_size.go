package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/internal/fault"
	"atelier/media"
)

// geometry negotiates size and aspect ratio. An explicit size in pixels takes precedence over the ratio, and over a
// quality that stands for a tier; a default size over neither.
func (n *negotiation) geometry() {
	rule, size := n.model.Size, n.req.Size
	if size == "" && n.req.AspectRatio == "" {
		size = n.req.DefaultSize
	}
	ask, err := catalog.ParseSize(size)
	tier := n.tierOfQuality()
	switch {
	case n.req.Size == "" && size != "" && tier != "" && err == nil:
		n.take(rule.FitRatio(ask.Ratio(), tier))
	case size == "auto" && rule.Mode != "none" && (rule.Auto || rule.Mode != "enum"):
		n.applied("size", "auto")
		n.ratio()
	case size == "auto" || size == "" || err != nil:
		if size == "auto" {
			n.dropped("size", "auto", n.model.Name+" has one size for every picture")
		}
		n.ratio()
	case rule.Mode == "none":
		n.dropped("size", size, n.model.Name+" cannot be told a size")
		n.ratio()
	default:
		n.size(ask)
	}
}

func (n *negotiation) size(ask catalog.Sides) {
	rule := n.model.Size
	f := rule.FitSize(ask)
	n.take(f)
	reason := n.model.Name + " takes " + rule.Limits()
	switch rule.Mode {
	case "enum":
		reason = fmt.Sprintf("%s offers %s; this is the nearest ratio", n.model.Name, strings.Join(rule.Values, ", "))
	case "tier":
		reason = fmt.Sprintf("%s is sized by ratio and tier; this is %s", n.model.Name, f.Cell())
	case "ratio":
		reason = fmt.Sprintf("%s is given a ratio and chooses the pixels; it takes %s", n.model.Name, rule.Limits())
	}
	if f.Sides == ask {
		n.applied("size", ask.String())
	} else {
		n.adapted("size", ask.String(), f.Name(), reason)
	}
	if n.req.AspectRatio == "" {
		return
	}
	if r, _ := catalog.ParseRatio(n.req.AspectRatio); catalog.SameRatio(r, ask.Ratio()) {
		n.applied("aspect_ratio", n.req.AspectRatio)
		return
	}
	n.dropped("aspect_ratio", n.req.AspectRatio, "the size says otherwise, and an explicit size wins")
}

// ratio negotiates the aspect ratio if no size determines it.
func (n *negotiation) ratio() {
	rule, tier := n.model.Size, n.tierOfQuality()
	if n.req.AspectRatio == "" {
		n.task.Tier = tier
		return
	}
	ask, _ := catalog.ParseRatio(n.req.AspectRatio) // checked before
	if rule.Mode == "none" {
		n.dropped("aspect_ratio", n.req.AspectRatio, n.model.Name+" cannot be told an aspect ratio")
		return
	}
	f := rule.FitRatio(ask, tier)
	n.take(f)
	have, how := f.Sides.Ratio(), f.String()
	if f.Ratio != "" {
		have, _ = catalog.ParseRatio(f.Ratio)
		how = f.Ratio
	}
	switch {
	case catalog.SameRatio(ask, have) && f.Ratio != "":
		n.applied("aspect_ratio", f.Ratio)
	case catalog.SameRatio(ask, have) || rule.Mode == "free" && NearRatio(ask, have, rule.Step):
		n.add("aspect_ratio", n.req.AspectRatio, how, generate.OutcomeApplied, "")
	default:
		reason := n.model.Name + " takes " + rule.Limits()
		switch rule.Mode {
		case "enum":
			reason = fmt.Sprintf("%s offers %s; this is the nearest", n.model.Name, strings.Join(rule.Values, ", "))
		case "tier":
			reason = fmt.Sprintf("%s offers %s; this is the nearest", n.model.Name, strings.Join(rule.Ratios, ", "))
		}
		n.adapted("aspect_ratio", n.req.AspectRatio, how, reason)
	}
}

// NearRatio reports whether two ratios differ by less than one rounding step at a side of 1024 pixels.
func NearRatio(a, b float64, step int) bool {
	const usual = 1024
	return max(a/b, b/a)-1 < float64(step)/usual
}

// take sets the task's geometry: pixels, or ratio and tier.
func (n *negotiation) take(f catalog.Fit) {
	if f.Ratio != "" {
		n.task.AspectRatio, n.task.Tier = f.Ratio, f.Tier
		return
	}
	n.task.Width, n.task.Height = f.W, f.H
}

// Ranks of quality words, the common ones and those of the GPT Image family.
const (
	rankLow = iota
	rankMedium
	rankHigh
	rankXHigh
	rankMax
)

// qualityRank returns the rank of a quality word, in any case; false for any other word.
func qualityRank(word string) (int, bool) {
	r, ok := map[string]int{
		"low": rankLow, "medium": rankMedium, "standard": rankMedium, "high": rankHigh, "hd": rankHigh,
		"xhigh": rankXHigh, "max": rankMax,
	}[strings.ToLower(word)]
	return r, ok
}

// tierOfQuality returns the tier that the requested quality stands for on a model with tiers; empty if none.
func (n *negotiation) tierOfQuality() string {
	tiers := n.model.Size.Tiers
	if n.model.Size.Mode != "tier" || len(tiers) == 0 || n.req.Quality == "" {
		return ""
	}
	if tier, ok := spelling(tiers, n.req.Quality); ok {
		return tier
	}
	rank, ok := qualityRank(n.req.Quality)
	if !ok {
		return ""
	}
	want := []string{rankLow: "1K", rankMedium: "1K", rankHigh: "2K", rankXHigh: "4K", rankMax: "4K"}[rank]
	if slices.Contains(tiers, want) {
		return want
	}
	return tiers[len(tiers)-1]
}

// quality returns an error for a quality that no model knows, see options.
func (n *negotiation) quality() error {
	requested := n.req.Quality
	word, own := spelling(n.model.Qualities, requested)
	rank, known := qualityRank(requested)
	tier := n.tierOfQuality()
	switch {
	case requested == "":
	case own:
		n.task.Quality = word
		n.applied("quality", requested)
	case tier != "" && n.req.Size != "" && n.req.Size != "auto":
		n.dropped("quality", requested, "the size decides the tier, and an explicit size beats quality")
	case tier != "" && strings.EqualFold(tier, requested):
		n.applied("quality", tier)
	case tier != "":
		n.adapted("quality", requested, tier, n.model.Name+" has the tiers "+strings.Join(n.model.Size.Tiers, ", "))
	case known && len(n.model.Qualities) > 0:
		n.task.Quality = nearestQuality(n.model, rank)
		n.adapted("quality", requested, n.task.Quality, n.model.Name+" has the qualities "+strings.Join(n.model.Qualities, ", "))
	case strings.EqualFold(requested, "auto"):
		n.applied("quality", requested)
	case !known && !n.req.Strict && !n.planner.config.Catalogue.Has(func(m catalog.Model) bool { return m.HasQuality(requested) }):
		return media.Errorf(media.CodeInvalid, "quality %q is unknown: use low, medium, high, auto, standard or hd", fault.Quote(media.ErrorText(requested)))
	case len(n.model.Qualities) > 0:
		n.dropped("quality", requested, n.model.Name+" has the qualities "+strings.Join(n.model.Qualities, ", "))
	default:
		n.dropped("quality", requested, n.model.Name+" has no quality setting")
	}
	return nil
}

// nearestQuality returns the model's word of this rank, else the next lower one, else its lowest.
func nearestQuality(m catalog.Model, rank int) string {
	best, bestRank, lowest, lowestRank := "", -1, "", rankMax+1
	for _, q := range m.Qualities {
		r, ok := qualityRank(q)
		if !ok {
			continue
		}
		if r <= rank && r > bestRank {
			best, bestRank = q, r
		}
		if r < lowestRank {
			lowest, lowestRank = q, r
		}
	}
	return cmp.Or(best, lowest)
}
