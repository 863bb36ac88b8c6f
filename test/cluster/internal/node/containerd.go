//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/image"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// containerdTemplate takes the folders of content and state, the socket, the
// image of sandboxes, the folders of network plugins and their configuration, the
// folder in which tests may describe mirrors of registries, and the snapshotter. Raising
// a process's OOM score adjustment back needs a capability that not every machine's root
// has, hence the restriction.
const containerdTemplate = `version = 2
root = %q
state = %q

[grpc]
  address = %q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %q

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = %q
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`

// ContainerdSpec writes the configuration of containerd and of the pod network,
// and returns the spec of containerd. It is a separate instance: a containerd
// that already runs on the machine is not touched.
func (c Config) ContainerdSpec() (process.Spec, error) {
	pluginDir, err := cniPluginDir()
	if err != nil {
		return process.Spec{}, err
	}
	if err := c.writeNetwork(); err != nil {
		return process.Spec{}, err
	}
	text := fmt.Sprintf(containerdTemplate, c.file("containerd"), filepath.Join(RunDir, "containerd"), Containerd(),
		PauseImage, pluginDir, c.file("cni-conf"), c.file("registries"), c.snapshotter())
	config := c.file("containerd.toml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return process.Spec{}, fmt.Errorf("write containerd's configuration: %w", err)
	}
	program, err := exec.LookPath("containerd")
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: "containerd", Path: program, Args: []string{"--config", config, "--log-level", "info"}, LogDir: c.LogDir,
	}, nil
}

// writeNetwork describes the pods' network to the plugins.
func (c Config) writeNetwork() error {
	return writeJSON(filepath.Join(c.file("cni-conf"), "10-bridge.conflist"), map[string]any{
		"cniVersion": "0.4.0",
		"name":       name,
		"plugins": []map[string]any{
			{
				"type": "bridge", "bridge": Bridge, "isDefaultGateway": true, "hairpinMode": true,
				"ipam": map[string]any{
					"type": "host-local", "dataDir": c.file("addresses"),
					"ranges": [][]map[string]string{{{"subnet": c.PodCIDR, "gateway": c.IP}}},
				},
			},
			{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}},
		},
	})
}

// snapshotter is overlayfs, unless the cluster's folder is on a file system
// that cannot carry it.
func (c Config) snapshotter() string {
	dir, err := os.MkdirTemp(c.Dir, "overlay-")
	if err != nil {
		return "native"
	}
	defer os.RemoveAll(dir)
	sub := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(sub(name), 0o700); err != nil {
			return "native"
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", sub("lower"), sub("upper"), sub("work"))
	if err := syscall.Mount("overlay", sub("merged"), "overlay", 0, options); err != nil {
		return "native"
	}
	if err := syscall.Unmount(sub("merged"), 0); err != nil {
		return "native"
	}
	return "overlayfs"
}

// loadLimit is how long loading one image may take.
const loadLimit = 2 * time.Minute

// managed is the label that containerd's Kubernetes side puts on an image once
// it knows it; before that, the kubelet would try to pull it.
const managed = "io.cri-containerd.image=managed"

// Load packs an image and loads it into the running containerd.
func Load(ctx context.Context, i image.Image) error {
	archive, err := os.CreateTemp("", "image-*.tar")
	if err != nil {
		return fmt.Errorf("load image %s: %w", i.Name, err)
	}
	defer os.Remove(archive.Name())
	if err := errors.Join(i.Write(archive), archive.Close()); err != nil {
		return err
	}
	return LoadArchive(ctx, archive.Name(), i.Name)
}

// LoadArchive loads the image of a docker-archive, whose name is known, into the
// running containerd.
func LoadArchive(ctx context.Context, archive, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, fmt.Errorf("not done after %s", loadLimit))
	defer cancel()
	// containerd unpacks it for the first container that needs it.
	if _, err := ctr(ctx, "images", "import", "--no-unpack", archive); err != nil {
		return fmt.Errorf("load image %s: %w", name, err)
	}
	if err := awaitManaged(ctx, name); err != nil {
		return fmt.Errorf("load image %s: %w", name, err)
	}
	return nil
}

// Pull pulls an image from its registry into the running containerd, unless it is there.
// The folder describes mirrors, as containerd's config_path does.
func Pull(ctx context.Context, name, registries string) error {
	if known, err := isManaged(ctx, name); err != nil || known {
		return err
	}
	// containerd unpacks it for the first container that needs it, with its snapshotter.
	_, err := ctr(ctx, "content", "fetch", "--hosts-dir", registries, "--platform", "linux/"+runtime.GOARCH, name)
	if err == nil {
		err = awaitManaged(ctx, name)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // rather than that ctr was killed
	}
	if err != nil {
		return fmt.Errorf("pull image %s: %w", name, err)
	}
	return nil
}

// awaitManaged waits until containerd's Kubernetes side knows an image.
func awaitManaged(ctx context.Context, name string) error {
	for {
		known, err := isManaged(ctx, name)
		if err != nil || known {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func isManaged(ctx context.Context, name string) (bool, error) {
	known, err := ctr(ctx, "images", "list", "--quiet", "name=="+name, "labels."+quoted(managed))
	return strings.Contains(known, name), err
}

// quoted writes NAME=VALUE as containerd's filters want it.
func quoted(label string) string {
	key, value, _ := strings.Cut(label, "=")
	return fmt.Sprintf("%q==%q", key, value)
}

func ctr(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ctr", append([]string{"--address", Containerd(), "--namespace", "k8s.io"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// WaitForContainerd waits until containerd answers.
func WaitForContainerd(ctx context.Context) error {
	for {
		_, err := ctr(ctx, "version")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for containerd: %w (last: %w)", context.Cause(ctx), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
