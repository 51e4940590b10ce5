package main

import (
	"context"
	"errors"

	"atelier"
	"atelier/generate"
	"atelier/run"
)

// app is what a command works with.
type app struct{ *atelier.Atelier }

// stores are the records and bytes, for commands that ask no model.
type stores struct{ *atelier.Stores }

// stores are what the app keeps.
func (a *app) stores() *stores { return &stores{a.Stores} }

// appConfig is what a command adds to the environment.
type appConfig struct {
	// events is told how generations proceed; may be nil.
	events func(ctx context.Context, e generate.Event)
	// sources are what its runs may read.
	sources atelier.Sources
	// partials asks for preview frames, which some providers bill.
	partials bool
	// takeOver takes up runs whose processes ended; alone uses no engine, so that runs end
	// with the process.
	takeOver, alone bool
}

// withApp opens everything, runs fn and closes it.
func (w *world) withApp(c appConfig, fn func(*app) error) (err error) {
	cfg, err := atelier.ConfigFromEnv(w.env)
	if err != nil {
		return err
	}
	cfg.Owner, cfg.OnGeneration, cfg.Sources, cfg.Partials, cfg.TakeOver, cfg.WithoutEngine = owner, c.events, c.sources, c.partials, c.takeOver, c.alone
	a, err := atelier.Open(w.ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(&app{a})
}

// withRuns opens everything with the service of runs, runs fn and closes it.
func (w *world) withRuns(c appConfig, fn func(*app, *run.Service) error) error {
	return w.withApp(c, func(a *app) error {
		runs, err := a.Runs(w.ctx)
		if err != nil {
			return err
		}
		return fn(a, runs)
	})
}

// withStores opens the data folder, runs fn and closes it.
func (w *world) withStores(fn func(*stores) error) (err error) {
	cfg, err := atelier.ConfigFromEnv(w.env)
	if err != nil {
		return err
	}
	s, err := atelier.OpenStores(w.ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(&stores{s})
}

// owner is the person of the command line.
const owner = "local"
