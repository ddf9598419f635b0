package oauth

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// certificate is a certificate of the signed-in learner.
type certificate struct {
	Course, Page string
	Learner      string // empty if the school has no name for them
	Serial       string
	Day, Machine string
}

// certificates returns the certificates of the signed-in learner. Their days are in the
// school's time zone.
func (p *pages) certificates(r *http.Request, v *visit) ([]certificate, error) {
	held, err := p.Learning.Certificates(r.Context(), v.by(), v.User.ID)
	if err != nil {
		return nil, err
	}
	zone, err := v.School.TimeZone.Location()
	if err != nil {
		return nil, err
	}
	rows := make([]certificate, len(held))
	for i := range held {
		rows[i] = shownCertificate(&held[i], v)
		at := held[i].IssuedAt.In(zone)
		rows[i].Day, rows[i].Machine = at.Format("2\u00a0January\u00a02006"), at.Format("2006-01-02")
	}
	return rows, nil
}

func shownCertificate(c *learning.HeldCertificate, v *visit) certificate {
	return certificate{
		Course: web.Whole(c.Course.Name), Page: fmt.Sprintf("/account/certificates/%d", c.Course.ID),
		Learner: web.Whole(v.User.Name.Value), Serial: web.Whole(c.SerialNumber),
	}
}

// listCertificates serves GET /account/certificates.
func (p *pages) listCertificates(w http.ResponseWriter, r *http.Request, v *visit) error {
	rows, err := p.certificates(r, v)
	if err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "certificates.gohtml", v, view{
		Title: "Your certificates", Room: "/account/certificates", Data: rows,
	})
}

// showCertificate serves GET /account/certificates/{course}.
func (p *pages) showCertificate(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, _ := strconv.ParseInt(r.PathValue("course"), 10, 32) // 0, which is not a course, if it is not a number
	rows, err := p.certificates(r, v)
	if err != nil {
		return err
	}
	for _, c := range rows {
		if c.Page == fmt.Sprintf("/account/certificates/%d", id) {
			return p.show(w, http.StatusOK, "certificate.gohtml", v, view{Title: c.Course, Data: c})
		}
	}
	return lyceum.Errorf(lyceum.NotFound, "You have no such certificate.")
}
