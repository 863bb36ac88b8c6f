package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/journal"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	// maxSecrets bounds the Secrets that one review looks for; each costs a request.
	maxSecrets = 8
	// secretTimeout bounds the time for all of them.
	secretTimeout = 5 * time.Second
)

// States of hosts.
const (
	hostFree  = "free"
	hostOwn   = "own"
	hostTaken = "taken"
)

// States of Secrets and of their keys.
const (
	secretFound   = "found"
	secretMissing = "missing"
	secretUnknown = "unknown"
)

// Outcomes for the pods.
const (
	podsCreate  = "create"
	podsKeep    = "keep"
	podsRoll    = "roll"
	podsUnknown = "unknown"
)

// Review is what would follow from a Darkroom as it was sent.
type Review struct {
	Manifest string  `json:"manifest" doc:"Kubernetes manifests in YAML; REDACTED replaces secrets"`
	Outcome  Outcome `json:"outcome"`
}

// Outcome is what the cluster would make of a Darkroom that it accepts.
type Outcome struct {
	Hosts   []HostOutcome   `json:"hosts" doc:"Each host, in the order of subDomains"`
	Secrets []SecretOutcome `json:"secrets" doc:"Secrets that the Darkroom refers to, as far as the caller may read them"`
	Pods    string          `json:"pods" enum:"create,keep,roll,unknown" doc:"create: there are none yet. keep: the pod template does not change. roll: it changes, and the pods are replaced. unknown: write-only values were sent, and may differ from the stored ones"`
}

// HostOutcome is the outcome for a host.
type HostOutcome struct {
	Host  string `json:"host"`
	State string `json:"state" enum:"free,own,taken" doc:"free: no other Darkroom claims it. own: this Darkroom exists, and no older one claims the host. taken: an older Darkroom claims it and keeps it"`
	Owner string `json:"owner,omitempty" doc:"namespace/name of the Darkroom that has it, if the caller may get that one"`
}

// SecretOutcome reports whether a Secret has the required keys.
type SecretOutcome struct {
	Name  string       `json:"name"`
	Field string       `json:"field" doc:"Field that refers to it, for example body.source.credentialsSecretRef"`
	State string       `json:"state" enum:"found,missing,unknown" doc:"unknown: the caller may not read it, or it was not looked for"`
	Keys  []KeyOutcome `json:"keys" doc:"The keys that are needed"`
}

// KeyOutcome reports whether a Secret has a key.
type KeyOutcome struct {
	Name  string `json:"name"`
	State string `json:"state" enum:"found,missing,unknown"`
}

type reviewInput struct {
	PathInput
	RawBody []byte
}

// proposal is a change as a caller is about to send it, without secrets.
type proposal struct {
	// before is the stored Darkroom; nil when creating.
	before *v1alpha1.Darkroom
	wanted *v1alpha1.Darkroom
	// newSecrets is set if write-only values were sent: whether they differ from the
	// stored ones is not known here.
	newSecrets bool
}

// propose reads a proposal, and checks it against the limits of the cluster. Secrets
// that were sent are concealed, so that nothing further on can show them.
func (s *Server) propose(ctx context.Context, in *reviewInput) (*proposal, error) {
	key := in.key()
	out := &proposal{}
	var err error
	out.before, err = s.readable(ctx, key)
	var refusal *problem.Details
	switch {
	case errors.As(err, &refusal) && refusal.Status == http.StatusNotFound && s.serves(key.Namespace):
	case err != nil:
		return nil, err
	}
	input, err := s.decoder.Decode(in.RawBody, nil)
	if err != nil {
		return nil, err
	}
	if err := checkIdentity(input, key); err != nil {
		return nil, err
	}
	before := out.before
	if before == nil {
		before = &v1alpha1.Darkroom{}
	}
	out.wanted, out.newSecrets = wire.Expand(input, before), input.SendsSecrets()
	wire.Conceal(out.wanted)
	return out, nil
}

// review renders a Darkroom before it is saved, and determines the outcome.
func (s *Server) review(ctx context.Context, in *reviewInput) (*reply.JSON[Review], error) {
	proposal, err := s.propose(ctx, in)
	if err != nil {
		return nil, err
	}
	out := Review{}
	if out.Manifest, err = s.render(ctx, proposal.wanted); err != nil {
		return nil, err
	}
	if out.Outcome.Hosts, err = s.reviewHosts(ctx, proposal); err != nil {
		return nil, err
	}
	out.Outcome.Secrets = s.reviewSecrets(ctx, proposal.wanted)
	if out.Outcome.Pods, err = s.reviewPods(ctx, proposal, out.Manifest); err != nil {
		return nil, err
	}
	return reply.With(out), nil
}

// reviewHosts compares the hosts with those of all Darkrooms that the server knows. The
// owner is named to callers who may get it.
func (s *Server) reviewHosts(ctx context.Context, proposal *proposal) ([]HostOutcome, error) {
	all, _ := s.journal.All()
	hosts, had := proposal.hosts(s.options.Hosts)
	rivals := oldestRivals(proposal.wanted, hosts, all, s.options.Hosts)
	out := []HostOutcome{}
	for _, host := range hosts {
		rival := rivals[host]
		entry := HostOutcome{Host: host, State: hostState(proposal.before, rival, slices.Contains(had, host))}
		if entry.State == hostTaken {
			visible, err := s.auth.Access.May(ctx, auth.ToDarkrooms("get", rival.Namespace, rival.Name))
			if err != nil {
				return nil, err
			}
			if visible {
				entry.Owner = journal.KeyOf(rival).String()
			}
		}
		out = append(out, entry)
	}
	return out, nil
}

// hosts returns the hosts that the Darkroom would claim, and those that it claims. Another spec gets another choice of the base
// domain.
func (p *proposal) hosts(of func(*v1alpha1.Darkroom) []string) (wanted, before []string) {
	changed := p.wanted.DeepCopy()
	if p.before == nil || !equality.Semantic.DeepEqual(p.before.Spec, changed.Spec) {
		changed.Status.BaseDomain = ""
	}
	if p.before != nil {
		before = of(p.before)
	}
	return of(changed), before
}

// oldestRivals returns, for each of the hosts that another Darkroom claims, the one with
// the best claim among the others.
func oldestRivals(wanted *v1alpha1.Darkroom, hosts []string, all []*v1alpha1.Darkroom, of func(*v1alpha1.Darkroom) []string) map[string]*v1alpha1.Darkroom {
	asked := sets.New(hosts...)
	out := map[string]*v1alpha1.Darkroom{}
	for _, other := range all {
		if journal.KeyOf(other) == journal.KeyOf(wanted) || other.DeletionTimestamp != nil || !sameInstallation(other, wanted) {
			continue
		}
		for _, host := range of(other) {
			if asked.Has(host) && (out[host] == nil || claims.Precedes(other, out[host])) {
				out[host] = other
			}
		}
	}
	return out
}

// sameInstallation reports whether one operator may handle two Darkrooms. Others have other hosts.
func sameInstallation(a, b *v1alpha1.Darkroom) bool {
	of, other := v1alpha1.HandledBy(a), v1alpha1.HandledBy(b)
	return of == "" || other == "" || of == other
}

// hostState decides who gets a host, by the same order of claims as the operator. A new
// Darkroom, without a before, is the youngest.
func hostState(before, rival *v1alpha1.Darkroom, had bool) string {
	switch {
	case rival != nil && (before == nil || claims.Precedes(rival, before)):
		return hostTaken
	case rival != nil, had:
		return hostOwn
	}
	return hostFree
}

// neededSecrets are the Secrets that the pods and the Ingress of a Darkroom cannot do without, one
// entry for each name.
type neededSecrets []SecretOutcome

// add adds a Secret that a field refers to, and keys that it must have.
func (n *neededSecrets) add(field, name string, keys ...string) {
	if name == "" {
		return
	}
	at := slices.IndexFunc(*n, func(s SecretOutcome) bool { return s.Name == name })
	if at < 0 {
		at = len(*n)
		*n = append(*n, SecretOutcome{Name: name, Field: field, State: secretUnknown, Keys: []KeyOutcome{}})
	}
	for _, key := range keys {
		entry := KeyOutcome{Name: key, State: secretUnknown}
		if secret := &(*n)[at]; !slices.Contains(secret.Keys, entry) {
			secret.Keys = append(secret.Keys, entry)
		}
	}
}

func secretsOf(darkroom *v1alpha1.Darkroom) neededSecrets {
	var needed neededSecrets
	spec := &darkroom.Spec
	for _, credentials := range values.CredentialsOf(spec) {
		needed.add("body."+credentials.Field, credentials.Name, credentials.Keys...)
	}
	for _, file := range values.Files(spec) {
		if file.Kind == "Secret" {
			needed.add("body."+file.Field, file.Name, file.Key)
		}
	}
	if spec.Ingress != nil {
		needed.add("body.ingress.tlsSecretName", spec.Ingress.TLSSecretName, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	for i, variable := range spec.ExtraEnv {
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil && !isOptional(from.SecretKeyRef.Optional) {
			needed.add(fmt.Sprintf("body.extraEnv[%d].valueFrom.secretKeyRef", i), from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		}
	}
	for i, from := range spec.ExtraEnvFrom {
		if from.SecretRef != nil && !isOptional(from.SecretRef.Optional) {
			needed.add(fmt.Sprintf("body.extraEnvFrom[%d].secretRef", i), from.SecretRef.Name)
		}
	}
	needed.addVolumes(spec.PodTemplate)
	return needed
}

func (n *neededSecrets) addVolumes(template *v1alpha1.PodTemplate) {
	if template == nil {
		return
	}
	for i, volume := range template.Volumes {
		if from := volume.Secret; from != nil && !isOptional(from.Optional) {
			n.add(fmt.Sprintf("body.podTemplate.volumes[%d].secret", i), from.SecretName, keysOf(from.Items)...)
		}
	}
}

// keysOf are the keys of a Secret that a volume has.
func keysOf(items []corev1.KeyToPath) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

func isOptional(optional *bool) bool { return optional != nil && *optional }

// reviewSecrets looks for Secrets with the caller's own token: the server itself can
// read none. Of what it reads only the names of keys are kept.
func (s *Server) reviewSecrets(ctx context.Context, darkroom *v1alpha1.Darkroom) []SecretOutcome {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	out := []SecretOutcome{}
	for i, needed := range secretsOf(darkroom) {
		if i < maxSecrets {
			secret := &corev1.Secret{}
			err := s.auth.Clients.Core.Get().Namespace(darkroom.Namespace).Resource("secrets").Name(needed.Name).MaxRetries(0).Do(ctx).Into(secret)
			judgeSecret(&needed, secret, err)
		}
		out = append(out, needed)
	}
	return out
}

// judgeSecret decides what an answer says about a Secret. Only a clear "not found" means
// that it is missing.
func judgeSecret(needed *SecretOutcome, secret *corev1.Secret, err error) {
	switch {
	case apierrors.IsNotFound(err):
		needed.State = secretMissing
	case err == nil:
		needed.State = secretFound
	}
	for i := range needed.Keys {
		key := &needed.Keys[i]
		_, found := secret.Data[key.Name]
		switch {
		case needed.State == secretMissing, needed.State == secretFound && !found:
			key.State = secretMissing
		case found:
			key.State = secretFound
		}
	}
}

// reviewPods compares the pod template of the desired manifest with that of the existing
// Darkroom. It ignores one that cannot be rendered because it is older than a rule, so that
// it can be fixed.
func (s *Server) reviewPods(ctx context.Context, proposal *proposal, manifest string) (string, error) {
	if proposal.before == nil {
		return podsCreate, nil
	}
	existing, err := s.render(ctx, proposal.before.DeepCopy())
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil:
		return podsUnknown, nil
	}
	before, errBefore := podTemplate(existing)
	wanted, err := podTemplate(manifest)
	switch {
	case err != nil || errBefore != nil:
		return "", errors.Join(err, errBefore)
	case !reflect.DeepEqual(wanted, before):
		return podsRoll, nil
	case proposal.newSecrets:
		return podsUnknown, nil
	}
	return podsKeep, nil
}

// podTemplate returns the pod template of the Deployment in a manifest, or nil.
func podTemplate(manifest string) (map[string]any, error) {
	for document := range strings.SplitSeq(manifest, "\n---") {
		object := struct {
			Kind string `json:"kind"`
			Spec struct {
				Template map[string]any `json:"template"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		if object.Kind == "Deployment" {
			return object.Spec.Template, nil
		}
	}
	return nil, nil
}
