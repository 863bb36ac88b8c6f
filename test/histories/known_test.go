package histories

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// known are histories that once violated an invariant, as printed.
var known = map[string]string{
	"a policy denies another revision": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		alice: kubectl patch darkroom photos: another log level
		a policy denies the operator writes (CREATE) of secrets, with the reason Forbidden
		alice: kubectl patch darkroom photos: another log level`,
	"the Ingress of a paused Darkroom gets the host of another tenant": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		bob: kubectl apply Darkroom photos with the sub-domains [b]
		bob: kubectl annotate darkroom photos paused=true
		bob: kubectl edit ingress photos: route the host a, with label and owner reference of Darkroom photos
		the operator is killed
		alice: kubectl delete ingress photos
		the operator is started`,
	"a Secret looks like a revision when the Darkroom is deleted": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		alice: kubectl create secret with the labels owner=helm, name=photos
		alice: kubectl delete darkroom photos`,
	"a crowd of Ingresses without a Darkroom has the host": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		bob: kubectl create 60 Ingresses of Darkrooms that do not exist, with the host a and a finalizer
		alice: kubectl patch darkroom photos: another log level`,
	"a crowd of Ingresses wakes a Darkroom whose writes a policy denies": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		a policy denies the operator writes (*) of services, with the reason Invalid
		alice: kubectl delete service photos
		bob: kubectl apply Darkroom photos with the sub-domains [a]
		alice: 60 times, kubectl create and delete an Ingress of a Darkroom that does not exist, with the host a`,
	"a policy denies the end of a Darkroom whose name a Helm release takes": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		a policy denies the operator writes (*) of darkrooms, with the reason Invalid
		alice: kubectl delete darkroom photos
		alice: helm install photos of the plain chart`,
	"a user takes the Deployment, and then deletes the Darkroom": `
		bob: kubectl apply Darkroom photos with the sub-domains [b]
		bob: kubectl edit deployment photos: remove the owner references
		bob: kubectl delete darkroom photos`,
	"dependents are orphaned while no operator runs": `
		alice: kubectl apply Darkroom photos with the sub-domain a
		the operator is killed
		alice: kubectl delete darkroom photos --cascade=orphan
		the operator is started`,
}

func TestKnownHistories(t *testing.T) {
	t.Parallel()
	histories := map[string][]string{}
	for name, history := range known {
		for sentence := range strings.Lines(strings.TrimSpace(history)) {
			histories[name] = append(histories[name], strings.TrimSpace(sentence))
		}
	}
	steps := sentences(slices.Concat(slices.Collect(maps.Values(histories))...))
	for name, history := range histories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var typed []step
			for _, sentence := range history {
				if steps[sentence].do == nil {
					t.Fatalf("no step is named %q", sentence)
				}
				typed = append(typed, steps[sentence])
			}
			if violated, err := run(typed, patience); violated != "" {
				t.Errorf("violated: %s: %v", violated, err)
			}
		})
	}
}

// sentences returns the steps by their descriptions, including the wanted ones.
func sentences(wanted []string) map[string]step {
	steps := map[string]step{}
	for _, opening := range openings {
		steps[opening.says] = opening.step
	}
	isMissing := func(sentence string) bool { return steps[sentence].do == nil }
	for seed := 0; seed < 500 && slices.ContainsFunc(wanted, isMissing); seed++ {
		for _, kind := range slices.Concat(anytime(), leaseSteps, shardSteps) {
			generator := rapid.Custom(func(t *rapid.T) step {
				rapid.Bool().Draw(t, "any") // generators have to draw something
				return kind.draw(t)
			})
			step := generator.Example(seed)
			steps[step.says] = step
		}
	}
	return steps
}
