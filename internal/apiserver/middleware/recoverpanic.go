package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// RecoverPanic protects the server against panics of handlers. Only that request fails; the stack is logged, and the
// response contains no details.
func RecoverPanic(log logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			thrown := recover()
			if thrown == nil {
				return
			}
			if err, ok := thrown.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(thrown)
			}
			log.Error(fmt.Errorf("panic: %v", thrown), "Request failed", "method", r.Method, "path", r.URL.Path,
				"stack", string(debug.Stack()))
			problem.Write(w, problem.Internal(http.StatusInternalServerError))
		}()
		next.ServeHTTP(w, r)
	})
}
