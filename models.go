package atelier

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// readCatalogue reads the shipped models and those of the operator: a file, or each file
// of a folder that ends in .yaml or .yml, by name. Empty means the shipped ones alone.
func readCatalogue(path string) (*generate.Catalogue, error) {
	if path == "" {
		return generate.LoadCatalogue()
	}
	readers, err := ownFiles("ATELIER_CATALOGUE", path)
	if err != nil {
		return nil, err
	}
	c, err := generate.LoadCatalogue(readers...)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read ATELIER_CATALOGUE (%s): %w", path, err)
	}
	return c, nil
}

// readProfiles reads the shipped chat models and those of the operator.
func readProfiles(path string) (*chat.Profiles, error) {
	if path == "" {
		return chat.LoadProfiles()
	}
	readers, err := ownFiles("ATELIER_CHAT_PROFILES", path)
	if err != nil {
		return nil, err
	}
	p, err := chat.LoadProfiles(readers...)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read ATELIER_CHAT_PROFILES (%s): %w", path, err)
	}
	return p, nil
}

// ownFiles reads the file, or the YAML files of the folder, that a variable names.
func ownFiles(variable, path string) ([]io.Reader, error) {
	files, err := yamlFiles(variable, path)
	if err != nil {
		return nil, err
	}
	var readers []io.Reader
	for _, name := range files {
		b, err := os.ReadFile(name) //nolint:gosec // the operator names it
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "read %s: %w", variable, err)
		}
		readers = append(readers, strings.NewReader(string(b)))
	}
	return readers, nil
}

// yamlFiles lists the files of a path.
func yamlFiles(variable, path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, media.Errorf(media.CodeInvalid, "%s: %w: name a YAML file or a folder of them", variable, err)
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read %s: %w", variable, err)
	}
	var files []string
	for _, e := range entries {
		if ext := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && slices.Contains([]string{".yaml", ".yml"}, ext) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}
