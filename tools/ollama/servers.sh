# shellcheck shell=bash
# What `up` and `down` agree on: where the servers live, and how one of ours is recognised.
#
# A process id alone proves nothing, for ids are used again. A record therefore holds the start time
# of the process too (field 22 of /proc/PID/stat), and a process is ours only if both agree and its
# command line is still `ollama serve`.

LAB_OLLAMA=${XDG_CACHE_HOME:-$HOME/.cache}/lab/ollama
STATE=$LAB_OLLAMA/state
export LAB_OLLAMA STATE

# say SENTENCE...: progress, for people, on stderr.
say() {
    local name=${0##*/}
    printf '%s: %s\n' "${name%.sh}" "$*" >&2
}

# die CODE SENTENCE...: one sentence that says what to do, then the documented exit code.
die() {
    local code=$1
    shift
    say "$*"
    exit "$code"
}

# start_ticks PID: when the process started, in clock ticks since boot; fails if there is none.
start_ticks() {
    local stat fields
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    # The second field is the program's name in parentheses, which may hold spaces.
    read -ra fields <<<"${stat##*) }"
    # A zombie has ended; only its parent has not noticed.
    [[ ${fields[0]} != Z ]] && printf '%s\n' "${fields[19]}"
}

# read_record PORT: sets server_pid, server_ticks and server_version; fails without a whole record.
read_record() {
    # Read by the callers.
    # shellcheck disable=SC2034
    read -r server_pid server_ticks server_version 2>/dev/null <"$STATE/$1"
}

# is_ours PID TICKS: whether the process that `up` started under this id is still there.
is_ours() {
    [[ $(start_ticks "$1") == "$2" ]] &&
        tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -q 'ollama serve *$'
}

# runners_of PID PORT: ids of the `ollama runner` processes of this server, one a line. `up` gives
# each server its own session, which a runner keeps even when its server is killed and it is not.
runners_of() {
    local process stat fields
    for process in /proc/[0-9]*; do
        { stat=$(<"$process/stat"); } 2>/dev/null || continue
        read -ra fields <<<"${stat##*) }"
        [[ ${fields[3]} == "$1" && ${fields[0]} != Z && ${process##*/} != "$1" ]] || continue
        if grep -qaF "$LAB_OLLAMA/models-$2/" "$process/cmdline" 2>/dev/null; then
            printf '%s\n' "${process##*/}"
        fi
    done
}

# recorded_ports: the ports with a record, one a line.
recorded_ports() {
    local record
    for record in "$STATE"/*; do
        if [[ ${record##*/} =~ ^[0-9]+$ ]]; then printf '%s\n' "${record##*/}"; fi
    done
}

# parse_ports LIST: sets the array `ports` from "11434,11435", or ends with exit code 2.
parse_ports() {
    local port
    local -A seen=()
    IFS=, read -ra ports <<<"$1"
    ((${#ports[@]})) || die 2 "--ports names no port; expected a list like 11434,11435"
    for port in "${ports[@]}"; do
        if [[ ! $port =~ ^[1-9][0-9]{0,4}$ ]] || ((port > 65535)); then
            die 2 "--ports: '$port' is no port; expected a list like 11434,11435"
        fi
        [[ -z ${seen[$port]:-} ]] || die 2 "--ports: $port is named twice"
        seen[$port]=1
    done
}
