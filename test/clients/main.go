// Command clients creates, changes, watches and deletes a Darkroom by a client that oapi-codegen generates.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/clients/client"
)

const name = "from-go"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Getenv("URL"), os.Getenv("TOKEN"), os.Getenv("NAMESPACE")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, token, namespace string) error {
	api, err := client.NewClientWithResponses(url, client.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		return err
	}
	// The stream stays open, so that its body is not read as a whole.
	stream, err := api.ClientInterface.StreamEvents(ctx, &client.StreamEventsParams{Namespace: &namespace})
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	if err := until(events, "synced"); err != nil {
		return err
	}
	for _, step := range []struct {
		kind string
		do   func(context.Context, *client.ClientWithResponses, string) error
	}{{"added", create}, {"modified", patch}, {"deleted", remove}} {
		if err := step.do(ctx, api, namespace); err != nil {
			return err
		}
		if err := until(events, step.kind); err != nil {
			return err
		}
	}
	return nil
}

func create(ctx context.Context, api *client.ClientWithResponses, namespace string) error {
	// Constants convert to the type of the field, so that Go alone does not refuse them.
	if client.SourceInputType("Nope").Valid() {
		return errors.New("the client takes a source of type Nope")
	}
	darkroom, folder, kind := name, "https://example.com/images", client.SourceInputTypeWebFolder
	created, err := api.CreateDarkroomWithResponse(ctx, &client.CreateDarkroomParams{}, client.DarkroomInput{
		Name: &darkroom, Namespace: &namespace, SubDomains: []string{name},
		Source: client.SourceInput{Type: &kind, BaseUrl: &folder},
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil {
		return fmt.Errorf("create: %s: %s", created.Status(), created.Body)
	}
	return nil
}

func patch(ctx context.Context, api *client.ClientWithResponses, namespace string) error {
	now, err := api.GetDarkroomWithResponse(ctx, namespace, name, &client.GetDarkroomParams{})
	if err != nil {
		return err
	}
	replicas := int32(2)
	for _, try := range []struct {
		ifMatch string
		want    int
	}{{`"1"`, http.StatusPreconditionFailed}, {now.HTTPResponse.Header.Get("ETag"), http.StatusOK}} {
		patched, err := api.PatchDarkroomWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, namespace, name,
			&client.PatchDarkroomParams{IfMatch: try.ifMatch}, client.DarkroomPatch{Replicas: &replicas})
		if err != nil {
			return err
		}
		if patched.StatusCode() != try.want {
			return fmt.Errorf("patch with If-Match %s: %s: %s", try.ifMatch, patched.Status(), patched.Body)
		}
		if patched.JSON200 != nil && (patched.JSON200.Replicas == nil || *patched.JSON200.Replicas != replicas) {
			return fmt.Errorf("patched, but not to %d replicas: %s", replicas, patched.Body)
		}
	}
	return nil
}

func remove(ctx context.Context, api *client.ClientWithResponses, namespace string) error {
	deleted, err := api.DeleteDarkroomWithResponse(ctx, namespace, name, &client.DeleteDarkroomParams{})
	if err != nil {
		return err
	}
	if deleted.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("delete: %s: %s", deleted.Status(), deleted.Body)
	}
	return nil
}

// until reads up to an event of a kind.
func until(events *bufio.Scanner, kind string) error {
	for events.Scan() {
		if strings.TrimPrefix(events.Text(), "event: ") == kind {
			return nil
		}
	}
	return fmt.Errorf("the stream ended before %q: %w", kind, events.Err())
}
