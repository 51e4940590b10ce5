//go:build unix

package relay

import (
	"os"
	"os/exec"
	"syscall"
)

const supported = true

// lock locks a file, or fails while somebody has it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlocked fails while somebody has locked a file. Of two who ask at once both are told so.
func unlocked(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }

// apart puts a process where the signals for this one do not reach it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
