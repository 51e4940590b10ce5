package main

import (
	"context"
	"errors"

	"atelier"
	"atelier/generate"
	"atelier/run"
)

// app is the open Atelier of a command.
type app struct{ *atelier.Atelier }

// stores holds the records and bytes, for commands that call no model.
type stores struct{ *atelier.Stores }

// stores returns the app's stores.
func (a *app) stores() *stores { return &stores{a.Stores} }

// appConfig holds the settings that a command adds to those of the environment.
type appConfig struct {
	// events receives the progress of generations; may be nil.
	events func(ctx context.Context, e generate.Event)
	// sources are the data and the models that its runs may use.
	sources atelier.Sources
	// partials requests preview frames, which some providers bill.
	partials bool
	// adopt adopts the runs of dead processes; withoutEngine lets runs end with the process.
	adopt, withoutEngine bool
}

// withApp opens everything, runs fn and closes it.
func (w *world) withApp(c appConfig, fn func(*app) error) (err error) {
	cfg, err := atelier.ConfigFromEnv(w.env)
	if err != nil {
		return err
	}
	cfg.Owner, cfg.OnGeneration, cfg.Sources, cfg.Partials, cfg.Adopt, cfg.WithoutEngine = owner, c.events, c.sources, c.partials, c.adopt, c.withoutEngine
	a, err := atelier.Open(w.ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(&app{a})
}

// withRuns is withApp with the run service, and the id of the run that text means; empty text means none.
func (w *world) withRuns(c appConfig, text string, fn func(a *app, runs *run.Service, id string) error) error {
	return w.withApp(c, func(a *app) error {
		runs, err := a.Runs(w.ctx)
		if err != nil {
			return err
		}
		if text != "" {
			text, err = a.stores().runID(w.ctx, text)
		}
		if err != nil {
			return err
		}
		return fn(a, runs, text)
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

// owner is the owner of the command line's runs and media.
const owner = "local"
