package controller_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// lifeOfAProcess are prefixes of log lines that are not about a resource.
var lifeOfAProcess = []string{
	"Starting", "Stopping", "Shutdown", "All workers", "Wait completed", "Warming up", "Warmup",
	"Reflector", "Listing and watching", "Caches populated", "Stopped", "error received after stop sequence was engaged",
	"Serving metrics server", "starting server", "Unhandled Error",
	"Watching optional kind", "Optional kind no longer served by the cluster",
}

// longestLine is the maximum length of a log line that contains users' input. With longer lines, one tenant could
// quickly rotate away the lines about others.
const longestLine = 16 << 10

// Credentials are stored only in Secrets: they do not appear in the log, the status, events or other objects. Users'
// input does not produce long lines.
func TestTheLogNamesTheResourceAndNeverACredential(t *testing.T) {
	// Not parallel: all operators of this process write to the same log.
	before := len(theLog.String())
	const accessKey, secretKey = "CANARY1ACCESS1KEY", "CANARY1SECRET1KEY"
	namespace := newNamespace(t)
	startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: "b", Region: "r",
		AccessKey: accessKey, SecretKey: secretKey,
	}
	// The API server rejects this toleration and quotes its value.
	darkroom.Spec.PodTemplate = &v1alpha1.PodTemplate{
		Tolerations: []corev1.Toleration{{Key: "a", Operator: "Exists", Value: secretKey + strings.Repeat(".", 100_000)}},
	}
	darkroom.Annotations = map[string]string{v1alpha1.AnnotationReconcilePeriod: strings.Repeat("1", 100_000)}
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "failed", says("REDACTED"), isNotReady(v1alpha1.ReasonReleaseFailed))
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.PodTemplate = nil })
	becomeReady(t, namespace, "photos")
	eventually(t, "the release", installed(namespace, "photos"))
	remove(t, mustGet(t, &appsv1.Deployment{}, namespace, "photos"))
	eventuallyEvent(t, namespace, "Repaired")
	onlyInSecrets(t, darkroom, "CANARY")
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))

	ofThisTest := 0
	for line := range strings.Lines(theLog.String()[before:]) {
		if strings.Contains(line, "CANARY") {
			t.Errorf("a credential is logged: %s", line)
		}
		if len(line) > longestLine {
			t.Errorf("a line of %d bytes is logged: %.300s", len(line), line)
		}
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not JSON: %v: %s", err, line)
			continue
		}
		if strings.Contains(line, namespace) {
			ofThisTest++
		}
		message, _ := entry["msg"].(string)
		if slices.ContainsFunc(lifeOfAProcess, func(start string) bool { return strings.HasPrefix(message, start) }) {
			continue
		}
		if logger, _ := entry["logger"].(string); strings.HasPrefix(logger, "controller-runtime.test-env") {
			continue
		}
		if !namesADarkroom(entry) {
			t.Errorf("a line names no resource: %s", line)
		}
	}
	if ofThisTest < 5 {
		t.Errorf("only %d log lines are about this test: the level or the writer is wrong", ofThisTest)
	}
}

// onlyInSecrets checks that a text occurs only in the Secrets among a Darkroom's objects, status and events.
func onlyInSecrets(t *testing.T, darkroom *v1alpha1.Darkroom, text string) {
	t.Helper()
	objects, err := belongings(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	inSecret := false
	for _, object := range objects {
		if object.GetKind() == "Secret" {
			inSecret = inSecret || strings.Contains(object.GetName(), "credentials")
		} else if strings.Contains(encoded(object.Object), text) {
			t.Errorf("%s %s contains a credential", object.GetKind(), object.GetName())
		}
	}
	if !inSecret {
		t.Error("no Secret contains the credentials")
	}
	status := mustGet(t, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name).Status
	seen := encoded(events(t, darkroom.Namespace, "")) + encoded(status)
	if strings.Contains(seen, text) || strings.Contains(seen, "manifest") {
		t.Errorf("events or status contain a credential or a manifest: %s", seen)
	}
}

// namesADarkroom reports whether a log entry names its Darkroom.
func namesADarkroom(entry map[string]any) bool {
	for _, key := range []string{"darkroom", "Darkroom", "object"} {
		if reference, ok := entry[key].(map[string]any); ok && reference["name"] != nil {
			return true
		}
	}
	return entry["namespace"] != nil && (entry["darkroom"] != nil || entry["name"] != nil)
}
