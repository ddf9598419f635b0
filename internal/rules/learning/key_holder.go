package learning

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// KeyHolder is the API key that a signed address was made with, and the role that its member of
// staff had then. The address stops working when the key is revoked or that role changes.
type KeyHolder struct {
	Key  lyceum.APIKeyID  // 0: none
	Role lyceum.StaffRole // empty: the key belongs to the school
}

func holderOf(by lyceum.By) KeyHolder {
	if by.Key == 0 {
		return KeyHolder{}
	}
	return KeyHolder{by.Key, by.Staff}
}

// query returns the beginning of the query of an address.
func (k *KeyHolder) query() string {
	if k.Role == "" {
		return fmt.Sprintf("key=%d&", k.Key)
	}
	return fmt.Sprintf("key=%d&role=%s&", k.Key, k.Role)
}

// works reports whether the key works and its role is still the same.
func (k *KeyHolder) works(v lyceum.View) (bool, error) {
	if k.Key == 0 {
		return true, nil
	}
	key, err := v.APIKeys.Get(v, k.Key)
	if err != nil {
		if lyceum.KindOf(err) == lyceum.NotFound {
			err = nil
		}
		return false, err
	}
	role, good, err := lyceum.RoleOfKey(v.Tables, v, &key)
	return good && role == k.Role, err
}
