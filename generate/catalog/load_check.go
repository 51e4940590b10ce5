package catalog

import (
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/money"
	"atelier/media"
)

// check builds the index and proves that the rows make sense.
func (c *Catalog) check() error {
	for _, m := range c.rows {
		if err := m.check(); err != nil {
			return err
		}
	}
	for _, e := range c.endpoints {
		if err := c.checkReach(e); err != nil {
			return err
		}
	}
	if err := c.name(); err != nil {
		return err
	}
	for _, m := range c.rows {
		if err := c.checkLife(m); err != nil {
			return err
		}
	}
	return nil
}

// checkLife proves that every chain of successors ends at a row.
func (c *Catalog) checkLife(m Model) error {
	seen := []string{m.APIModel}
	for at := m; at.Life.ReplacedBy != ""; {
		next, ok := c.Of(at.Provider, at.Life.ReplacedBy)
		switch {
		case !ok:
			return at.bad("life.replaced_by", "there is no model %q of this provider", at.Life.ReplacedBy)
		case slices.Contains(seen, next.APIModel):
			return m.bad("life.replaced_by", "the successors go round in a circle")
		}
		seen, at = append(seen, next.APIModel), next
	}
	return nil
}

// bad makes the error of one field of a row.
func (m Model) bad(field, format string, args ...any) error {
	e := media.Errorf(media.CodeInvalid, format, args...)
	name := m.Name
	if name == "" {
		name = m.APIModel
	}
	return media.Errorf(media.CodeInvalid, "model catalogue %s, model %q, %s: %s", m.Provider, name, field, e.Message)
}

// known lists the words that a field may hold.
func known() map[string][]string {
	return map[string][]string{
		"methods":  {string(generate.MethodGenerate), string(generate.MethodEdit), string(generate.MethodVariation)},
		"modality": {string(media.ModalityImage), string(media.ModalityAudio), string(media.ModalityVideo), string(media.ModalityDocument)},
		"mask":     {"", "none", "alpha0", "white", "black"},
		"mode":     {"enum", "free", "tier", "ratio", "none"},
		"supports": {"seed", "negative_prompt", "style", "stream", "background", "compression", "moderation", "speed"},
		"unit": {
			"image", "megapixel", "megapixel_first", "megapixel_more", "megapixel_in", "token_text_in", "token_image_in",
			"token_image_out", "token_text_out", "second", "character", "credit",
		},
	}
}

func (m Model) check() error {
	words := known()
	field := func(name, value string) error {
		if !slices.Contains(words[name], value) {
			return m.bad(name, "%q is none of %q", value, words[name])
		}
		return nil
	}
	var errs []error
	if m.Name == "" || m.APIModel == "" || m.Provider == "" {
		errs = append(errs, m.bad("name", "provider, name and api_model must be set"))
	}
	if len(m.Methods) == 0 {
		errs = append(errs, m.bad("methods", "name at least one"))
	}
	errs = append(errs, field("modality", string(m.Modality)), field("mask", m.Mask), field("mode", m.Size.Mode), m.checkSize(), m.checkCount())
	for _, x := range m.Methods {
		errs = append(errs, field("methods", string(x)))
	}
	errs = append(errs, m.checkEdits(), m.checkRules(), m.checkActs(), m.checkFlags())
	for _, x := range m.Supports {
		errs = append(errs, field("supports", x))
	}
	for _, p := range m.Prices {
		errs = append(errs, field("unit", p.Unit))
		if _, ok := money.Parse(p.USD); !ok {
			errs = append(errs, m.bad("prices", "%q is not an amount in dollars", p.USD))
		}
		if _, err := time.Parse(time.DateOnly, p.Until); p.Until != "" && err != nil {
			errs = append(errs, m.bad("prices", "until %q is not a day: write YYYY-MM-DD", p.Until))
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCount proves that a call gives something, and a grid no less than is asked of it, and
// that there are calls at all.
func (m Model) checkCount() error {
	if m.MaxN < 1 {
		return m.bad("max_n", "must be at least 1")
	}
	if m.Concurrency < 0 || m.PerMinute < 0 {
		return m.bad("per_minute", "it and concurrency must not be negative; leave them out for no limit of yours")
	}
	if m.Grid != 0 && m.Grid < m.MaxN {
		return m.bad("grid", "must be at least max_n, or left out")
	}
	return nil
}

// checkEdits proves that what takes pictures says how many, and that only variations
// are made out of edits.
func (m Model) checkEdits() error {
	edits := slices.Contains(m.Methods, generate.MethodEdit)
	for _, x := range m.Emulates {
		if x != generate.MethodVariation || !edits || slices.Contains(m.Methods, x) {
			return m.bad("emulates", "only a variation can be emulated, and only by a model that edits and has no variations of its own")
		}
	}
	switch {
	case m.MaxInputs < 1 && (edits || slices.Contains(m.Methods, generate.MethodVariation)):
		return m.bad("max_inputs", "must be at least 1 where methods has edit or variation")
	case m.MaxInputs < 0 || m.MaxInputBytes < 0 || m.MaxInputPixels < 0 || m.MaxMaskBytes < 0:
		return m.bad("max_inputs", "limits must not be negative")
	}
	for _, t := range m.InputTypes {
		if !IsRaster(t) {
			return m.bad("input_types", "%q is none of the types that can be made: image/png, image/jpeg, image/webp, image/gif, image/bmp", t)
		}
	}
	return nil
}

func (m Model) checkSize() error {
	s := m.Size
	switch s.Mode {
	case "enum":
		if len(s.Values) == 0 {
			return m.bad("size.values", "an enum needs values")
		}
		for _, v := range s.Values {
			if _, err := ParseSize(v); err != nil {
				return m.bad("size.values", "%s", err)
			}
		}
	case "free":
		if s.MinSide < 1 || s.MaxSide < s.MinSide || s.Step < 1 || s.MaxPixels > 0 && s.MaxPixels < s.MinPixels || s.MaxRatio != 0 && s.MaxRatio < 1 {
			return m.bad("size", "a free size needs step, min_side and max_side, the least first")
		}
	case "ratio":
		if s.MaxRatio < 1 {
			return m.bad("size.max_ratio", "a size by ratio needs the largest ratio, at least 1")
		}
	case "tier":
		return m.checkTable()
	}
	return nil
}

// checkTable proves that the table has a size for each tier and ratio.
func (m Model) checkTable() error {
	if len(m.Size.Ratios) == 0 {
		return m.bad("size.ratios", "a tiered size needs ratios")
	}
	tiers := m.Size.Tiers
	if len(tiers) == 0 {
		tiers = []string{""}
	}
	for _, t := range tiers {
		for _, r := range m.Size.Ratios {
			if _, err := ParseRatio(r); err != nil {
				return m.bad("size.ratios", "%s", err)
			}
			if _, err := ParseSize(m.Size.Table[t][r]); err != nil {
				return m.bad("size.table", "tier %q, ratio %s: %s", t, r, err)
			}
		}
	}
	return nil
}
