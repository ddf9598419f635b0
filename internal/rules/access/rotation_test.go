package access_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// successors returns what a refresh token is exchanged for when it is used repeatedly within
// the grace period.
func (o *office) successors(t *testing.T, first access.Tokens, n int) []access.Tokens {
	t.Helper()
	var all []access.Tokens
	for range n {
		tokens, err := o.refresh(first.RefreshToken, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tokens)
	}
	return all
}

// If a refresh token has several successors, only the first one used continues. Using another
// one revokes the grant, because two parties hold the same line.
func TestR40_OneSuccessorGoesOn(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		for _, tc := range []struct {
			name      string
			used      int // index of the successor, 0, 1 or 2
			reused    int // -1: the token that they replaced
			switchOff bool
		}{
			{"the first is used, then the second", 0, 1, false},
			{"the first is used, then the last", 0, 2, false},
			{"the last is used, then the first", 2, 0, false},
			{"the second is used, then the last", 1, 2, false},
			{"the last is used, then the one before them", 2, -1, false},
			{"rotation is switched off in between", 0, 2, true},
		} {
			t.Run(tc.name, func(t *testing.T) {
				o.rotate(t)
				first := o.tokens(t)
				next := o.successors(t, first, 3)
				on, err := o.refresh(next[tc.used].RefreshToken, "")
				if err != nil {
					t.Fatal("the successor that is used first:", err)
				}
				if tc.switchOff {
					o.rotating(t, false)
				}
				if on, err = o.refresh(on.RefreshToken, ""); err != nil {
					t.Fatal("the line does not go on:", err)
				}
				again := first
				if tc.reused >= 0 {
					again = next[tc.reused]
				}
				_, err = o.refresh(again.RefreshToken, "")
				wantCode(t, err, "invalid_grant")
				_, err = o.refresh(on.RefreshToken, "")
				wantCode(t, err, "invalid_grant")
				if o.alive(on) || o.alive(first) {
					t.Error("an access token outlives the reuse")
				}
			})
		}
	})
}

// A program that lost a response and uses the next one is not affected, even long after the
// grace period.
func TestR40_LostAnswersEndNothing(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.rotate(t)
		tokens := o.tokens(t)
		for range 4 {
			tokens = o.successors(t, tokens, 3)[2]
			o.clock.Pass(time.Hour)
		}
		if _, err := o.refresh(tokens.RefreshToken, ""); err != nil {
			t.Error(err)
		}
	})
}

// A lost response ends nothing, even if rotation is turned off before the program retries.
func TestR40_ALostAnswerWhenRotationEnds(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		o.rotate(t)
		first := o.tokens(t)
		o.successors(t, first, 1)
		o.rotating(t, false)
		on := o.successors(t, first, 1)[0]
		o.clock.Pass(access.RotationGrace)
		if _, err := o.refresh(on.RefreshToken, ""); err != nil {
			t.Error(err)
		}
	})
}

// A replayed code is detected for as long as the tokens it gave can live, and not just during
// its own minute.
func TestR41_ReplayOfACodeIsNoticedLater(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		for _, later := range []time.Duration{access.CodeLifetime, time.Hour, 48 * time.Hour, access.RefreshIdle - time.Second} {
			t.Run(later.String(), func(t *testing.T) {
				code := o.code(t)
				tokens, err := o.exchange(code, "")
				if err != nil {
					t.Fatal(err)
				}
				o.clock.Pass(later)
				if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err != nil {
					t.Fatal(err)
				}
				_, err = o.oauth.Exchange(t.Context(), o.client[lyceum.V1], code, callback+"/elsewhere", "")
				wantCode(t, err, "invalid_grant")
				fresh, err := o.refresh(tokens.RefreshToken, "")
				if err != nil {
					t.Fatal("a replay that is wrong in something else has ended the grant:", err)
				}
				_, err = o.exchange(code, "")
				wantCode(t, err, "invalid_grant")
				_, err = o.refresh(tokens.RefreshToken, "")
				wantCode(t, err, "invalid_grant")
				if o.alive(fresh) {
					t.Error("an access token outlives the replay")
				}
			})
		}
	})
}

// What is no longer needed is swept: a code that was never spent after a day, and a spent one
// when no token of it can be alive.
func TestR41_CodesAreForgottenInTheEnd(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		spent, left := o.code(t), o.code(t)
		if _, err := o.exchange(spent, ""); err != nil {
			t.Fatal(err)
		}
		kept := func(code string) bool {
			t.Helper()
			if err := access.Sweep(t.Context(), o.store, o.clock.Now()); err != nil {
				t.Fatal(err)
			}
			v := o.store.In(t.Context(), o.school)
			_, err := v.AuthorizationCodes.Get(v, access.HashSecret(code))
			return err == nil
		}
		o.clock.Pass(25 * time.Hour)
		if !kept(spent) || kept(left) {
			t.Error("after a day the spent code must be kept, and the other not")
		}
		o.clock.Pass(access.RefreshAbsolute)
		if kept(spent) {
			t.Error("a spent code is kept after a year")
		}
	})
}
