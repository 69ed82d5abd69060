# shellcheck shell=bash
# Ends the Ollama servers that `up` started; see --help.
set -euo pipefail

usage() {
    cat <<'END'
usage: tools/peer ollama down [--ports LIST]

Ends the Ollama servers that tools/peer ollama up started, waits until they and their
runner processes are gone, and says what it ended. It touches no other process: an
Ollama of yours on the same machine stays. What was built and downloaded stays too.

  --ports LIST   only these (default: all that `up` started)
  --help         this text

exit codes: 0 ended, or nothing to end; 1 a process did not end; 2 bad arguments
END
}

GRACE_SECONDS=15

main() {
    ports=()
    parse_arguments "$@"
    ((${#ports[@]})) || mapfile -t ports < <(recorded_ports)
    ((${#ports[@]})) || say "no server of ours is recorded, nothing to end"
    local port failed=0
    for port in "${ports[@]}"; do
        end_server "$port" || failed=1
    done
    exit "$failed"
}

parse_arguments() {
    while (($#)); do
        case $1 in
        --ports)
            parse_ports "${2:-}"
            shift 2
            ;;
        --help | -h) usage && exit 0 ;;
        *) die 2 "unknown argument '$1'; see --help" ;;
        esac
    done
}

end_server() {
    local port=$1 runners runner outcome="ended the server"
    if ! read_record "$port"; then
        say "port $port: no server of ours is recorded there"
        return
    fi
    local -A runner_ticks=()
    mapfile -t runners < <(runners_of "$server_pid" "$port")
    for runner in "${runners[@]}"; do
        runner_ticks[$runner]=$(start_ticks "$runner" || true)
    done
    if ! is_ours "$server_pid" "$server_ticks"; then
        outcome="had lost its server"
    elif ! end_process "$server_pid" "$server_ticks"; then
        say "port $port: the server (pid $server_pid) did not end; its log is in $LAB_OLLAMA"
        return 1
    fi
    # A server takes its runners along, unless it was killed.
    for runner in "${runners[@]}"; do
        end_process "$runner" "${runner_ticks[$runner]}" || return 1
    done
    rm -f "$STATE/$port"
    say "port $port: $outcome (pid $server_pid); runners ended: ${runners[*]:-none}"
}

# end_process PID TICKS: asks, waits, insists, waits; succeeds once the process is gone.
end_process() {
    local signal attempt
    for signal in TERM KILL; do
        [[ $(start_ticks "$1") == "$2" ]] || return 0
        kill -s "$signal" "$1" 2>/dev/null || true
        for ((attempt = 0; attempt < GRACE_SECONDS * 10; attempt++)); do
            [[ $(start_ticks "$1") == "$2" ]] || return 0
            sleep 0.1
        done
    done
    return 1
}

# shellcheck source-path=SCRIPTDIR source=servers.sh
source "$(dirname "$(readlink -f "$0")")/servers.sh"
main "$@"
