package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func secretOf(uid types.UID, data map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: "7"}, Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret
}

func TestADigestChangesWithTheSecretAndTheDataThatIsUsed(t *testing.T) {
	keys := []string{"accessKey", "secretKey"}
	data := map[string]string{"accessKey": "a", "secretKey": "s"}
	before := digest(secretOf("u", data), keys)

	same := secretOf("u", map[string]string{"accessKey": "a", "secretKey": "s", "unused": "x"})
	same.ResourceVersion, same.Labels = "8", map[string]string{"team": "a"}
	if digest(same, keys) != before {
		t.Error("the digest changed with metadata or other keys")
	}
	for name, other := range map[string]*corev1.Secret{
		"another value":  secretOf("u", map[string]string{"accessKey": "a", "secretKey": "t"}),
		"shifted values": secretOf("u", map[string]string{"accessKey": "as", "secretKey": ""}),
		"an empty value": secretOf("u", map[string]string{"accessKey": "a", "secretKey": ""}),
		"a missing key":  secretOf("u", map[string]string{"accessKey": "a"}),
		"another Secret": secretOf("v", data),
	} {
		if digest(other, keys) == before {
			t.Errorf("%s: the digest did not change", name)
		}
	}
	if digest(secretOf("u", map[string]string{"accessKey": "a", "secretKey": ""}),
		keys) == digest(secretOf("u", map[string]string{"accessKey": "a"}), keys) {
		t.Error("a missing key and an empty one have the same digest")
	}
	if digest(secretOf("u", data), []string{"accessKey"}) == before {
		t.Error("the digest did not change with the keys")
	}
}

// Users who can read pods but not Secrets do not know the UID of a Secret.
func TestAGuessCannotBeTestedWithoutTheUID(t *testing.T) {
	data := map[string]string{"password": "123456"}
	public := digest(secretOf("0e0b6aab-1f2d-4f5c-9f1e-5d2b7a0c9d3e", data), []string{"password"})
	if digest(secretOf("", data), []string{"password"}) == public {
		t.Error("the digest does not depend on the UID")
	}
	for _, text := range []string{"123456", `"password" true 6 123456` + "\n"} {
		sum := sha256.Sum256([]byte(text))
		if strings.HasPrefix(hex.EncodeToString(sum[:]), public) {
			t.Errorf("the digest is a plain hash of %q", text)
		}
	}
}
