package lyceum

// UserTags are all tags of a user.
type UserTags struct {
	User UserID
	Tags []string
}

// TagReads reads the tags of users, which are rows without an id.
type TagReads interface {
	// EachTag calls visit with the tags of a user, or of all users by ascending id, until visit
	// fails. All are from one snapshot; those of a user come in no particular order.
	EachTag(of Opt[UserID], visit func(UserID, string) error) error
}
