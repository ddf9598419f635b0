package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// secretKeyName is the file of the secret key in a data folder.
const secretKeyName = "secret.key"

// keyring reads the server's secret key: from the file given, or from the data
// folder, where it is made at the first start. A server on PostgreSQL has no
// folder, and without a file no key.
func keyring(file, dir string) (events.Keyring, error) {
	switch {
	case file != "":
		return readKey(file)
	case dir == "":
		return nil, nil
	}
	file = filepath.Join(dir, secretKeyName)
	if ring, err := readKey(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	key := make([]byte, events.KeyringSize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a secret key: %w", err)
	}
	if err := os.WriteFile(file, []byte(hex.EncodeToString(key)+"\n"), 0o600); err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the secret key " + file + " cannot be written; give this user the right to write the folder", Err: err}
	}
	return key, nil
}

func readKey(file string) (events.Keyring, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Invalid, Detail: "the secret key " + file + " cannot be read; give the file of a key with --secret-key-file", Err: err}
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != events.KeyringSize {
		return nil, lyceum.Errorf(lyceum.Invalid, "the secret key %s must be %d bytes in hexadecimal, as openssl rand -hex %d writes them", file, events.KeyringSize, events.KeyringSize)
	}
	return key, nil
}
