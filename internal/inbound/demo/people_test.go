package demo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestNumberOfUsers(t *testing.T) {
	for _, tc := range []struct{ transactions, want int }{
		{-1, 60}, {0, 60}, {1, 60}, {300, 60}, {2000, 400}, {50_000, 10_000},
	} {
		if got := len(New(1, tc.transactions).Users); got != tc.want {
			t.Errorf("%d users for %d transactions, want %d", got, tc.transactions, tc.want)
		}
	}
}

func TestUsersAreWellFormed(t *testing.T) {
	for _, n := range []int{0, 2000, 50_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := New(1, n)
			seen := map[string]bool{}
			before := s.School.CreatedAt
			for i, u := range s.Users {
				if u.ID != lyceum.UserID(i+1) {
					t.Fatalf("row %d has id %d", i+1, u.ID)
				}
				if u.CreatedAt.Before(before) || u.CreatedAt != lyceum.Second(u.CreatedAt) || u.CreatedAt.After(lastSecond) {
					t.Errorf("user %d came at %v, the one before at %v", u.ID, u.CreatedAt, before)
				}
				before = u.CreatedAt
				local, domain, _ := strings.Cut(u.Email, "@")
				if local == "" || !strings.HasPrefix(domain, "example.") || strings.ContainsFunc(u.Email, notPlain) {
					t.Errorf("user %d has the address %q", u.ID, u.Email)
				}
				if lower := strings.ToLower(u.Email); seen[lower] {
					t.Errorf("the address %q is not the only one", u.Email)
				} else {
					seen[lower] = true
				}
				if u.Name.Present && strings.TrimSpace(u.Name.Value) == "" || u.Src.Present && u.Src.Value == "" {
					t.Errorf("user %d has something empty: %v", u.ID, u)
				}
				if u.PasswordHash.Present {
					t.Errorf("user %d has a password", u.ID)
				}
			}
		})
	}
}

// notPlain reports whether r is not allowed in a plain email address: ASCII letters, digits,
// dots and @.
func notPlain(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.@", r)
}

func TestKnownUsers(t *testing.T) {
	for seed := range uint64(30) {
		s := New(seed, 100)
		for _, tc := range []struct {
			id    lyceum.UserID
			email string
			role  lyceum.Role
		}{
			{1, "owner@example.com", lyceum.Owner},
			{7, "learner@example.com", lyceum.Student},
		} {
			u := s.Users[tc.id-1]
			if u.Email != tc.email || u.Role != tc.role || !u.Name.Present {
				t.Errorf("seed %d: %v, want a named %s with %s", seed, u, tc.role, tc.email)
			}
		}
	}
}

func TestRoles(t *testing.T) {
	s := New(1, 2000)
	got := map[lyceum.Role]int{}
	for _, u := range s.Users {
		got[u.Role]++
		if u.Role != lyceum.Student && !u.Name.Present {
			t.Errorf("the %s %d has no name", u.Role, u.ID)
		}
	}
	for _, tc := range []struct {
		role     lyceum.Role
		min, max int
	}{
		{lyceum.Owner, 1, 1}, {lyceum.Author, 3, 8}, {lyceum.Affiliate, 5, 20}, {lyceum.Student, 350, 395},
	} {
		if n := got[tc.role]; n < tc.min || n > tc.max {
			t.Errorf("%d users are %s, want %d to %d", n, tc.role, tc.min, tc.max)
		}
	}
	if len(got) != 4 {
		t.Errorf("roles %v, want four", got)
	}
}

func TestPartnersAreUsers(t *testing.T) {
	for seed := range uint64(10) {
		s := New(seed, 0)
		names := map[lyceum.Role]map[string]bool{lyceum.Affiliate: {}, lyceum.Author: {}}
		for _, u := range s.Users {
			role := u.Role
			if role == lyceum.Owner {
				role = lyceum.Author
			}
			if names[role] != nil {
				names[role][u.Name.Value] = true
			}
		}
		for i, a := range s.Affiliates {
			if a.ID != lyceum.AffiliateID(i+1) || !names[lyceum.Affiliate][a.Name.Value] {
				t.Errorf("seed %d: the affiliate %v is not a user", seed, a)
			}
		}
		for i, a := range s.Authors {
			if a.ID != lyceum.AuthorID(i+1) || !names[lyceum.Author][a.Name.Value] {
				t.Errorf("seed %d: the author %v is not a user", seed, a)
			}
		}
	}
}

func TestKindsOfUsers(t *testing.T) {
	cultureOf := map[string]string{}
	for _, table := range nameTables {
		for _, n := range table.names() {
			cultureOf[n.text] = table.culture
		}
	}
	for _, n := range []int{2000, 50_000} {
		for seed := range uint64(3) {
			users := New(seed, n).Users
			cultures := map[string]bool{}
			sources := map[string]bool{}
			nameless, mixed, unsourced := 0.0, 0.0, 0.0
			for _, u := range users {
				if u.Name.Present {
					cultures[cultureOf[u.Name.Value]] = true
				} else {
					nameless++
				}
				if u.Src.Present {
					sources[u.Src.Value] = true
				} else {
					unsourced++
				}
				if strings.ToLower(u.Email) != u.Email {
					mixed++
				}
			}
			for _, tc := range []struct {
				what          string
				got, min, max float64
			}{
				{"part without a name", nameless / float64(len(users)), 0.03, 0.09},
				{"part with capitals in the address", mixed / float64(len(users)), 0.02, 0.10},
				{"part without a source", unsourced / float64(len(users)), 0.25, 0.45},
				{"sources", float64(len(sources)), 5, 20},
				{"cultures", float64(len(cultures)), 15, 100},
			} {
				if tc.got < tc.min || tc.got > tc.max {
					t.Errorf("seed %d, %d transactions: %s: %.3f, want %.3f to %.3f", seed, n, tc.what, tc.got, tc.min, tc.max)
				}
			}
		}
	}
}
