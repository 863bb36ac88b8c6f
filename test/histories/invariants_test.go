package histories

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// invariant is a promise. Its error describes the violation.
type invariant struct {
	name  string
	holds func(*world) error
}

// always are invariants that hold at every moment.
var always = []invariant{
	{"ownership: no object is changed or deleted unless it belongs to a Darkroom", foreignObjectsStay},
	{
		"ownership: a Darkroom stays with its installation; a routed host with its Darkroom, and never in two routes",
		hostsStay,
	},
	{"ownership: no object of a Darkroom is left without an owner", nothingIsLeft},
	{"cost: requests are bounded, regardless of what other tenants created", isCheap},
	{"calm: a rejected write is not repeated more than ten times in five seconds", isCalm},
	{"calm: a status is written only if it changed", newsOnly},
	{"lease: a process writes only while it leads", onlyLeadersWrite},
	{"shards: a process writes only objects of its shard", shardsAreSeparate},
	{"history: revisions are kept, unless a quota prevents another one", keepsHistory},
	{"desired: the number of pods that an autoscaler set is kept", scaleStays},
	{"secrets: no credential leaves Secrets and the resource itself", keepsSecrets},
	{"truth: a deletion is not a failure", deletionIsNoFailure},
}

// afterwards are invariants that are checked once, against all statuses and events of the history.
var afterwards = []invariant{
	{"calm: an event is recorded only for a change", reportedOnce},
	{"truth: texts are stored as they were reported", textsAreWhole},
}

// atRest are invariants that hold once all faults have ended and the cluster is at rest.
var atRest = []invariant{
	{"liveness: deleted Darkrooms are gone", deletedAreGone},
	{"desired: each Darkroom's objects are as translated, or a condition names the cause", isAsDesired},
	{"hosts: each host is routed to a Darkroom that wants it", hostsAreRouted},
	{"truth: the status matches the live objects", statusIsTrue},
}

func foreignObjectsStay(w *world) error {
	objects := w.judging
	live := map[reference]*unstructured.Unstructured{}
	for i := range objects {
		live[referTo(&objects[i])] = &objects[i]
	}
	for reference, version := range w.foreign {
		now := live[reference]
		switch {
		case now == nil:
			return fmt.Errorf("%s was deleted", reference)
		case now.GetResourceVersion() != version:
			return fmt.Errorf("%s was changed by %v", reference, writers(now))
		}
	}
	return nil
}

// nothingIsLeft checks that objects of the operator have an owner, unless their owner or another controller removed the
// reference. Objects without an owner must belong to a Helm release, unless a user ended the release.
func nothingIsLeft(w *world) error {
	objects := w.judging
	releases := map[string]bool{}
	for i := range objects {
		labels := objects[i].GetLabels()
		if objects[i].GetKind() == "Secret" && labels["owner"] == "helm" && labels["version"] != "" {
			releases[objects[i].GetNamespace()+"/"+labels["name"]] = true
		}
	}
	for i := range objects {
		object := &objects[i]
		if metav1.GetControllerOfNoCopy(object) != nil || !slices.Contains(writers(object), release.FieldManager) {
			continue
		}
		name := object.GetNamespace() + "/" + object.GetAnnotations()[ownership.AnnotationReleaseName]
		// If managed fields were cleared, a remaining object of a release may be Helm's.
		mayBeHelms := releases[name] && slices.Contains(writers(object), "before-first-apply")
		if _, isForeign := w.foreign[referTo(object)]; !isForeign && !mayBeHelms {
			return fmt.Errorf("%s has no owner, and was written by %v", referTo(object), writers(object))
		}
		if object.GetKind() == "Deployment" && !releases[name] && !w.ended[name] {
			return fmt.Errorf("%s has no Helm release", referTo(object))
		}
	}
	return nil
}

// mostRequests limits the requests per step. A step changes at most four Darkrooms.
const mostRequests = 150

// isCheap compares the number of requests since the previous step with the limit.
func isCheap(w *world) error {
	sent := w.sent().requests
	requests, since, now := sent-w.judged, w.judgedAt, time.Now()
	if w.judged, w.judgedAt = sent, now; requests > mostRequests && w.faults.Current() == "" {
		return fmt.Errorf("%d requests in %s, more than %d: %s", requests, now.Sub(since).Round(time.Second), mostRequests,
			strings.Join(w.mostFrequent(since), ", "))
	}
	return nil
}

// mostFrequent returns the ten requests that were sent most often since a time.
func (w *world) mostFrequent(since time.Time) []string {
	times := map[string]int{}
	for _, operator := range w.operators {
		for _, r := range operator.traffic.all() {
			if r.at.After(since) {
				times[fmt.Sprint(w.plain(r.line), " ", r.status)]++
			}
		}
	}
	lines := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return times[b] - times[a] })
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%d × %s", times[line], line)
	}
	return lines[:min(10, len(lines))]
}

func writers(object client.Object) (names []string) {
	for _, entry := range object.GetManagedFields() {
		names = append(names, entry.Manager)
	}
	return names
}

// claims reports whether a Darkroom claims a host of the main installation.
func (r *replay) claims(d *v1alpha1.Darkroom, host string) bool {
	return d.DeletionTimestamp == nil && v1alpha1.MayBeHandledBy(mainInstallation, d) &&
		slices.Contains(r.translators[r.w.processOf(mainInstallation, d)].Hosts(d), host)
}

// replay is the state of Darkrooms and routes at a moment of the timeline.
type replay struct {
	w *world
	// translators contain the settings at that moment, by process of the main installation.
	translators map[process]*values.Translator
	darkrooms   map[types.NamespacedName]*v1alpha1.Darkroom
	// since is the time since which a Darkroom wants a host.
	since map[wish]time.Time
	// routes are the live routes, and given the hosts that an operator wrote into them.
	routes map[reference]client.Object
	given  map[reference][]string
	// assigned are the hosts of routes as last written by operators.
	assigned map[reference][]string
}

// wish is a host that a Darkroom wants.
type wish struct {
	darkroom types.NamespacedName
	host     string
}

// isRouted reports whether a Darkroom's Ingress or HTTPRoute has a host.
func (r *replay) isRouted(darkroom *v1alpha1.Darkroom, host string) bool {
	for reference, route := range r.routes {
		if reference.NamespacedName == client.ObjectKeyFromObject(darkroom) && slices.Contains(routedHosts(route), host) {
			return true
		}
	}
	return false
}

// apply applies an event. It returns an error if an operator took a host from its holder, or put a host into a second
// route.
func (r *replay) apply(e event, byOperator bool) error {
	if darkroom, ok := e.object.(*v1alpha1.Darkroom); ok {
		key := client.ObjectKeyFromObject(darkroom)
		if before := r.darkrooms[key]; before != nil && movesHosts(before, darkroom) {
			return fmt.Errorf("%s/%s has the base domain %s, and had %s before, although it did not change",
				key.Namespace, key.Name, darkroom.Status.BaseDomain, before.Status.BaseDomain)
		}
		if delete(r.darkrooms, key); !e.deleted {
			r.darkrooms[key] = darkroom
		}
		for _, host := range r.w.hosts() {
			is := wish{key, host}
			if e.deleted || !r.claims(darkroom, host) {
				delete(r.since, is)
			} else if r.since[is].IsZero() {
				r.since[is] = e.at
			}
		}
		return nil
	}
	reference := referTo(e.object)
	var before, after []string
	if route := r.routes[reference]; route != nil {
		before = routedHosts(route)
	}
	if delete(r.routes, reference); !e.deleted {
		r.routes[reference], after = e.object, routedHosts(e.object)
	}
	kept := slices.DeleteFunc(slices.Clone(r.given[reference]),
		func(host string) bool { return !slices.Contains(after, host) })
	if !byOperator {
		if r.given[reference] = kept; !r.belongs(e.object) {
			delete(r.given, reference) // the Darkroom that took it over holds it now
		}
		return nil
	}
	given := r.given[reference]
	r.given[reference], r.assigned[reference] = slices.Clone(after), slices.Clone(after)
	return errors.Join(r.added(reference, before, after), r.removed(reference, given, after, e.at))
}

// movesHosts reports whether a status contains another base domain for the same spec and installation.
func movesHosts(before, after *v1alpha1.Darkroom) bool {
	same := before.UID == after.UID && before.Status.ObservedGeneration == after.Status.ObservedGeneration &&
		before.Status.Installation == after.Status.Installation
	return same && before.Status.BaseDomain != "" && after.Status.BaseDomain != "" &&
		before.Status.BaseDomain != after.Status.BaseDomain
}

// belongs reports whether a route belongs to a Darkroom.
func (r *replay) belongs(route client.Object) bool {
	for _, darkroom := range r.darkrooms {
		if metav1.IsControlledBy(route, darkroom) {
			return true
		}
	}
	return false
}

func (r *replay) added(by reference, before, after []string) error {
	for _, host := range after {
		if slices.Contains(before, host) {
			continue
		}
		for other, hosts := range r.given {
			if other.NamespacedName != by.NamespacedName && r.routes[other] != nil && slices.Contains(hosts, host) {
				return fmt.Errorf("%s is routed by %s and %s", host, other, by)
			}
		}
	}
	return nil
}

// handover is the time during which an operator may act on outdated information.
const handover = 2 * time.Second

// removed returns an error if an operator removes a host from a route although the Darkroom still wants it.
func (r *replay) removed(by reference, given, after []string, at time.Time) error {
	darkroom := r.darkrooms[by.NamespacedName]
	for _, host := range given {
		since := r.since[wish{by.NamespacedName, host}]
		if slices.Contains(after, host) || darkroom == nil || since.IsZero() || at.Sub(since) < handover ||
			v1alpha1.IsPaused(darkroom) || r.isRouted(darkroom, host) ||
			!r.claims(darkroom, host) { // the operator was restarted with other base domains
			continue
		}
		return fmt.Errorf("%s was removed from %s, whose Darkroom still wants it", host, by)
	}
	return nil
}

// replayed returns the current state of Darkrooms and routes, or an error if hosts moved wrongly before.
func (w *world) replayed() (*replay, error) {
	events, byOperators := w.timeline.sorted()
	r := &replay{
		w: w, darkrooms: map[types.NamespacedName]*v1alpha1.Darkroom{}, since: map[wish]time.Time{},
		routes: map[reference]client.Object{}, given: map[reference][]string{},
		assigned: map[reference][]string{},
	}
	for _, e := range events {
		r.translators = map[process]*values.Translator{}
		for _, p := range w.processes(mainInstallation) {
			translator, err := values.New(w.settingsAt(p, e.at).Options)
			if err != nil {
				return r, err
			}
			r.translators[p] = translator
		}
		byOperator := byOperators[e.object.GetResourceVersion()] && !e.deleted ||
			byOperators[string(e.object.GetUID())] && e.deleted
		if err := r.apply(e, byOperator); err != nil {
			return r, err
		}
	}
	return r, nil
}

func hostsStay(w *world) error {
	_, err := w.replayed()
	return err
}

func hostsAreRouted(w *world) error {
	r, err := w.replayed()
	if err != nil {
		return err
	}
	for _, host := range w.hosts() {
		var waiting *v1alpha1.Darkroom
		isServed := false
		for _, darkroom := range r.darkrooms {
			if !r.claims(darkroom, host) {
				continue
			}
			isServed = isServed || r.isRouted(darkroom, host)
			if w.isHandled(darkroom) && !v1alpha1.IsPaused(darkroom) && explains(darkroom) == "" {
				waiting = darkroom
			}
		}
		if waiting != nil && !isServed && !r.isHeld(waiting, host) {
			return fmt.Errorf("%s is not routed to %s/%s: %s", host, waiting.Namespace, waiting.Name, waiting.Status.Message)
		}
	}
	return nil
}

// isHeld reports whether a host was assigned to a Darkroom that is paused, handled by another installation, or not
// applied for a reason in a condition. Such a Darkroom has to release the host first. The operator may know about the
// host even if its route is gone.
func (r *replay) isHeld(owner *v1alpha1.Darkroom, host string) bool {
	for reference, hosts := range r.assigned {
		holder := r.darkrooms[reference.NamespacedName]
		if holder == nil || holder == owner || !slices.Contains(hosts, host) {
			continue
		}
		if v1alpha1.IsPaused(holder) || !r.w.isHandled(holder) ||
			v1alpha1.HandledBy(holder) == otherInstallation || explains(holder) != "" {
			return true
		}
	}
	return false
}

// failures are the reasons of Ready that explain why objects are not in their desired state.
var failures = []string{
	v1alpha1.ReasonInvalid, v1alpha1.ReasonReleaseFailed, v1alpha1.ReasonForeignRelease, v1alpha1.ReasonPaused,
	v1alpha1.ReasonTerminating,
}

// explains returns the message of a status that explains why objects are not in their desired state; empty if there is
// none.
func explains(d *v1alpha1.Darkroom) string {
	if d.Status.ObservedGeneration != d.Generation {
		return ""
	}
	for _, conditionType := range []string{
		v1alpha1.ConditionReady, v1alpha1.ConditionStalled,
		v1alpha1.ConditionContested,
	} {
		condition := v1alpha1.FindCondition(d.Status.Conditions, conditionType)
		if condition != nil && (conditionType != v1alpha1.ConditionReady || slices.Contains(failures, condition.Reason)) {
			return condition.Message
		}
	}
	return ""
}

func onlyLeadersWrite(w *world) error {
	for _, operator := range w.operators {
		writes := slices.IndexFunc(operator.traffic.all(),
			func(r request) bool { return !strings.HasPrefix(r.line, http.MethodGet) })
		if writes < 0 || operator.traffic.leads() {
			continue
		}
		if time.Sleep(restPeriod); !operator.traffic.leads() { // controllers write before all of them are started
			return fmt.Errorf("a standby process sent %s", w.plain(operator.traffic.all()[writes].line))
		}
	}
	return nil
}

func keepsHistory(w *world) error {
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		revisions := 0
		for _, object := range w.judging {
			if storage.IsRevision(&object) && metav1.IsControlledBy(&object, d) {
				revisions++
			}
		}
		before := w.revisions[d.UID]
		w.revisions[d.UID] = revisions
		if revisions < min(before, w.leastHistory()) && d.DeletionTimestamp == nil && !w.limited[d.Namespace] {
			return fmt.Errorf("of %d revisions of %s/%s, only %d are left", before, d.Namespace, d.Name, revisions)
		}
	}
	return nil
}

// leastHistory returns the smallest number of revisions that an operator was told to keep.
func (w *world) leastHistory() int {
	least := settingsOf().MaxHistory
	for _, s := range w.settings {
		if s.MaxHistory > 0 {
			least = min(least, s.MaxHistory)
		}
	}
	return least
}

func keepsSecrets(w *world) error {
	if logs.has(canary) {
		return errors.New("the log contains it")
	}
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		if strings.Contains(encoded(all[i].Status), canary) {
			return fmt.Errorf("the status of %s contains it", all[i].Name)
		}
	}
	events, err := w.events()
	if err != nil {
		return err
	}
	if strings.Contains(encoded(events), canary) {
		return errors.New("an event contains it")
	}
	objects := w.judging
	for _, object := range objects {
		if object.GetKind() != "Secret" && strings.Contains(encoded(object.Object), canary) {
			return fmt.Errorf("%s contains it", referTo(&object))
		}
	}
	return nil
}

// deletionIsNoFailure checks for warnings about deleted Darkrooms.
func deletionIsNoFailure(w *world) error {
	events, err := w.events()
	if err != nil {
		return err
	}
	for i := range events {
		event := &events[i]
		if event.Type == "Warning" && event.Reason == "ReleaseFailed" && strings.Contains(event.Note, "not found") {
			return fmt.Errorf("a warning: %s", event.Note)
		}
	}
	return nil
}

func deletedAreGone(w *world) error {
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		if d.DeletionTimestamp != nil && w.isHandled(d) && slices.Contains(d.Finalizers, "uninstall-helm-release") {
			return fmt.Errorf("%s/%s still exists: %s", d.Namespace, d.Name, d.Status.Message)
		}
	}
	return nil
}

// isAsDesired compares the objects of each Darkroom with its translation.
func isAsDesired(w *world) error {
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		if !w.isHandled(d) || d.DeletionTimestamp != nil || v1alpha1.IsPaused(d) || explains(d) != "" {
			continue
		}
		desired, err := w.translate(d)
		if err != nil {
			return fmt.Errorf("%s/%s cannot be translated, and no condition reports it: %w", d.Namespace, d.Name, err)
		}
		for _, object := range desired {
			if err := w.isLive(d, object); err != nil {
				return err
			}
		}
	}
	return nil
}

// processOf returns a process of an installation with the settings for a Darkroom, running or not. All shards by label
// have the same settings.
func (w *world) processOf(installation string, d *v1alpha1.Darkroom) process {
	processes := w.processes(installation)
	at := slices.IndexFunc(processes, func(p process) bool { return p.handles(d) })
	return processes[max(at, 0)]
}

// isHandled reports whether a running operator handles a Darkroom.
func (w *world) isHandled(d *v1alpha1.Darkroom) bool {
	installation := cmp.Or(v1alpha1.HandledBy(d), mainInstallation)
	return slices.ContainsFunc(w.processes(installation),
		func(p process) bool { return w.operators[p] != nil && p.handles(d) })
}

// hasDeployed reports whether a deployed revision belongs to a Darkroom.
func (w *world) hasDeployed(d *v1alpha1.Darkroom) bool {
	return slices.ContainsFunc(w.judging, func(object unstructured.Unstructured) bool {
		return storage.IsRevision(&object) && metav1.IsControlledBy(&object, d) && object.GetLabels()["status"] == "deployed"
	})
}

// isLive returns an error unless an object exists in its desired state and belongs to the Darkroom.
func (w *world) isLive(d *v1alpha1.Darkroom, desired *unstructured.Unstructured) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(desired.GroupVersionKind())
	err := w.kube.Get(w.ctx, types.NamespacedName{Namespace: d.Namespace, Name: desired.GetName()}, live)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s/%s lacks %s", d.Namespace, d.Name, desired.GetKind())
	case err != nil:
		return err
	case !metav1.IsControlledBy(live, d):
		return fmt.Errorf("%s does not belong to the Darkroom, and no condition reports it", referTo(live))
	}
	if w.mirrored && live.GetKind() == "Deployment" {
		withoutMirror(live)
	}
	if difference := lacks(desired.Object, live.Object, ""); difference != "" {
		return fmt.Errorf("%s is not in its desired state: %s", referTo(live), difference)
	}
	return nil
}

// statusIsTrue compares statuses with the live objects.
func statusIsTrue(w *world) error {
	r, err := w.replayed()
	if err != nil {
		return err
	}
	all, err := w.allDarkrooms()
	if err != nil {
		return err
	}
	for i := range all {
		d := &all[i]
		if !w.isHandled(d) || d.DeletionTimestamp != nil {
			continue
		}
		if d.Status.ObservedGeneration != d.Generation || d.Status.Phase == "" {
			return fmt.Errorf("%s/%s has no status of its generation", d.Namespace, d.Name)
		}
		if err := w.urlIsAsSet(d); err != nil {
			return err
		}
		for _, domain := range d.Status.Domains {
			if slices.Contains(w.hosts(), domain) && !r.isRouted(d, domain) {
				return fmt.Errorf("%s/%s reports the domain %s, which is not routed", d.Namespace, d.Name, domain)
			}
		}
		if v1alpha1.IsConditionTrue(d.Status.Conditions, v1alpha1.ConditionDeployed) && !w.hasDeployed(d) {
			return fmt.Errorf("%s/%s is reported as deployed but has no deployed revision", d.Namespace, d.Name)
		}
		ready := v1alpha1.FindCondition(d.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status == metav1.ConditionTrue {
			continue
		}
		// Gateways accept all routes.
		waits := slices.Contains([]string{v1alpha1.ReasonDeploying, v1alpha1.ReasonPending, v1alpha1.ReasonAwaitingGateway},
			ready.Reason)
		if waits && explains(d) == "" {
			return fmt.Errorf("%s/%s still reports: %s", d.Namespace, d.Name, ready.Message)
		}
	}
	return nil
}

// urlIsAsSet compares the URL in a status with the settings of the operator.
func (w *world) urlIsAsSet(d *v1alpha1.Darkroom) error {
	if len(d.Status.Domains) == 0 {
		return nil
	}
	installation := cmp.Or(v1alpha1.HandledBy(d), mainInstallation)
	want, port := w.settingsAt(w.processOf(installation, d), time.Now()).Published, ""
	if want.Port != 0 {
		port = strconv.Itoa(want.Port)
	}
	got, err := url.Parse(d.Status.URL)
	if err != nil || got.Hostname() != d.Status.Domains[0] || got.Port() != port ||
		want.Scheme != "" && got.Scheme != want.Scheme {
		return fmt.Errorf("%s/%s has the URL %s of the domains %v, while scheme and port are set to %+v",
			d.Namespace, d.Name, d.Status.URL, d.Status.Domains, want)
	}
	return nil
}
