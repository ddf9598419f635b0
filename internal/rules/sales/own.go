package sales

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// OwnPurchase is a purchase as shown to the learner who made it.
type OwnPurchase struct {
	Purchase

	Product lyceum.Held // without a kind if it is unknown, without a name if it does not exist
}

// OwnTransaction is a transaction as shown to the learner who paid it.
type OwnTransaction struct {
	LinkedTransaction

	Product lyceum.Held
}

// OwnPurchases returns a page of a learner's purchases, newest first.
func (s *Service) OwnPurchases(
	ctx context.Context, by lyceum.By, f lyceum.PurchaseFilter, p lyceum.Page,
) (lyceum.Listing[OwnPurchase], error) {
	f.User = by.Learner
	found, err := s.Purchases(ctx, by, f, p)
	return owned(s, ctx, by, found, err, func(p Purchase, product lyceum.Held) OwnPurchase {
		return OwnPurchase{p, product}
	}, func(p *Purchase) *lyceum.PricingPlan { return &p.Plan })
}

// OwnPurchase returns a purchase of a learner. It fails with NotFound if they have no such
// purchase.
func (s *Service) OwnPurchase(ctx context.Context, by lyceum.By, id lyceum.SaleID) (OwnPurchase, error) {
	found, err := s.Purchase(ctx, by, PurchaseQuery{Sale: id, User: by.Learner})
	if lyceum.KindOf(err) == lyceum.NotFound {
		err = lyceum.Errorf(lyceum.NotFound, "there is no purchase %d", id)
	}
	if err != nil {
		return OwnPurchase{}, err
	}
	products, err := s.named(ctx, by, &found.Plan)
	return OwnPurchase{found, products[0]}, err
}

// OwnTransactions returns a page of a learner's transactions, newest first.
func (s *Service) OwnTransactions(
	ctx context.Context, by lyceum.By, q lyceum.TransactionQuery, p lyceum.Page,
) (lyceum.Listing[OwnTransaction], error) {
	q.UserID = by.Learner
	found, err := s.Transactions(ctx, by, q, p)
	return owned(s, ctx, by, found, err, func(t LinkedTransaction, product lyceum.Held) OwnTransaction {
		return OwnTransaction{t, product}
	}, func(t *LinkedTransaction) *lyceum.PricingPlan { return &t.Plan })
}

// OwnTransaction returns a transaction of a learner. It fails with NotFound if they have no
// such transaction.
func (s *Service) OwnTransaction(ctx context.Context, by lyceum.By, id lyceum.TransactionID) (OwnTransaction, error) {
	found, err := s.Transaction(ctx, by, id)
	if err == nil && found.UserID != by.Learner.Value {
		err = lyceum.Errorf(lyceum.NotFound, "there is no transaction %d", id)
	}
	if err != nil {
		return OwnTransaction{}, err
	}
	products, err := s.named(ctx, by, &found.Plan)
	return OwnTransaction{found, products[0]}, err
}

// owned adds the products that were bought to a page.
func owned[T, O any](
	s *Service, ctx context.Context, by lyceum.By, found lyceum.Listing[T], err error, own func(T, lyceum.Held) O,
	plan func(*T) *lyceum.PricingPlan,
) (lyceum.Listing[O], error) {
	list := lyceum.Listing[O]{Page: found.Page, Total: found.Total, More: found.More}
	if err != nil {
		return list, err
	}
	plans := make([]*lyceum.PricingPlan, len(found.Rows))
	for i := range found.Rows {
		plans[i] = plan(&found.Rows[i])
	}
	products, err := s.named(ctx, by, plans...)
	for i := range found.Rows {
		list.Rows = append(list.Rows, own(found.Rows[i], products[i]))
	}
	return list, err
}

// named returns the products that pricing plans sell.
func (s *Service) named(ctx context.Context, by lyceum.By, plans ...*lyceum.PricingPlan) ([]lyceum.Held, error) {
	rows := make([]lyceum.Held, len(plans))
	var products []lyceum.Product
	for i, plan := range plans {
		rows[i].Product = plan.Product().Value
		if p := rows[i].Product; p.Kind.Known() && !slices.Contains(products, p) {
			products = append(products, p)
		}
	}
	known, err := s.store.In(ctx, by.School).FindNamed(by.Learner.Value, s.clock(), products)
	for i := range rows {
		if product, there := known[rows[i].Product]; there {
			rows[i] = product
		}
	}
	return rows, err
}

// Standing is a sale with its status.
type Standing struct {
	lyceum.Sale

	Status lyceum.Opt[SaleStatus]
}

// Standings returns the given sales of a learner with their status.
func (s *Service) Standings(
	ctx context.Context, by lyceum.By, ids ...lyceum.SaleID,
) (standings map[lyceum.SaleID]Standing, err error) {
	standings = map[lyceum.SaleID]Standing{}
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		details, err := paid(v, by.Learner, ids)
		for i := range details {
			d := &details[i]
			d.Status = d.statusAt(s.clock())
			standings[d.ID] = Standing{d.Sale, d.Status}
		}
		return err
	})
	return standings, err
}

// paid reads a user's sales with everything that their status depends on.
func paid(v lyceum.View, user lyceum.Opt[lyceum.UserID], ids []lyceum.SaleID) ([]SaleDetail, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sales, err := v.Sales.Find(v, ids...)
	if err != nil {
		return nil, err
	}
	transactions, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{Sales: ids, Order: lyceum.OldestFirst})
	if err != nil {
		return nil, err
	}
	var details []SaleDetail
	var plans []lyceum.PricingPlanID
	for _, id := range ids {
		sale, there := sales[id]
		if !there || sale.UserID != user {
			continue
		}
		d := SaleDetail{Sale: sale}
		for i := range transactions {
			if transactions[i].SaleID == id {
				d.Transactions = append(d.Transactions, transactions[i])
			}
		}
		details, plans = append(details, d), append(plans, sale.PricingPlanID.Value)
	}
	references, err := lateNames(v.Tables, v, transactions)
	if err != nil {
		return nil, err
	}
	disputes, err := disputesFor(v, transactions)
	if err != nil {
		return nil, err
	}
	named, err := v.PricingPlans.Find(v, plans...)
	if err != nil {
		return nil, err
	}
	school, err := v.GetSchool()
	if err != nil {
		return nil, err
	}
	for i := range details {
		d := &details[i]
		d.References, d.Disputes = references, disputes
		if plan, known := named[plans[i]]; known {
			plan = plan.For(&d.Sale)
			if err := d.count(&plan, &school); err != nil {
				return nil, err
			}
		}
	}
	return details, nil
}

// disputesFor returns the disputes of transactions.
func disputesFor(v lyceum.View, transactions []lyceum.Transaction) ([]lyceum.Dispute, error) {
	var ids []lyceum.TransactionID
	for i := range transactions {
		if transactions[i].HasChargeback.Value {
			ids = append(ids, transactions[i].ID)
		}
	}
	if ids == nil {
		return nil, nil
	}
	return lyceum.All(v.Disputes, v, lyceum.DisputeFilter{Transactions: ids})
}
