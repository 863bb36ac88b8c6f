package apiserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/journal"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxQuestions bounds the access reviews of one list, for callers that may list only some
// namespaces. The rest follows in the next page.
const maxQuestions = 200

const (
	// maxRequirements bounds a label selector, which is tried on every Darkroom.
	maxRequirements = 16
	// maxPage bounds the Darkrooms of one page, in bytes of JSON; one always fits.
	maxPage = 2 << 20
)

// DarkroomList is a page of Darkrooms, sorted by namespace and name.
type DarkroomList struct {
	Items    []wire.Darkroom `json:"items"`
	Continue string          `json:"continue,omitempty" doc:"Set if there may be more items: the parameter continue of the next request"`
}

type listInput struct {
	Namespace     string `query:"namespace" maxLength:"63" doc:"Only Darkrooms of this namespace; empty means all namespaces that you may list"`
	LabelSelector string `query:"labelSelector" maxLength:"1024" doc:"Only Darkrooms with these labels, for example team=a,tier!=test"`
	Limit         int    `query:"limit" minimum:"1" maximum:"500" default:"500" doc:"Maximum number of items in the response. A page may have fewer items without being the last"`
	Continue      string `query:"continue" maxLength:"512" doc:"Field continue of the previous response"`
}

func (s *Server) list(ctx context.Context, in *listInput) (*reply.JSON[DarkroomList], error) {
	selector, err := labels.Parse(in.LabelSelector)
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "invalid label selector",
			problem.Field{Location: "query.labelSelector", Message: err.Error()})
	}
	if requirements, _ := selector.Requirements(); len(requirements) > maxRequirements {
		return nil, problem.New(http.StatusBadRequest, "invalid label selector",
			problem.Field{Location: "query.labelSelector", Message: fmt.Sprintf("must have at most %d requirements", maxRequirements)})
	}
	after, err := parseContinue(in.Continue)
	if err != nil {
		return nil, err
	}
	scope, err := s.newScope(ctx, "list", in.Namespace)
	if err != nil {
		return nil, err
	}
	all, _ := s.journal.All()
	page, err := scope.page(ctx, startAfter(all, after), selector, in.Limit, s.journal.Bytes)
	if err != nil {
		return nil, err
	}
	return reply.With(page), nil
}

// startAfter returns the part of a sorted list after a key.
func startAfter(all []*v1alpha1.Darkroom, key types.NamespacedName) []*v1alpha1.Darkroom {
	return all[sort.Search(len(all), func(i int) bool { return journal.CompareKeys(journal.KeyOf(all[i]), key) > 0 }):]
}

// page returns the Darkrooms of a sorted list that are in the scope, until the page is full
// or the limit of access reviews is reached. If the caller's budget is used up, it returns
// the ones found so far.
func (s *scope) page(ctx context.Context, all []*v1alpha1.Darkroom, selector labels.Selector, limit int,
	bytes func(types.NamespacedName) int,
) (DarkroomList, error) {
	page := DarkroomList{Items: []wire.Darkroom{}}
	var last types.NamespacedName
	size := 0
	for _, darkroom := range all {
		full := len(page.Items) == limit || size >= maxPage || (len(s.known) >= maxQuestions && !s.knows(darkroom.Namespace))
		if full {
			page.Continue = formatContinue(last)
			break
		}
		if !selector.Matches(labels.Set(darkroom.Labels)) {
			last = journal.KeyOf(darkroom)
			continue
		}
		visible, err := s.has(ctx, darkroom.Namespace)
		var refusal *problem.Details
		if errors.As(err, &refusal) && refusal.Status == http.StatusTooManyRequests && last != (types.NamespacedName{}) {
			page.Continue = formatContinue(last)
			break
		}
		if err != nil {
			return DarkroomList{}, err
		}
		last = journal.KeyOf(darkroom)
		if visible {
			page.Items = append(page.Items, wire.Flatten(darkroom))
			size += bytes(last)
		}
	}
	return page, nil
}

// The token is the key of the last Darkroom seen. It grants nothing: rights are checked for
// each page.
func formatContinue(last types.NamespacedName) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.Namespace + "/" + last.Name))
}

func parseContinue(token string) (types.NamespacedName, error) {
	if token == "" {
		return types.NamespacedName{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	namespace, name, found := strings.Cut(string(raw), "/")
	if err != nil || !found {
		return types.NamespacedName{}, problem.New(http.StatusBadRequest, "invalid continue token",
			problem.Field{Location: "query.continue", Message: "must be the field continue of the last response"})
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
