-- Asks the paced server as an OpenAI client, and says what wrk measured as JSON.
function init(arguments)
  wrk.method = "POST"
  wrk.path = "/v1/chat/completions"
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = arguments[1]
end

function done(summary, latency)
  print(string.format('{"wrk":{"requests":%d,"reply_us":{"mean":%f,"p50":%f,"p99":%f}}}',
    summary.requests, latency.mean, latency:percentile(50), latency:percentile(99)))
end
