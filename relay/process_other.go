//go:build !unix

package relay

import (
	"errors"
	"os"
	"os/exec"
)

const supported = false

func lock(*os.File) error { return errors.ErrUnsupported }

func unlocked(*os.File) error { return errors.ErrUnsupported }

func apart(*exec.Cmd) {}
