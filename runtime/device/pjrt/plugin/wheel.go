package plugin

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxLibraryBytes bounds what is unpacked: a wheel that claims more is no plug-in.
const maxLibraryBytes = 4 << 30

// A WheelError says why a file is no wheel with the wanted library.
type WheelError struct{ Path, Why string }

// Error names the file.
func (e *WheelError) Error() string { return e.Path + ": " + e.Why }

// InstallFile installs a plug-in from a file of the user: a wheel, or the library itself.
func (f Folder) InstallFile(k Known, file string) (Installed, error) {
	m := Manifest{Name: k.Name, Source: file}
	if abs, err := filepath.Abs(file); err == nil {
		m.Source = abs
	}
	if strings.HasSuffix(file, ".whl") {
		return f.installWheel(k, m, file)
	}
	r, err := os.Open(file)
	if err != nil {
		return Installed{}, err
	}
	defer r.Close()
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:]) != "\x7fELF" {
		return Installed{}, &WheelError{file, "neither a wheel nor a shared library"}
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Installed{}, err
	}
	return f.Install(m, r)
}

// installWheel unpacks the one library of a wheel. A wheel of another version
// may keep it elsewhere: the base name decides.
func (f Folder) installWheel(k Known, m Manifest, file string) (Installed, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return Installed{}, &WheelError{file, "no wheel: " + err.Error()}
	}
	defer z.Close()
	var found *zip.File
	for _, e := range z.File {
		if e.Name == k.Member || found == nil && path.Base(e.Name) == path.Base(k.Member) {
			found = e
		}
		if name, ok := strings.CutSuffix(e.Name, ".dist-info/METADATA"); ok {
			_, m.Version, _ = strings.Cut(name, "-")
		}
	}
	if found == nil {
		return Installed{}, &WheelError{file, "there is no " + path.Base(k.Member) + " in it"}
	}
	if found.UncompressedSize64 > maxLibraryBytes {
		return Installed{}, &WheelError{file, fmt.Sprintf("a library of %d bytes", found.UncompressedSize64)}
	}
	r, err := found.Open()
	if err != nil {
		return Installed{}, &WheelError{file, err.Error()}
	}
	defer r.Close()
	m.Licence = k.Licence
	return f.Install(m, io.LimitReader(r, maxLibraryBytes))
}
