package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const videoPath = "/videos/{video_id}"

func (f *Face) videos() []wire.Operation {
	return []wire.Operation{
		one("ShowVideo", wire.Get, lecturePath+videoPath, bindVideo, f.showVideo, "video", video),
	}
}

func (f *Face) myVideos() []wire.Operation {
	return []wire.Operation{
		one("showCurrentUserVideo", wire.Get, myLecturePath+videoPath, bindMyVideo, f.showVideo, "video", video),
	}
}

// bindVideo validates user_id and ignores it: the response is the same for every user.
func bindVideo(in *wire.Input) inLecture {
	q := bindMyVideo(in)
	wire.ID[lyceum.UserID](in.Query("user_id"))
	return q
}

func bindMyVideo(in *wire.Input) inLecture {
	q := bindLecture(in)
	q.attachment = wire.PathID[lyceum.AttachmentID](in, "video_id")
	return q
}

func (f *Face) showVideo(ctx context.Context, by lyceum.By, q inLecture) (lyceum.Attachment, error) {
	_, a, err := f.Learning.Attachment(ctx, by, q.course, q.lecture, q.attachment, lyceum.VideoAttachment)
	return a, err
}

func video(a lyceum.Attachment) gen.Video {
	shown := gen.Video{ID: int32(a.ID), Status: gen.VideoStatus(lyceum.VideoProcessing), MediaType: "VIDEO"}
	if v := a.Video.Value; a.Video.Present {
		shown.VideoAsset = gen.VideoAsset{URL: v.URL, ContentType: v.ContentType}
		shown.Status, shown.URLThumbnail = gen.VideoStatus(v.Status), wire.Optional(v.Thumbnail)
		shown.MediaDuration = wire.Number(v.Duration)
	}
	return shown
}
