#!/usr/bin/env bash
# The demonstration: a cluster, the operator as a process on this machine, and a Darkroom
# that serves an image. `make demo` and `make demo-stop` call it.
#
#   NODE=auto|kind|k3d|real|simulated hack/demo.sh start
#   hack/demo.sh stop
#   hack/demo.sh choose      only chooses the node, and prints it last
#
# PAGE_PORT and IMAGE_PORT set the ports of the page and, with kind and k3d, of the image.
# PULL_TIMEOUT is how many seconds the image of Darkroom may take. All files are below
# .demo/; .demo/urls has the URLs. Starting again keeps the cluster, and starts the operator
# that was built since. It runs with the bash of macOS, too, which is version 3.2.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly demo=$PWD/.demo
readonly dir=$demo/cluster
readonly kubeconfig=$demo/kubeconfig
readonly name=darkroom-demo
readonly log=$demo/operator.log
readonly build_log=$demo/build.log
readonly cluster=$PWD/bin/cluster
readonly operator=$PWD/bin/darkroom-operator
readonly self=$PWD/hack/demo.sh
readonly base_domain=darkroom.localhost
readonly darkroom_image=docker.io/gojektech/darkroom:v0.4.2
readonly pull_timeout=${PULL_TIMEOUT:-20}
node=${NODE:-auto}
kubectl=$PWD/bin/k8s/kubectl
started=
engine=
ingress=
build=
pull=

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

die() {
  printf 'demo: %s\n' "$*" >&2
  exit 1
}

# shellcheck source=hack/demo/choose.sh
source hack/demo/choose.sh
# shellcheck source=hack/demo/nodes.sh
source hack/demo/nodes.sh

start() {
  choose_node
  mkdir -p "$demo"
  echo "$node" > "$demo/node"
  rm -f "$demo/urls"
  # Which Darkroom was loaded belongs to the cluster.
  if [[ $started ]]; then rm -f "$demo/darkroom"; fi
  local provider
  provider=$(provider_of "$node")

  announce_build
  start_build
  trap stop_jobs EXIT
  say "Cluster"
  "${provider}_build"
  rm "$demo/compiling"
  "${provider}_up" || die "the $node node did not start; another one: make demo-stop && make demo NODE=simulated"
  export KUBECONFIG
  if [[ $node != simulated && ! -e $demo/darkroom && $(uname -m) =~ ^(x86_64|amd64)$ ]]; then
    "${provider}_pull" "$darkroom_image" > "$demo/pull.log" 2>&1 &
    pull=$!
  fi
  await_build
  if [[ $provider != cluster ]]; then find_kubectl; fi
  "$kubectl" apply --server-side -f config/crd/bases
  await_definition

  if [[ $node != simulated ]]; then
    say "Original images: hack/demo/images.yaml"
    load docker.io/darkroom-operator/sources:demo bin/sources
    "$kubectl" apply -f hack/demo/images.yaml
  fi

  say "Operator and page"
  start_operator
  start_page

  case $node in
    simulated) show_simulated ;;
    *) show_image ;;
  esac
}

show_image() {
  say "Darkroom: hack/demo/darkroom.yaml"
  provide_darkroom
  "$kubectl" rollout status deployment/images --timeout=60s
  manifest | "$kubectl" apply -f -
  wait_ready photos
  "$kubectl" get darkrooms -o wide

  local base
  if [[ $ingress ]]; then
    base=http://$("$kubectl" get darkroom photos -o 'jsonpath={.status.domains[0]}'):${ingress##*:}
  else
    start_forward
    base=http://localhost:$image_port
  fi
  local original="$base/images/sample.png"
  local resized="$original?w=300"
  await_image "$original"
  await_image "$resized"
  cat > "$demo/urls" <<END
ORIGINAL_URL=$original
IMAGE_URL=$resized
PAGE_URL=$page_url
END
  say "Open in a browser: the image, the image resized to a width of 300 pixels, and the page"
  cat "$demo/urls"
  say "Try"
  cat <<END
  $original?w=200&h=200&fit=crop     # a square
  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$kubectl"):\$PATH
  kubectl delete deployment photos                            # the operator recreates it
  kubectl patch dr photos --type merge -p '{"spec":{"replicas":3}}'
END
  show_stop
  open_in_browser "$resized" "$page_url"
}

show_simulated() {
  local manifest=config/samples/darkroom-webfolder.yaml
  say "Darkroom: $manifest"
  # Without its probe: it would wait for an image that no simulated pod serves.
  "$kubectl" patch --local -f "$manifest" -o yaml --type json -p '[{"op":"remove","path":"/spec/probe"}]' |
    "$kubectl" apply -f -
  wait_ready darkroom-sample
  "$kubectl" get darkrooms -o wide
  echo "PAGE_URL=$page_url" > "$demo/urls"
  say "Open in a browser: the page. (No image is served: the node is simulated.)"
  cat "$demo/urls"
  say "Try"
  cat <<END
  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$kubectl"):\$PATH
  kubectl describe dr darkroom-sample                         # conditions and events
  kubectl delete deployment darkroom-sample                   # the operator recreates it
  kubectl patch dr darkroom-sample --type merge -p '{"spec":{"replicas":3}}'
END
  show_stop
  open_in_browser "$page_url"
}

show_stop() {
  say "Log and end"
  cat <<END
  tail -f $log
  make demo-stop
END
}

# Builds.

announce_build() {
  local processors
  processors=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
  # They take 13 minutes of CPU time on a fast machine, of which the operator and its page
  # take 3. The rest is downloads.
  if [[ $(provider_of "$node") == cluster && ! -x bin/k8s/kube-apiserver ]]; then
    say "First start: builds Kubernetes and the operator from source"
    echo "This takes about $((16 / processors + 2)) minutes on $processors processors. Later starts take about 15 seconds."
  elif [[ ! -x $operator ]]; then
    say "First start: builds the operator"
    echo "This takes about $((4 / processors + 1)) minutes on $processors processors, while the cluster starts."
  fi
}

# start_build builds the page and what the node needs, and the operator while the cluster
# starts: the packages that it shares with Kubernetes are in the build cache by then.
start_build() {
  touch "$demo/compiling"
  {
    if have npm; then make page; fi
    if [[ $node != simulated ]]; then GOOS=linux make build-sources; fi
    while [[ -e $demo/compiling ]] && kill -0 $$; do sleep 0.1; done
    make build
  } > "$build_log" 2>&1 &
  build=$!
}

await_build() {
  local began=$SECONDS said=0
  while kill -0 "$build" 2> /dev/null; do
    if ((SECONDS - began >= said + 15)); then
      said=$((SECONDS - began))
      echo "still building the operator and its page after $said s; log: $build_log"
    fi
    sleep 0.1
  done
  wait "$build" || {
    tail -n 30 "$build_log" >&2
    die "the operator was not built; log: $build_log"
  }
  build=
}

stop_jobs() {
  local job
  for job in $build $pull; do
    kill "$job" 2> /dev/null || true
  done
}

# find_kubectl prefers a kubectl of the machine.
find_kubectl() {
  if have kubectl; then
    kubectl=$(command -v kubectl)
  else
    "$cluster" build kubectl
  fi
}

# Images.

# load packs a program as an image and loads it into the node.
load() { # image, program, options of cluster image …
  local image=$1 program=$2
  shift 2
  "$cluster" image --output "$demo/image.tar" "$@" "$image=$program"
  "$(provider_of "$node")_load" "$demo/image.tar"
  rm "$demo/image.tar"
}

# provide_darkroom waits for the image of Darkroom, and says which it is. Where it cannot be
# pulled, the stand-in of the tests takes its name.
provide_darkroom() {
  if [[ ! -e $demo/darkroom ]]; then
    if [[ $pull ]] && wait "$pull"; then
      echo "image: $darkroom_image, as published" > "$demo/darkroom"
    else
      load_standin
    fi
    pull=
  fi
  cat "$demo/darkroom"
}

load_standin() {
  local reason="it is published for amd64 only"
  if [[ $pull ]]; then
    reason=$(tail -n 1 "$demo/pull.log")
    reason=${reason:-no answer within $pull_timeout s}
  fi
  GOOS=linux make build-standin > "$build_log" 2>&1 || {
    cat "$build_log" >&2
    die "the stand-in for Darkroom was not built"
  }
  load "$darkroom_image" bin/darkroom --workdir /app
  cat > "$demo/darkroom" <<END
image: a stand-in (test/darkroom) in place of $darkroom_image, which cannot be pulled:
  $reason
END
}

# manifest prints the Darkroom. The stand-in runs on the nodes of this machine's architecture.
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
await_image() { # URL
  local type code host
  host=${1#http://}
  host=${host%%/*}
  for _ in {1..100}; do
    code=0
    type=$(fetch "$1") || code=$?
    # Browsers resolve names below localhost themselves; not each machine does.
    if ((code == 6)); then
      code=0
      type=$(fetch "$1" --resolve "$host:127.0.0.1") || code=$?
    fi
    if ((code == 0)) && [[ $type == image/* ]]; then
      return
    fi
    sleep 0.2
  done
  cat "$demo/curl.log" >&2
  die "no image at $1 (content type: ${type:-none}); the demo is left running: make demo-stop"
}

# fetch prints the content type of a URL.
fetch() { # URL, options of curl …
  curl -fsS --noproxy '*' --max-time 10 -o "$demo/fetched" -w '%{content_type}' "$@" 2> "$demo/curl.log"
}

open_in_browser() { # URL …
  local url opener=''
  if [[ $(uname -s) == Darwin ]]; then
    opener=open
  elif [[ ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    opener=xdg-open
  fi
  if [[ -z $opener || ! -t 1 ]] || ! have "$opener"; then return; fi
  for url in "$@"; do
    "$opener" "$url" > /dev/null 2>&1 < /dev/null &
  done
}

# Processes that outlive this script.

# launch starts a process detached from the terminal, so that it outlives this script and
# its Ctrl-C.
launch() { # name, command …
  local process=$1 setsid=()
  shift
  if have setsid; then setsid=(setsid); fi
  nohup ${setsid[@]+"${setsid[@]}"} "$@" > "$demo/$process.log" 2>&1 < /dev/null &
  echo $! > "$demo/$process.pid"
  echo "$process: process $!, log $demo/$process.log"
}

# running reports whether a process is still ours: its number may have been given to
# another since.
running() { # name
  [[ -s $demo/$1.pid ]] && ps -o command= -p "$(cat "$demo/$1.pid")" 2> /dev/null | grep -qF -e "$operator" -e "$self"
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

# start_operator gives it no ports of its own: another operator may run on this machine,
# which is outside of the cluster's network, so that probes go through the API server.
start_operator() {
  stop_process operator
  launch operator "$operator" manager --base-domain "$base_domain" --probe-via apiserver \
    --metrics-bind-address 0 --health-probe-bind-address 0
}

# start_page starts the API server with the page. Everybody on this machine who reaches
# it acts as the cluster's administrator, so it listens on loopback only.
start_page() {
  stop_process apiserver
  local port=${PAGE_PORT:-$(free_port 5000)}
  page_url=http://localhost:$port
  launch apiserver "$operator" apiserver --auth=kubeconfig --bind-address "127.0.0.1:$port" --base-domain "$base_domain"
  for _ in {1..100}; do
    if fetch "http://127.0.0.1:$port/readyz" > /dev/null && fetch "$page_url" > /dev/null; then
      return
    fi
    running apiserver || break
    sleep 0.2
  done
  tail -n 5 "$demo/apiserver.log" >&2
  die "the API server did not start at $page_url; another port: PAGE_PORT=5001 make demo"
}

# start_forward makes the Darkroom reachable on this machine where no Ingress is.
start_forward() {
  stop_process forward
  image_port=${IMAGE_PORT:-$(free_port 5080)}
  launch forward bash "$self" forward "$kubectl" "$image_port"
}

# forward restarts kubectl port-forward when the pod that it has chosen is gone, which it
# notices at the next request: hence the requests.
forward() { # kubectl, port
  local child=
  trap 'kill "$child"; exit' TERM
  while :; do
    "$1" port-forward --address 127.0.0.1 service/photos "$2:80" > /dev/null &
    child=$!
    while sleep 1 && kill -0 "$child" 2> /dev/null; do
      curl -sS --noproxy '*' --max-time 5 -o /dev/null "http://127.0.0.1:$2/ping" || true
    done
    wait "$child" || true
  done
}

# free_port prints the first port from a number on at which nothing answers.
free_port() { # port
  local port=$1
  while (: <> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
    port=$((port + 1))
  done
  echo "$port"
}

# The cluster's state.

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

# wait_ready waits for a Darkroom, and shows what is wrong when it does not become ready.
wait_ready() { # name
  if "$kubectl" wait --for=condition=Ready "darkroom/$1" --timeout=120s; then
    return
  fi
  "$kubectl" get "darkroom/$1" -o yaml || true
  tail -n 20 "$log"
  die "the Darkroom $1 did not become ready; the demo is left running: make demo-stop"
}

stop() {
  stop_process forward
  stop_process apiserver
  stop_process operator
  node=$(cat "$demo/node" 2> /dev/null || echo simulated)
  "$(provider_of "$node")_down"
  rm -rf "$demo"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  choose)
    choose_node
    echo "$node"
    ;;
  forward) forward "$2" "$3" ;;
  *) die "start, stop or choose?" ;;
esac
