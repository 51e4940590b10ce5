package shipped

import (
	"io/fs"
	"os"

	"atelier/agent/definition"
	"atelier/agents"
	"atelier/media"
)

// Definitions loads the shipped agents, a program's own, and those of a folder; empty means no folder. Later ones
// replace earlier ones. The error contains every problem with its position.
func Definitions(dir string, own ...fs.FS) (*definition.Set, error) {
	folders := []definition.Folder{Agents()}
	for _, files := range own {
		folders = append(folders, definition.Folder{Files: files})
	}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, media.Errorf(media.CodeInvalid, "agents: %s is not a folder that can be read", dir)
		}
		folder, _, err := definition.Locate(dir)
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "agents: %w", err)
		}
		folders = append(folders, folder)
	}
	return definition.LoadFolders(folders...)
}

// Folder is the display name of the shipped definitions.
const Folder = "(shipped)"

// Agents returns the definitions that are shipped with Atelier.
func Agents() definition.Folder { return definition.Folder{Name: Folder, Files: agents.FS()} }
