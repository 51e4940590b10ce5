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
	// folderPrefix begins the names of the folders of temporary databases; the id of the process follows.
	folderPrefix = "atelier-tables-"
	// staleAge is the age from which a folder whose process is gone is removed.
	staleAge = 24 * time.Hour
)

// sweep removes the folders of processes that were killed. What cannot be read or removed stays.
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
		_ = os.RemoveAll(folder) // another user's stays
	}
}

// inUse reports whether the process that a folder is named by lives.
func inUse(name string) bool {
	id, _, _ := strings.Cut(strings.TrimPrefix(name, folderPrefix), "-")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil // on Windows there is no handle of a process that is gone
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
