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

// Addresses at which clouds provide credentials to pods. Only requests for these credentials may connect to these
// addresses, and they may connect to no other addresses.
var (
	podIdentityAgent  = []netip.Addr{netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::23")}
	gkeMetadataServer = []netip.Addr{netip.MustParseAddr("169.254.169.254")}
)

// newIdentityClient returns a client that does not follow redirects, and uses no proxy for the given addresses.
func newIdentityClient(c Config, g guard) *http.Client {
	transport := newTransport(c, g)
	if g.only != nil {
		transport.Proxy = nil
	}
	return &http.Client{Transport: transport, CheckRedirect: stay, Timeout: headerTimeout}
}

// awsIdentity returns the credentials of the pod's ServiceAccount on EKS, from IAM Roles for Service Accounts or EKS
// Pod Identity. It never requests the credentials of the node.
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

// gkeIdentity requests tokens of the pod's ServiceAccount from the metadata server of GKE.
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
