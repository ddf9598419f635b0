package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// The name of a file is the last part of its address, even if that is not the name of a file: it
// is stored and shown as text, or as it is written in the address.
func TestNamesFromAddresses(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		lecture := c.lecture(t)
		for last, want := range map[string]string{
			"kiln%20one.pdf": "kiln one.pdf", "%C3%A4.pdf": "ä.pdf", "": "files.pdf",
			"a%00b.pdf": "a%00b.pdf", "a%ffb.pdf": "a%ffb.pdf",
		} {
			address := strings.TrimSuffix("https://school-files.example.com/files.pdf/"+last, "/")
			body := fmt.Sprintf(`{"kind":"file","file":{"url":%q,"mimetype":"application/pdf"}}`, address)
			w := c.do(request(http.MethodPost, lecture+"/attachments", strings.NewReader(body),
				"Content-Type: application/json", "apiKey: "+c.ours.key))
			var made struct {
				Data struct {
					Name string `json:"name"`
				} `json:"data"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated || made.Data.Name != want {
				t.Errorf("%s is a %d: %s, want the name %q", address, w.Code, w.Body, want)
			}
		}
	})
}

// lecture makes a lecture and returns its path in v2.
func (c *campus) lecture(t *testing.T) string {
	t.Helper()
	const course, lecture = 2001, 2002
	err := c.store.Write(t.Context(), lyceum.Stamp{School: c.ours.id, At: c.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		if _, err := tx.Courses.Save(tx, lyceum.Course{ID: course, Name: "Glazes", IsPublished: true, CreatedAt: c.clock.Now()}); err != nil {
			return err
		}
		section := lyceum.LectureSection{ID: 2003, Course: course, Name: "First", Position: 1}
		if _, err := tx.LectureSections.Save(tx, section); err != nil {
			return err
		}
		_, err := tx.Lectures.Save(tx, lyceum.Lecture{ID: lecture, Course: course, Section: 2003, Name: lyceum.Some("Kilns"), IsPublished: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/v2/products/courses/%d/lectures/%d", course, lecture)
}
