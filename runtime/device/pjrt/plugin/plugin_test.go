package plugin

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// library is what stands for one: its first bytes decide.
const library = "\x7fELF and so on"

func wheel(t *testing.T, member string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{member: library, "fake-1.2.dist-info/METADATA": "Name: fake\n"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func noEnv(string) string { return "" }

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestInstall(t *testing.T) {
	k, err := Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	f := Folder{t.TempDir(), noEnv}
	var me *MissingError
	if _, err := f.Find("cpu"); !errors.As(err, &me) || !strings.Contains(err.Error(), "tpush plugin add cpu") {
		t.Errorf("empty folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "fake-1.2-py3.whl")
	for _, member := range []string{k.Member, "elsewhere/" + filepath.Base(k.Member)} {
		if err := os.WriteFile(file, wheel(t, member), 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := f.InstallFile(k, file)
		if err != nil {
			t.Fatal(err)
		}
		if in.Version != "1.2" || in.SHA256 != sum([]byte(library)) || in.Bytes != int64(len(library)) {
			t.Errorf("%+v", in)
		}
	}
	in, err := f.Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(in.Path); err != nil || string(b) != library {
		t.Errorf("%q %v", b, err)
	}
	if err := os.Truncate(in.Path, 3); err != nil {
		t.Fatal(err)
	}
	var de *DamagedError
	if _, err := f.Find("cpu"); !errors.As(err, &de) {
		t.Errorf("a cut library: %v", err)
	}
	if err := f.Remove("cpu"); err != nil {
		t.Error(err)
	}
	if err := f.Remove("cpu"); !errors.As(err, &me) {
		t.Errorf("removed twice: %v", err)
	}
	if len(f.List()) != 0 {
		t.Error("something is left")
	}
}

func TestInstallRefuses(t *testing.T) {
	k, _ := Lookup("cpu")
	f, dir := Folder{t.TempDir(), noEnv}, t.TempDir()
	for name, content := range map[string][]byte{
		"text.so": []byte("hello"), "short.so": []byte("\x7fE"), "no.whl": []byte("PK no"), "other.whl": wheel(t, "x/other.so"),
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		var we *WheelError
		if _, err := f.InstallFile(k, file); !errors.As(err, &we) {
			t.Errorf("%s: got %v, want a WheelError", name, err)
		}
	}
	if _, err := f.InstallFile(k, filepath.Join(dir, "none.so")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if len(f.List()) != 0 {
		t.Error("something was installed")
	}
}

func TestEnvironmentWins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.so")
	if err := os.WriteFile(file, []byte(library), 0o644); err != nil {
		t.Fatal(err)
	}
	f := Folder{t.TempDir(), func(n string) string { return map[string]string{"TPUSH_XLA_CPU": file}[n] }}
	in, err := f.Find("cpu")
	if err != nil || in.Path != file || in.Env != "TPUSH_XLA_CPU" {
		t.Errorf("%+v %v", in, err)
	}
}

// index serves a wheel as a package index does.
func index(t *testing.T, k Known, content []byte, asHTML bool) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/simple/"+k.Project+"/", func(w http.ResponseWriter, _ *http.Request) {
		if asHTML {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<a href="/other.whl">other.whl</a><a class="x" href="../../files/%s#sha256=abc">%s</a>`, k.Wheel, k.Wheel)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		fmt.Fprintf(w, `{"files":[{"filename":"other.whl","url":"x"},{"filename":%q,"url":"/files/%s"}]}`, k.Wheel, k.Wheel)
	})
	mux.HandleFunc("/files/"+k.Wheel, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/simple/"
}

func TestFetch(t *testing.T) {
	k, _ := Lookup("cpu")
	content := wheel(t, k.Member)
	k.SHA256 = sum(content)
	for _, asHTML := range []bool{false, true} {
		x := Index{URL: index(t, k, content, asHTML), Client: http.DefaultClient}
		dst, last := filepath.Join(t.TempDir(), k.Wheel), int64(0)
		if err := x.Fetch(context.Background(), k, dst, func(n int64) { last = n }); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(dst); err != nil || !bytes.Equal(b, content) || last != int64(len(content)) {
			t.Errorf("%d bytes, told %d, %v", len(b), last, err)
		}
		wrong := k
		wrong.SHA256 = strings.Repeat("0", 64)
		var ce *ChecksumError
		if err := x.Fetch(context.Background(), wrong, dst, nil); !errors.As(err, &ce) {
			t.Errorf("another file: %v, want a ChecksumError", err)
		}
		other := k
		other.Wheel = "none.whl"
		var nf *NotFoundError
		if err := x.Fetch(context.Background(), other, dst, nil); !errors.As(err, &nf) {
			t.Errorf("no such file: %v", err)
		}
		other.Project = "nobody"
		var se *StatusError
		if err := x.Fetch(context.Background(), other, dst, nil); !errors.As(err, &se) {
			t.Errorf("no such project: %v", err)
		}
	}
	links := t.TempDir()
	if err := os.WriteFile(filepath.Join(links, k.Wheel), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (Index{Links: []string{links}}).Fetch(context.Background(), k, filepath.Join(t.TempDir(), "w"), nil); err != nil {
		t.Errorf("from a folder: %v", err)
	}
}

func TestFromPip(t *testing.T) {
	files := map[string]string{
		"/etc/pip.conf":           "[global]\nindex-url = https://site/simple\n",
		"/u/.config/pip/pip.conf": "# mine\n[list]\nindex-url = https://no\n[global]\nindex_url: https://user/simple\nfind-links =\n  /links\n  /more\nproxy = proxy:3128\ntrusted-host = user\n",
	}
	read := func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	env := map[string]string{"HOME": "/u"}
	get := func(n string) string { return env[n] }
	x, warn := FromPip(get, read)
	if x.URL != "https://user/simple" || len(x.Links) != 2 || len(warn) > 0 {
		t.Errorf("%+v %v", x, warn)
	}
	tr := x.Client.Transport.(*http.Transport)
	r, _ := http.NewRequest(http.MethodGet, "https://user/simple", http.NoBody)
	if u, err := tr.Proxy(r); err != nil || u.Host != "proxy:3128" || !tr.TLSClientConfig.InsecureSkipVerify {
		t.Errorf("proxy %v %v", u, err)
	}
	env["PIP_INDEX_URL"], env["PIP_CERT"] = "https://env/simple", "/no/cert"
	x, warn = FromPip(get, read)
	if x.URL != "https://env/simple" || len(warn) != 1 {
		t.Errorf("%+v %v", x, warn)
	}
	if x.Client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify {
		t.Error("another host is trusted")
	}
	env = map[string]string{"PIP_CONFIG_FILE": os.DevNull, "HOME": "/u"}
	if x, _ = FromPip(get, read); x.URL != defaultIndex {
		t.Errorf("without configuration: %s", x.URL)
	}
}
