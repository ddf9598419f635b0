package access

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"
)

// commonPasswords holds 18,000 of the most common passwords in leaks, in lowercase: those of
// six characters or more in Django's common-passwords.txt (BSD license, see
// docs/decisions/0006-libraries.md).
//
//go:embed common-passwords.txt.gz
var commonPasswords []byte

// common returns the set of commonPasswords and a few more that are obvious choices at a
// school.
var common = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, p := range []string{
		"lyceum1234", "lyceum12345", "lyceum2024", "lyceum2025", "lyceum2026", "summer2024", "winter2024", "spring2024",
		"summer2025", "winter2025", "spring2025", "summer2026", "winter2026", "spring2026", "welcome2026", "changeme123",
		"password12", "mypassword1", "letmein1234", "administrator1", "helloworld1",
	} {
		set[p] = true
	}
	text, err := gzip.NewReader(bytes.NewReader(commonPasswords))
	if err != nil {
		panic(err) // the file is embedded
	}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		set[lines.Text()] = true
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	return set
})

// guessable reports whether a password is one of the first that an attacker would try for an
// account.
func guessable(password, email string) bool {
	lower, email := strings.ToLower(password), strings.ToLower(email)
	local, _, _ := strings.Cut(email, "@")
	return common()[lower] || lower == email || lower == local ||
		lower != "" && strings.Trim(lower, lower[:1]) == ""
}
