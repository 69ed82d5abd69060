# shellcheck shell=bash
# Load generators that `tools/proof clients` holds against the paced server's stamps. What cannot be
# installed is told and left out; wrk comes with the system. Takes ten minutes and 3 GB, once.
title="load generators" version=1 variable=LAB_CLIENTS
place=$CACHE/clients-$version
value=$place
readonly K6=1.8.1 OLLAMA=0.17.4 OHA=1.16.0
readonly ALL=(aiperf guidellm inference-perf oha k6 bench)

up() {
    mkdir -p "$place/bin"
    for each in "${ALL[@]}"; do
        # In a shell of its own, for what is missing here ends it.
        has "$each" || (take "$each") || echo "$each cannot be installed here" >&2
    done
    command -v wrk >/dev/null || echo "wrk is not there; Debian's package has its name" >&2
    told
}

is_there() {
    for each in "${ALL[@]}"; do
        has "$each" || return
    done
}

has() {
    [[ -e $place/bin/$1 || -e $place/$1/done ]]
}

take() {
    case $1 in
    oha) take_oha ;;
    k6) of_go "go.k6.io/k6@v$K6" ;;
    bench) of_go "github.com/ollama/ollama/cmd/bench@v$OLLAMA" ;;
    *) take_python "$1" ;;
    esac
}

# By version and hash, for Python 3.12 on x86-64.
take_python() {
    needs python3.12
    python3.12 -m venv --clear "$place/$1" &&
        "$place/$1/bin/pip" install --quiet --no-deps --require-hashes -r "$folder/$1.txt" &&
        touch "$place/$1/done"
}

take_oha() {
    needs cargo
    cargo install --quiet --locked --version "$OHA" --root "$place" oha
}

# Go holds a module against the hashes of its database.
of_go() {
    needs go
    GOBIN=$place/bin go install "$1"
}
