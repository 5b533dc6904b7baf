package dap

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/go-dap"
)

// A request is what a client sent, checked as far as its form goes.
type request struct {
	Seq     int
	Command string
	Raw     json.RawMessage
	Args    json.RawMessage
}

// A badRequest says what is wrong with a message.
type badRequest struct{ why string }

// Error gives the reason.
func (e *badRequest) Error() string { return e.why }

func bad(format string, args ...any) error { return &badRequest{fmt.Sprintf(format, args...)} }

// parse reads a message. A request that is wrong comes with its number and
// command as far as they can be read, so that it can be answered; ok is false for
// a message that is no request and wants no answer.
func parse(content []byte) (r request, ok bool, err error) {
	var head struct {
		Seq     json.Number     `json:"seq"`
		Type    string          `json:"type"`
		Command string          `json:"command"`
		Args    json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		var loose map[string]json.RawMessage // as much of it as there is
		if json.Unmarshal(content, &loose) == nil {
			_ = json.Unmarshal(loose["seq"], &r.Seq)
			_ = json.Unmarshal(loose["command"], &r.Command)
		}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field == "" {
			err = errors.New("it is no JSON object")
		}
		return r, true, bad("bad message: %v", err)
	}
	seq, _ := head.Seq.Int64()
	r = request{Seq: int(seq), Command: head.Command, Raw: content, Args: head.Args}
	switch head.Type {
	case "request":
	case "response", "event":
		return r, false, nil
	default:
		return r, true, bad("bad message: type %q is neither request, response nor event", head.Type)
	}
	if seq < 1 {
		return r, true, bad("bad message: seq %q is no positive number", head.Seq.String())
	}
	return r, true, nil
}

// check refuses requests whose arguments are missing or of the wrong type.
func (r *request) check(required []string) error {
	if len(required) > 0 {
		var args map[string]json.RawMessage
		if len(r.Args) == 0 || json.Unmarshal(r.Args, &args) != nil || args == nil {
			return bad("%s: arguments are missing", r.Command)
		}
		for _, name := range required {
			if v, ok := args[name]; !ok || string(v) == "null" {
				return bad("%s: the argument %s is missing", r.Command, name)
			}
		}
	}
	if _, err := dap.DecodeProtocolMessage(r.Raw); err != nil {
		return bad("%s: %v", r.Command, err)
	}
	return nil
}

// A response answers a request. Body is left out when it is nil.
type response struct {
	Type       string `json:"type"`
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

// An errorBody is the body of a response that says what went wrong.
type errorBody struct {
	Error dap.ErrorMessage `json:"error"`
}

// answer makes the response of a request.
func (r *request) answer(body any, err error) response {
	p := response{Type: "response", RequestSeq: r.Seq, Success: err == nil, Command: r.Command, Body: body}
	if err != nil {
		p.Message = err.Error()
		p.Body = errorBody{dap.ErrorMessage{Id: 1, Format: err.Error(), ShowUser: true}}
	}
	return p
}

// An event is sent without being asked for.
type event struct {
	Type  string `json:"type"`
	Event string `json:"event"`
	Body  any    `json:"body,omitempty"`
}
