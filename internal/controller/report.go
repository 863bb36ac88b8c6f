package controller

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

// report writes the Helm reconciler's report and the generation into the status, if they differ from it. out is the
// outcome of cause, the error of the reconcile.
func (s *session) report(ctx context.Context, cause error, out outcome, now time.Time) error {
	if s.gone {
		return nil
	}
	current := status.HelmReportOf(s.darkroom.Status)
	report := current
	switch {
	case out.refused && s.darkroom.DeletionTimestamp != nil:
		// The Helm reconciler reported success before the finalizer could not be removed, so its report is not used.
	case s.reported != nil:
		report = *s.reported
	case cause != nil:
		// The reconcile failed before it had a report. The report in the status is kept.
		return nil
	}
	report = s.complete(report, cause, out)
	for i := range report.Conditions {
		condition := &report.Conditions[i]
		condition.ObservedGeneration = s.darkroom.Generation
		condition.Message = redact.Quote(s.darkroom, condition.Message)
		if condition.Type == v1alpha1.ConditionDeployed {
			// The reconciler appends the chart's notes, so only the first line is used.
			condition.Message, _, _ = strings.Cut(condition.Message, "\n")
		}
	}
	if report.DeployedRelease != nil {
		report.DeployedRelease = s.deployedRelease()
	}
	status.WithTransitionTimes(report.Conditions, current.Conditions, now)
	if report.Equal(current) {
		return nil
	}
	return report.Apply(ctx, s.helm.client, s.darkroom)
}

// deployedRelease describes the release for the status, including what a restarted operator needs. If this process has
// not applied the Deployment, the entry of an earlier process is kept.
func (s *session) deployedRelease() *v1alpha1.DeployedRelease {
	deployed := &v1alpha1.DeployedRelease{
		Name: s.darkroom.Name, Digest: s.helm.releases.Digest(s.darkroom),
		Deployment: s.helm.releases.AppliedDeployment(s.darkroom),
	}
	if before := s.darkroom.Status.DeployedRelease; deployed.Deployment == nil && before != nil {
		deployed.Deployment = before.Deployment
	}
	return deployed
}

// complete adds what the Helm reconciler does not know, and corrects conditions that are wrong.
func (s *session) complete(report status.HelmReport, cause error, out outcome) status.HelmReport {
	conditions := slices.DeleteFunc(slices.Clone(report.Conditions), func(condition v1alpha1.Condition) bool {
		return condition.Type == v1alpha1.ConditionContested || condition.Type == v1alpha1.ConditionRolloutQueued
	})
	set := func(conditionType string, value metav1.ConditionStatus, reason, message string) {
		conditions = slices.DeleteFunc(conditions,
			func(condition v1alpha1.Condition) bool { return condition.Type == conditionType })
		conditions = append(conditions, v1alpha1.Condition{
			Type: conditionType, Status: value,
			Reason: reason, Message: message,
		})
	}
	failed := v1alpha1.FindCondition(conditions, v1alpha1.ConditionIrreconcilable)
	switch {
	case out.foreign:
		set(v1alpha1.ConditionDeployed, metav1.ConditionFalse, v1alpha1.ReasonForeignRelease, cause.Error())
	case out.refused && s.darkroom.DeletionTimestamp != nil:
		set(v1alpha1.ConditionReleaseFailed, metav1.ConditionTrue, v1alpha1.ReasonUninstallError, cause.Error())
	case failed != nil && failed.Reason == v1alpha1.ReasonErrorGettingValues && cause != nil && !out.final:
		// The Darkroom is valid, but the state of the cluster could not be read.
		set(v1alpha1.ConditionIrreconcilable, metav1.ConditionTrue, v1alpha1.ReasonReconcileError, cause.Error())
	}
	if cause != nil && !s.release.IsDeployed() {
		// The Helm reconciler treats a failed release as deployed, even if none of its revisions ever was.
		set(v1alpha1.ConditionDeployed, metav1.ConditionFalse, "", "")
		report.DeployedRelease = nil
	}
	if s.release.Postponed {
		set(v1alpha1.ConditionRolloutQueued, metav1.ConditionTrue, v1alpha1.ReasonRolloutLimit,
			postponedMessage(s.helm.maxRollouts))
	}
	if contests := s.contests(); contests != "" {
		set(v1alpha1.ConditionContested, metav1.ConditionTrue, v1alpha1.ReasonForeignWriter, contests)
	}
	report.Conditions = conditions
	return status.HelmReportOf(v1alpha1.DarkroomStatus{
		DeployedRelease: report.DeployedRelease, Conditions: conditions,
	})
}

// contests describes the managed objects that other writers keep changing.
func (s *session) contests() string {
	var contests []string
	for _, hold := range s.helm.releases.Holds(client.ObjectKeyFromObject(s.darkroom)) {
		if hold.Contested {
			contests = append(contests, release.ContestMessage(hold))
		}
	}
	return strings.Join(contests, " ")
}
