##@ Clusters

.PHONY: demo demo-stop install uninstall deploy undeploy

# kind, k3d, or this (a node on this machine; root, Linux); empty chooses.
NODE ?=

demo: $(CLUSTER_TOOL) ## Start a cluster, the operator and a Darkroom that serves an image. NODE=kind, k3d or this.
	@NODE=$(NODE) hack/demo.sh start

demo-stop: $(CLUSTER_TOOL) ## Stop the demo.
	@hack/demo.sh stop

install: ## Install the CRD in the cluster of KUBECONFIG, for make run.
	$(KUBECTL) apply --server-side -f $(CRD)

uninstall: ## Delete the CRD, and with it the Darkrooms of all installations. Run it while the operator runs, which cleans up.
	@KUBECTL="$(KUBECTL)" hack/delete-darkrooms.sh $(CRD)
	$(KUBECTL) delete --ignore-not-found -f $(CRD)

deploy: build-installer ## Deploy the operator with the image IMG.
	$(KUBECTL) apply --server-side -f dist/install.yaml
	$(KUBECTL) -n darkroom-system rollout status deployment -l app.kubernetes.io/name=darkroom-operator --timeout=120s

# The name of the installation that deploy creates: its namespace.
INSTALLATION ?= darkroom-system

undeploy: build-installer ## Delete all Darkrooms, then the operator and the CRD. Refused while another installation has Darkrooms.
	@KUBECTL="$(KUBECTL)" hack/delete-darkrooms.sh $(CRD) $(INSTALLATION)
	$(KUBECTL) delete --ignore-not-found -f dist/install.yaml
