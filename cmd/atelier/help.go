package main

import (
	"bytes"

	"github.com/alecthomas/kong"

	"atelier/media"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, for example runs show."`
	JSON    bool     `help:"Print one JSON object."`
}

func (c *helpCmd) Run(w *world, k *kong.Context) error {
	var text bytes.Buffer
	if w.json {
		k.Stdout = &text
	}
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
	if w.json {
		return w.printJSON(map[string]string{"help": text.String()})
	}
	return nil
}
