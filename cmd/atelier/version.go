package main

import "runtime"

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c *versionCmd) Run(w *world) error {
	return w.print(map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}, func() {
		w.line("atelier %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	})
}
