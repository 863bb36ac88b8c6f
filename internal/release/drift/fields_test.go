package drift

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const operator = "darkroom-operator"

var (
	deployment     = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	serviceAccount = schema.GroupKind{Kind: "ServiceAccount"}
	configMap      = schema.GroupKind{Kind: "ConfigMap"}
)

func entry(
	manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string,
) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Time: &metav1.Time{Time: time.Unix(1, 0)},
	}
}

// Other controllers rely on each row: which changes are reverted, and which are kept.
func TestAdditionsOfOthers(t *testing.T) {
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	for name, test := range map[string]struct {
		kind     schema.GroupKind
		theirs   metav1.ManagedFieldsEntry
		reverted string // a field that is removed; empty if everything is kept
	}{
		"a variable of the container": {deployment, entry("kubectl-edit", update, "",
			`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"darkroom\"}":
				{"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`), `"f:env"`},
		"a container, by server-side apply": {deployment, entry("injector", apply, "",
			`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"sidecar\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`), "sidecar"},
		"a key of a ConfigMap": {configMap, entry("kubectl-edit", update, "", `{"f:data":{"f:DEBUG":{}}}`), "DEBUG"},
		"kubectl rollout restart": {deployment, entry("kubectl-rollout", update, "",
			`{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}}`), ""},
		"a label of the pods": {
			deployment,
			entry("team", update, "", `{"f:spec":{"f:template":{"f:metadata":{"f:labels":{"f:team":{}}}}}}`), "",
		},
		"annotations and labels": {configMap, entry("team", update, "",
			`{"f:metadata":{"f:annotations":{"f:a":{}},"f:labels":{"f:b":{}},"f:finalizers":{"v:\"x/y\"":{}}}}`), ""},
		"pull secrets (OpenShift)": {
			serviceAccount,
			entry("openshift-controller-manager", apply, "",
				`{"f:imagePullSecrets":{"k:{\"name\":\"photos-dockercfg\"}":{}},"f:secrets":{"k:{\"name\":\"photos-dockercfg\"}":{}}}`), "",
		},
		"pull secrets (a patcher)": {
			serviceAccount,
			entry("imagepullsecret-patcher", update, "", `{"f:imagePullSecrets":{}}`), "",
		},
		"an autoscaler's replicas": {
			deployment,
			entry("kube-controller-manager", update, "scale", `{"f:spec":{"f:replicas":{}}}`), "",
		},
		"replicas edited by hand": {deployment, entry("kubectl-edit", update, "", `{"f:spec":{"f:replicas":{}}}`), ""},
		"the Deployment controller": {
			deployment,
			entry("kube-controller-manager", update, "status", `{"f:status":{"f:replicas":{}}}`), "",
		},
		"the operator's webhooks": {
			deployment,
			entry(operator, update, "", `{"f:spec":{"f:template":{"f:spec":{"f:dnsPolicy":{}}}}}`), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := entry(operator, apply, "", `{"f:data":{"f:LOG_LEVEL":{}},"f:metadata":{"f:labels":{"f:own":{}}}}`)
			got, found, err := Reclaim(test.kind, operator, []metav1.ManagedFieldsEntry{own, test.theirs})
			if err != nil {
				t.Fatal(err)
			}
			if found != (test.reverted != "") {
				t.Fatalf("reverted: %t, want %t", found, test.reverted != "")
			}
			if found && !strings.Contains(string(got[0].FieldsV1.GetRawBytes()), strings.Trim(test.reverted, `"`)) {
				t.Errorf("the operator's fields %s lack %s", got[0].FieldsV1.GetRawBytes(), test.reverted)
			}
		})
	}
}

func TestAnEntryKeepsTheFieldsThatStay(t *testing.T) {
	own := entry(operator, metav1.ManagedFieldsOperationApply, "", `{"f:data":{"f:LOG_LEVEL":{}}}`)
	mixed := entry("team", metav1.ManagedFieldsOperationUpdate, "",
		`{"f:data":{"f:DEBUG":{}},"f:metadata":{"f:annotations":{"f:note":{}}}}`)
	got, found, err := Reclaim(configMap, operator, []metav1.ManagedFieldsEntry{own, mixed})
	if err != nil || !found || len(got) != 2 {
		t.Fatalf("got %v, %t (%v)", got, found, err)
	}
	if rest := string(got[1].FieldsV1.GetRawBytes()); strings.Contains(rest, "DEBUG") || !strings.Contains(rest, "note") {
		t.Errorf("got the fields %s of the other manager", rest)
	}
}

func TestTheLastWriterIsNamed(t *testing.T) {
	early := entry("early", metav1.ManagedFieldsOperationUpdate, "", `{}`)
	late := entry("late", metav1.ManagedFieldsOperationUpdate, "", `{}`)
	late.Time = &metav1.Time{Time: time.Unix(9, 0)}
	status := entry("kube-controller-manager", metav1.ManagedFieldsOperationUpdate, "status", `{}`)
	status.Time = &metav1.Time{Time: time.Unix(99, 0)}
	own := entry(operator, metav1.ManagedFieldsOperationApply, "", `{}`)
	own.Time = &metav1.Time{Time: time.Unix(100, 0)}
	if got := LastWriter(operator, []metav1.ManagedFieldsEntry{early, late, status, own}); got != "late" {
		t.Errorf("got last writer %q, want late", got)
	}
}
