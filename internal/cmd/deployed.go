package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readManager returns the options of a deployed operator, given as NAMESPACE/deployment/NAME. Flags on the command line
// take precedence.
func readManager(
	ctx context.Context, cluster client.Client, reference string, set *pflag.FlagSet,
) (*managerOptions, error) {
	parts := strings.Split(reference, "/")
	if len(parts) != 3 || !slices.Contains([]string{"deployment", "deployments", "deploy"}, parts[1]) {
		return nil, errors.New(
			"must be NAMESPACE/deployment/NAME, such as darkroom-system/deployment/darkroom-operator-controller-manager",
		)
	}
	deployment := &appsv1.Deployment{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: parts[0], Name: parts[2]}, deployment); err != nil {
		return nil, err
	}
	options, err := managerOf(deployment)
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&options.controllers.Installation, "installation", options.controllers.Installation, "")
	withImages(flags, options)
	set.Visit(func(flag *pflag.Flag) {
		known := flags.Lookup(flag.Name)
		if known == nil {
			return
		}
		if list, isList := flag.Value.(pflag.SliceValue); isList {
			same := known.Value.(pflag.SliceValue) //nolint:forcetypeassert // the same flag
			err = errors.Join(err, same.Replace(list.GetSlice()))
			return
		}
		err = errors.Join(err, flags.Set(flag.Name, flag.Value.String()))
	})
	return options, err
}

// withImages adds the flags for translation and images, with the current values of the options as defaults.
func withImages(flags *pflag.FlagSet, options *managerOptions) {
	is := options.translation
	options.translation.addFlags(flags)
	options.translation.addImages(flags)
	options.translation = is
}

// managerOf returns the options of the manager in a Deployment, from its arguments and environment.
func managerOf(deployment *appsv1.Deployment) (*managerOptions, error) {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		line := append(slices.Clone(container.Command), container.Args...)
		at := slices.Index(line, "manager")
		if at < 0 {
			continue
		}
		environment := environmentIn(container, deployment)
		getenv := func(name string) string { return environment[name] }
		options := &managerOptions{}
		flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
		options.addFlags(flags)
		options.controllers.Installation = deployment.Namespace
		options.controllers.Namespaces = split(environment[envWatchNamespace])
		options.translation.options.Image = environment[envImage]
		options.translation.options.GateImage = environment[envGateImage]
		if err := flags.Parse(line[at+1:]); err != nil {
			return nil, fmt.Errorf("this version does not accept the arguments of %s: %w: remove the argument before the upgrade",
				deployment.Name, err)
		}
		if err := setFromEnvironment(flags, getenv); err != nil {
			return nil, err
		}
		options.translation.resolve(getenv)
		options.controllers.LeaseNamespace = cmp.Or(options.election.namespace, deployment.Namespace)
		return options, nil
	}
	return nil, errors.New("no container of the Deployment runs the manager")
}

// environmentIn returns the environment variables of a container whose values are in the Deployment.
func environmentIn(container corev1.Container, deployment *appsv1.Deployment) map[string]string {
	environment := map[string]string{}
	for _, variable := range container.Env {
		environment[variable.Name] = variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil {
			// OLM sets WATCH_NAMESPACE this way.
			key, isAnnotation := strings.CutPrefix(from.FieldRef.FieldPath, "metadata.annotations['")
			if isAnnotation {
				environment[variable.Name] = deployment.Spec.Template.Annotations[strings.TrimSuffix(key, "']")]
			}
		}
	}
	return environment
}
