package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// unguarded are resources that the operator may write no matter to whom they belong, and the reason.
var unguarded = map[string]string{
	"events":               "the operator reports about Darkrooms, and events have no effect",
	"darkrooms/status":     "the status of Darkrooms is the operator's own",
	"darkrooms/finalizers": "a permission that admission plugins require, not an object",
	"tokenreviews":         "stores nothing",
	"subjectaccessreviews": "stores nothing",
}

// TestTheGuardIsAskedAboutEverythingTheOperatorMayWrite checks all rules of the roles.
func TestTheGuardIsAskedAboutEverythingTheOperatorMayWrite(t *testing.T) {
	guarded := map[string]bool{}
	for _, object := range kustomizeBuild(t, "guard") {
		if object.GetKind() == "ValidatingAdmissionPolicy" {
			for _, rule := range convert[admissionv1.ValidatingAdmissionPolicy](t, object).Spec.MatchConstraints.ResourceRules {
				for _, resource := range rule.Resources {
					guarded[rule.APIGroups[0]+"/"+resource] = true
				}
			}
		}
	}
	for _, file := range []string{"role.yaml", "metrics_auth_role.yaml"} {
		role, err := access.ReadClusterRole(filepath.Join(repository, "config", "rbac", file))
		must(t, err)
		for _, rule := range role.Rules {
			writes := slices.DeleteFunc(slices.Clone(rule.Verbs),
				func(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" })
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					if len(writes) > 0 && !guarded[group+"/"+resource] && unguarded[resource] == "" {
						t.Errorf("the operator may %q %s/%s, but the guard does not match it", writes, group, resource)
					}
				}
			}
		}
	}
}

// owned makes an object belong to a Darkroom.
const owned = `
  labels: {deployments.example.com/darkroom: photos}
  ownerReferences: [{apiVersion: deployments.example.com/v1alpha1, kind: Darkroom, name: photos, uid: "1", controller: true}]`

// pod returns a Deployment of a Darkroom with a change of its pod, and of its container.
func pod(pod, container string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata:
  name: photos
  labels: {deployments.example.com/darkroom: photos}
  ownerReferences: [{apiVersion: deployments.example.com/v1alpha1, kind: Darkroom, name: photos, uid: "1"}]
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers: [{name: c, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}%s}}]
      %s`, container, pod)
}

// escapes are objects that someone with the operator's token might create.
var escapes = map[string]string{
	"a token of another ServiceAccount": `
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata:
  name: photos
  annotations: {kubernetes.io/service-account.name: default}` + owned,
	"a Secret without an owner": `
apiVersion: v1
kind: Secret
metadata: {name: photos}`,
	"an object with the label alone": `
apiVersion: v1
kind: ConfigMap
metadata: {name: photos, labels: {deployments.example.com/darkroom: photos}}`,
	"an object of another owner": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: photos
  labels: {deployments.example.com/darkroom: photos}
  ownerReferences: [{apiVersion: v1, kind: Pod, name: photos, uid: "1"}]`,
	"an object in kube-system": `
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: kube-system
  name: photos` + owned,
	"a Service that takes an address of others": `
apiVersion: v1
kind: Service
metadata:
  name: photos` + owned + `
spec: {ports: [{port: 80}], externalIPs: [192.0.2.1]}`,
	"a Service that leads elsewhere": `
apiVersion: v1
kind: Service
metadata:
  name: photos` + owned + `
spec: {type: ExternalName, externalName: kubernetes.default.svc}`,
	"a folder of the node": pod("volumes: [{name: v, hostPath: {path: /}}]", ""),
	"a projected token": pod("volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]",
		""),
	"a mounted token": strings.ReplaceAll(pod("", ""), "automountServiceAccountToken: false",
		"automountServiceAccountToken: true"),
	"a token mounted by default": strings.ReplaceAll(pod("", ""), "automountServiceAccountToken: false",
		"serviceAccountName: default"),
	"the network of the node":   pod("hostNetwork: true", ""),
	"the processes of the node": pod("hostPID: true", ""),
	"the memory of the node":    pod("hostIPC: true", ""),
	"privileges": strings.ReplaceAll(pod("", ", privileged: true"),
		"allowPrivilegeEscalation: false, ", ""),
	"escalation": strings.ReplaceAll(pod("", ""), "allowPrivilegeEscalation: false",
		"allowPrivilegeEscalation: true"),
	"a capability": strings.ReplaceAll(pod("", ""), "drop: [ALL]", "drop: [ALL], add: [SYS_ADMIN]"),
	"an init container with all capabilities": pod("initContainers: [{name: i, image: i, securityContext: {privileged: true}}]", ""),
	"a container without a context":           pod("initContainers: [{name: i, image: i}]", ""),
}

// guardedOperator installs config/default without its Deployment, and returns a client with a token of
// the operator's ServiceAccount.
func guardedOperator(t *testing.T) (kube, operator client.Client) {
	t.Helper()
	kube, _ = connect(t)
	for _, object := range kustomizeBuild(t, "default") {
		if object.GetKind() == "Deployment" {
			continue
		}
		apply(t, kube, object)
		if kind := object.GetKind(); strings.HasPrefix(kind, "ValidatingAdmission") {
			deleteLater(t, kube, object)
		}
	}
	config, err := access.As(t.Context(), administrator,
		client.ObjectKey{Namespace: "darkroom-system", Name: "darkroom-operator-controller-manager"})
	must(t, err)
	operator, err = client.New(config, client.Options{})
	must(t, err)
	eventually(t, func(ctx context.Context) error { return access.IsGuarded(ctx, operator) })
	return kube, operator
}

func TestTheGuardRefusesEachEscape(t *testing.T) {
	kube, operator := guardedOperator(t)
	parsed := func(text string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: parse(t, text)}
		if object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
		return object
	}
	refused := func(err error) error {
		if err == nil {
			return errors.New("it is accepted")
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "guard") {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	}
	nobodys := parsed(escapes["a Secret without an owner"])
	for name, text := range escapes {
		if err := operator.Create(t.Context(), parsed(text), client.DryRunAll); err == nil {
			t.Errorf("%s is created", name)
		} else if err := refused(err); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// Others may.
		if err := kube.Create(t.Context(), parsed(text), client.DryRunAll); err != nil {
			t.Errorf("%s is refused to the administrator: %v", name, err)
		}
	}
	safe := parsed(pod("", ""))
	safe.SetName("safe")
	must(t, kube.Create(t.Context(), safe))
	deleteLater(t, kube, safe)
	for name, text := range escapes {
		if unsafe := parsed(text); unsafe.GetKind() == "Deployment" {
			_, found, _ := unstructured.NestedFieldNoCopy(unsafe.Object, "spec", "template", "spec",
				"automountServiceAccountToken")
			if !found {
				must(t, unstructured.SetNestedField(unsafe.Object, nil, "spec", "template", "spec", "automountServiceAccountToken"))
			}
			patch, err := json.Marshal(map[string]any{"spec": unsafe.Object["spec"]})
			must(t, err)
			err = refused(operator.Patch(t.Context(), safe.DeepCopy(), client.RawPatch(types.MergePatchType, patch),
				client.DryRunAll))
			if err != nil {
				t.Errorf("%s is added: %v", name, err)
			}
		}
	}
	// Objects that do not belong to a Darkroom stay unchanged, no matter what the change is.
	nobodys.SetName("of-another-release")
	nobodys.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
	must(t, kube.Create(t.Context(), nobodys))
	deleteLater(t, kube, nobodys)
	if err := refused(operator.Delete(t.Context(), nobodys.DeepCopy(), client.DryRunAll)); err != nil {
		t.Errorf("deletion: %v", err)
	}
	stolen := nobodys.DeepCopy()
	taken := parsed(escapes["a token of another ServiceAccount"])
	stolen.SetLabels(taken.GetLabels())
	stolen.SetOwnerReferences(taken.GetOwnerReferences())
	if err := refused(operator.Patch(t.Context(), stolen, client.MergeFrom(nobodys), client.DryRunAll)); err != nil {
		t.Errorf("taking over: %v", err)
	}
	darkroom := darkroomWith(t, "default", "{}")
	must(t, kube.Create(t.Context(), darkroom))
	deleteLater(t, kube, darkroom)
	changed := darkroom.DeepCopy()
	must(t, unstructured.SetNestedField(changed.Object, int64(9), "spec", "replicas"))
	if err := refused(operator.Patch(t.Context(), changed, client.MergeFrom(darkroom), client.DryRunAll)); err != nil {
		t.Errorf("a change of a Darkroom: %v", err)
	}
	annotated := darkroom.DeepCopy()
	annotated.SetAnnotations(map[string]string{"deployments.example.com/installation": "system"})
	must(t, operator.Patch(t.Context(), annotated, client.MergeFrom(darkroom), client.DryRunAll))
	must(t, operator.Create(t.Context(), parsed(pod("", "")), client.DryRunAll))
}

// The name of the operator's ServiceAccount may have a prefix or suffix set by kustomize, or may be derived from the
// name of a release. A guard that does not match the name restricts nothing.
func TestTheGuardKnowsTheOperatorByEachOfItsNames(t *testing.T) {
	installations := map[string][]*unstructured.Unstructured{}
	for _, names := range []string{
		"namePrefix: team-a-", "nameSuffix: -b", "{namePrefix: team-a-, nameSuffix: -c, namespace: other}",
	} {
		directory := t.TempDir()
		config, err := filepath.Abs(filepath.Join(repository, "config", "default"))
		must(t, err)
		relative, err := filepath.Rel(directory, config)
		must(t, err)
		kustomization := parse(t, names)
		kustomization["resources"] = []string{relative}
		text, err := yaml.Marshal(kustomization)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(directory, "kustomization.yaml"), text, 0o600))
		installations[names] = build(t, directory)
	}
	for _, release := range []string{
		"darkroom-operator", "shop", "a.b", "a-darkroom-operator", "2026", strings.Repeat("a", 53),
	} {
		objects, err := renderChart(t, release, "")
		must(t, err)
		installations["release "+release] = objects
	}
	quoted := regexp.MustCompile(`matches\("(.*)"\)`)
	for names, objects := range installations {
		account, condition := "", ""
		for _, object := range objects {
			switch object.GetKind() {
			case "ServiceAccount":
				account = object.GetName()
			case "ValidatingAdmissionPolicy":
				condition = convert[admissionv1.ValidatingAdmissionPolicy](t, object).Spec.MatchConditions[0].Expression
			}
		}
		expression := quoted.FindStringSubmatch(condition)
		if expression == nil {
			t.Fatalf("%s: the condition is %q", names, condition)
		}
		known := regexp.MustCompile(expression[1])
		if !known.MatchString("system:serviceaccount:other:" + account) {
			t.Errorf("%s: the guard does not know %s by %s", names, account, condition)
		}
		for _, other := range []string{"controller-manager", "prometheus-operator-controller-manager", account + ":x"} {
			if known.MatchString("system:serviceaccount:other:" + other) {
				t.Errorf("%s: the guard treats %s as the operator", names, other)
			}
		}
	}
}
