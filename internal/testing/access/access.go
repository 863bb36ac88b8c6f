// Package access gives tests access to a cluster as the administrator, and creates kubeconfigs for the programs under
// test.
package access

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// tokenPeriod is longer than any test run.
const tokenPeriod = 4 * time.Hour

// Administrator returns the administrator in KUBECONFIG, without warnings from the API server. Tests are destructive,
// so clusters whose address is not a loopback address are refused.
func Administrator() (*rest.Config, error) {
	administrator, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, fmt.Errorf("read KUBECONFIG: %w", err)
	}
	if !strings.HasPrefix(administrator.Host, "https://127.0.0.1:") {
		return nil, fmt.Errorf("the cluster is at %s: these tests are for a throw-away cluster on loopback",
			administrator.Host)
	}
	administrator.QPS, administrator.Burst = 200, 400
	administrator.WarningHandler = rest.NoWarnings{}
	return administrator, nil
}

// Token creates a token for a ServiceAccount.
func Token(ctx context.Context, administrator *rest.Config, account client.ObjectKey) (string, error) {
	clientset, err := kubernetes.NewForConfig(administrator)
	if err != nil {
		return "", fmt.Errorf("create client: %w", err)
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenPeriod.Seconds()))},
	}
	answer, err := clientset.CoreV1().ServiceAccounts(account.Namespace).
		CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token of ServiceAccount %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// As returns the identity of a ServiceAccount.
func As(ctx context.Context, administrator *rest.Config, account client.ObjectKey) (*rest.Config, error) {
	token, err := Token(ctx, administrator, account)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(administrator)
	config.BearerToken = token
	return config, nil
}

// WriteKubeconfigOf writes a kubeconfig with a token of a ServiceAccount, so that a program has exactly the
// ServiceAccount's permissions.
func WriteKubeconfigOf(ctx context.Context, administrator *rest.Config, account client.ObjectKey, path string) error {
	config, err := As(ctx, administrator, account)
	if err != nil {
		return err
	}
	return WriteKubeconfig(config, account.Namespace, path)
}

// WriteKubeconfig writes a kubeconfig for an identity with a token or a certificate. An empty namespace means the
// default namespace.
func WriteKubeconfig(config *rest.Config, namespace, path string) error {
	config = rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return fmt.Errorf("read certificates: %w", err)
	}
	const name = "test"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// Clients returns clients of the administrator for the kinds of Kubernetes, the Darkroom, and additional kinds.
func Clients(
	administrator *rest.Config, add ...func(*runtime.Scheme) error,
) (client.Client, *kubernetes.Clientset, error) {
	scheme := runtime.NewScheme()
	for _, kinds := range append(add, clientgoscheme.AddToScheme, v1alpha1.AddToScheme) {
		utilruntime.Must(kinds(scheme))
	}
	kube, err := client.New(administrator, client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, fmt.Errorf("create client: %w", err)
	}
	clientset, err := kubernetes.NewForConfig(administrator)
	if err != nil {
		return nil, nil, fmt.Errorf("make client: %w", err)
	}
	return kube, clientset, nil
}
