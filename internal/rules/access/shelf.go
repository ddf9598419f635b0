package access

import "container/list"

// shelf holds up to a fixed number of values by key. When it is full, the value that was taken
// longest ago is evicted.
type shelf[K comparable, V any] struct {
	most  int
	items map[K]*list.Element
	order *list.List // the last one taken comes first
}

type item[K comparable, V any] struct {
	key   K
	value V
}

func newShelf[K comparable, V any](most int) *shelf[K, V] {
	return &shelf[K, V]{most: most, items: map[K]*list.Element{}, order: list.New()}
}

// look returns the value of a key, or nil, without changing the order.
func (s *shelf[K, V]) look(key K) *V {
	kept := s.items[key]
	if kept == nil {
		return nil
	}
	return &kept.Value.(*item[K, V]).value
}

// take returns the value of a key, or a new one if there is none.
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
