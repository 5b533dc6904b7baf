// Package plugin finds and fetches the libraries that package pjrt runs: a
// table of known plug-ins, the package index they come from, and the folder
// they are kept in.
//
// It loads none of them: a probe in another process does. It imports
// atomicfile. Invariant: a library in the folder is whole and is the file
// whose checksum its manifest gives.
package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpush/tpush/repl/store/atomicfile"
)

// A Known is one plug-in that can be fetched.
type Known struct {
	Name    string // cpu, tpu
	Device  string // as :device calls it
	Project string // on the package index
	Version string
	Wheel   string // file name
	SHA256  string // of the wheel
	Bytes   int64  // of the wheel
	Member  string // the library in it
	Licence string
	Terms   string // what whoever fetches it agrees to, "" when the licence says it all
	Env     string // a variable of others that names the library, beside EnvName; "" for none
}

// known is the table.
var known = []Known{
	{
		Name: "cpu", Device: "xla:cpu", Project: "lammps-jax-pjrt-cpu", Version: "0.11.2",
		Wheel:  "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
		SHA256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1", Bytes: 62711338,
		Member: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", Licence: "Apache-2.0",
	},
	{
		Name: "tpu", Device: "tpu", Project: "libtpu", Version: "0.0.52",
		Wheel:  "libtpu-0.0.52-cp311-cp311-manylinux_2_31_x86_64.whl",
		SHA256: "f5e2e596eaea9357fbb5a6755a7a9007c6ab75bfde4a55191b03eff402971140", Bytes: 137064406,
		Member: "libtpu/libtpu.so", Licence: "Google Cloud Platform Terms of Service",
		Env:   "TPU_LIBRARY_PATH",
		Terms: "libtpu is Google's, under the Google Cloud Platform Terms of Service (https://cloud.google.com/terms). It is fetched from the index by you, for you; tpush does not distribute it.",
	},
}

// All lists the known plug-ins.
func All() []Known { return slices.Clone(known) }

// Lookup finds a known plug-in by its name.
func Lookup(name string) (Known, error) {
	var names []string
	for _, k := range known {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Known{}, &UnknownError{name, names}
}

// An UnknownError is the name of a plug-in that is not in the table.
type UnknownError struct {
	Name  string
	Names []string
}

// Error lists the names there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no plug-in %q, there are %s", e.Name, strings.Join(e.Names, ", "))
}

// A MissingError says that a plug-in is not installed.
type MissingError struct{ Name string }

// Error says how to get it.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s plug-in is not installed: tpush plugin add %s", e.Name, e.Name)
}

// A Manifest says what a library in the folder is.
type Manifest struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // "" for a file the user gave
	Source  string `json:"source"`            // address or path it came from
	SHA256  string `json:"sha256"`            // of the library
	Bytes   int64  `json:"bytes"`
	Licence string `json:"licence,omitempty"`
}

// An Installed is a plug-in that can be used.
type Installed struct {
	Manifest
	Path string // of the library
	Env  string // the environment variable that names it, "" for one of the folder
}

// A Folder is where plug-ins are kept: one folder each.
type Folder struct {
	Dir string
	Env func(string) string
}

// Here is the folder of this user: $XDG_DATA_HOME/tpush/plugins.
func Here(env func(string) string) Folder {
	base := env("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(env("HOME"), ".local", "share")
	}
	return Folder{filepath.Join(base, "tpush", "plugins"), env}
}

// EnvName is the variable that names a library to use instead of the folder's:
// TPUSH_XLA_CPU.
func EnvName(name string) string { return "TPUSH_XLA_" + strings.ToUpper(name) }

const (
	manifestFile = "manifest.json"
	libraryFile  = "plugin.so"
)

// Find gives the plug-in of a name. The error is a *MissingError when there is none.
func (f Folder) Find(name string) (Installed, error) {
	k, err := Lookup(name)
	if err != nil {
		return Installed{}, err
	}
	for _, env := range []string{EnvName(name), k.Env} {
		if env == "" || f.Env(env) == "" {
			continue
		}
		path := f.Env(env)
		info, err := os.Stat(path)
		if err != nil {
			return Installed{}, fmt.Errorf("%s: %w", env, err)
		}
		// The whole library is not read for its checksum at every start: size and time tell builds apart.
		id := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
		return Installed{Manifest{Name: name, Source: path, SHA256: hex.EncodeToString(id[:]), Bytes: info.Size()}, path, env}, nil
	}
	dir := filepath.Join(f.Dir, name)
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, os.ErrNotExist) {
		return Installed{}, &MissingError{name}
	}
	if err != nil {
		return Installed{}, err
	}
	in := Installed{Path: filepath.Join(dir, libraryFile)}
	if err := json.Unmarshal(b, &in.Manifest); err != nil {
		return Installed{}, fmt.Errorf("%s: %w", filepath.Join(dir, manifestFile), err)
	}
	if info, err := os.Stat(in.Path); err != nil || info.Size() != in.Bytes {
		return Installed{}, &DamagedError{name, in.Path}
	}
	return in, nil
}

// A DamagedError says that a library is not what was installed.
type DamagedError struct{ Name, Path string }

// Error says how to mend it.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is not the file that was installed: tpush plugin add %s", e.Path, e.Name)
}

// List gives what is installed.
func (f Folder) List() []Installed {
	var all []Installed
	for _, k := range known {
		if in, err := f.Find(k.Name); err == nil {
			all = append(all, in)
		}
	}
	return all
}

// Remove takes a plug-in out of the folder. It is a *MissingError when it is not there.
func (f Folder) Remove(name string) error {
	if _, err := Lookup(name); err != nil {
		return err
	}
	dir := filepath.Join(f.Dir, name)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return &MissingError{name}
	}
	return os.RemoveAll(dir)
}

// Install keeps the library that r gives. The manifest is written last, so
// what a crash leaves behind is not installed.
func (f Folder) Install(m Manifest, r io.Reader) (Installed, error) {
	dir := filepath.Join(f.Dir, m.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Installed{}, err
	}
	path := filepath.Join(dir, libraryFile)
	sum := sha256.New()
	n, err := atomicfile.Write(path, 0o755, func(w io.Writer) error {
		_, err := io.Copy(io.MultiWriter(w, sum), r)
		return err
	})
	if err != nil {
		return Installed{}, err
	}
	m.Bytes, m.SHA256 = n, hex.EncodeToString(sum.Sum(nil))
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return Installed{}, err
	}
	_, err = atomicfile.Write(filepath.Join(dir, manifestFile), 0o644, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	return Installed{m, path, ""}, err
}
