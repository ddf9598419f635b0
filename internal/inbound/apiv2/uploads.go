package apiv2

import (
	"regexp"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) uploads() []wire.Operation {
	create := one("createUpload", wire.Create, "/v2/uploads", bindNewUpload, f.learning.CreateUpload, f.upload)
	create.Secret = true // anyone with the address can upload a file
	return []wire.Operation{create}
}

var extension = regexp.MustCompile(`^[a-zA-Z0-9]{1,10}$`)

func bindNewUpload(in *wire.Input) learning.NewUpload {
	q := learning.NewUpload{
		Target:    wire.OneOf(in.Body("type").Required(), lyceum.UploadTargets()...).Value,
		ID:        wire.ID[int32](in.Body("id").Required()).Value,
		Purpose:   wire.OneOf(in.Body("purpose").Required(), lyceum.UploadPurposes()...).Value,
		Extension: in.Body("extension").Required().Text(1, lyceum.MaxExtension).Value,
	}
	if q.Extension != "" && !extension.MatchString(q.Extension) {
		in.Refuse("extension", "must be 1 to 10 letters and digits, such as pdf")
	}
	return q
}

func (f *Face) upload(t learning.UploadTicket) gen.Upload {
	return gen.Upload{
		UploadURL: wire.UploadURL(f.base, t), UploadMethod: "PUT",
		UploadHeaders: map[string]string{"Content-Type": lyceum.MediaType(t.Extension)},
		URL:           f.base + lyceum.UploadPath(t.School, t.UUID, t.Extension),
		Expires:       wire.Moment(t.Until), UploadID: t.UUID,
	}
}
