package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestServeWithoutASecretKey checks that the server says at the start what does not work
// without a secret key.
func TestServeWithoutASecretKey(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log, said := io.Pipe()
	args := []string{"serve", "--addr", "127.0.0.1:0", "--database-url", place, "--data", t.TempDir()}
	go func() {
		run(ctx, args, nil, io.Discard, said)
		_ = said.Close()
	}()
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if all.WriteString(lines.Text() + "\n"); strings.Contains(lines.Text(), `"msg":"serving"`) {
			stop()
		}
	}
	want := "this process has no secret key: it sends no webhooks, and its file links and upload addresses work " +
		"only with this process, until it stops; set a key with --secret-key-file"
	if !strings.Contains(all.String(), want) {
		t.Error(all.String())
	}
}
