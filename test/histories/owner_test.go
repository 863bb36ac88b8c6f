package histories

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// step is one action of an actor.
type step struct {
	// says describes the action as a sentence or a command.
	says string
	do   func(*world) error
}

// GoString determines how a history is printed.
func (s step) GoString() string { return "\n\t" + s.says }

// kind generates steps of one kind.
type kind struct {
	// weight is the relative frequency of the kind.
	weight int
	draw   func(*rapid.T) step
}

// anytime are the steps that may take part in every history.
func anytime() []kind {
	return slices.Concat(ownersSteps, fieldSteps, plainChartSteps, hostileSteps, othersSteps, platformSteps,
		webhookSteps, balancerSteps, hostSteps)
}

// weighted repeats each kind by its weight.
func weighted(kinds []kind) (choices []kind) {
	for _, each := range kinds {
		choices = append(choices, slices.Repeat([]kind{each}, each.weight)...)
	}
	return choices
}

// history generates the steps of a history. Each history draws from a few kinds of steps in addition to its opening, so
// that steps that cause trouble only in combination often meet.
func history() *rapid.Generator[[]step] {
	choices := weighted(anytime())
	return rapid.Custom(func(t *rapid.T) []step {
		opening := rapid.SampledFrom(openings).Draw(t, "opening")
		steps := []step{opening.step}
		some := append(weighted(opening.about), rapid.SliceOfN(rapid.SampledFrom(choices), 3, 10).Draw(t, "kinds")...)
		one := rapid.Custom(func(t *rapid.T) step { return rapid.SampledFrom(some).Draw(t, "kind").draw(t) })
		return append(steps, rapid.SliceOfN(one, 1, 14).Draw(t, "steps")...)
	})
}

// opening is the beginning of a history and the steps related to it.
type opening struct {
	step
	about []kind
}

// openings are the possible beginnings of histories.
var openings = []opening{
	{step{"alice: kubectl apply Darkroom photos with the sub-domain a", (*world).createPhotos}, nil},
	{step{"alice: helm install photos, and cats, of the plain chart", func(w *world) error {
		return errors.Join(w.installPlainChart(w.key("alice", "photos")), w.installPlainChart(w.key("alice", "cats")))
	}}, slices.Concat(plainChartSteps, []kind{policy, deleted})},
	{
		step{
			"a load balancer sets a finalizer on routes, and continues to serve deleted ones; alice, and a second " +
				"later bob: kubectl apply Darkroom photos with the sub-domain a", func(w *world) error {
				w.balances = true
				if err := w.createPhotos(); err != nil {
					return err
				}
				time.Sleep(time.Second)
				return w.create(w.newDarkroom(w.key("bob", "photos"), "a"))
			},
		}, slices.Concat(balancerSteps, []kind{deleted, byGateway}),
	},
	{step{
		"a second installation of the operator is started; alice: kubectl apply Darkroom photos with the sub-domain a",
		func(w *world) error {
			if err := w.start(otherInstallation); err != nil {
				return err
			}
			return w.createPhotos()
		},
	}, nil},
	{step{
		"two processes of the operator elect a leader; alice: kubectl apply Darkroom photos with the sub-domain a",
		func(w *world) error {
			return w.replaceOperator(func() { w.elects = true })
		},
	}, leaseSteps},
	{step{
		"shards of the operator replace it; alice: kubectl apply Darkroom photos with the sub-domain a",
		func(w *world) error {
			return w.replaceOperator(func() { w.sharded = true })
		},
	}, shardSteps},
	{
		step{
			"an operator for each namespace, with its own base domain, replaces it; alice: kubectl apply Darkroom " +
				"photos with the sub-domain a", func(w *world) error {
				return w.replaceOperator(func() { w.divided = true })
			},
		}, []kind{killFirst, killFirstForGood},
	},
	{
		step{
			"bob: kubectl create ingress old of a class that nobody serves; a second later, alice: kubectl apply Darkroom " +
				"photos with the sub-domain a", func(w *world) error {
				if err := w.create(ingressOf(w.key("bob", oldIngress))); err != nil {
					return err
				}
				time.Sleep(time.Second)
				return w.createPhotos()
			},
		}, nil,
	},
}

// createPhotos creates the Darkroom with which histories begin.
func (w *world) createPhotos() error { return w.create(w.newDarkroom(w.key("alice", "photos"), "a")) }

// replaceOperator restarts the operator with other options, before there is a Darkroom.
func (w *world) replaceOperator(configure func()) error {
	w.stop(mainInstallation)
	configure()
	if err := w.start(mainInstallation); err != nil {
		return err
	}
	return w.createPhotos()
}

// names are the names of Darkrooms, and of the hosts for which tenants compete.
var (
	darkroomNames = []string{"photos", "photos", "photos", "cats"}
	hostNames     = []string{"a", "b"}
)

// who chooses a tenant and the name of one of its Darkrooms.
func who(t *rapid.T) (tenant, name string) {
	return rapid.SampledFrom(tenants).Draw(t, "tenant"), rapid.SampledFrom(darkroomNames).Draw(t, "name")
}

// onDarkroom generates steps on a Darkroom.
func onDarkroom(weight int, command string, do func(w *world, key types.NamespacedName) error) kind {
	return kind{weight, func(t *rapid.T) step {
		tenant, name := who(t)
		return step{
			tenant + ": " + strings.ReplaceAll(command, "NAME", name),
			func(w *world) error { return do(w, w.key(tenant, name)) },
		}
	}}
}

// change generates changes of a Darkroom by its owner.
func change(weight int, command string, mutate func(w *world, d *v1alpha1.Darkroom) error) kind {
	return onDarkroom(weight, command, func(w *world, key types.NamespacedName) error {
		return edit(w, key, &v1alpha1.Darkroom{}, func(d *v1alpha1.Darkroom) error { return mutate(w, d) })
	})
}

// newDarkroom returns a Darkroom that claims hosts.
func (w *world) newDarkroom(key types.NamespacedName, hosts ...string) *v1alpha1.Darkroom {
	darkroom := &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: w.shardOf(key)},
		Spec: v1alpha1.DarkroomSpec{Source: v1alpha1.Source{
			Type:    v1alpha1.WebFolder,
			BaseURL: "https://example.com/images",
		}},
	}
	for _, host := range hosts {
		darkroom.Spec.SubDomains = append(darkroom.Spec.SubDomains, w.subDomain(host))
	}
	return darkroom
}

func annotate(object metav1.Object, key, value string) error {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
	return nil
}

var (
	deleted   = deletion(3, "", metav1.DeletePropagationBackground)
	byGateway = change(2, "kubectl patch darkroom NAME: route by a Gateway", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}}
		return nil
	})
)

// ownersSteps are actions of the owners of Darkrooms.
var ownersSteps = []kind{
	{10, func(t *rapid.T) step {
		tenant, name := who(t)
		hosts := rapid.SampledFrom([][]string{{"a"}, {"b"}, {"a", "b"}}).Draw(t, "hosts")
		return step{
			fmt.Sprintf("%s: kubectl apply Darkroom %s with the sub-domains %v", tenant, name, hosts),
			func(w *world) error {
				wanted := w.newDarkroom(w.key(tenant, name), hosts...)
				now, err := w.darkroom(w.key(tenant, name))
				if client.IgnoreNotFound(err) != nil {
					return err
				}
				if err != nil {
					return w.create(wanted)
				}
				return edit(w, w.key(tenant, name), now, func(d *v1alpha1.Darkroom) error {
					d.Spec.SubDomains = wanted.Spec.SubDomains
					return nil
				})
			},
		}
	}},
	change(3, "kubectl patch darkroom NAME: another log level", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.LogLevel = map[v1alpha1.LogLevel]v1alpha1.LogLevel{
			"": "warn", "warn": "error",
			"error": "warn",
		}[d.Spec.LogLevel]
		return nil
	}),
	onDarkroom(2,
		"kubectl apply --prune with a file that contains only the Darkroom NAME, and a selector that also matches its objects",
		func(w *world, key types.NamespacedName) error {
			objects, err := w.objects()
			if err != nil {
				return err
			}
			for i := range objects {
				object := &objects[i]
				if object.GetNamespace() == key.Namespace && object.GetLabels()[v1alpha1.LabelDarkroom] == key.Name {
					if err := w.removeByUser(object); client.IgnoreNotFound(err) != nil {
						return err
					}
				}
			}
			return nil
		}),
	change(1, "kubectl patch darkroom NAME: an S3 source with inline keys", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Source = v1alpha1.Source{
			Type: v1alpha1.S3, Bucket: "photos", Region: "eu-west-1",
			AccessKey: "AKIAEXAMPLE", SecretKey: canary,
		}
		return nil
	}),
	change(2, "kubectl scale darkroom NAME", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Replicas = ptr.To(1 + ptr.Deref(d.Spec.Replicas, 1)%3)
		return nil
	}),
	byGateway,
	change(1, "kubectl patch darkroom NAME: route by an Ingress", func(_ *world, d *v1alpha1.Darkroom) error {
		d.Spec.Gateway = nil
		return nil
	}),
	change(1, "kubectl patch darkroom NAME: a field that cannot be translated",
		func(_ *world, d *v1alpha1.Darkroom) error {
			d.Spec.Ingress = &v1alpha1.Ingress{Annotations: map[string]string{"example.com/not-allowed": "x"}}
			return nil
		}),
	change(3, "kubectl annotate darkroom NAME paused=true", func(_ *world, d *v1alpha1.Darkroom) error {
		return annotate(d, v1alpha1.AnnotationPaused, "true")
	}),
	change(2, "kubectl annotate darkroom NAME paused-", func(_ *world, d *v1alpha1.Darkroom) error {
		delete(d.Annotations, v1alpha1.AnnotationPaused)
		return nil
	}),
	deleted,
	deletion(1, " --cascade=foreground", metav1.DeletePropagationForeground),
	deletion(2, " --cascade=orphan", metav1.DeletePropagationOrphan),
	onDarkroom(3, "kubectl replace Darkroom NAME by a file without annotations",
		func(w *world, key types.NamespacedName) error {
			now, err := w.darkroom(key)
			if err != nil {
				return err
			}
			replacement := &v1alpha1.Darkroom{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: key.Namespace, Name: key.Name,
					ResourceVersion: now.ResourceVersion, Labels: w.shardOf(key),
				},
				Spec: now.Spec,
			}
			return w.kube.Update(w.ctx, replacement)
		}),
	onDarkroom(1, "save Darkroom NAME to a backup", func(w *world, key types.NamespacedName) error {
		now, err := w.darkroom(key)
		if err == nil {
			w.backups[key] = now
		}
		return err
	}),
	onDarkroom(1, "restore Darkroom NAME from the backup", func(w *world, key types.NamespacedName) error {
		saved := w.backups[key]
		if saved == nil {
			return errNothingToDo
		}
		return w.create(&v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name,
				Labels: saved.Labels, Annotations: saved.Annotations, Finalizers: saved.Finalizers,
			},
			Spec: saved.Spec,
		})
	}),
	onDarkroom(2, "roll NAME back to its oldest revision", func(w *world, key types.NamespacedName) error {
		list := &appsv1.ControllerRevisionList{}
		err := w.kube.List(w.ctx, list, client.InNamespace(key.Namespace),
			client.MatchingLabels{v1alpha1.LabelDarkroom: key.Name})
		if err != nil {
			return err
		}
		return edit(w, key, &v1alpha1.Darkroom{}, func(d *v1alpha1.Darkroom) error {
			records := slices.DeleteFunc(list.Items,
				func(record appsv1.ControllerRevision) bool { return !metav1.IsControlledBy(&record, d) })
			if len(records) == 0 {
				return errNothingToDo
			}
			oldest := slices.MinFunc(records,
				func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
			var data v1alpha1.RevisionData
			if err := json.Unmarshal(oldest.Data.Raw, &data); err != nil {
				return err
			}
			if data.Spec.Source.SecretKey != "" {
				data.Spec.Source = d.Spec.Source // its keys are concealed
			}
			d.Spec = data.Spec
			return nil
		})
	}),
	careless(2, "kubectl delete ingress NAME", &networkingv1.Ingress{}, nil),
	careless(1, "kubectl delete service NAME", &corev1.Service{}, nil),
	careless(1, "kubectl delete deployment NAME", &appsv1.Deployment{}, nil),
	careless(1, "kubectl set image deployment NAME", &appsv1.Deployment{}, func(_ *world, d *appsv1.Deployment) error {
		d.Spec.Template.Spec.Containers[0].Image = "example.com/another:v1"
		return nil
	}),
	careless(1, "kubectl edit deployment NAME: a privileged container that mounts the node", &appsv1.Deployment{},
		func(_ *world, d *appsv1.Deployment) error {
			pod := &d.Spec.Template.Spec
			pod.Volumes = append(pod.Volumes, corev1.Volume{
				Name:         "node",
				VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}},
			})
			pod.Containers = append(pod.Containers, corev1.Container{
				Name: "debug", Image: "example.com/debug:v1", SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
				VolumeMounts: []corev1.VolumeMount{{Name: "node", MountPath: "/node"}},
			})
			return nil
		}),
	careless(1, "kubectl edit service NAME: an address of another owner", &corev1.Service{},
		func(_ *world, s *corev1.Service) error {
			s.Spec.ExternalIPs = []string{"192.0.2.1"}
			return nil
		}),
	careless(1, "kubectl rollout restart deployment NAME", &appsv1.Deployment{},
		func(_ *world, d *appsv1.Deployment) error {
			return annotate(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-11-21T00:00:00Z")
		}),
}

// careless generates changes of an object of a Darkroom by an admin of the namespace: a deletion
// unless there is a mutation.
func careless[T client.Object](weight int, command string, object T, mutate func(*world, T) error) kind {
	return onDarkroom(weight, command, func(w *world, key types.NamespacedName) error {
		now := object.DeepCopyObject().(T)
		if mutate != nil {
			return edit(w, key, now, func(o T) error { return mutate(w, o) })
		}
		if err := w.kube.Get(w.ctx, key, now); err != nil {
			return err
		}
		return w.remove(now)
	})
}

func deletion(weight int, flag string, propagation metav1.DeletionPropagation) kind {
	return onDarkroom(weight, "kubectl delete darkroom NAME"+flag, func(w *world, key types.NamespacedName) error {
		now, err := w.darkroom(key)
		if err != nil {
			return err
		}
		return w.remove(now, client.PropagationPolicy(propagation))
	})
}
