package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// readCatalogue reads the shipped models and those of the operator: a file, or each file
// of a folder that ends in .yaml or .yml, by name. Empty means the shipped ones alone.
func readCatalogue(path string) (*generate.Catalogue, error) {
	if path == "" {
		return generate.LoadCatalogue()
	}
	files, err := catalogueFiles(path)
	if err != nil {
		return nil, err
	}
	var readers []io.Reader
	for _, name := range files {
		b, err := os.ReadFile(name) //nolint:gosec // the operator names it
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "read ATELIER_CATALOGUE: %w", err)
		}
		readers = append(readers, strings.NewReader(string(b)))
	}
	c, err := generate.LoadCatalogue(readers...)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read ATELIER_CATALOGUE (%s): %w", path, err)
	}
	return c, nil
}

// catalogueFiles lists the files of a path.
func catalogueFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, media.Errorf(media.CodeInvalid, "ATELIER_CATALOGUE: %w: name a YAML file or a folder of them", err)
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read ATELIER_CATALOGUE: %w", err)
	}
	var files []string
	for _, e := range entries {
		if ext := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && slices.Contains([]string{".yaml", ".yml"}, ext) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}
