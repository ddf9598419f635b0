package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) authors() []wire.Operation {
	const all, each, name = "/lyceum/v1/authors", "/lyceum/v1/authors/{author_id}", "author"
	l := f.Learning
	return []wire.Operation{
		wire.Many("listAuthors", all, perPage, bindPartners, l.Authors, "authors", author),
		one("createAuthor", wire.Create, all, bindNewAuthor, l.CreateAuthor, name, author).Long(),
		one("showAuthor", wire.Get, each, byAuthor, l.Author, name, author),
		one("updateAuthor", wire.Patch, each, bindAuthorChange, l.UpdateAuthor, name, author).Long(),
		one("archiveAuthor", wire.Run, each+"/archive", wire.NoBody(byAuthor), l.ArchiveAuthor, name, author),
	}
}

var byAuthor = wire.ByID[lyceum.AuthorID]("author_id")

func bindNewAuthor(in *wire.Input) learning.AuthorChange {
	return bindProfile(in, in.Body("name").Required())
}

func bindAuthorChange(in *wire.Input) learning.AuthorChange {
	q := bindProfile(in, in.Body("name"))
	q.ID = byAuthor(in)
	return q
}

func bindProfile(in *wire.Input, name wire.Field) learning.AuthorChange {
	b := in.Body
	return learning.AuthorChange{
		Name:            name.Text(1, lyceum.MaxShopName),
		Bio:             bindText(in, "bio", maxDescription),
		ProfileImageURL: wire.Nullable(b("profile_image_url"), b("profile_image_url").URL(maxURL)),
		UserID:          wire.Nullable(b("user_id"), wire.ID[lyceum.UserID](b("user_id"))),
		Share:           wire.Nullable(b("share"), b("share").Fraction(0)),
	}
}

func author(a lyceum.AuthorProfile) gen.Author {
	return gen.Author{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Bio: wire.Optional(a.Bio),
		ProfileImageURL: wire.Optional(a.ProfileImageURL), UserID: wire.Number(a.UserID), Share: wire.Optional(a.Share),
		ArchivedAt: wire.OptMoment(a.ArchivedAt),
	}
}
