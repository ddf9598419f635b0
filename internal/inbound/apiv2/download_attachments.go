package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) downloadAttachments() []wire.Operation {
	const all = "/v2/products/digital-downloads/{digital_download_id}/attachments"
	const each = all + "/{attachment_id}"
	l := f.learning
	return []wire.Operation{
		many("listDigitalDownloadAttachments", all, 20, byDownload, l.DownloadAttachments, f.downloadAttachment),
		one(
			"createDigitalDownloadAttachment", wire.Create, all, bindNewDownloadAttachment, l.CreateDownloadAttachment,
			f.downloadAttachment,
		),
		one(
			"showDigitalDownloadAttachment", wire.Get, each, byDownloadAttachment, l.DownloadAttachment, f.downloadAttachment,
		),
		wire.None("deleteDigitalDownloadAttachment", wire.Delete, each, byDownloadAttachment, l.DeleteDownloadAttachment),
	}
}

func byDownloadAttachment(in *wire.Input) learning.InDownload {
	return learning.InDownload{
		Download: byDownload(in), ID: wire.PathID[lyceum.DownloadAttachmentID](in, "attachment_id"),
	}
}

// bindNewDownloadAttachment binds an attachment and requires what its kind needs.
func bindNewDownloadAttachment(in *wire.Input) lyceum.DownloadAttachment {
	a := lyceum.DownloadAttachment{
		DigitalDownloadID: byDownload(in),
		Kind:              wire.OneOf(in.Body("kind").Required(), lyceum.DownloadAttachmentKinds()...).Value,
		URL:               in.Body("url").Required().URL(maxURL).Value,
	}
	body := func(name string, kind lyceum.DownloadAttachmentKind) wire.Field {
		if f := in.Body(name); a.Kind != kind {
			return f
		}
		return in.Body(name).Required()
	}
	a.Filename = body("filename", lyceum.DownloadFile).Text(1, lyceum.MaxFilename)
	a.SizeInBytes = wire.Int[int64](body("size_in_bytes", lyceum.DownloadFile), 1, lyceum.MaxFileBytes)
	a.ButtonText = body("button_text", lyceum.DownloadRedirect).Text(1, lyceum.MaxButtonText)
	return a
}

// downloadAttachment renders an attachment for the school's programs. The URL of a file of
// this server is a link.
func (f *Face) downloadAttachment(a learning.LinkedAttachment) gen.DigitalDownloadAttachment {
	address := wire.FileAddress(f.base, a.URL, a.Link)
	return gen.DigitalDownloadAttachment{
		ID: int32(a.ID), Filename: wire.Optional(a.Filename), FileType: wire.Optional(lyceum.FileType(a.Filename.Value)),
		SizeInBytes: wire.Optional(a.SizeInBytes), Kind: string(a.Kind), ButtonText: wire.Optional(a.ButtonText),
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt), URL: &address,
	}
}

// linkedAttachment renders an attachment for a learner: with a link instead of the
// permanent address.
func (f *Face) linkedAttachment(a learning.LinkedAttachment) gen.DigitalDownloadAttachment {
	shown, link := f.downloadAttachment(a), wire.FileLink(f.base, a.Link)
	shown.URL = &link
	return shown
}
