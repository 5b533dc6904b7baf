package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
)

// An Index is a package index (PEP 503 and 691).
type Index struct {
	URL    string // ends in /simple or the like
	Client *http.Client
	// Links are folders with files that are taken instead of the index's, as
	// pip's find-links.
	Links []string
}

// A NotFoundError says that the index has no such file.
type NotFoundError struct{ Index, File string }

// Error names both.
func (e *NotFoundError) Error() string { return fmt.Sprintf("%s has no %s", e.Index, e.File) }

// A ChecksumError says that a file is not the one that was asked for.
type ChecksumError struct{ File, Got, Want string }

// Error gives both sums.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s has the checksum %s, want %s: it is not used", e.File, e.Got, e.Want)
}

// A StatusError is what a server answered instead of a file.
type StatusError struct{ URL, Status string }

// Error gives both.
func (e *StatusError) Error() string { return e.URL + ": " + e.Status }

// Fetch downloads a plug-in's wheel to dst and checks it. progress is told the
// bytes so far; it may be nil.
func (x Index) Fetch(ctx context.Context, k Known, dst string, progress func(done int64)) error {
	for _, dir := range x.Links {
		if f, err := os.Open(path.Join(dir, k.Wheel)); err == nil {
			defer f.Close()
			return save(k, f, dst, progress)
		}
	}
	file, err := x.find(ctx, k)
	if err != nil {
		return err
	}
	body, _, err := x.get(ctx, file, "")
	if err != nil {
		return err
	}
	defer body.Close()
	return save(k, body, dst, progress)
}

// save writes what r gives and compares its checksum.
func save(k Known, r io.Reader, dst string, progress func(int64)) error {
	f, err := os.Create(dst)
	if err != nil {
		return err
	}
	sum, n := sha256.New(), int64(0)
	buf := make([]byte, 1<<20)
	for {
		got, rerr := r.Read(buf)
		sum.Write(buf[:got])
		if _, err := f.Write(buf[:got]); err != nil {
			f.Close()
			return err
		}
		n += int64(got)
		if progress != nil {
			progress(n)
		}
		if rerr == io.EOF {
			break
		}
		if rerr != nil {
			f.Close()
			return rerr
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != k.SHA256 {
		return &ChecksumError{k.Wheel, got, k.SHA256}
	}
	return nil
}

// find gives the address of a plug-in's wheel.
func (x Index) find(ctx context.Context, k Known) (string, error) {
	page := strings.TrimSuffix(x.URL, "/") + "/" + k.Project + "/"
	body, kind, err := x.get(ctx, page, "application/vnd.pypi.simple.v1+json, text/html;q=0.5")
	if err != nil {
		return "", err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, 64<<20))
	if err != nil {
		return "", err
	}
	var ref string
	if kind == "application/vnd.pypi.simple.v1+json" {
		ref = inJSON(b, k.Wheel)
	} else {
		ref = inHTML(b, k.Wheel)
	}
	if ref == "" {
		return "", &NotFoundError{page, k.Wheel}
	}
	base, err := url.Parse(page)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(ref)
	if err != nil {
		return "", err
	}
	u.Fragment = ""
	return u.String(), nil
}

func inJSON(b []byte, file string) string {
	var p struct {
		Files []struct{ Filename, URL string }
	}
	_ = json.Unmarshal(b, &p) // a page that is none has no files
	for _, f := range p.Files {
		if f.Filename == file {
			return f.URL
		}
	}
	return ""
}

var anchor = regexp.MustCompile(`(?is)<a\s[^>]*href\s*=\s*["']([^"']+)["'][^>]*>(.*?)</a>`)

func inHTML(b []byte, file string) string {
	for _, m := range anchor.FindAllSubmatch(b, -1) {
		if strings.TrimSpace(html.UnescapeString(string(m[2]))) == file {
			return html.UnescapeString(string(m[1]))
		}
	}
	return ""
}

func (x Index) get(ctx context.Context, address, accept string) (io.ReadCloser, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	rep, err := x.Client.Do(r)
	if err != nil {
		return nil, "", err
	}
	if rep.StatusCode != http.StatusOK {
		rep.Body.Close()
		return nil, "", &StatusError{address, rep.Status}
	}
	kind, _, _ := mime.ParseMediaType(rep.Header.Get("Content-Type"))
	return rep.Body, kind, nil
}
