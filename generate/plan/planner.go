package plan

import (
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/imaging"
)

// Config sets up a [Planner].
type Config struct {
	// Drivers are asked whether they are ready, and review tasks; at least one.
	Drivers []driver.Driver
	// Catalogue knows the models.
	Catalogue *catalog.Catalog
	// DefaultModel answers requests that name no model, where it makes what is asked for; empty
	// means what the request prefers, then the first provider that is ready.
	DefaultModel string
	// Fallback is the Fallback of requests that name neither a model nor a chain of their own.
	Fallback []string
	// Partials asks for preview frames.
	Partials bool
	// Storage has the pictures of requests and takes converted ones; nil means that none is
	// converted.
	Storage generate.Storage
	// Limits bound a picture; the zero value means imaging's defaults.
	Limits imaging.Limits
	// Now is the clock.
	Now func() time.Time
}

// Planner works out what requests would do: which model answers, with which settings, in how many
// calls and for how much. It makes no provider call. It is safe for concurrent use.
type Planner struct {
	config  Config
	drivers map[string]driver.Driver // by provider
}

// New makes a planner. Its error has code media.CodeInvalid.
func New(c Config) (*Planner, error) {
	if len(c.Drivers) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers is empty: give at least one driver")
	}
	pl := &Planner{config: c, drivers: map[string]driver.Driver{}}
	for _, d := range c.Drivers {
		p := d.Provider()
		if _, twice := pl.drivers[p]; twice {
			return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers has two drivers for %s: leave one out", p)
		}
		pl.drivers[p] = d
	}
	return pl, nil
}

// Driver is that of a provider; nil if there is none.
func (pl *Planner) Driver(provider string) driver.Driver { return pl.drivers[provider] }
