package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// secretKeyName is the file of the secret keys in a data folder.
	secretKeyName = "secret.key"
	// maxSecretKeys is the most secret keys that a file can contain.
	maxSecretKeys = 10
	// secretKeyPause is how long a running server takes at most to notice that its file of
	// secret keys has changed.
	secretKeyPause = 2 * time.Second
)

// keyFile is a file of secret keys, one per line, newest first.
type keyFile struct {
	path string // "" if there is no file
	text string // as it was last read
	ring *lyceum.Keyring
}

// secretKeys reads the server's secret keys from the given file, or else from the data folder,
// where the first key is created at the first start. A server on PostgreSQL has no data folder,
// and so without a file it has no key.
func secretKeys(file, dir string) (*keyFile, error) {
	switch {
	case file != "":
		return readKeys(file)
	case dir == "":
		return &keyFile{}, nil
	}
	file = filepath.Join(dir, secretKeyName)
	if keys, err := readKeys(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	if err := replaceFile(file, []byte(keyLines([]lyceum.SecretKey{newSecretKey()}))); err != nil {
		return nil, &lyceum.Error{
			Kind:   lyceum.Unavailable,
			Detail: "the secret key " + file + " cannot be written; make the folder writable for this user", Err: err,
		}
	}
	return readKeys(file)
}

func newSecretKey() (key lyceum.SecretKey) {
	_, _ = rand.Read(key[:]) // crypto/rand.Read never fails
	return key
}

func keyLines(keys []lyceum.SecretKey) string {
	var lines strings.Builder
	for _, key := range keys {
		lines.WriteString(hex.EncodeToString(key[:]) + "\n")
	}
	return lines.String()
}

func readKeys(file string) (*keyFile, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &lyceum.Error{
			Kind:   lyceum.Invalid,
			Detail: "the secret key " + file + " cannot be read; set a key file with --secret-key-file", Err: err,
		}
	}
	keys, ok := parseKeys(string(text))
	if !ok {
		return nil, lyceum.Errorf(lyceum.Invalid, "the secret key file %s must have 1 to %d different keys, one per line, "+
			"each of %d bytes in hexadecimal, as openssl rand -hex %d writes them", file, maxSecretKeys, lyceum.SecretKeySize,
			lyceum.SecretKeySize)
	}
	return &keyFile{path: file, text: string(text), ring: lyceum.NewKeyring(keys...)}, nil
}

func parseKeys(text string) (keys []lyceum.SecretKey, ok bool) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := hex.DecodeString(line)
		if err != nil || len(key) != lyceum.SecretKeySize || slices.Contains(keys, lyceum.SecretKey(key)) {
			return nil, false
		}
		keys = append(keys, lyceum.SecretKey(key))
	}
	return keys, len(keys) > 0 && len(keys) <= maxSecretKeys
}

// watch loads the keys of the file into the ring whenever the file changes. If it cannot be
// read, the keys stay as they were.
func (f *keyFile) watch(ctx context.Context, log *slog.Logger) {
	if f.path == "" {
		return
	}
	tick := time.NewTicker(secretKeyPause)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := readKeys(f.path)
		switch {
		case err != nil && said != err.Error():
			said = err.Error()
			log.WarnContext(ctx, "the secret keys remain unchanged", "err", err)
		case err == nil && now.text != f.text:
			f.text, said = now.text, ""
			f.ring.Replace(now.ring.Keys())
			log.InfoContext(ctx, "the secret keys were reloaded", "keys", len(now.ring.Keys()), "signs", f.ring.Keys()[0].ID())
		}
	}
}

// save replaces the keys in the file atomically. If a second command changes the file at the
// same time, it fails.
func (f *keyFile) save(keys []lyceum.SecretKey) error {
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return cannotSave(f.path, err)
	}
	next := path + ".new"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return lyceum.Errorf(lyceum.Conflict, "%s exists: another command is changing the secret keys; when none is "+
			"running, delete that file", next)
	}
	if err != nil {
		return cannotSave(f.path, err)
	}
	if err := f.replace(file, path, keys); err != nil {
		_ = os.Remove(next)
		return err
	}
	f.ring.Replace(keys)
	return nil
}

func (f *keyFile) replace(file *os.File, path string, keys []lyceum.SecretKey) error {
	now, err := readKeys(f.path)
	if err == nil && now.text != f.text {
		err = lyceum.Errorf(lyceum.Conflict, "%s was changed by another command in the meantime; try again", f.path)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	// The server may run as a different user than this command.
	info, err := os.Stat(path)
	if owner, ok := sysOf(info); err == nil && ok && int(owner.Uid) != os.Geteuid() {
		err = file.Chown(int(owner.Uid), int(owner.Gid))
	}
	if err == nil {
		err = file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = file.WriteString(keyLines(keys))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return cannotSave(f.path, err)
	}
	if err = os.Rename(file.Name(), path); err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return cannotSave(f.path, err)
	}
	return nil
}

func sysOf(info fs.FileInfo) (*syscall.Stat_t, bool) {
	if info == nil {
		return nil, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return stat, ok
}

func cannotSave(file string, err error) error {
	return &lyceum.Error{
		Kind:   lyceum.Unavailable,
		Detail: "the secret key file " + file + " cannot be written; make it and its folder writable for this user",
		Err:    err,
	}
}
