package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Restorable is a control plane whose etcd can be taken back to an earlier moment.
type Restorable struct {
	// Administrator has no rate limits.
	Administrator *rest.Config

	environment *envtest.Environment
	// folder has the data of etcd and the certificates of the API server, which outlive their processes.
	folder string
}

// StartRestorable is Start for a control plane that can be restored.
func StartRestorable() (*Restorable, error) {
	files, err := definitions()
	if err != nil {
		return nil, err
	}
	r := &Restorable{environment: &envtest.Environment{CRDDirectoryPaths: files}}
	if r.folder, err = os.MkdirTemp("", "restorable-"); err != nil {
		return nil, err
	}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.folder))
	}
	return r, nil
}

func (r *Restorable) start() (err error) {
	server, etcd := r.environment.ControlPlane.GetAPIServer(), &envtest.Etcd{DataDir: r.data()}
	r.environment.ControlPlane.Etcd, server.CertDir = etcd, filepath.Join(r.folder, "certificates")
	// Ports that no connection takes while a process is away.
	address, err := program.FreeAddress()
	if err != nil {
		return err
	}
	etcd.URL = &url.URL{Scheme: "http", Host: address}
	if address, err = program.FreeAddress(); err != nil {
		return err
	}
	listen := &url.URL{Host: address}
	server.SecureServing.Address, server.SecureServing.Port = listen.Hostname(), listen.Port()
	r.environment.ControlPlaneStopTimeout = stopTimeout
	for _, folder := range []string{server.CertDir, etcd.DataDir} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	r.Administrator, err = run(r.environment)
	return err
}

// stopTimeout is how long a process is waited for before it is killed: neither ends while it has clients.
const stopTimeout = 500 * time.Millisecond

// stop stops a process, and returns once nothing listens at its address.
func stop(process interface{ Stop() error }, address string) error {
	stopped := process.Stop()
	limits := wait.Limits{Timeout: wait.Patience, Period: 20 * time.Millisecond}
	return limits.Until(context.Background(), "nothing listens at "+address, func(context.Context) error {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return errors.Join(stopped, err)
		}
		return listener.Close()
	})
}

func (r *Restorable) stopServer() error {
	server := r.environment.ControlPlane.GetAPIServer()
	return stop(server, net.JoinHostPort(server.SecureServing.Address, server.SecureServing.Port))
}

func (r *Restorable) stopEtcd() error {
	etcd := r.environment.ControlPlane.Etcd
	return stop(etcd, etcd.URL.Host)
}

func (r *Restorable) data() string { return filepath.Join(r.folder, "etcd") }

// Save saves the data of etcd to a new folder. It calls saved before anything can be written again.
func (r *Restorable) Save(to string, saved func()) error {
	etcd := r.environment.ControlPlane.Etcd
	if err := r.stopEtcd(); err != nil {
		return fmt.Errorf("stop etcd: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(r.data())); err != nil {
		return fmt.Errorf("save the data of etcd: %w", err)
	}
	saved()
	if err := etcd.Start(); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	return nil
}

// Restore takes the cluster back to what was saved to a folder: objects and resource versions. As Kubernetes
// asks for, the API server is stopped meanwhile.
func (r *Restorable) Restore(from string) error {
	server, etcd := r.environment.ControlPlane.GetAPIServer(), r.environment.ControlPlane.Etcd
	if err := errors.Join(r.stopServer(), r.stopEtcd()); err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}
	if err := os.RemoveAll(r.data()); err != nil {
		return err
	}
	if err := os.CopyFS(r.data(), os.DirFS(from)); err != nil {
		return fmt.Errorf("restore the data of etcd: %w", err)
	}
	if err := etcd.Start(); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	return nil
}

// Stop stops the control plane, and deletes what it stored.
func (r *Restorable) Stop() error {
	return errors.Join(r.stopServer(), r.stopEtcd(), os.RemoveAll(r.folder))
}
