//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	testprogram "github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/image"
)

const (
	// runDir is the folder of the sockets. It is short because the path of a Unix socket may have only 107 bytes.
	runDir           = "/run/darkroom-cluster"
	containerdSocket = runDir + "/containerd.sock"
	// pauseImage is the image of every pod's sandbox.
	pauseImage = "registry.k8s.io/pause:3.6"
)

// containerdTemplate is filled with the folders of content and state, the socket, the image of sandboxes, the folders
// of network plugins and their configuration, the folder in which tests may describe mirrors of registries, and the
// snapshotter. Root may lack the capability to raise a process's OOM score adjustment, so the adjustment is restricted.
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

// containerd writes its configuration and the configuration of the pods' network. It is a separate instance: a
// containerd that already runs on the machine is not affected.
func (c *Cluster) containerd() (program, error) {
	pluginDir, err := cniPluginDir()
	if err != nil {
		return program{}, err
	}
	if err := c.writeNetwork(); err != nil {
		return program{}, err
	}
	text := fmt.Sprintf(containerdTemplate, c.file("node/containerd"),
		filepath.Join(runDir, "containerd"), containerdSocket,
		pauseImage, pluginDir, c.file("node/cni-conf"), c.file("node/registries"), c.snapshotter())
	config := c.file("config/containerd.toml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return program{}, fmt.Errorf("write containerd's configuration: %w", err)
	}
	path, err := exec.LookPath("containerd")
	return program{name: "containerd", path: path, args: []string{"--config", config, "--log-level", "info"}}, err
}

// writeNetwork describes the pods' network to the plugins.
func (c *Cluster) writeNetwork() error {
	return writeJSON(c.file("node/cni-conf/10-bridge.conflist"), 0o644, map[string]any{
		"cniVersion": "0.4.0",
		"name":       mark,
		"plugins": []map[string]any{{
			"type": "bridge", "bridge": bridge, "isDefaultGateway": true, "hairpinMode": true,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": c.file("node/addresses"),
				"ranges": [][]map[string]string{{{"subnet": podCIDR, "gateway": nodeIP}}},
			},
		}},
	})
}

// snapshotter is overlayfs, unless the file system of the cluster's folder does not support it.
func (c *Cluster) snapshotter() string {
	dir, err := os.MkdirTemp(c.file("node"), "overlay-")
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

// managed is the label that containerd's CRI plugin sets on an image that it knows. Before that, the kubelet would try
// to pull the image.
const managed = `labels."io.cri-containerd.image"=="managed"`

// loadLimit is the time limit for loading one image.
const loadLimit = 2 * time.Minute

// Load loads the image in a docker-archive into the running containerd of a real node, and returns its name.
func Load(ctx context.Context, archive string) (string, error) {
	name, err := image.NameOf(archive)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, fmt.Errorf("not done after %s", loadLimit))
	defer cancel()
	// containerd unpacks the image for the first container that needs it.
	if _, err := ctr(ctx, "images", "import", "--no-unpack", archive); err != nil {
		return "", fmt.Errorf("load image %s: %w", name, err)
	}
	return name, poll(ctx, "containerd knows "+name, func(ctx context.Context) error {
		known, err := ctr(ctx, "images", "list", "--quiet", "name=="+name, managed)
		if err == nil && !strings.Contains(known, name) {
			err = errors.New("the image is not in the list of images")
		}
		return err
	})
}

// loadPause waits for containerd and loads the image of every pod's sandbox.
func (c *Cluster) loadPause(ctx context.Context) error {
	err := poll(ctx, "containerd is ready", func(ctx context.Context) error {
		_, err := ctr(ctx, "version")
		return err
	})
	if err != nil {
		return err
	}
	pause, err := image.Build([]image.File{{Path: "/pause", Source: filepath.Join(c.BinDir, "pause")}},
		v1.Config{Entrypoint: []string{"/pause"}, User: "65535:65535"})
	if err != nil {
		return err
	}
	archive := c.file("node/pause.tar")
	if err := image.Save(archive, pauseImage, pause); err != nil {
		return err
	}
	_, err = Load(ctx, archive)
	return err
}

func ctr(ctx context.Context, args ...string) (string, error) {
	out, err := testprogram.Output(ctx, "ctr",
		append([]string{"--address", containerdSocket, "--namespace", "k8s.io"}, args...)...)
	return string(out), err
}
