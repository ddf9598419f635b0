package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) coaching() []wire.Operation {
	const all, each, name = "/lyceum/v1/coaching", "/lyceum/v1/coaching/{coaching_id}", "coaching"
	c := f.Learning.Coaching()
	bindNew := created(lyceum.Coaching{IsListed: true}, bindCoaching)
	bindChange := changed(byCoaching, bindCoaching)
	return []wire.Operation{
		wire.Many("listCoaching", all, perPage, bindProducts, c.List, name, coaching),
		one("createCoaching", wire.Create, all, bindNew, c.Create, name, coaching).Long(),
		one("showCoaching", wire.Get, each, byCoaching, c.Get, name, coaching),
		one("updateCoaching", wire.Patch, each, bindChange, c.Update, name, coaching).Long(),
		one("archiveCoaching", wire.Run, each+"/archive", wire.NoBody(byCoaching), c.Archive, name, coaching),
	}
}

var byCoaching = wire.ByID[lyceum.CoachingID]("coaching_id")

func bindCoaching(in *wire.Input, name wire.Field) func(*lyceum.Coaching) {
	named, description, image := name.Text(1, maxName), bindText(in, "description", maxDescription), bindImage(in)
	published, listed, author := in.Body("is_published").Bool(), in.Body("is_listed").Bool(), bindAuthor(in)
	return func(c *lyceum.Coaching) {
		set(&c.Name, named)
		set(&c.Description, description)
		set(&c.ImageURL, image)
		set(&c.IsPublished, published)
		set(&c.IsListed, listed)
		set(&c.AuthorID, author)
	}
}

func coaching(c lyceum.Coaching) gen.Coaching {
	return gen.Coaching{
		ID: int32(c.ID), Name: c.Name, Description: wire.Optional(c.Description), ImageURL: wire.Optional(c.ImageURL),
		IsPublished: c.IsPublished, IsListed: c.IsListed, AuthorID: wire.Number(c.AuthorID),
		CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt), ArchivedAt: wire.OptMoment(c.ArchivedAt),
	}
}
