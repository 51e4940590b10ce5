package main

import "runtime"

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c *versionCmd) Run(w *world) error {
	if c.JSON {
		return w.printJSON(map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	w.line("atelier %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
