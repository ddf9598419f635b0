package demo

import (
	"math/rand/v2"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

const (
	ownerID   lyceum.UserID = 1
	learnerID lyceum.UserID = 7

	// The authors are the owner and the users up to lastAuthorID.
	lastAuthorID lyceum.UserID = 6

	// Affiliate n, counted from 1, is user 4n+4.
	numAffiliates  = 12
	affiliateEvery = 4

	minUsers = 60 // enough for all of the above
)

func affiliateUser(id lyceum.AffiliateID) lyceum.UserID {
	return learnerID + 1 + affiliateEvery*lyceum.UserID(id-1)
}

// affiliatesAmong counts the affiliates among the first users.
func affiliatesAmong(users int) int {
	return min(numAffiliates, (users-int(learnerID)+affiliateEvery-1)/affiliateEvery)
}

func roleOf(id lyceum.UserID) lyceum.Role {
	switch {
	case id == ownerID:
		return lyceum.Owner
	case id <= lastAuthorID:
		return lyceum.Author
	case id > learnerID && (id-learnerID-1)%affiliateEvery == 0 && id <= affiliateUser(numAffiliates):
		return lyceum.Affiliate
	}
	return lyceum.Student
}

// roster computes any user of the school from their id. Each user has a random stream of
// their own, so that no list of them is needed.
type roster struct {
	cultures []culture
	key      uint64
	source   *rand.PCG
	rng      *rand.Rand
}

func (s *School) newRoster() *roster {
	source := new(rand.PCG)
	return &roster{s.cultures, s.seed.stream("people").Uint64(), source, rand.New(source)}
}

var americanTaxes = [...]int16{0, 0, 0, 0, 600, 700, 825}

// meet starts the stream of a user, and first draws what every method needs.
func (r *roster) meet(id lyceum.UserID) (*culture, country) {
	r.source.Seed(r.key, uint64(id))
	c := &r.cultures[r.rng.IntN(len(r.cultures))]
	if c.home != unitedStates && r.rng.IntN(100) >= 30 {
		return c, c.home
	}
	return c, country{unitedStates.currency, americanTaxes[r.rng.IntN(len(americanTaxes))]}
}

// home returns the country a user lives in.
func (r *roster) home(id lyceum.UserID) country {
	_, home := r.meet(id)
	return home
}

var sources = [...]string{
	"google", "google", "google", "newsletter", "newsletter", "instagram",
	"youtube", "pinterest", "podcast", "a friend", "craft-fair-2022",
}

// user returns everything about a user except CreatedAt.
func (r *roster) user(id lyceum.UserID) lyceum.User {
	c, _ := r.meet(id)
	name := c.names[r.rng.IntN(len(c.names))]
	u := lyceum.User{ID: id, Role: roleOf(id), Email: r.address(name, id)}
	if r.rng.IntN(100) >= 6 || u.Role != lyceum.Student || id == learnerID {
		u.Name = lyceum.Some(name.text)
	}
	if r.rng.IntN(100) < 65 {
		u.Src = lyceum.Some(sources[r.rng.IntN(len(sources))])
	}
	switch id {
	case ownerID:
		u.Email, u.Src = OwnerEmail, lyceum.None[string]()
	case learnerID:
		u.Email = LearnerEmail
	}
	return u
}

// address returns an email address that is unique because its local part ends with the id, after
// letters.
func (r *roster) address(name fullName, id lyceum.UserID) string {
	given, family, domain := name.given, name.family, "@example.com"
	switch n := r.rng.IntN(100); {
	case n < 25:
		domain = "@example.org"
	case n < 40:
		domain = "@example.net"
	}
	if r.rng.IntN(100) < 6 {
		given, family = capital(given), capital(family)
	}
	local := make([]byte, 0, 64)
	switch r.rng.IntN(4) {
	case 0:
		local = append(append(append(local, given...), '.'), family...)
	case 1:
		local = append(local, given...)
	case 2:
		local = append(append(local, given[0]), family...)
	case 3:
		local = append(append(append(local, family...), '.'), given...)
	}
	local = strconv.AppendInt(local, int64(id), 10)
	return string(append(local, domain...))
}

func capital(latin string) string { return string(latin[0]-'a'+'A') + latin[1:] }

// people returns every user of the school.
func (s *School) people() []lyceum.User {
	users := make([]lyceum.User, s.users)
	roster, arrivals := s.newRoster(), s.newArrivals()
	for i := range users {
		users[i] = roster.user(lyceum.UserID(i + 1))
		users[i].CreatedAt = s.calendar.time(arrivals.next())
		if i%5 > 1 { // the others have never signed in
			signedIn := users[i].CreatedAt.AddDate(0, 0, i%300+1)
			if s.calendar.over(signedIn) {
				signedIn = users[i].CreatedAt
			}
			users[i].LastSignInAt = lyceum.Some(signedIn)
			users[i].LastSignInIP = lyceum.Some("198.51.100." + strconv.Itoa(i%254+1))
		}
	}
	return users
}

// arrivals yields the moments at which users signed up, by ascending id: the staff and the
// learner first, then those who wanted to be told of the opening, and the others as demand
// brings them. After the last user it returns closing.
type arrivals struct {
	rng    *rand.Rand
	demand *demand
	users  int
	id     int // the latest user
}

func (s *School) newArrivals() *arrivals {
	return &arrivals{rng: s.seed.stream("arrivals"), demand: s.demand, users: s.users}
}

func (a *arrivals) next() moment {
	const (
		earlyDays = 27 * day
		earlyPart = 0.06
	)
	if a.id == a.users {
		return closing
	}
	a.id++
	jitter := a.rng.Float64()
	staff := int(learnerID)
	if a.id <= staff {
		return founded + moment(a.id-1)*11*day + moment(jitter*float64(8*hour))
	}
	part := (float64(a.id-staff-1) + jitter) / float64(a.users-staff)
	if part < earlyPart {
		return moment(part/earlyPart*float64(earlyDays)) - earlyDays
	}
	return a.demand.at((part - earlyPart) / (1 - earlyPart))
}

// authors returns the profiles of the owner and the authors.
func authors(users []lyceum.User) []lyceum.AuthorProfile {
	made := make([]lyceum.AuthorProfile, lastAuthorID)
	for i := range made {
		id := lyceum.AuthorID(i + 1)
		made[i] = lyceum.AuthorProfile{
			ID: id, Name: users[i].Name, UserID: lyceum.Some(users[i].ID),
			Share: lyceum.Some(float64(authorShare(id)) / 100),
		}
		if i%3 > 0 {
			made[i].Bio = lyceum.Some("<p>" + users[i].Name.Value + " has worked at the bench for twenty years &amp; teaches " +
				"since the school opened.</p>")
			made[i].ProfileImageURL = lyceum.Some("https://images.example.com/people/" + strconv.Itoa(i+1) + ".jpg")
		}
	}
	return made
}

// affiliates returns the partners, each of whom is also a user.
func affiliates(users []lyceum.User) []lyceum.AffiliatePartner {
	made := make([]lyceum.AffiliatePartner, numAffiliates)
	for i := range made {
		id := lyceum.AffiliateID(i + 1)
		made[i] = lyceum.AffiliatePartner{
			ID: id, Name: users[affiliateUser(id)-1].Name, UserID: lyceum.Some(affiliateUser(id)),
			Share: lyceum.Some(float64(affiliateShare(id)) / 100), CookieDays: lyceum.Some[int32](30),
		}
	}
	return made
}
