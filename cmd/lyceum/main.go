// Command lyceum is the back end of an online school: its sales ledger and the access other
// programs get to it.
//
// It contains the settings, the subcommands and all wiring; what they do is in the packages
// that they connect.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // before the program starts to stop: a second signal ends it at once
		cancel()
	}()
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	cancel()
	os.Exit(status)
}
