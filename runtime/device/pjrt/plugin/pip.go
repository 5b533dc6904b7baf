package plugin

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultIndex is the Python package index.
const defaultIndex = "https://pypi.org/simple"

// FromPip gives the index that pip would use: its configuration files, then
// its environment variables, and the system's proxy settings. What pip's
// configuration does not say is the default. warn lists what could not be used.
func FromPip(env func(string) string, read func(string) ([]byte, error)) (x Index, warn []string) {
	set := map[string]string{}
	for _, file := range pipFiles(env) {
		if b, err := read(file); err == nil {
			pipSection(string(b), set)
		}
	}
	for _, key := range []string{"index-url", "proxy", "cert", "trusted-host", "find-links"} {
		if v := env("PIP_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))); v != "" {
			set[key] = v
		}
	}
	x.URL = defaultIndex
	if v := set["index-url"]; v != "" {
		x.URL = v
	}
	for _, l := range strings.Fields(set["find-links"]) {
		if filepath.IsAbs(l) {
			x.Links = append(x.Links, l)
		}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	if v := set["proxy"]; v != "" {
		if !strings.Contains(v, "://") {
			v = "http://" + v
		}
		if u, err := url.Parse(v); err == nil {
			t.Proxy = http.ProxyURL(u)
		} else {
			warn = append(warn, "pip's proxy "+v+" is no address")
		}
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if v := set["cert"]; v != "" {
		if b, err := read(v); err == nil {
			pool := x509.NewCertPool()
			if pool.AppendCertsFromPEM(b) {
				t.TLSClientConfig.RootCAs = pool
			}
		} else {
			warn = append(warn, "pip's cert "+v+" cannot be read")
		}
	}
	if u, err := url.Parse(x.URL); err == nil && slices.Contains(strings.Fields(set["trusted-host"]), u.Host) {
		t.TLSClientConfig.InsecureSkipVerify = true // as the user told pip; the checksum is still pinned
	}
	x.Client = &http.Client{Transport: t}
	return x, warn
}

// pipFiles are pip's configuration files, the weakest first.
func pipFiles(env func(string) string) []string {
	if f := env("PIP_CONFIG_FILE"); f != "" {
		if f == os.DevNull {
			return nil
		}
		return append(pipDefaults(env), f)
	}
	return pipDefaults(env)
}

func pipDefaults(env func(string) string) []string {
	files := []string{"/etc/pip.conf"}
	home := env("HOME")
	if home == "" {
		return files
	}
	config := env("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	files = append(files, filepath.Join(home, ".pip", "pip.conf"), filepath.Join(config, "pip", "pip.conf"))
	if v := env("VIRTUAL_ENV"); v != "" {
		files = append(files, filepath.Join(v, "pip.conf"))
	}
	return files
}

// pipSection reads the [global] and [install] sections of pip's INI format: a
// value may go on in indented lines.
func pipSection(text string, set map[string]string) {
	section, key := "", ""
	in := bufio.NewScanner(strings.NewReader(text))
	for in.Scan() {
		line := in.Text()
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			section, key = strings.Trim(trimmed, "[]"), ""
		case section != "global" && section != "install":
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			set[key] += " " + trimmed
		default:
			k, v, ok := strings.Cut(trimmed, "=")
			if !ok {
				k, v, ok = strings.Cut(trimmed, ":")
			}
			if ok {
				key = strings.ReplaceAll(strings.TrimSpace(k), "_", "-")
				set[key] = strings.TrimSpace(v)
			}
		}
	}
}
