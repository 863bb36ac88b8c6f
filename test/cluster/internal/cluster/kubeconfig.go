package cluster

import (
	"encoding/base64"
	"fmt"
	"os"
)

const kubeconfigTemplate = `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: %[4]s
  user:
    client-certificate-data: %[5]s
    client-key-data: %[6]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[4]s
current-context: %[1]s
`

// clusterName is the name of the cluster and the context in kubeconfigs.
const clusterName = "darkroom-cluster"

// writeKubeconfig writes a kubeconfig for the holder of a certificate. The
// certificates are in it, so that it can be copied elsewhere.
func writeKubeconfig(path, server, user, ca, certificate, key string) error {
	var encoded [3]string
	for i, file := range []string{ca, certificate, key} {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("write kubeconfig of %s: %w", user, err)
		}
		encoded[i] = base64.StdEncoding.EncodeToString(data)
	}
	text := fmt.Sprintf(kubeconfigTemplate, clusterName, server, encoded[0], user, encoded[1], encoded[2])
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write kubeconfig of %s: %w", user, err)
	}
	return nil
}
