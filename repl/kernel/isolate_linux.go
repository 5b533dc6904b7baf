package kernel

import (
	"os/exec"
	"syscall"
)

// isolate puts the kernel into a process group of its own, so that Ctrl-C on
// the terminal reaches the front end only, and lets it die with the front end.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
