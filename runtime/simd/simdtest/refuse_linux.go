package simdtest

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The calls of Linux 6.3 by which a process says that no page of its own may
// become executable from now on, and asks whether it has.
const (
	setMDWE  = 65 // PR_SET_MDWE
	getMDWE  = 66 // PR_GET_MDWE
	noGain   = 1  // PR_MDWE_REFUSE_EXEC_GAIN
	unasked  = 0
	noAnswer = -1
)

func mdwe() int {
	r, err := unix.PrctlRetInt(getMDWE, 0, 0, 0, 0)
	if err != nil {
		return noAnswer
	}
	return r
}

func canRefuse() bool { return mdwe() != noAnswer }

// refuse begins the process again with pages that cannot become executable:
// packages ask what they may do when they are initialized.
func refuse(t *testing.T) {
	if mdwe() != unasked {
		return
	}
	if err := unix.Prctl(setMDWE, noGain, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Fatal(syscall.Exec(os.Args[0], os.Args, os.Environ()))
}
