# What Ollama's bench prints with -format csv, as JSON: NAME,STEP,COUNT,NS_PER_COUNT,TOKEN_PER_SEC.
BEGIN { FS = "," }
$2 == "prefill" { requests++; first += $3 * $4 }
$2 == "generate" { tokens += $3; gap += $4 }
END {
  printf "{\"ollama_bench\":{\"requests\":%d,\"tokens\":%d,", requests, tokens
  printf "\"prefill_ns\":%.0f,\"generate_ns\":%.0f}}\n", first / requests, gap / requests
}
