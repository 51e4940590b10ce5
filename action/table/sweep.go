package table

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// folderPrefix is the prefix of folders of temporary databases; the process id follows it.
	folderPrefix = "atelier-tables-"
	// staleAge is the age from which the folder of a dead process is removed.
	staleAge = 24 * time.Hour
)

// sweep removes the folders of killed processes. It ignores folders that it cannot read or remove.
func sweep(parent string, now time.Time) {
	if parent == "" {
		parent = os.TempDir()
	}
	folders, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*")) // the pattern is well formed
	for _, folder := range folders {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < staleAge || inUse(filepath.Base(folder)) {
			continue
		}
		_ = os.RemoveAll(folder) // fails for another user's folder
	}
}

// inUse reports whether the process in a folder's name is alive.
func inUse(name string) bool {
	id, _, _ := strings.Cut(strings.TrimPrefix(name, folderPrefix), "-")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil // on Windows, a dead process has no handle
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
