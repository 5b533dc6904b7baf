package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if n, err := Write(file, 0o640, text("one")); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(link, 0o644, text("two")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "two" {
		t.Errorf("through a link: %q %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions became %v %v", info, err)
	}
	boom := errors.New("boom")
	if _, err := Write(file, 0o644, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "two" {
		t.Errorf("a failed write left %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tpush-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked")
	if err := os.WriteFile(locked, []byte("x"), 0o400); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "no", "such"), locked} {
		var pe *fs.PathError
		if _, err := Write(path, 0o644, text("y")); !errors.As(err, &pe) {
			t.Errorf("%s: got %v, want a PathError", path, err)
		}
	}
	if got, _ := os.ReadFile(locked); string(got) != "x" {
		t.Errorf("a read-only file became %q", got)
	}
}
