package apiserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/live"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// maxRequirements limits the cost of a label selector, which is matched against every Darkroom.
const maxRequirements = 16

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
			problem.Field{
				Location: "query.labelSelector",
				Message:  fmt.Sprintf("must have at most %d requirements", maxRequirements),
			})
	}
	after, err := parseContinue(in.Continue)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, namespacesTimeout)
	defer cancel()
	scope, err := s.scope(ctx, "list", in.Namespace)
	if err != nil {
		return nil, err
	}
	found, next, err := scope.Page(ctx, s.darkrooms, after, selector, in.Limit)
	if err != nil {
		return nil, err
	}
	page := DarkroomList{Items: []wire.Darkroom{}}
	for _, darkroom := range found {
		page.Items = append(page.Items, wire.Flatten(darkroom))
	}
	if next != (types.NamespacedName{}) {
		page.Continue = formatContinue(next)
	}
	return reply.With(page), nil
}

// scope returns the namespaces in which the caller has a permission. It waits for the caller's budget of access reviews.
func (s *Server) scope(ctx context.Context, verb, namespace string) (*live.Scope, error) {
	out, err := live.NewScope(ctx, s.auth.Access.Patient(), verb, namespace)
	if err == nil && namespace != "" {
		err = s.requireServed(namespace)
	}
	return out, err
}

// formatContinue encodes the last Darkroom of a page. The token grants nothing, because permissions are checked for each
// page.
func formatContinue(last types.NamespacedName) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.String()))
}

func parseContinue(token string) (out types.NamespacedName, err error) {
	if token == "" {
		return out, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	namespace, name, found := strings.Cut(string(raw), "/")
	if err != nil || !found {
		return out, problem.New(http.StatusBadRequest, "invalid continue token",
			problem.Field{Location: "query.continue", Message: "must be the field continue of the last response"})
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
