package main

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a standard output to which nothing can be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC} // like an os.File
}

// TestSecretThatCannotBeWritten checks that a command fails if nobody could see the secret,
// with a sentence that says what exists now and how to get another one.
func TestSecretThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	data := newSchool(t)
	command(t, "oauth-app", "create", "--data", data, "--name", "Ledger", "--redirect-url", "https://app.example.com/")
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"apikey", "create", "--name", "report"}, "API key 1 was created, but it is lost: revoke it with lyceum apikey revoke 1 --school 1, and create another"},
		{[]string{"oauth-app", "create", "--name", "Other", "--redirect-url", "https://app.example.com/"}, "OAuth app 2 was registered, but its secret is lost: create another with lyceum oauth-app rotate 2 --school 1 --keep 0s"},
		{[]string{"oauth-app", "rotate", "1", "--keep", "0s"}, "OAuth app 1 has a new secret, but it is lost: create another with lyceum oauth-app rotate 1 --school 1"},
		{[]string{"user", "password-link", "--email", "owner@example.com"}, "The link was created, but it is lost: repeat the command to create another"},
		{[]string{"school", "create", "--name", "Second", "--owner-email", "ann@example.com"}, "School 2 was created, but its owner's link is lost: create another with lyceum user password-link --email ann@example.com --school 2"},
	} {
		var errs bytes.Buffer
		status := run(t.Context(), append(tc.args, "--data", data), nil, fullDisk{}, &errs)
		if want := "lyceum: standard output cannot be written. " + tc.says + "\n"; status != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: %d %s, want %s", tc.args, status, errs.String(), want)
		}
	}
}

// TestOutputThatCannotBeWritten checks that a command does not succeed if what it prints is lost.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	data := newSchool(t)
	if _, err := secretKeys("", data); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check"}, {"secret-key", "list"}, {"secret-key", "rotate"}, {"school", "set", "--name", "Other"},
	} {
		var errs bytes.Buffer
		status := run(t.Context(), append(args, "--data", data), nil, fullDisk{}, &errs)
		want := "lyceum: standard output cannot be written, so part of the output is lost\n  because: write /dev/stdout: no space left on device\n"
		if status != 1 || errs.String() != want {
			t.Errorf("%q: %d %s, want %s", args, status, errs.String(), want)
		}
	}
}

// TestHelpThatCannotBeWritten checks that the settings file is not blamed for it.
func TestHelpThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	status := run(t.Context(), []string{"--help"}, nil, fullDisk{}, &errs)
	if status != 1 || !strings.HasPrefix(errs.String(), "lyceum: write /dev/stdout: no space left on device") {
		t.Errorf("%d %s", status, errs.String())
	}
}
