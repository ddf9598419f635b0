package lyceum

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// UploadID numbers the uploads of a school.
type UploadID int32

var _ = product("upload")

// UploadTarget is what kind of thing a file is uploaded for, in the contract's
// words.
type UploadTarget string

// The targets of the contract.
const (
	CourseUpload     UploadTarget = "course"
	CollectionUpload UploadTarget = "product_collection"
	DownloadUpload   UploadTarget = "digital_download"
	LectureUpload    UploadTarget = "lecture"
	MembershipUpload UploadTarget = "membership"
	CoachingUpload   UploadTarget = "coaching"
)

// UploadTargets lists every target.
func UploadTargets() []UploadTarget {
	return []UploadTarget{
		CourseUpload, CollectionUpload, DownloadUpload, LectureUpload, MembershipUpload, CoachingUpload,
	}
}

// UploadPurpose is what a file is uploaded to be.
type UploadPurpose string

// The purposes of the contract.
const (
	ThumbnailUpload  UploadPurpose = "thumbnail"  // a picture that everybody sees
	AttachmentUpload UploadPurpose = "attachment" // what learners with access get
)

// UploadPurposes lists every purpose.
func UploadPurposes() []UploadPurpose { return []UploadPurpose{ThumbnailUpload, AttachmentUpload} }

// Name is the purpose in a sentence.
func (p UploadPurpose) Name() string {
	if p == AttachmentUpload {
		return "an attachment"
	}
	return "a thumbnail"
}

// Name is the target in a sentence, such as "digital download".
func (t UploadTarget) Name() string { return strings.ReplaceAll(string(t), "_", " ") }

// Purposes lists what a file of a target can be.
func (t UploadTarget) Purposes() []UploadPurpose {
	switch t {
	case LectureUpload:
		return []UploadPurpose{AttachmentUpload}
	case DownloadUpload:
		return UploadPurposes()
	}
	return []UploadPurpose{ThumbnailUpload}
}

// Bounds of uploads.
const (
	UploadLifetime = time.Hour      // in which the file must begin to come; the rest may for UnusedUpload more
	MaxUpload      = 20 << 30       // bytes
	MaxExtension   = 10             // letters and digits
	UnusedUpload   = 24 * time.Hour // after which a file that nothing refers to is removed
)

// Upload is a file that was, or may be, sent to this server.
type Upload struct {
	ID         UploadID
	UUID       string // in lower case
	TargetType UploadTarget
	TargetID   int32
	Purpose    UploadPurpose
	Extension  string // in lower case
	CreatedAt  time.Time
	ExpiresAt  time.Time

	ReceivedAt  Opt[time.Time] // absent: the file has not come
	SizeInBytes Opt[int64]
	Checksum    Opt[string] // SHA-256 in hexadecimal
	Duration    Opt[int32]  // seconds that it plays; absent: unknown, or it does not play
	StoredAs    Opt[FileName]
}

// UploadFilter narrows uploads; an absent part holds always.
type UploadFilter struct {
	UUID      Opt[string]
	Picture   Opt[string] // a thumbnail with this checksum
	Extension Opt[string]
	After     Opt[UploadID] // ids above this one
}

// ContentName names the content of an upload of a school.
func (u *Upload) ContentName(school SchoolID) FileName {
	return FileName(fmt.Sprintf("%d/%s/%s", school, u.UUID[:2], u.UUID))
}

// ThumbnailName names the content of a picture in a width; what a store keeps begins
// with it. That of the upload begins all names of its contents.
func (u *Upload) ThumbnailName(school SchoolID, width int) FileName {
	return FileName(fmt.Sprintf("%s%s%d", u.ContentName(school), thumbnailMark, width))
}

const thumbnailMark = "-w" // no other name of a content has it

// IsThumbnail reports whether a name is that of the thumbnail of an upload, which can
// be made again.
func (n FileName) IsThumbnail() bool { return strings.Contains(string(n), thumbnailMark) }

// ThumbnailWidths lists the widths that pictures can be had in, in pixels.
func ThumbnailWidths() []int { return []int{160, 320, 640, 1280} }

// UploadPath is the path of the permanent address of an upload with a UUID, or of
// pictures with a checksum.
func UploadPath(school SchoolID, name, extension string) string {
	return fmt.Sprintf("/files/%d/%s.%s", school, name, extension)
}

// UploadAddress is what the permanent address of an upload says.
type UploadAddress struct {
	School    SchoolID
	UUID      string // empty: it is that of pictures
	Checksum  string // of pictures; empty: there is a UUID
	Extension string
}

// Filter finds the uploads that an address leads to: one, or those of the same picture.
func (a *UploadAddress) Filter() UploadFilter {
	if a.Checksum != "" {
		return UploadFilter{Picture: Some(a.Checksum), Extension: Some(a.Extension)}
	}
	return UploadFilter{UUID: Some(a.UUID), Extension: Some(a.Extension)}
}

// ParseUploadAddress reads the permanent address of an upload. What else stands in
// an address, such as the host, does not matter: no two uploads have one UUID.
func ParseUploadAddress(address string) (a UploadAddress, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return a, false
	}
	school, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/files/"), "/")
	n, err := strconv.ParseInt(school, 10, 32)
	if err != nil {
		return a, false
	}
	name, extension, _ := strings.Cut(name, ".")
	a = UploadAddress{School: SchoolID(n), UUID: name, Extension: extension}
	if IsChecksum(name) {
		a.UUID, a.Checksum = "", name
	}
	canonical := UploadPath(a.School, name, extension) == u.Path
	return a, canonical && (a.Checksum != "" || IsUUID(name)) && IsExtension(extension)
}

// EachChecksum calls visit with everything in a text that is written as a SHA-256 in
// hexadecimal in lower case.
func EachChecksum(text string, visit func(checksum string)) {
	for begin := 0; begin < len(text); {
		end := begin
		for end < len(text) && isHex(text[end]) {
			end++
		}
		if end-begin == checksumLength {
			visit(text[begin:end])
		}
		begin = end + 1
	}
}

const checksumLength = 64

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// IsChecksum reports whether a text is a SHA-256 in hexadecimal in lower case.
func IsChecksum(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return len(s) == checksumLength
}

// ParseChecksum reads a SHA-256 in hexadecimal in lower case.
func ParseChecksum(s string) (sum [32]byte, ok bool) {
	if !IsChecksum(s) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(s))
	return sum, err == nil
}

// EachUUID calls visit with everything in a text that is written as a UUID in lower
// case.
func EachUUID(text string, visit func(uuid string)) {
	const dash = 8 // where the first one of a UUID is
	for i := dash; i+28 <= len(text); i++ {
		if text[i] == '-' && text[i+5] == '-' && IsUUID(text[i-dash:i+28]) {
			visit(text[i-dash : i+28])
		}
	}
}

// IsUUID reports whether a text is a UUID in lower case.
func IsUUID(s string) bool {
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash && s[i] != '-' || !dash && !isHex(s[i]) {
			return false
		}
	}
	return len(s) == 36
}

// IsExtension reports whether a text is the extension of a kept file.
func IsExtension(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= MaxExtension
}

// IsFileLink reports whether an address is a link to a file, which expires.
func IsFileLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	rest, inFiles := strings.CutPrefix(u.Path, "/files/")
	_, rest, _ = strings.Cut(rest, "/")
	return inFiles && strings.HasPrefix(rest, "links/") && u.Query().Has("signature")
}

// pictures are the extensions of pictures that can be uploaded.
var pictures = []string{"jpg", "jpeg", "png", "gif", "webp"}

// IsPicture reports whether an extension is that of a picture that can be uploaded.
func IsPicture(extension string) bool { return slices.Contains(pictures, extension) }
