// Command openapi prints the OpenAPI document of the REST API. `npm run check` generates the page's types from it.
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
