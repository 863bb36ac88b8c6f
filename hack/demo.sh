#!/usr/bin/env bash
# The demonstration: a cluster of its own, the operator as a process on this
# machine, and a Darkroom. `make demo` and `make demo-stop` call it.
#
#   NODE=simulated|real hack/demo.sh start
#   hack/demo.sh stop
#
# All that it makes is below .demo/. Starting again keeps the cluster, and starts the
# operator anew with what was built since.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly demo=$PWD/.demo
readonly dir=$demo/cluster
readonly pidfile=$demo/operator.pid
readonly log=$demo/operator.log
readonly page_pidfile=$demo/apiserver.pid
readonly page_log=$demo/apiserver.log
readonly page_address=127.0.0.1:${PAGE_PORT:-5000}
readonly cluster=bin/cluster
readonly operator=$PWD/bin/darkroom-operator
readonly kubectl=bin/k8s/kubectl
readonly base_domain=darkroom.localhost
node=${NODE:-simulated}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

die() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

# running tells whether the process of a pid file is still ours: its number may have
# been given to another since.
running() { # pid file
  [[ -s $1 ]] && ps -o command= -p "$(<"$1")" 2>/dev/null | grep -qF "$operator"
}

stop_process() { # pid file, name
  if running "$1"; then
    local pid
    pid=$(<"$1")
    kill "$pid"
    for _ in {1..150}; do
      running "$1" || break
      sleep 0.2
    done
    if running "$1"; then kill -KILL "$pid"; fi
    echo "stopped $2"
  fi
  rm -f "$1"
}

start_cluster() {
  local present=
  if "$cluster" status --dir "$dir" > /dev/null 2>&1; then
    present=$(sed -n 's/^ *"node": "\(.*\)",$/\1/p' "$dir/cluster.json")
    [[ $present == "$node" ]] || die "the demo runs with a $present node; stop it first: make demo-stop"
  fi
  # up finishes a start that was broken off, and leaves a running cluster as it is.
  local answer
  answer=$("$cluster" up --dir "$dir" --node "$node")
  KUBECONFIG=$(sed -n 's/^KUBECONFIG=//p' <<< "$answer")
  ingress=$(sed -n 's/^INGRESS_URL=//p' <<< "$answer")
  export KUBECONFIG
}

start_operator() {
  stop_process "$pidfile" "the operator"
  # Detached from the terminal, so that it outlives this script and its Ctrl-C.
  # No ports of its own: another operator may run on this machine.
  setsid=$(command -v setsid || true)
  nohup $setsid "$operator" manager --base-domain "$base_domain" \
    --metrics-bind-address 0 --health-probe-bind-address 0 > "$log" 2>&1 < /dev/null &
  echo $! > "$pidfile"
  echo "process $(<"$pidfile"), log $log"
}

# start_page starts the API server with the page. Everybody on this machine who reaches
# it acts as the cluster's administrator, so it listens on loopback alone.
start_page() {
  stop_process "$page_pidfile" "the API server"
  setsid=$(command -v setsid || true)
  nohup $setsid "$operator" apiserver --auth=kubeconfig --bind-address "$page_address" \
    --base-domain "$base_domain" > "$page_log" 2>&1 < /dev/null &
  echo $! > "$page_pidfile"
  for _ in {1..100}; do
    if curl -fsS -o /dev/null "http://$page_address/readyz" 2> "$demo/curl.log"; then
      echo "process $(<"$page_pidfile"), log $page_log"
      return
    fi
    running "$page_pidfile" || break
    sleep 0.2
  done
  tail -n 5 "$page_log" >&2
  die "the API server did not start at $page_address; another port: PAGE_PORT=5001 make demo"
}

# wait_ready waits for a Darkroom, and shows what is wrong when it does not become ready.
wait_ready() {
  if "$kubectl" wait --for=condition=Ready "darkroom/$1" --timeout=120s; then
    return
  fi
  "$kubectl" get "darkroom/$1" -o yaml || true
  tail -n 20 "$log"
  die "the Darkroom $1 did not become ready; the demo is left running to look at: make demo-stop"
}

start() {
  [[ $node == simulated || $node == real ]] || die "NODE must be simulated or real, not $node"
  mkdir -p "$demo"

  say "Cluster with a $node node"
  start_cluster
  "$kubectl" apply --server-side -f config/crd/bases
  await_definition

  local name=darkroom-sample manifest=config/samples/darkroom-webfolder.yaml
  if [[ $node == real ]]; then
    say "Images: a stand-in for Darkroom, and a web folder with pictures"
    "$cluster" load --dir "$dir" --workdir /app docker.io/gojektech/darkroom:v0.4.2=bin/darkroom
    "$cluster" load --dir "$dir" docker.io/darkroom-operator/sources:demo=bin/sources
    "$kubectl" apply -f hack/demo/pictures.yaml
    "$kubectl" rollout status deployment/pictures --timeout=60s
    name=photos manifest=hack/demo/darkroom.yaml
  fi

  say "Operator"
  start_operator

  say "API server and page"
  start_page

  say "Darkroom: $manifest"
  "$kubectl" apply -f "$manifest"
  wait_ready "$name"
  "$kubectl" get darkrooms -o wide
  local host
  host=$("$kubectl" get darkroom "$name" -o 'jsonpath={.status.domains[0]}')

  if [[ $node == real ]]; then
    local url=http://$host:${ingress##*:}/images/sample.png?w=300
    # The ingress controller hears of the Ingress a moment after the operator.
    await_picture "$host" "$ingress/images/sample.png?w=300"
    say "Open in a browser"
    echo "  $url"
  else
    say "No picture is served, because a simulated node runs no container"
    echo "  make demo-stop && make demo NODE=real   as root on Linux: serves pictures at http://…"
  fi
  say "The page, and the REST API behind it"
  echo "  http://localhost:${page_address##*:}"
  say "Go on"
  cat <<END
  export KUBECONFIG=$KUBECONFIG PATH=$PWD/bin/k8s:\$PATH
  kubectl get dr                                     # Darkrooms
  kubectl describe dr $name                # conditions and events
  kubectl get all,ingress -l app.kubernetes.io/instance=$name
  kubectl patch dr $name --type merge -p '{"spec":{"replicas":3}}'
  kubectl apply -f config/samples/darkroom-cloudfront.yaml
  tail -f $log
  make demo-stop
END
}

# await_definition waits until the API server serves Darkrooms. `kubectl wait` would give
# up at a definition that has no conditions yet: the server writes them as null at first.
await_definition() {
  for _ in {1..150}; do
    if "$kubectl" get darkrooms > "$demo/kubectl.log" 2>&1; then
      return
    fi
    sleep 0.2
  done
  cat "$demo/kubectl.log" >&2
  die "the API server does not serve Darkrooms"
}

await_picture() { # host, URL
  for _ in {1..100}; do
    if curl -fsS -o "$demo/picture" -H "Host: $1" "$2" 2> "$demo/curl.log"; then
      return
    fi
    sleep 0.2
  done
  cat "$demo/curl.log" >&2
  die "no picture at $2 with the host $1"
}

stop() {
  stop_process "$page_pidfile" "the API server"
  stop_process "$pidfile" "the operator"
  "$cluster" down --dir "$dir"
  rm -rf "$demo"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) die "start or stop?" ;;
esac
