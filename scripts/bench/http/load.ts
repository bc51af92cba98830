/** The load generator, in a process of its own: `load.ts PORT SECONDS CONNECTIONS [HEADERS] [ASKED]`, one JSON line. */
import autocannon from "autocannon"
import { wallets } from "./trades.ts"
import { type Asked, requestOf } from "./world.ts"

const [port = "0", seconds = "5", connections = "64", extra = "{}", asked = "quote"] = process.argv.slice(2)
const headersBeside: Record<string, string> = JSON.parse(extra)
let sent = 0

const nextRequest = () => {
  const { headers, ...request } = requestOf(sent++, asked as Asked, wallets)
  return { ...request, headers: { ...headers, ...headersBeside } }
}

const result = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections: Number(connections),
  duration: Number(seconds),
  requests: [{ setupRequest: (request) => ({ ...request, ...nextRequest() }) }]
})

const { "2xx": ok, errors, latency, non2xx, requests } = result
process.stdout.write(
  `${JSON.stringify({ perSecond: requests.average, ok, non2xx, errors, p50: latency.p50, p99: latency.p99 })}\n`
)
