package oauth

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// passkeyBrowser is how long a browser keeps the secret that identifies it.
const passkeyBrowser = 10 * time.Minute

// passkeyForm is a form that the script fills in with a passkey. The zero form is not shown.
type passkeyForm struct {
	Action, Options, Next string
	For                   access.PasskeyUse
}

// keptPasskey is one row of the second factor page.
type keptPasskey struct {
	Name, Remove string
	Since        time.Time
	LastUsed     lyceum.Opt[time.Time]
}

// party returns where the passkeys of a school are valid; ok is false if browsers do not
// support passkeys at this address.
func (p *pages) party(v *visit) (access.RelyingParty, bool) {
	host, origin, ok := p.Site.Passkeys()
	return access.RelyingParty{Host: host, Origin: origin, Name: web.Plain(v.School.Name)}, ok
}

// sentPasskey returns the passkey in a form, or nil if there is none.
func (p *pages) sentPasskey(r *http.Request, v *visit, form *parameters) *access.PasskeyResponse {
	text := form.get("passkey")
	party, ok := p.party(v)
	if text == "" || !ok {
		return nil
	}
	return &access.PasskeyResponse{Party: party, Browser: p.Site.PasskeyBrowser(r), JSON: text}
}

var errNoPasskeysHere = lyceum.Errorf(lyceum.Conflict, "Passkeys do not work at this address of the school.")

// passkeyOptions serves POST /secure/{school}/identity/passkey: what a browser needs to use a
// passkey.
func (p *pages) passkeyOptions(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	request, err := p.passkeyRequest(w, r, v, access.PasskeyUse(form.get("for")))
	if err != nil {
		return err
	}
	switch request.Use {
	case access.PasskeyToSignIn:
	case access.PasskeyAsSecond:
		if request.User, err = p.Accounts.StepUser(r.Context(), v.School.ID, p.Site.Step(r)); err != nil {
			return err
		}
	case access.PasskeyToConfirm:
		if request.User = v.User.ID; request.User == 0 {
			return lyceum.Errorf(lyceum.NotFound, "You are signed out. Sign in again.")
		}
	default:
		return lyceum.Invalidf("The use of a passkey must be sign_in, second_step or confirm.")
	}
	options, err := p.Accounts.PasskeyOptions(r.Context(), request)
	if err != nil {
		return err
	}
	sendOptions(w, options)
	return nil
}

// newPasskeyOptions serves POST /account/second-factor/passkeys/options: what a browser needs to
// create a passkey.
func (p *pages) newPasskeyOptions(w http.ResponseWriter, r *http.Request, v *visit) error {
	request, err := p.passkeyRequest(w, r, v, access.PasskeyToAdd)
	if err != nil {
		return err
	}
	request.User = v.User.ID
	options, err := p.Accounts.NewPasskeyOptions(r.Context(), request)
	if err != nil {
		return err
	}
	sendOptions(w, options)
	return nil
}

// passkeyRequest returns what a challenge is made for, and sets the cookie that identifies the
// browser.
func (p *pages) passkeyRequest(
	w http.ResponseWriter, r *http.Request, v *visit, use access.PasskeyUse,
) (access.ChallengeParams, error) {
	party, ok := p.party(v)
	if !ok {
		return access.ChallengeParams{}, errNoPasskeysHere
	}
	browser := p.Site.PasskeyBrowser(r)
	if len(browser) != len(rand.Text()) {
		browser = rand.Text()
	}
	p.Site.KeepPasskeyBrowser(w, browser, passkeyBrowser)
	return access.ChallengeParams{School: v.School.ID, Use: use, Party: party, Browser: browser}, nil
}

func sendOptions(w http.ResponseWriter, options []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(options)))
	_, _ = w.Write(options) // #nosec G705 -- it is JSON, and says so; the client may have gone
}

// keptPasskeys returns the rows of the second factor page.
func (v *visit) keptPasskeys(passkeys []lyceum.Passkey) []keptPasskey {
	rows := make([]keptPasskey, len(passkeys))
	for i := range passkeys {
		k := &passkeys[i]
		rows[i] = keptPasskey{
			Name: web.Plain(k.Name), Remove: secondFactorPath + "/passkeys/" + k.ID() + "/remove",
			Since: v.here(k.CreatedAt), LastUsed: v.lastUse(k.LastUsedAt),
		}
	}
	return rows
}

// addPasskey serves POST /account/second-factor/passkeys.
func (p *pages) addPasskey(w http.ResponseWriter, r *http.Request, v *visit) error {
	form, _, err := readForm(r)
	if err != nil {
		return err
	}
	sent := p.sentPasskey(r, v, &form)
	if sent == nil {
		return p.factorsPage(w, r, v, http.StatusUnprocessableEntity, view{
			Error: "Your browser sent no passkey. Passkeys need JavaScript.",
		})
	}
	name := strings.TrimSpace(form.get("name"))
	if name == "" {
		name = cmp.Or(browserOf(r.UserAgent()), "Passkey")
	}
	codes, err := p.Accounts.AddPasskey(r.Context(), v.by(), access.NewPasskey{
		User: v.User.ID, Name: name, Answer: *sent, Here: v.secret,
	})
	if e := lyceum.Public(err); err != nil {
		switch e.Kind {
		case lyceum.Unauthenticated, lyceum.Invalid, lyceum.Conflict:
			return p.factorsPage(w, r, v, http.StatusUnprocessableEntity, view{Error: worded(e)})
		default:
			return err
		}
	}
	if len(codes) > 0 {
		return p.recoveryPage(w, v, codes)
	}
	see(w, r, secondFactorPath+"?done=passkey-added")
	return nil
}

// removePasskey serves POST /account/second-factor/passkeys/{passkey}/remove.
func (p *pages) removePasskey(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := p.Accounts.RemovePasskey(r.Context(), v.by(), v.User.ID, r.PathValue("passkey")); err != nil {
		return err
	}
	see(w, r, secondFactorPath+"?done=passkey-removed")
	return nil
}

// attempt returns what a browser sent to sign in.
func (p *pages) attempt(r *http.Request, v *visit, form *parameters) access.Attempt {
	return access.Attempt{
		School: v.School.ID, Email: strings.TrimSpace(form.get("email")), Password: form.get("password"),
		From: wire.AddressOf(r), Device: p.Site.Device(r), Browser: browserOf(r.UserAgent()),
		Passkey: p.sentPasskey(r, v, form),
	}
}
