package source

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"cloud.google.com/go/compute/metadata"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/oauth2"
)

// The addresses at which a cloud gives pods credentials of their own. Only the requests for these credentials may
// connect to these addresses, and they may connect to nothing else.
var (
	podIdentityAgent  = []netip.Addr{netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::23")}
	gkeMetadataServer = []netip.Addr{netip.MustParseAddr("169.254.169.254")}
)

// newIdentityClient returns a client that follows no redirects, and takes no proxy to addresses
// that are given.
func newIdentityClient(c Config, g guard) *http.Client {
	transport := newTransport(c, g)
	if g.only != nil {
		transport.Proxy = nil
	}
	return &http.Client{Transport: transport, CheckRedirect: stay, Timeout: headerTimeout}
}

// awsIdentity returns the credentials of a pod's ServiceAccount on EKS, by IAM Roles for Service
// Accounts or EKS Pod Identity. It never asks for the node's.
func awsIdentity(c Config) (*credentials.Credentials, error) {
	iam := &credentials.IAM{Region: c.Region}
	switch {
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		sts, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL_STS"))
		if err != nil {
			return nil, err
		}
		iam.Endpoint, iam.Client = sts.String(), newIdentityClient(c, newGuard(sts))
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" &&
		os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") != "":
		iam.Client = newIdentityClient(c, guard{only: podIdentityAgent})
	default:
		return nil, errors.New(
			"environment variable GATE_WORKLOAD_IDENTITY: the pod has no identity: EKS has set neither " +
				"AWS_WEB_IDENTITY_TOKEN_FILE nor AWS_CONTAINER_CREDENTIALS_FULL_URI",
		)
	}
	return credentials.New(iam), nil
}

// gkeIdentity requests tokens of a pod's ServiceAccount from the metadata server of GKE.
type gkeIdentity struct{ metadata *metadata.Client }

func (g gkeIdentity) Token() (*oauth2.Token, error) {
	text, err := g.metadata.GetWithContext(context.Background(),
		"instance/service-accounts/default/token?scopes="+gcsScope)
	if err != nil {
		return nil, err
	}
	token := &oauth2.Token{}
	err = json.Unmarshal([]byte(text), token)
	token.Expiry = time.Now().Add(time.Duration(token.ExpiresIn) * time.Second)
	return token, err
}
