package caches

import "k8s.io/apimachinery/pkg/util/cache"

// ForgetShared forgets what cached objects share, of which users may have used up the place.
func ForgetShared() { recent = cache.NewExpiring() }
