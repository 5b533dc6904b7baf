package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tpush/tpush/repl/dap"
	"github.com/tpush/tpush/repl/plain"
)

func (a *app) dapCommand() *cobra.Command {
	k := &kernelFlags{}
	var listen string
	var remote bool
	cmd := &cobra.Command{
		Use: "dap", Short: "Serve the Debug Adapter Protocol for editors",
		Long: `Serve the Debug Adapter Protocol on standard input and output, or to one client
after another on a port of this computer. The client launches a .tpu file; see
docs/vscode.md for a launch.json. The flags are what a launch does not say.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := k.options(nil); err != nil {
				return a.fail("%v", err)
			}
			ctx, stop := a.context(0)
			defer stop()
			o := dap.Options{Read: a.notebook, Start: a.debuggee(k)}
			if listen == "" {
				if err := dap.Serve(ctx, a.stdin, a.stdout, o); err != nil {
					fmt.Fprintf(a.stderr, "tpush: %v\n", err)
					return exit(plain.ExitFailed)
				}
				return nil
			}
			if err := loopback(listen); err != nil && !remote {
				return a.fail("%v", err)
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return a.fail("dap: %v", err)
			}
			fmt.Fprintf(a.stdout, "DAP server listening at: %s\n", l.Addr())
			serveDAP(ctx, l, o)
			if terminated(ctx) {
				return exit(plain.ExitTerminated)
			}
			return nil
		},
	}
	k.add(cmd.Flags())
	cmd.Flags().StringVar(&listen, "listen", "", "serve on TCP at `HOST:PORT` instead of standard input and output; port 0 chooses one")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let --listen name an address that other computers reach: whoever connects can run any program")
	return cmd
}

// debuggee starts kernels for launches; flags say what a launch does not.
func (a *app) debuggee(flags *kernelFlags) func(dap.LaunchArguments) (dap.Kernel, func(), error) {
	return func(l dap.LaunchArguments) (dap.Kernel, func(), error) {
		k := *flags
		k.name = filepath.Base(l.Program)
		for _, f := range []struct {
			to   *string
			from string
		}{{&k.mode, l.Mode}, {&k.chip, l.Chip}, {&k.hbmLimit, l.HBMLimit}} {
			if f.from != "" {
				*f.to = f.from
			}
		}
		p, err := a.startKernel(&k, append([]string{l.Program}, l.Args...))
		if err != nil {
			return nil, nil, err
		}
		return p.Client, p.Stop, nil
	}
}

// A notLoopbackError says that other computers could reach an address.
type notLoopbackError struct{ Address string }

// Error names the address.
func (e *notLoopbackError) Error() string {
	return fmt.Sprintf("dap: %s can be reached from other computers, and a debugger runs what it is told; --allow-remote permits it", e.Address)
}

// loopback refuses an address that is not this computer's own.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("dap: %w", err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &notLoopbackError{address}
}

// serveDAP holds conversations until ctx ends.
func serveDAP(ctx context.Context, l net.Listener, o dap.Options) {
	context.AfterFunc(ctx, func() { l.Close() })
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		all.Go(func() {
			defer c.Close()
			_ = dap.Serve(ctx, c, c, o) // the client was told
		})
	}
}
