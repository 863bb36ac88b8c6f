package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/image"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/node"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// realNode describes the real node to the package that runs it.
func (p *plan) realNode() node.Config {
	return node.Config{
		Name: nodeName, IP: p.nodeIP(), PodCIDR: podCIDR,
		Dir: p.layout.node(), BinDir: p.options.BinDir, LogDir: p.layout.Logs(),
		KubeletKubeconfig: p.kubeconfig(certs.Kubelet), ProxyKubeconfig: p.kubeconfig(certs.KubeProxy),
		ClientCA:           p.layout.certificate(certs.CA),
		KubeletCertificate: p.layout.certificate(certs.KubeletServer), KubeletKey: p.layout.key(certs.KubeletServer),
		KubeletPort: p.ports.kubelet, KubeletHealthPort: p.ports.kubeletHealth,
		ClusterDomain: clusterDomain, ClusterDNS: p.dnsIP(),
		ProxyHealthPort: p.ports.proxyHealth, ProxyMetricsPort: p.ports.proxyMetrics,
	}
}

// prepareRealNode changes the machine for the node.
func (p *plan) prepareRealNode(ctx context.Context) error {
	if err := p.realNode().Prepare(); err != nil {
		return err
	}
	return p.realNode().Forward(ctx, p.ports.apiServer)
}

// stopRealNode ends all containers and undoes the changes.
func stopRealNode() error {
	if err := node.KillAll(); err != nil {
		return err
	}
	return node.Sweep()
}

func (p *plan) containerd() (process.Spec, error) { return p.realNode().ContainerdSpec() }

// realNodeSpecs returns the specs of kubelet, kube-proxy and DNS, which join the
// node to the cluster. It waits for containerd, to load the one image that
// every pod needs.
func (p *plan) realNodeSpecs(ctx context.Context) ([]process.Spec, error) {
	if err := node.WaitForContainerd(ctx); err != nil {
		return nil, err
	}
	err := node.Load(ctx, image.Image{
		Name: node.PauseImage, Entrypoint: []string{"/pause"}, User: "65535:65535", WorkingDir: "/",
		Files: []image.File{{Path: "/pause", Source: filepath.Join(p.options.BinDir, "pause")}},
	})
	if err != nil {
		return nil, err
	}
	kubelet, err := p.realNode().Kubelet()
	if err != nil {
		return nil, err
	}
	proxy, err := p.realNode().KubeProxy()
	if err != nil {
		return nil, err
	}
	dns, err := p.dns()
	if err != nil {
		return nil, err
	}
	return []process.Spec{kubelet, proxy, dns}, nil
}

// CheckMachine returns an error if a real node cannot run on this machine.
func CheckMachine() error { return node.Check() }

// MissingPackages returns the package manager of this machine, and the packages to
// install for a real node.
func MissingPackages() (manager string, packages []string, err error) { return node.MissingPackages() }

// CheckMachineFree returns an error if a cluster with a real node already runs on this
// machine. The error names the cluster's folder.
func CheckMachineFree() error {
	unlock, err := node.Lock("")
	if err != nil {
		return err
	}
	unlock()
	return nil
}

func lockMachine(dir string) (unlock func(), err error) { return node.Lock(dir) }

// sweepMachine cleans up after the real node of a killed cluster, regardless of
// the cluster's folder.
func sweepMachine() error {
	if os.Geteuid() != 0 || node.LockedBy() != "" {
		return nil // not ours to undo, or in use
	}
	if err := node.Sweep(); err != nil {
		return err
	}
	return node.Forget()
}

// Init is the first process of a real node's namespaces; it returns the
// supervisor's exit code.
func Init(args []string) (int, error) {
	self, err := ownProgram()
	if err != nil {
		return 0, err
	}
	files := EventsFD + 1
	if len(args) > 1 && args[1] == Owned {
		files = LifelineFD + 1
	}
	return node.Init(self, append([]string{SuperviseCommand}, args...), files)
}

// Load packs an image and loads it into the real node of the cluster in dir.
func Load(ctx context.Context, dir string, i image.Image) error {
	if err := checkReal(dir); err != nil {
		return err
	}
	return node.Load(ctx, i)
}

// LoadArchive loads the image of a docker-archive into the real node of the cluster
// in dir, and returns its name.
func LoadArchive(ctx context.Context, dir, archive string) (string, error) {
	if err := checkReal(dir); err != nil {
		return "", err
	}
	name, err := image.NameOf(archive)
	if err != nil {
		return "", err
	}
	return name, node.LoadArchive(ctx, archive, name)
}

// Pull pulls an image from its registry into the real node of the cluster in dir, unless
// it is there.
func Pull(ctx context.Context, dir, name string) error {
	if err := checkReal(dir); err != nil {
		return err
	}
	return node.Pull(ctx, name, filepath.Join(Layout{dir}.node(), "registries"))
}

// checkReal returns an error if images cannot be loaded into the cluster in dir.
func checkReal(dir string) error {
	running, err := Running(dir)
	if err != nil {
		return err
	}
	if !running {
		return fmt.Errorf("no cluster runs in %s; start one with: cluster up --node %s --dir %s", dir, Real, dir)
	}
	state, err := LoadState(dir)
	if err != nil {
		return err
	}
	if state.Node != Real {
		return fmt.Errorf("the node of the cluster in %s is %s: nothing runs on it, so it needs no image", dir, state.Node)
	}
	return nil
}

func hostPID(pid int) int { return node.HostPID(pid) }
