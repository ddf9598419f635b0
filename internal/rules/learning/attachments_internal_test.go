package learning

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A field that is wrong has the name that it has in the request.
func TestMisfitsNameTheFieldsOfTheRequest(t *testing.T) {
	asked := lyceum.Some(lyceum.OpenQuestion{Required: true})
	const change = "open_response_question"
	for _, tc := range []struct {
		kind      lyceum.AttachmentKind
		questions []string
		want      []lyceum.FieldError
	}{
		{lyceum.OpenQuestionAttachment, []string{change}, []lyceum.FieldError{{Field: change + ".question", Message: "must not be empty"}}},
		{lyceum.TextAttachment, []string{change}, []lyceum.FieldError{{Field: change, Message: "does not go with an attachment of the kind text"}}},
		{lyceum.TextAttachment, []string{"required", "img_url"}, []lyceum.FieldError{
			{Field: "required", Message: "does not go with an attachment of the kind text"},
			{Field: "img_url", Message: "does not go with an attachment of the kind text"},
		}},
	} {
		before := lyceum.Attachment{ID: 1, Kind: tc.kind}
		after := before
		after.Question = asked
		if got := misfits(&before, &after, tc.questions...); !slices.Equal(got, tc.want) {
			t.Errorf("%s, %q: %+v, want %+v", tc.kind, tc.questions, got, tc.want)
		}
	}
}
