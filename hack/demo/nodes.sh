# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of the other parts
# The nodes that the demonstration can run on. A part of hack/demo.sh.
#
# Each provider has the same functions: running, build (its programs), up (sets KUBECONFIG, and ingress if the
# Ingress can be reached), load (an archive), pull (an image, within pull_timeout), down.

provider_of() { # node
  case $1 in
    kind | k3d) echo "$1" ;;
    *) echo cluster ;;
  esac
}

# test/cluster: the simulated and the real node.

cluster_running() { "$cluster" status --dir "$dir" > /dev/null 2>&1; }

cluster_build() { "$cluster" build "$node"; }
cluster_up() {
  local answer
  # up finishes an interrupted start, and leaves a running cluster as it is.
  answer=$("$cluster" up --dir "$dir" --node "$node") || return
  KUBECONFIG=$(sed -n 's/^KUBECONFIG=//p' <<< "$answer")
  ingress=$(sed -n 's/^INGRESS_URL=//p' <<< "$answer")
}

cluster_load() { "$cluster" load --dir "$dir" "$1"; }
cluster_pull() { "$cluster" pull --dir "$dir" --timeout "${pull_timeout}s" "$1"; }
cluster_down() { "$cluster" down --dir "$dir"; }

# kind. The project's CI does not run this.

kind_running() { kind_command get clusters 2> /dev/null | grep -qx "$name"; }
kind_build() { :; }
kind_up() {
  KUBECONFIG=$kubeconfig
  if ! kind_running; then
    kind_command create cluster --name "$name" --kubeconfig "$kubeconfig" --wait 120s
  fi
}
kind_load() { kind_command load image-archive "$1" --name "$name"; }
kind_pull() { limited "$pull_timeout" "$engine" exec "$name-control-plane" crictl pull "$1"; }
kind_down() { kind_command delete cluster --name "$name" --kubeconfig "$kubeconfig"; }
kind_command() {
  if [[ -z $engine ]]; then find_engine docker podman || die "neither Docker nor Podman is running"; fi
  KIND_EXPERIMENTAL_PROVIDER=$engine kind "$@"
}

# k3d. The project's CI does not run this.

k3d_running() { k3d cluster list "$name" > /dev/null 2>&1; }
k3d_build() { :; }
k3d_up() {
  KUBECONFIG=$kubeconfig
  if ! k3d_running; then
    k3d cluster create "$name" --no-lb --k3s-arg '--disable=traefik@server:0' \
      --kubeconfig-update-default=false --wait --timeout 120s || return
  fi
  k3d kubeconfig get "$name" > "$kubeconfig"
}
k3d_load() { k3d image import "$1" --cluster "$name"; }
k3d_pull() { limited "$pull_timeout" docker exec "k3d-$name-server-0" crictl pull "$1"; }
k3d_down() { k3d cluster delete "$name"; }
