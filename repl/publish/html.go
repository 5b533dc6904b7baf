package publish

import (
	_ "embed" // the style
	"fmt"
	"go/scanner"
	"go/token"
	"html"
	"io"
	"strings"
	"time"
)

//go:embed style.css
var style string

// WriteHTML writes one file that needs no other: style and pictures are in it.
func WriteHTML(w io.Writer, d Document) error {
	var b strings.Builder
	title := d.Title
	if title == "" {
		title = "tpush notebook"
	}
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n",
		html.EscapeString(title), style, html.EscapeString(title))
	for _, c := range d.Cells {
		c.writeHTML(&b)
	}
	if len(d.Pictures) > 0 {
		b.WriteString("<h2>Panels</h2>\n")
	}
	for _, p := range d.Pictures {
		fmt.Fprintf(&b, "<details open>\n<summary>%s</summary>\n%s</details>\n", html.EscapeString(p.Name), p.SVG)
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Cell) writeHTML(b *strings.Builder) {
	if c.Title != "" {
		fmt.Fprintf(b, "<h2>%s</h2>\n", html.EscapeString(c.Title))
	}
	o := c.Output
	label := ""
	if o.Count > 0 {
		label = fmt.Sprintf("In[%d]", o.Count)
	}
	fmt.Fprintf(b, "<section class=\"cell\">\n<div class=\"label\">%s</div>\n<pre class=\"in\">%s</pre>\n", label, highlight(c.Source))
	for _, part := range []struct{ class, text string }{{"out", plain(o.Stdout)}, {"err", plain(o.Stderr)}, {"value", o.Data["text/plain"]}, {"error", strings.Join(o.Error, "\n")}} {
		if part.text == "" {
			continue
		}
		label := ""
		if part.class == "value" && o.Count > 0 {
			label = fmt.Sprintf("Out[%d]", o.Count)
		}
		fmt.Fprintf(b, "<div class=\"label\">%s</div>\n<pre class=\"%s\">%s</pre>\n", label, part.class, html.EscapeString(strings.TrimRight(part.text, "\n")))
	}
	if foot := c.footer(); foot != "" {
		fmt.Fprintf(b, "<div class=\"label\"></div>\n<div class=\"foot\">%s</div>\n", html.EscapeString(foot))
	}
	b.WriteString("</section>\n")
}

// footer says what the cell cost: simulated time of the device, apart from the
// time that passed here.
func (c Cell) footer() string {
	o := c.Output
	var parts []string
	if o.WallNS > 0 {
		parts = append(parts, "host "+time.Duration(o.WallNS).Round(10*time.Microsecond).String())
	}
	if o.DeviceNS > 0 {
		parts = append(parts, "simulated device "+time.Duration(o.DeviceNS).String())
	}
	if o.Launches > 0 {
		unit := "launches"
		if o.Launches == 1 {
			unit = "launch"
		}
		parts = append(parts, fmt.Sprintf("%d %s", o.Launches, unit))
	}
	if o.HBMDeltaBytes != 0 {
		parts = append(parts, fmt.Sprintf("HBM %+d bytes", o.HBMDeltaBytes))
	}
	return strings.Join(parts, "  ")
}

// plain resolves what a terminal would do with a progress line, and drops
// colours.
func plain(s string) string {
	if !strings.ContainsAny(s, "\r\x1b") {
		return s
	}
	var out strings.Builder
	for line := range strings.Lines(s) {
		end := ""
		if strings.HasSuffix(line, "\n") {
			line, end = strings.TrimSuffix(line, "\n"), "\n"
		}
		line = strings.TrimRight(line, "\r")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		out.WriteString(noEscapes(line) + end)
	}
	return out.String()
}

// noEscapes drops escape sequences.
func noEscapes(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			out.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '[' {
			for i += 2; i < len(s) && (s[i] < '@' || s[i] > '~'); i++ {
			}
			continue
		}
		i++
	}
	return out.String()
}

// highlight writes Go, or a command, as HTML with a class for each kind of token.
func highlight(src string) string {
	if s := strings.TrimSpace(src); strings.HasPrefix(s, ":") || strings.HasPrefix(s, "?") {
		return `<span class="c">` + html.EscapeString(src) + "</span>"
	}
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(f, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var out strings.Builder
	at := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		from := f.Offset(pos)
		text := lit
		if text == "" || tok == token.SEMICOLON && lit == "\n" {
			text = tok.String()
		}
		if tok == token.SEMICOLON && lit != ";" || from < at || from+len(text) > len(src) {
			continue // put in by the scanner
		}
		out.WriteString(html.EscapeString(src[at:from]))
		at = from + len(text)
		if class := classOf(tok); class != "" {
			fmt.Fprintf(&out, `<span class="%s">%s</span>`, class, html.EscapeString(src[from:at]))
			continue
		}
		out.WriteString(html.EscapeString(src[from:at]))
	}
	out.WriteString(html.EscapeString(src[at:]))
	return out.String()
}

func classOf(t token.Token) string {
	switch {
	case t == token.COMMENT:
		return "c"
	case t == token.STRING || t == token.CHAR:
		return "s"
	case t == token.INT || t == token.FLOAT || t == token.IMAG:
		return "n"
	case t.IsKeyword():
		return "k"
	}
	return ""
}
