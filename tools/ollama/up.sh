# shellcheck shell=bash
# Installs and starts two real Ollama servers with a small model; see --help.
set -euo pipefail

usage() {
    cat <<'END'
usage: tools/peer ollama up [--ports LIST] [--version V] [--model NAME]
       tools/peer ollama status [--ports LIST]

Brings up real Ollama servers on this machine's loopback, one a port, each with its own copy of
SmolLM2-135M loaded: installs what is missing, starts what is not running, waits until every server
has answered a request, and prints the addresses. Run it again at any time; end with
tools/peer ollama down. All files lie in ${XDG_CACHE_HOME:-~/.cache}/lab/ollama.

  --ports LIST    ports to serve (default: 11434,11435)
  --version V     version of Ollama (default: v0.17.4; v0.6.5 where the processor lacks AVX2)
  --model NAME    name under which the servers know the model (default: smollm2)
  --help          this text

exit codes: 0 up and healthy; 1 a step failed, or with status a server is not up; 2 bad arguments;
            3 this machine lacks a tool; 4 a port is taken
END
}

START_SECONDS=30
LOAD_SECONDS=120
# Runner options: a request with others reloads the model, so this is what experiments should send.
LOAD_OPTIONS='{"num_gpu":0,"num_ctx":512,"num_thread":1,"num_predict":1,"seed":1}'

main() {
    ports=(11434 11435)
    version=
    model=smollm2
    action=bring_up
    parse_arguments "$@"
    command -v curl >/dev/null || die 3 "curl is not installed; install it"
    "$action"
}

parse_arguments() {
    local value
    while (($#)); do
        value=${2:-}
        case $1 in
        --ports | --version | --model)
            [[ -n $value ]] || die 2 "$1 needs a value; see --help"
            take_option "$1" "$value"
            shift 2
            ;;
        --status) action=print_status && shift ;;
        --help | -h) usage && exit 0 ;;
        *) die 2 "unknown argument '$1'; see --help" ;;
        esac
    done
}

take_option() {
    case $1 in
    --ports) parse_ports "$2" ;;
    --version)
        [[ $2 =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || die 2 "--version: '$2' is not like v0.17.4"
        version=$2
        ;;
    --model)
        [[ $2 =~ ^[a-z0-9][a-z0-9._-]*$ ]] || die 2 "--model: '$2' is not like smollm2"
        model=$2
        ;;
    esac
}

bring_up() {
    local port wanted=$version
    mkdir -p "$STATE" "$LAB_OLLAMA/home"
    # Two at once would build into the same folder. The servers must not inherit the lock.
    exec 9>"$LAB_OLLAMA/lock"
    flock --nonblock 9 || die 1 "another tools/peer ollama up is at work; wait for it"
    choose_version "$wanted"
    for port in "${ports[@]}"; do
        check_port "$port" "$wanted"
    done
    install_ollama
    install_model
    started=()
    trap end_started EXIT
    for port in "${ports[@]}"; do
        is_running "$port" || start_server "$port"
    done
    for port in "${ports[@]}"; do
        wait_until_answering "$port"
        load_model "$port"
    done
    trap - EXIT
    print_summary
}

is_running() {
    read_record "$1" && is_ours "$server_pid" "$server_ticks"
}

# check_port PORT WANTED_VERSION: refuses before any work is done.
check_port() {
    if is_running "$1"; then
        [[ -z $2 || $2 == "$server_version" ]] ||
            die 4 "port $1 has our ollama $server_version, not $2; run tools/peer ollama down first"
        say "port $1: already up (pid $server_pid, ollama $server_version)"
    elif is_taken "$1"; then
        die 4 "port $1 is taken by a program that is not ours; end it, or choose other ports with" \
            "--ports"
    fi
}

is_taken() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# A clean environment, so that no OLLAMA_ variable of the caller changes what is measured. Each
# server has its own models, for a server prunes blobs that it does not know when it starts.
start_server() {
    local port=$1 log=$LAB_OLLAMA/serve-$1.log pid
    mkdir -p "$LAB_OLLAMA/models-$port"
    # A server that was killed may have left its runner behind, and only its record leads there.
    if [[ -e $STATE/$port ]]; then bash "$here/down.sh" --ports "$port"; fi
    setsid env -i PATH="$PATH" HOME="$LAB_OLLAMA/home" GIN_MODE=release \
        OLLAMA_HOST="127.0.0.1:$port" OLLAMA_MODELS="$LAB_OLLAMA/models-$port" \
        OLLAMA_KEEP_ALIVE=-1 OLLAMA_NUM_PARALLEL=1 OLLAMA_MAX_LOADED_MODELS=1 \
        OLLAMA_CONTEXT_LENGTH=512 OLLAMA_NOHISTORY=1 \
        "$binary" serve </dev/null >"$log" 2>&1 9>&- &
    pid=$!
    started+=("$port")
    printf '%s %s %s\n' "$pid" "$(start_ticks "$pid")" "$version" >"$STATE/$port"
    say "port $port: started ollama $version (pid $pid), log: $log"
}

wait_until_answering() {
    local port=$1 attempt
    for ((attempt = 0; attempt < START_SECONDS * 5; attempt++)); do
        read_record "$port" && [[ $(start_ticks "$server_pid") == "$server_ticks" ]] ||
            give_up "$port" "the server ended at once"
        curl -sf -m 2 -o /dev/null "http://127.0.0.1:$port/api/version" && return
        sleep 0.2
    done
    give_up "$port" "the server did not answer within $START_SECONDS s"
}

# load_model PORT: creates the model and has it answer once, which loads it for good.
load_model() {
    local port=$1 log=$LAB_OLLAMA/create-$1.log url=http://127.0.0.1:$1/api/generate answer request
    HOME=$LAB_OLLAMA/home OLLAMA_HOST=127.0.0.1:$port timeout "$LOAD_SECONDS" \
        "$binary" create "$model" -f "$LAB_OLLAMA/Modelfile" >"$log" 2>&1 ||
        give_up "$port" "the model could not be created (see $log)"
    request="{\"model\":\"$model\",\"prompt\":\"Hi\",\"options\":$LOAD_OPTIONS}"
    answer=$(curl -sS -m "$LOAD_SECONDS" -d "$request" "$url" 2>&1) ||
        give_up "$port" "the model did not answer: $answer"
    [[ $answer == *'"done":true'* ]] || give_up "$port" "the model did not answer: $answer"
    say "port $port: $model is loaded"
}

give_up() {
    tail -n 5 "$LAB_OLLAMA/serve-$1.log" >&2 || true
    die 1 "port $1: $2; the last lines of its log are above"
}

# Half a set-up is worse than none: what this call started ends with it.
end_started() {
    ((${#started[@]})) || return 0
    say "ending what was started"
    bash "$here/down.sh" --ports "$(IFS=, && printf '%s' "${started[*]}")" || true
}

print_summary() {
    local urls=("${ports[@]/#/http://127.0.0.1:}") list
    list=$(IFS=, && printf '%s' "${urls[*]}")
    printf 'servers  %s\n' "${urls[@]}"
    printf 'model    %s\n' "$model"
    printf 'run      lab run experiments/tr115-ollama.toml --servers %s --model %s\n' \
        "$list" "$model"
    printf 'end      tools/peer ollama down\n'
}

print_status() {
    local port runner memory failed=0
    for port in "${ports[@]}"; do
        if ! is_running "$port"; then
            printf 'port %s: not up\n' "$port"
            failed=1
        elif ! curl -sf -m 2 "http://127.0.0.1:$port/api/ps" | grep -q '"name"'; then
            printf 'port %s: pid %s runs, but no model is loaded\n' "$port" "$server_pid"
            failed=1
        else
            memory=$(rss_mib "$server_pid")
            for runner in $(runners_of "$server_pid" "$port"); do
                memory=$((memory + $(rss_mib "$runner")))
            done
            printf 'port %s: up, ollama %s, pid %s, model loaded, %s MiB with its runner\n' \
                "$port" "$server_version" "$server_pid" "$memory"
        fi
    done
    exit "$failed"
}

rss_mib() {
    awk '/^VmRSS:/ { kib = $2 } END { print int(kib / 1024) }' "/proc/$1/status"
}

here=$(dirname "$(readlink -f "$0")")
# shellcheck source-path=SCRIPTDIR source=servers.sh
source "$here/servers.sh"
# shellcheck source-path=SCRIPTDIR source=install.sh
source "$here/install.sh"
main "$@"
