package demo

import (
	"regexp"
	"testing"
)

func TestSecretsAreAllDifferent(t *testing.T) {
	seen := map[string]string{}
	for _, seed := range []uint64{0, 1, 2, 1 << 63} {
		s := New(seed, 0).Secrets
		for name, value := range map[string]string{
			"APIKey": string(s.APIKey[:]), "V1ClientSecret": string(s.V1ClientSecret[:]),
			"V2ClientSecret": string(s.V2ClientSecret[:]), "V1ClientID": string(s.V1ClientID[:]),
			"V2ClientID": string(s.V2ClientID[:]), "OwnerPassword": s.OwnerPassword,
			"LearnerPassword": s.LearnerPassword, "OwnerSalt": string(s.OwnerSalt[:]),
			"LearnerSalt": string(s.LearnerSalt[:]),
		} {
			if other := seen[value]; other != "" {
				t.Errorf("seed %d: %s is the same as an earlier %s", seed, name, other)
			}
			seen[value] = name
		}
	}
}

func TestPasswordsCanBeTypedAndAreLong(t *testing.T) {
	want := regexp.MustCompile(`^[a-z]+-[a-z]+-[a-z]+-[0-9]{4}$`)
	for seed := range uint64(50) {
		s := New(seed, 0).Secrets
		for _, password := range []string{s.OwnerPassword, s.LearnerPassword} {
			if len(password) < 15 || !want.MatchString(password) {
				t.Errorf("seed %d: password %q", seed, password)
			}
		}
	}
}
