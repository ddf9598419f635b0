package access

import "container/list"

// shelf keeps values by key, as many as it is made for. The one that was taken
// longest ago makes room for a new one.
type shelf[K comparable, V any] struct {
	most  int
	items map[K]*list.Element
	order *list.List // the one taken last comes first
}

type item[K comparable, V any] struct {
	key   K
	value V
}

func newShelf[K comparable, V any](most int) *shelf[K, V] {
	return &shelf[K, V]{most: most, items: map[K]*list.Element{}, order: list.New()}
}

// look gives the value of a key, or nil, and leaves the order alone.
func (s *shelf[K, V]) look(key K) *V {
	kept := s.items[key]
	if kept == nil {
		return nil
	}
	return &kept.Value.(*item[K, V]).value
}

// take gives the value of a key, a new one where there is none.
func (s *shelf[K, V]) take(key K) *V {
	kept := s.items[key]
	if kept != nil {
		s.order.MoveToFront(kept)
		return &kept.Value.(*item[K, V]).value
	}
	if len(s.items) >= s.most {
		oldest := s.order.Back()
		delete(s.items, s.order.Remove(oldest).(*item[K, V]).key)
	}
	fresh := &item[K, V]{key: key}
	s.items[key] = s.order.PushFront(fresh)
	return &fresh.value
}

func (s *shelf[K, V]) drop(key K) {
	if kept := s.items[key]; kept != nil {
		s.order.Remove(kept)
		delete(s.items, key)
	}
}
