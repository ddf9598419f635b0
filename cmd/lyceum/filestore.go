package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

// fileSettings say where uploaded files are stored, unless in the data folder.
type fileSettings struct {
	FilesURL     string `name:"files-url" help:"S3-compatible store for uploaded files, instead of the data folder." placeholder:"https://KEY:SECRET@HOST/BUCKET" xor:"files"`
	FilesURLFile string `name:"files-url-file" help:"File with that URL, to keep the secret out of the process list." placeholder:"FILE" xor:"files"`
}

// store returns the store of uploaded files, or nil if there is none.
func (f *fileSettings) store(d *database) (lyceum.FileStore, error) {
	address := f.FilesURL
	if f.FilesURLFile != "" {
		var err error
		if address, err = secretFile("--files-url-file", f.FilesURLFile); err != nil {
			return nil, err
		}
	}
	if address != "" {
		return files.NewS3(address)
	}
	return d.fileFolder(), nil
}

// fileFolder returns the folder of uploaded files alongside a database, including a PostgreSQL
// one, or nil without a data folder.
func (d *database) fileFolder() lyceum.FileStore {
	if d.Data == "" {
		return nil
	}
	return files.NewFolder(filepath.Join(d.Data, "files"))
}

// storePatience is how long the start of a server waits for the store of files.
const storePatience = 5 * time.Second

// logFiles logs what an operator should know about where files are stored.
func logFiles(p *program, store lyceum.FileStore, postgres bool) {
	remote, is := store.(*files.S3)
	if !is {
		if postgres {
			p.log.Info("uploaded files are in the data folder of this process; several processes of one database need " +
				"--files-url")
		}
		return
	}
	ctx, done := context.WithTimeout(p.ctx, storePatience)
	defer done()
	if err := remote.Ping(ctx); err != nil {
		p.log.Warn("the store of uploaded files cannot be reached; uploads and downloads are rejected until it can",
			"err", err)
	}
}
