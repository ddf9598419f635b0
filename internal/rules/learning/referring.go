package learning

import (
	"slices"

	"github.com/lyceum-school/lyceum"
)

// referrers are the rows of one table, which can refer to files.
type referrers struct {
	each func(from lyceum.Source, visit func(row any) error) error
	// change saves the rows that a function changes.
	change func(s *Service, v lyceum.View, do changeRow) error
}

// changeRow changes the row that it gets a pointer to, and reports whether it did. It is called
// a second time within the change that saves the row.
type changeRow func(t *lyceum.Tables, from lyceum.Source, row any) (bool, error)

// referring returns the tables whose rows can refer to files.
func referring(t *lyceum.Tables) []referrers {
	return []referrers{
		rowsOf(t.Attachments, func(a *lyceum.Attachment) lyceum.AttachmentID { return a.ID }),
		rowsOf(t.Authors, func(a *lyceum.AuthorProfile) lyceum.AuthorID { return a.ID }),
		rowsOf(t.Coaching, func(c *lyceum.Coaching) lyceum.CoachingID { return c.ID }),
		rowsOf(t.Comments, func(c *lyceum.Comment) lyceum.CommentID { return c.ID }),
		rowsOf(t.Courses, func(c *lyceum.Course) lyceum.CourseID { return c.ID }),
		rowsOf(t.DigitalDownloads, func(d *lyceum.DigitalDownload) lyceum.DigitalDownloadID { return d.ID }),
		rowsOf(t.DownloadAttachments, func(a *lyceum.DownloadAttachment) lyceum.DownloadAttachmentID { return a.ID }),
		rowsOf(t.EmailTemplates, func(e *lyceum.EmailTemplate) lyceum.EmailKind { return e.Kind }),
		rowsOf(t.Memberships, func(m *lyceum.Membership) lyceum.MembershipID { return m.ID }),
		rowsOf(t.MembershipTiers, func(t *lyceum.MembershipTier) lyceum.MembershipTierID { return t.ID }),
		rowsOf(t.PricingPlans, func(p *lyceum.PricingPlan) lyceum.PricingPlanID { return p.ID }),
		rowsOf(t.ProductCollections, func(c *lyceum.ProductCollection) lyceum.ProductCollectionID { return c.ID }),
		rowsOf(t.QuizResponses, func(r *lyceum.QuizResponse) lyceum.QuizResponseID { return r.ID }),
	}
}

// changedAtOnce is how many rows one write changes at most.
const changedAtOnce = 50

func rowsOf[ID lyceum.Key, T, F any](rows lyceum.Table[ID, T, F], id func(*T) ID) referrers {
	var every F
	return referrers{
		each: func(from lyceum.Source, visit func(row any) error) error {
			return rows.Each(from, every, func(row *T) error { return visit(row) })
		},
		change: func(s *Service, v lyceum.View, do changeRow) error {
			var ids []ID
			err := rows.Each(v, every, func(row *T) error {
				of := id(row)
				changed, err := do(v.Tables, v, row)
				if changed {
					ids = append(ids, of)
				}
				return err
			})
			if err != nil {
				return err
			}
			by := lyceum.Stamp{School: v.School(), At: lyceum.Second(s.clock()), Actor: "clock"}
			for some := range slices.Chunk(ids, changedAtOnce) {
				write := func(tx lyceum.Tx) error { return changeRows(tx, rows, some, do) }
				if err := s.store.Write(v.Context(), by, write); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// changeRows changes those of some rows that still exist.
func changeRows[ID lyceum.Key, T, F any](tx lyceum.Tx, rows lyceum.Table[ID, T, F], ids []ID, do changeRow) error {
	found, err := rows.Find(tx, ids...)
	if err != nil {
		return err
	}
	var all []T
	for _, id := range ids {
		row, there := found[id]
		if !there {
			continue
		}
		changed, err := do(tx.Tables, tx, &row)
		if err != nil {
			return err
		}
		if changed {
			all = append(all, row)
		}
	}
	return rows.Update(tx, all...)
}
