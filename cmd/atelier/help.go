package main

import (
	"github.com/alecthomas/kong"

	"atelier/media"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command: runs show."`
}

// Run prints what --help of a command prints.
func (c *helpCmd) Run(k *kong.Context) error {
	about, err := kong.Trace(k.Kong, c.Command)
	if err == nil {
		err = about.Error
	}
	if err == nil {
		err = about.PrintUsage(false)
	}
	if err != nil {
		return media.Errorf(media.CodeInvalid, "help: %w (see `atelier --help`)", err)
	}
	return nil
}
