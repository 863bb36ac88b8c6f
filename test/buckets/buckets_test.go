package buckets

import (
	_ "github.com/fsouza/fake-gcs-server/fakestorage"
)
