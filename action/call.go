package action

import "atelier/media"

// Text returns a string parameter, or "" if it was not given.
func (c *Call) Text(name string) string {
	s, _ := c.Params[name].(string)
	return s
}

// Int returns an integer parameter, or 0 if it was not given.
func (c *Call) Int(name string) int {
	f, _ := asNumber(c.Params[name])
	return int(f)
}

// Number returns a number parameter, or 0 if it was not given.
func (c *Call) Number(name string) float64 {
	f, _ := asNumber(c.Params[name])
	return f
}

// Bool returns a boolean parameter, or false if it was not given.
func (c *Call) Bool(name string) bool {
	b, _ := asBool(c.Params[name])
	return b
}

// Has reports whether the parameter was given or has a default.
func (c *Call) Has(name string) bool { return c.Params[name] != nil }

// Given reports whether the caller passed the parameter; a default does not count.
func (c *Call) Given(name string) bool {
	for n, v := range c.given {
		if nameKey(n) == nameKey(name) {
			return !missing(v)
		}
	}
	return false
}

// Items returns the media of a Binary parameter, scalar or array.
func (c *Call) Items(name string) []media.Output {
	switch v := c.Params[name].(type) {
	case media.Output:
		return []media.Output{v}
	case []media.Output:
		return v
	}
	return nil
}

// Change changes how the run shows an item, at once and again when a journal replays the call. It returns false for an
// unknown ref.
func (c *Call) Change(ch media.Change) (media.Output, bool) {
	o, ok := c.Media.Apply(ch)
	if ok {
		c.changes = append(c.changes, ch)
	}
	return o, ok
}
