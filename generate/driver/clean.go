package driver

import (
	"encoding/json"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/internal/fault"
	"atelier/media/wire"
)

// Clean removes everything from an answer's texts that may be media, before a journal, a log or a result sees it (law
// 1), and removes impossible counts.
func (u Update) Clean() Update {
	u.Metadata = cleanMap(u.Metadata)
	items := make([]Item, 0, len(u.Items))
	for _, it := range u.Items {
		it.RevisedPrompt, it.Text = wire.NameMedia(it.RevisedPrompt), wire.NameMedia(it.Text)
		it.DeclaredMIME = fault.Quote(it.DeclaredMIME)
		offers := it.Offers
		it.Offers = nil
		for _, o := range offers {
			if o.ID != "" && len(o.ID)+len(o.Label) <= maxOffer && len(it.Offers) < maxOffers {
				it.Offers = append(it.Offers, catalog.Offer{ID: wire.NameMedia(o.ID), Label: wire.NameMedia(o.Label)})
			}
		}
		if it.Err != nil {
			it.Err = fault.Of(it.Err)
			it.Err.Cause = nil
		}
		if it.Safety != nil {
			s := *it.Safety
			s.Stage, s.Categories = wire.NameMedia(s.Stage), nil
			for _, c := range it.Safety.Categories {
				s.Categories = append(s.Categories, wire.NameMedia(c))
			}
			it.Safety = &s
		}
		items = append(items, it)
	}
	u.Items = items
	var counted generate.Usage // without negative counts
	counted.Add(u.Usage)
	u.Usage = counted
	return u
}

// cleanMap returns a copy with JSON values only, without media. It omits values that JSON cannot represent.
func cleanMap(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err == nil {
			out[wire.NameMedia(k)] = WithoutMedia(plain)
		}
	}
	return out
}

// WithoutMedia returns a copy of a JSON value in which media that is embedded as text is replaced with its name.
func WithoutMedia(v any) any {
	switch v := v.(type) {
	case string:
		return wire.NameMedia(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = WithoutMedia(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[wire.NameMedia(k)] = WithoutMedia(x)
		}
		return out
	}
	return v
}
