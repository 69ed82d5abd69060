// Asks the paced server as an OpenAI client. k6 reads a reply as one body: it sees no token.
import http from "k6/http";

export const options = {
  scenarios: {
    all: {
      executor: "per-vu-iterations",
      vus: Number(__ENV.STREAMS),
      iterations: Number(__ENV.REPLIES),
    },
  },
  summaryTrendStats: ["avg", "med", "p(99)", "count"],
};

const headers = { "Content-Type": "application/json" };

export default function () {
  http.post(`${__ENV.URL}/v1/chat/completions`, __ENV.BODY, { headers });
}
