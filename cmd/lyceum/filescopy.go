package main

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

type filesCommands struct {
	Copy filesCopyCommand `cmd:"" help:"Copy uploaded files to another place, such as an S3-compatible store."`
}

type filesCopyCommand struct {
	database     `embed:""`
	fileSettings `embed:""`

	ToURL     string `name:"to-url" help:"S3-compatible store to copy to, such as https://KEY:SECRET@HOST/BUCKET." placeholder:"URL" xor:"to" required:""`
	ToURLFile string `name:"to-url-file" help:"File with that URL, to keep the secret out of the process list." placeholder:"FILE" xor:"to" required:""`
	ToFolder  string `name:"to-folder" help:"Folder to copy to, such as files in a data folder." placeholder:"DIR" xor:"to" required:""`
	Deep      bool   `help:"Also read the files that are already there, instead of only comparing their sizes."`
}

// Help implements kong's help for the command.
func (filesCopyCommand) Help() string {
	return `Examples:
  lyceum files copy --data /var/lib/lyceum --to-url-file /etc/lyceum/files-url
  lyceum files copy --data /var/lib/lyceum --files-url-file /etc/lyceum/files-url --to-folder /var/lib/lyceum/files

Copies every uploaded file that the database knows, verifies it against its SHA-256, and leaves the original in
place. Files that are already there are not copied again, so you can repeat the command if it is interrupted. The
server may keep running. To switch, run the command, stop the server, run the command again, and start the
server with the new place.`
}

// Run copies the files.
func (c *filesCopyCommand) Run(p *program) (err error) {
	from, err := c.store(&c.database)
	if err != nil {
		return err
	}
	if from == nil {
		return lyceum.Invalidf("use --data or --files-url to say where the files are")
	}
	to, where, err := c.to()
	if err != nil {
		return err
	}
	kept, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(kept, &err)
	lessons := learning.New(kept, p.clock).KeepFiles(from)
	copies := &fileCopies{
		p: p, what: "copying files", where: where, transfer: files.Transfer{From: from, To: to, Trust: !c.Deep},
		names: func(f *sqlstore.KnownFile) (from, to lyceum.FileName) { return f.Name, f.Name },
		each: func(ctx context.Context, visit func(*sqlstore.KnownFile) error) error {
			return lessons.EachKept(ctx, func(school lyceum.SchoolID, u *lyceum.Upload) error {
				f := sqlstore.KnownFile{School: school, Upload: u.ID}
				f.Name, f.Size = u.StoredAs.Value, u.SizeInBytes.Value
				f.SHA256, _ = lyceum.ParseChecksum(u.Checksum.Value) // an invalid checksum becomes zeros, which match no file
				return visit(&f)
			})
		},
	}
	known, err := copies.known()
	if err != nil {
		return err
	}
	done, err := copies.run(known)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s of %d kB: %d copied to %s, %d already there\n", several(done.files, "file"),
		kilobytes(done.bytes), done.copied, where, done.files-done.copied-done.wrong)
	copies.reportWrong()
	if done.wrong > 0 {
		return lyceum.Errorf(lyceum.Conflict, "%s could not be copied: missing or changed",
			several(done.wrong, "file"))
	}
	return nil
}

// to returns the store to copy to, and how messages refer to it.
func (c *filesCopyCommand) to() (store lyceum.FileStore, where string, err error) {
	if c.ToFolder != "" {
		return files.NewFolder(c.ToFolder), c.ToFolder, nil
	}
	address := c.ToURL
	if c.ToURLFile != "" {
		if address, err = secretFile("--to-url-file", c.ToURLFile); err != nil {
			return nil, "", err
		}
	}
	remote, err := files.NewS3(address)
	if err != nil {
		fields := lyceum.Public(err).Fields
		for i := range fields {
			fields[i].Field = "--to-url"
		}
		return nil, "", lyceum.InvalidFields(fields...)
	}
	return remote, "the object store", nil
}
