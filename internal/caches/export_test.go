package caches

import "k8s.io/apimachinery/pkg/util/cache"

// ForgetShared drops the parts that cached objects share. Users may have filled the limited number of entries.
func ForgetShared() { recent = cache.NewExpiring() }
