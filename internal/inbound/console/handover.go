package console

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// handedOver is the README of the file with a user's data.
const handedOver = `This is everything that the school holds about you, one file for each kind.

Times are in UTC. Amounts are in the smallest unit of their currency; charge and
revenue are in US cents, and what a request took in microseconds. 1 and 0 stand for yes
and no. Files that you added to comments and answers are given by their addresses.
Passwords and other secrets are left out: they are stored so that nobody can read them.
`

// handOver serves POST /admin/people/{id}/data. The file is complete before it is sent, so that
// a slow reader does not hold a database connection.
func (c *console) handOver(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "lyceum-person-*.zip")
	if err != nil {
		return fmt.Errorf("make a file for a person's data: %w", err)
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	if err := c.writeData(r.Context(), file, v, user.ID); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/zip")
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="person-%d.zip"`, user.ID))
	sending := http.NewResponseController(w)
	for {
		_ = sending.SetWriteDeadline(time.Now().Add(exportPause)) // if it cannot be set, there is none
		_, err := io.CopyN(w, file, 1<<20)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			web.Logger(c.Log, w, r).Log(r.Context(), wire.RefusalLevel(r), "a person's data was cut off", "err", err)
			panic(http.ErrAbortHandler) // the browser must notice that the file is incomplete
		}
	}
}

// writeData writes a ZIP file with a JSON array for each noun.
func (c *console) writeData(ctx context.Context, to io.Writer, v *visit, user lyceum.UserID) error {
	z := zip.NewWriter(to)
	readme, err := z.Create("README.txt")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(readme, handedOver); err != nil {
		return err
	}
	var file io.Writer
	last := ""
	end := func() error {
		if file == nil {
			return nil
		}
		_, err := io.WriteString(file, "\n]\n")
		return err
	}
	err = c.People.HandOver(ctx, v.by(), user, func(noun string, row []byte) error {
		between := ",\n"
		if noun != last {
			if err := end(); err != nil {
				return err
			}
			var err error
			if file, err = z.Create(noun + ".json"); err != nil {
				return err
			}
			last, between = noun, "[\n"
		}
		_, err := io.WriteString(file, between+string(row))
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(end(), z.Close())
}
