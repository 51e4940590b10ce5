package definition

import (
	"os"
	"path/filepath"
	"slices"

	"atelier/media"
)

// Locate finds the folder of definitions that a path means, and the file in it if it is one. The
// folder has the name that it was given. Errors: media.CodeNotFound, and media.CodeInvalid for what holds no definition.
func Locate(name string) (folder Folder, file string, err error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Folder{}, "", media.Errorf(media.CodeNotFound, "%s cannot be read: give a folder or a YAML file that exists", name)
	case info.IsDir():
		entries, err := os.ReadDir(name)
		if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isYAML(e.Name()) }) {
			return Folder{}, "", media.Errorf(media.CodeInvalid, "%s holds no definition that can be read: an agent is a YAML file (NAME.yaml) with its prompt beside it", name)
		}
		return Folder{Name: name, Files: os.DirFS(name)}, "", nil
	case !isYAML(name):
		return Folder{}, "", media.Errorf(media.CodeInvalid, "%s is no definition: name the YAML file, not its prompt", name)
	}
	dir := filepath.Dir(name)
	return Folder{Name: dir, Files: os.DirFS(dir)}, filepath.Base(name), nil
}

func isYAML(name string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) }
