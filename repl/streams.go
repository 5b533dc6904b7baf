package repl

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
)

// Streams are the standard streams of the cells. They are real files, because
// os.Stdout is one: what a cell prints through fmt and what it writes to
// os.Stdout goes through the same pipe and keeps its order. A reader leads it
// to whoever listens to the cell that runs.
type streams struct {
	out, err     *os.File // what cells write to
	in           *os.File // what cells read from
	feed         *os.File // the other end of in
	mu           sync.Mutex
	listener     Output
	outEnd       chan struct{} // told when the mark of flush came through
	errEnd       chan struct{}
	asked        bool // the program may read: input is being fetched
	readersEnded sync.WaitGroup
}

// endMark goes through a pipe after the output of a cell: what came before it
// has then been delivered. No text contains it.
var endMark = []byte("\x00\xfftpush:end\xff\x00")

func newStreams() (*streams, error) {
	s := &streams{outEnd: make(chan struct{}, 1), errEnd: make(chan struct{}, 1)}
	for _, p := range []struct {
		w    **os.File
		name string
		end  chan struct{}
	}{{&s.out, "stdout", s.outEnd}, {&s.err, "stderr", s.errEnd}} {
		r, w, err := os.Pipe()
		if err != nil {
			s.close()
			return nil, err
		}
		*p.w = w
		s.readersEnded.Add(1)
		go func() {
			defer s.readersEnded.Done()
			s.copy(r, p.name, p.end)
		}()
	}
	var err error
	if s.in, s.feed, err = os.Pipe(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// copy delivers what comes through a pipe until it is closed.
func (s *streams) copy(r *os.File, name string, end chan struct{}) {
	defer r.Close()
	buf := make([]byte, 64<<10)
	var held []byte // the beginning of a mark, perhaps
	for {
		n, err := r.Read(buf)
		data := append(held, buf[:n]...)
		for {
			i := bytes.Index(data, endMark)
			if i < 0 {
				break
			}
			s.deliver(name, data[:i])
			data = data[i+len(endMark):]
			end <- struct{}{}
		}
		keep := partialMark(data)
		s.deliver(name, data[:len(data)-keep])
		held = append([]byte(nil), data[len(data)-keep:]...)
		if err != nil {
			s.deliver(name, held)
			return
		}
	}
}

// partialMark is how many bytes at the end of data may begin a mark.
func partialMark(data []byte) int {
	for n := min(len(endMark)-1, len(data)); n > 0; n-- {
		if bytes.HasSuffix(data, endMark[:n]) {
			return n
		}
	}
	return 0
}

func (s *streams) deliver(name string, data []byte) {
	if len(data) == 0 {
		return
	}
	s.mu.Lock()
	out := s.listener
	s.mu.Unlock()
	if out != nil {
		out.Stream(name, string(data))
	}
}

// listen leads the streams to out. When the text of the cell may read standard
// input, input is fetched from the front end.
func (s *streams) listen(out Output, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = out
	if out != nil && !s.asked && (strings.Contains(text, "Stdin") || strings.Contains(text, "Scan")) {
		s.asked = true
		go s.fetch()
	}
}

// fetch passes the front end's input on to the program until it ends.
func (s *streams) fetch() {
	defer s.feed.Close()
	for {
		s.mu.Lock()
		out := s.listener
		s.mu.Unlock()
		text, err := out.Input()
		if err != nil {
			return
		}
		if _, err := io.WriteString(s.feed, text); err != nil {
			return
		}
	}
}

// flush waits until everything the cells wrote so far has been delivered.
func (s *streams) flush() {
	for _, p := range []struct {
		w   *os.File
		end chan struct{}
	}{{s.out, s.outEnd}, {s.err, s.errEnd}} {
		if _, err := p.w.Write(endMark); err == nil {
			<-p.end
		}
	}
}

func (s *streams) close() {
	for _, f := range []*os.File{s.out, s.err, s.in, s.feed} {
		if f != nil {
			f.Close()
		}
	}
	s.readersEnded.Wait()
}
