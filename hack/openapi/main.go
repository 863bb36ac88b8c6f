// Command openapi prints the OpenAPI document of the REST API, from which `npm run check` makes
// the page's types.
package main

import (
	"fmt"
	"os"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func main() {
	document, err := apiserver.Document("")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(string(document))
}
