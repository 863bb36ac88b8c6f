#!/usr/bin/env bash
# The demonstration: a cluster, the operator as a process on this machine, and a Darkroom
# that serves an image. `make demo` and `make demo-stop` call it.
#
#   NODE=kind|k3d|this hack/demo.sh start
#   hack/demo.sh stop
#
# Without NODE, it runs on kind if kind is installed and an engine runs, otherwise on this
# machine. PAGE_PORT and IMAGE_PORT set the ports of the page and, with kind and k3d, of the
# image. All files are below .demo/; .demo/urls contains the URLs. Starting again keeps the cluster and restarts the
# operator with a new build. It runs with the bash of macOS, version 3.2.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly demo=$PWD/.demo
readonly dir=$demo/cluster
readonly name=darkroom-demo
readonly cluster=$PWD/bin/cluster
readonly operator=$PWD/bin/darkroom-operator
readonly self=$PWD/hack/demo.sh
readonly base_domain=darkroom.localhost
readonly darkroom_image=docker.io/gojektech/darkroom:v0.4.2
# Seconds to wait for the image of Darkroom.
readonly pull_timeout=${PULL_TIMEOUT:-20}
node=${NODE:-}
kubectl=kubectl
ingress=
type=

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
have() { command -v "$1" > /dev/null 2>&1; }

die() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

start() {
  choose_node
  mkdir -p "$demo"
  echo "$node" > "$demo/node"
  rm -f "$demo/urls"

  say "Cluster: NODE=$node"
  case $node in
    this) echo "The first time, Kubernetes is compiled: about 15 minutes on two processors; later starts take about two." ;;
    *) echo "The first time, the operator is compiled, which takes minutes." ;;
  esac
  "${node}_up"
  export KUBECONFIG
  say "Build: the operator and its page"
  GOOS=linux make testdata
  make build
  "$kubectl" apply --server-side -f config/crd/bases
  await_definition

  say "Original images: hack/demo/images.yaml"
  load docker.io/darkroom-operator/sources:demo bin/sources
  load "ghcr.io/darkroom-operator/darkroom-gate:v$(cat gate/VERSION)" bin/gate
  "$kubectl" apply -f hack/demo/images.yaml
  say "Operator and page"
  start_operator
  start_page
  say "Darkroom: hack/demo/darkroom.yaml"
  provide_darkroom
  "$kubectl" rollout status deployment/images --timeout=60s
  manifest | "$kubectl" apply -f -
  wait_ready photos
  "$kubectl" get darkrooms -o wide
  show
}

# show fetches the image, original and resized, and prints the URLs.
show() {
  local base
  if [[ $ingress ]]; then
    base=http://$("$kubectl" get darkroom photos -o 'jsonpath={.status.domains[0]}'):${ingress##*:}
  else
    start_forward
    base=http://localhost:$image_port
  fi
  local original="$base/images/sample.png"
  say "Images"
  await_image "$original"
  describe original
  await_image "$original?w=300"
  describe resized
  draw
  cat > "$demo/urls" <<END
ORIGINAL_URL=$original
IMAGE_URL=$original?w=300
PAGE_URL=$page_url
END
  say "Open in a browser: the image, the image resized to a width of 300 pixels, and the page"
  cat "$demo/urls"
  say "Try"
  cat <<END
  $original?w=200&h=200&fit=crop     # a square
  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$(command -v "$kubectl")"):\$PATH
  kubectl delete deployment photos                            # the operator recreates it
  kubectl patch dr photos --type merge -p '{"spec":{"replicas":3}}'
  tail -f $demo/operator.log
  make demo-stop
END
}

# Nodes. Each node has the same functions: up (starts the node if it does not run, and sets KUBECONFIG, and ingress if
# the Ingress can be reached), load (an archive), pull (an image), down.

choose_node() {
  local running
  if running=$(cat "$demo/node" 2> /dev/null); then
    [[ -z $node || $node == "$running" ]] || die "the demo runs with NODE=$running; stop it first: make demo-stop"
    node=$running
  elif [[ -z $node ]]; then
    node=this
    if have kind && find_engine; then node=kind; fi
  fi
  case $node in
    kind | k3d) have "$node" || die "$node is not installed" ;;
    this) ;;
    *) die "NODE must be kind, k3d or this, not $node" ;;
  esac
}

# this_up starts a node on this machine, after installing what Debian lacks.
this_up() {
  if ((EUID == 0)) && have apt-get; then hack/install-packages.sh || true; fi
  "$cluster" doctor || die "a node is not possible on this machine. Install kind and start Docker or Podman, or run as root on Linux."
  "$cluster" build real
  if ! running cluster; then
    rm -f "$dir/cluster.json"
    launch cluster "$cluster" exec --dir "$dir" --node real -- sleep infinity
  fi
  until [[ -s $dir/cluster.json ]]; do
    running cluster || { cat "$demo/cluster.log" >&2; die "the node did not start"; }
    sleep 0.5
  done
  KUBECONFIG=$dir/kubeconfig
  ingress=$(sed -n 's/.*"ingress": "\(.*\)".*/\1/p' "$dir/cluster.json")
  kubectl=$PWD/bin/k8s/kubectl
}
this_load() { "$cluster" load --dir "$dir" "$1"; }
this_pull() {
  timeout "$pull_timeout" ctr --address /run/darkroom-cluster/containerd.sock --namespace k8s.io content fetch --platform linux/amd64 "$1"
}
this_down() { stop_process cluster; }

# find_engine sets engine to the container engine that is running.
find_engine() {
  for engine in docker podman; do
    if "$engine" info > /dev/null 2>&1; then return; fi
  done
  return 1
}

# Neither kind nor k3d was run here.
kind_up() {
  have kubectl || die "kubectl is not installed"
  KUBECONFIG=$demo/kubeconfig
  if ! kind_command get clusters 2> /dev/null | grep -qx "$name"; then
    kind_command create cluster --name "$name" --kubeconfig "$KUBECONFIG" --wait 120s
  fi
}
kind_load() { kind_command load image-archive "$1" --name "$name"; }
kind_pull() { "$engine" exec "$name-control-plane" crictl --timeout "${pull_timeout}s" pull "$1"; }
kind_down() { kind_command delete cluster --name "$name" --kubeconfig "$demo/kubeconfig"; }
kind_command() {
  find_engine || die "neither Docker nor Podman is running"
  KIND_EXPERIMENTAL_PROVIDER=$engine kind "$@"
}

k3d_up() {
  have kubectl || die "kubectl is not installed"
  KUBECONFIG=$demo/kubeconfig
  if ! k3d cluster list "$name" > /dev/null 2>&1; then
    k3d cluster create "$name" --no-lb --k3s-arg '--disable=traefik@server:0' \
      --kubeconfig-update-default=false --wait --timeout 120s
  fi
  k3d kubeconfig get "$name" > "$KUBECONFIG"
}
k3d_load() { k3d image import "$1" --cluster "$name"; }
k3d_pull() { docker exec "k3d-$name-server-0" crictl --timeout "${pull_timeout}s" pull "$1"; }
k3d_down() { k3d cluster delete "$name"; }

# Images.

# load packs a program as an image and loads it into the node.
load() { # image, program, options of cluster image …
  local image=$1 program=$2
  shift 2
  "$cluster" image --output "$demo/image.tar" "$@" "$image=$program"
  "${node}_load" "$demo/image.tar"
  rm "$demo/image.tar"
}

# provide_darkroom pulls the image of Darkroom. If that fails, the tests' stand-in takes its name.
provide_darkroom() {
  if [[ $(uname -m) =~ ^(x86_64|amd64)$ ]] && "${node}_pull" "$darkroom_image" > "$demo/pull.log" 2>&1; then
    echo "image: $darkroom_image, as published"
  else
    load "$darkroom_image" bin/darkroom --workdir /app
    echo "image: a stand-in (test/standins/darkroom) for $darkroom_image, which is amd64 only or could not be pulled; log: $demo/pull.log"
  fi
}

# manifest prints the Darkroom. The stand-in runs only on nodes with this machine's architecture.
manifest() {
  case $(uname -m) in
    arm64 | aarch64)
      "$kubectl" patch --local -f hack/demo/darkroom.yaml -o yaml --type merge \
        -p '{"spec":{"podTemplate":{"nodeSelector":{"kubernetes.io/arch":"arm64"}}}}'
      ;;
    *) cat hack/demo/darkroom.yaml ;;
  esac
}

# await_image waits until a URL serves an image, as a controller may need a moment to route it.
await_image() { # URL; it sets type
  local code host
  host=${1#http://}
  host=${host%%/*}
  for _ in {1..100}; do
    code=0
    type=$(fetch "$1") || code=$?
    # Browsers resolve names below localhost themselves; not every machine does.
    if ((code == 6)); then
      code=0
      type=$(fetch "$1" --resolve "$host:127.0.0.1") || code=$?
    fi
    if ((code == 0)) && [[ $type == image/* ]]; then return; fi
    sleep 0.2
  done
  cat "$demo/curl.log" >&2
  die "no image at $1 (content type: ${type:-none}); the demo is left running: make demo-stop"
}

# describe prints the size of the image that was fetched.
describe() { # what
  local bytes
  bytes=$(($(wc -c < "$demo/fetched")))
  if [[ $type == image/png ]]; then # width and height are two numbers of four bytes
    # shellcheck disable=SC2046 # eight words
    set -- "$1" $(od -An -j16 -N8 -tu1 "$demo/fetched")
    echo "$1: $type, $((($4 << 8) + $5)) × $((($8 << 8) + $9)) pixels, $bytes bytes"
  else
    echo "$1: $type, $bytes bytes"
  fi
}

# draw shows the fetched image in terminals that support it.
draw() {
  [[ -t 1 && ${TERM_PROGRAM:-} =~ ^(iTerm.app|WezTerm)$ ]] || return 0
  printf '\033]1337;File=inline=1:%s\a\n' "$(base64 < "$demo/fetched" | tr -d '\n')"
}

# fetch prints the content type of a URL.
fetch() { # URL, options of curl …
  curl -fsS --noproxy '*' --max-time 10 -o "$demo/fetched" -w '%{content_type}' "$@" 2> "$demo/curl.log"
}

# Processes that outlive this script.

# launch starts a process detached from the terminal and its Ctrl-C.
launch() { # name, command …
  local process=$1 setsid=()
  shift
  if have setsid; then setsid=(setsid); fi
  nohup ${setsid[@]+"${setsid[@]}"} "$@" > "$demo/$process.log" 2>&1 < /dev/null &
  echo $! > "$demo/$process.pid"
  # The new process is a copy of this one until it executes the program that running looks for.
  until running "$process" || ! kill -0 $! 2> /dev/null; do sleep 0.05; done
  echo "$process: process $!, log $demo/$process.log"
}

# keep runs a program, and restarts it whenever it exits.
keep() { # command …
  local child=
  trap 'kill "$child"; wait "$child"; exit' TERM
  while :; do
    "$@" &
    child=$!
    wait "$child" || true
    echo "demo: $1 ended, and is started again"
    sleep 2
  done
}

# running reports whether a process is still the one that this script started: its number may have been reused. Until it
# runs its program, it has the name of this script.
running() { # name
  [[ -s $demo/$1.pid ]] && ps -o command= -p "$(cat "$demo/$1.pid")" 2> /dev/null | grep -qF -e "$operator" -e hack/demo.sh -e "$cluster"
}

stop_process() { # name
  if running "$1"; then
    local pid
    pid=$(cat "$demo/$1.pid")
    kill "$pid"
    for _ in {1..150}; do
      running "$1" || break
      sleep 0.2
    done
    if running "$1"; then kill -KILL "$pid"; fi
    echo "stopped $1"
  fi
  rm -f "$demo/$1.pid"
}

# start_operator starts the operator without ports, because another operator may run on this machine. The machine is
# outside of the cluster's network, so probes go through the API server.
start_operator() {
  stop_process operator
  local port=
  [[ -z $ingress ]] || port=${ingress##*:}
  launch operator bash "$self" keep "$operator" manager --base-domain "$base_domain" --probe-via apiserver --lease-namespace default \
    ${port:+--url-port="$port"} --metrics-bind-address 0 --health-probe-bind-address 0
}

# start_page starts the API server with the page. Its users act as the cluster's
# administrator, so it listens on loopback only.
start_page() {
  stop_process apiserver
  local port=${PAGE_PORT:-$(free_port 5000)}
  page_url=http://localhost:$port
  launch apiserver bash "$self" keep "$operator" apiserver --auth=kubeconfig --bind-address "127.0.0.1:$port" --base-domain "$base_domain" \
    --lease-namespace default
  for _ in {1..100}; do
    if fetch "http://127.0.0.1:$port/readyz" > /dev/null && fetch "$page_url" > /dev/null; then return; fi
    sleep 0.2
  done
  tail -n 5 "$demo/apiserver.log" >&2
  die "the API server did not start at $page_url; another port: PAGE_PORT=5001 make demo"
}

# start_forward makes the Darkroom reachable on this machine where there is no Ingress.
start_forward() {
  stop_process forward
  image_port=${IMAGE_PORT:-$(free_port 5080)}
  launch forward bash "$self" forward "$image_port"
}

# forward restarts kubectl port-forward when its pod is gone. kubectl notices this only at the next request, so forward
# sends requests.
forward() { # port
  local child=
  trap 'kill "$child"; exit' TERM
  while :; do
    kubectl port-forward --address 127.0.0.1 service/photos "$1:80" > /dev/null &
    child=$!
    while sleep 1 && kill -0 "$child" 2> /dev/null; do
      curl -sS --noproxy '*' --max-time 5 -o /dev/null "http://127.0.0.1:$1/ping" || true
    done
    wait "$child" || true
  done
}

# free_port prints the first port, starting at a number, at which nothing responds.
free_port() { # port
  local port=$1
  while (: <> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
  echo "$port"
}

# await_definition waits until the API server serves Darkrooms. `kubectl wait` would fail for a definition that has no
# conditions yet: the server writes them as null at first.
await_definition() {
  for _ in {1..150}; do
    if "$kubectl" get darkrooms > "$demo/kubectl.log" 2>&1; then return; fi
    sleep 0.2
  done
  cat "$demo/kubectl.log" >&2
  die "the API server does not serve Darkrooms"
}

# wait_ready waits for a Darkroom, and shows the cause if it does not become ready.
wait_ready() { # name
  if "$kubectl" wait --for=condition=Ready "darkroom/$1" --timeout=120s; then return; fi
  "$kubectl" get "darkroom/$1" -o yaml || true
  tail -n 20 "$demo/operator.log"
  die "the Darkroom $1 did not become ready; the demo is left running: make demo-stop"
}

stop() {
  node=$(cat "$demo/node" 2> /dev/null) || { echo "no demo is running"; return; }
  stop_process forward
  stop_process apiserver
  stop_process operator
  "${node}_down"
  rm -rf "$demo"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  forward) forward "$2" ;;
  keep) keep "${@:2}" ;;
  *) die "start or stop?" ;;
esac
