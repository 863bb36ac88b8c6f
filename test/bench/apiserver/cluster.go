package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/go-logr/logr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

const (
	// namespaces is the number of namespaces that contain Darkrooms.
	namespaces = 40
	// sentAnnotation contains the number of a change and its time.
	sentAnnotation = "load.example.com/sent"
)

// cluster is an API server without nodes and controllers.
type cluster struct {
	config *rest.Config
	end    func() error
	kube   client.Client
	names  []client.ObjectKey
}

func startCluster() (*cluster, error) {
	ctrl.SetLogger(logr.Discard())
	config, end, err := controlplane.StartToMeasure()
	if err != nil {
		return nil, err
	}
	c := &cluster{config: config, end: end}
	if c.kube, _, err = access.Clients(config); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) stop() {
	if err := c.end(); err != nil {
		log.Print(err)
	}
}

// team returns a namespace for an object with a number.
func team(number int) string { return fmt.Sprintf("team-%02d", number%namespaces) }

// fill creates Darkrooms with a status, as an operator would.
func (c *cluster) fill(ctx context.Context, n int) error {
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team(i)}}
		if err := c.kube.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n {
		key := client.ObjectKey{Namespace: team(i), Name: fmt.Sprintf("darkroom-%04d", i)}
		c.names = append(c.names, key)
		group.Go(func() error {
			darkroom := darkrooms.New(key.Name, key.Namespace).Label("team", key.Namespace).
				SubDomains(key.Name, "img."+key.Name).Obj()
			if err := c.kube.Create(ctx, darkroom); err != nil {
				return fmt.Errorf("create Darkroom %s: %w", key, err)
			}
			now := metav1.Now()
			darkroom.Status = v1alpha1.DarkroomStatus{
				ObservedGeneration: 1, Phase: v1alpha1.PhaseReady, Message: "1 of 1 pods are ready.", Version: "v0.4.2",
				Domains:  []string{key.Name + ".darkroom.example.com", "img." + key.Name + ".darkroom.example.com"},
				Replicas: 1, ReadyReplicas: 1, Address: "http://" + key.Name + "." + key.Namespace + ".svc",
				DeployedRelease: &v1alpha1.DeployedRelease{Name: key.Name},
			}
			for _, kind := range []string{
				v1alpha1.ConditionInitialized, v1alpha1.ConditionDeployed, v1alpha1.ConditionReady, v1alpha1.ConditionDomainsReady,
			} {
				darkroom.Status.Conditions = append(darkroom.Status.Conditions, v1alpha1.Condition{
					Type: kind, Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: now,
					Message: "as it should be",
				})
			}
			if err := c.kube.Status().Update(ctx, darkroom); err != nil {
				return fmt.Errorf("write status of Darkroom %s: %w", key, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// people creates accounts that may read all Darkrooms, and returns their tokens. Each account is in its own namespace,
// because the accounts of one namespace share places for streams.
func (c *cluster) people(ctx context.Context, n int) ([]string, error) {
	viewer := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "load-viewer"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
		Verbs: []string{"get", "list", "watch"},
	}}}
	if err := c.kube.Create(ctx, viewer); err != nil {
		return nil, err
	}
	var tokens []string
	for i := range n {
		account := client.ObjectKey{Namespace: team(i), Name: fmt.Sprintf("viewer-%02d", i)}
		if err := access.NewAccount(ctx, c.kube, account, viewer.Name); err != nil {
			return nil, err
		}
		token, err := access.Token(ctx, c.config, account)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

// change makes changes with several writers, at a maximum rate per second (0 means no limit). It waits until each
// stream has received them, or a timeout.
func (c *cluster) change(ctx context.Context, seen *watch, n, writers int, perSecond float64) error {
	limit := rate.NewLimiter(rate.Inf, 1)
	if perSecond > 0 {
		limit = rate.NewLimiter(rate.Limit(perSecond), 1)
	}
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for range n {
		if err := limit.Wait(writing); err != nil {
			break
		}
		number := seen.made
		seen.made++
		key := c.names[number*7%len(c.names)]
		group.Go(func() error {
			darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d %d"}}}`, sentAnnotation, number, time.Now().UnixNano())
			if err := c.kube.Patch(writing, darkroom, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				return fmt.Errorf("change Darkroom %s: %w", key, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return seen.await(ctx)
}
