# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of the other parts
# The choice of the node that the demonstration runs on. A part of hack/demo.sh.

have() { command -v "$1" > /dev/null 2>&1; }

# limited runs a command for at most a number of seconds. macOS has no timeout.
limited() { # seconds, command …
  if have timeout; then
    timeout "$@"
  else
    perl -e 'alarm shift; exec @ARGV' "$@"
  fi
}

# choose_node sets node as NODE says, and started if the demonstration does not run on it
# yet. Each can_… reports whether a node is possible here, and sets why if it is not.
choose_node() {
  local running candidate reasons=()
  started=yes
  if running=$(running_node); then
    [[ $node == auto || $node == "$running" ]] || die "the demo runs with NODE=$running; stop it first: make demo-stop"
    node=$running
    started=
    if [[ $node == kind ]]; then find_engine docker podman || true; fi
    if [[ $node == simulated ]]; then warn_simulated; fi
    echo "The demo runs already, with NODE=$node. The operator is restarted."
    return
  fi
  case $node in
    auto)
      for candidate in kind k3d real; do
        if "can_$candidate"; then
          node=$candidate
          say "Node: $(describe "$node")"
          echo "Another one: make demo NODE=kind, k3d, real or simulated"
          return
        fi
        reasons+=("$candidate: $why")
      done
      node=simulated
      warn_simulated
      echo "Why not another node:"
      printf '  - %s\n' "${reasons[@]}"
      echo "To see images:"
      remedies
      ;;
    kind | k3d | real)
      "can_$node" || die "NODE=$node is not possible here: $why
$(remedies)"
      say "Node: $(describe "$node")"
      ;;
    simulated) warn_simulated ;;
    *) die "NODE must be auto, kind, k3d, real or simulated, not $node" ;;
  esac
}

# running_node prints the node of the demonstration that runs.
running_node() {
  local present
  present=$(cat "$demo/node" 2> /dev/null) && "$(provider_of "$present")_running" && echo "$present"
}

describe() { # node
  case $1 in
    kind | k3d) echo "$1, with ${engine}" ;;
    real) echo "real, with containerd on this machine" ;;
  esac
}

warn_simulated() {
  say "No image will be served: the node is simulated and runs no container"
  echo "The operator, the REST API and the page work; Darkrooms become Ready."
}

remedies() {
  echo "  - install kind or k3d, and start Docker (or Podman, for kind); then: make demo"
  if [[ $(uname -s) == Linux ]] && (($(id -u) != 0)); then
    # shellcheck disable=SC2016 # to be typed
    echo '  - or run it as root: sudo env "PATH=$PATH" make demo'
  fi
}

# find_engine sets engine to the first of the container engines that is running.
find_engine() { # name …
  for engine in "$@"; do
    if have "$engine" && limited 10 "$engine" info > /dev/null 2>&1; then
      return
    fi
  done
  engine=
  return 1
}

can_kind() {
  have kind || { why="kind is not installed"; return 1; }
  find_engine docker podman || { why="kind is installed, but neither Docker nor Podman is running"; return 1; }
}

can_k3d() {
  have k3d || { why="k3d is not installed"; return 1; }
  find_engine docker || { why="k3d is installed, but Docker is not running"; return 1; }
}

# can_real installs missing packages first, where that helps.
can_real() {
  local manager packages
  # Without --free, which fails for a node that only has to be stopped.
  if ! why=$("$cluster" doctor 2>&1) && read -r manager packages <<< "$("$cluster" doctor --missing 2> /dev/null)" && [[ $packages ]]; then
    say "Installing with $manager: $packages"
    echo "A real node runs containers with them. No service is started."
    # shellcheck disable=SC2086 # several words
    hack/install-packages.sh "$manager" $packages || {
      why="$manager could not install: $packages"
      return 1
    }
  fi
  why=$("$cluster" doctor --free 2>&1) && return
  why=${why#error: }
  return 1
}
