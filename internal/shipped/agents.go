package shipped

import (
	"os"

	"atelier/agent/definition"
	"atelier/agents"
	"atelier/media"
)

// Definitions loads the shipped agents and those of a folder; empty means no folder. The error
// contains every problem with its position.
func Definitions(dir string) (*definition.Set, error) {
	folders := []definition.Folder{Agents()}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, media.Errorf(media.CodeInvalid, "--agents %s is not a folder that can be read", dir)
		}
		folder, _, err := definition.Locate(dir)
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "--agents: %w", err)
		}
		folders = append(folders, folder)
	}
	return definition.LoadFolders(folders...)
}

// Folder is the display name of the shipped definitions.
const Folder = "(shipped)"

// Agents returns the definitions that are shipped with Atelier.
func Agents() definition.Folder { return definition.Folder{Name: Folder, Files: agents.FS()} }
