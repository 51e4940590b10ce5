package generate

import (
	"encoding/json"
	"maps"
	"unicode/utf8"

	"atelier/wire"
)

// clean takes everything out of an answer that might be media in a text, before a
// journal, a log or a result sees it (law 1), and counts that cannot be.
func (u Update) clean() Update {
	u.Metadata = cleanMap(u.Metadata)
	items := make([]Item, 0, len(u.Items))
	for _, it := range u.Items {
		it.RevisedPrompt, it.Text = wire.NameMedia(it.RevisedPrompt), wire.NameMedia(it.Text)
		it.DeclaredMIME, it.Offers = clip(it.DeclaredMIME), cleanOffers(it.Offers)
		if it.Err != nil {
			it.Err = asError(it.Err)
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
	var counted Usage // without counts below zero
	counted.Add(u.Usage)
	u.Usage = counted
	return u
}

// cleanMap gives a copy of JSON values only, without media. What JSON cannot hold is
// left out.
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
			out[wire.NameMedia(k)] = cleanValue(plain)
		}
	}
	return out
}

func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return wire.NameMedia(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[wire.NameMedia(k)] = cleanValue(x)
		}
		return out
	}
	return v
}

// withoutMedia names media that stands as text in what a request says: a model takes
// pictures as inputs. A prompt that is too long for any model stays, to be refused.
func (r Request) withoutMedia() Request {
	for _, s := range []*string{&r.Prompt, &r.NegativePrompt, &r.Style, &r.Quality, &r.Background, &r.Moderation} {
		if s != &r.Prompt || utf8.RuneCountInString(r.Prompt) <= maxPrompt {
			*s = wire.NameMedia(*s)
		}
	}
	options := make(map[string]map[string]any, len(r.Options))
	for provider, of := range r.Options {
		options[provider] = maps.Clone(of)
		for name, v := range of {
			if s, ok := v.(string); ok {
				options[provider][name] = wire.NameMedia(s)
			}
		}
	}
	if len(options) > 0 {
		r.Options = options
	}
	return r
}
