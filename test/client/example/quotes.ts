// Without Effect: a quote, a stream and an error. `node quotes.ts BASE_URL KEY INPUT_MINT OUTPUT_MINT`
import { createClient, FathomError, fromAtomic } from "fathom/client"

const [baseUrl = "", key = "", inputMint = "", outputMint = ""] = process.argv.slice(2)
const client = createClient({ baseUrl, key })
const trade = { inputMint, outputMint, amount: 1_000_000_000n }

const quote = await client.spot.quote({ query: trade })
const out: bigint = quote.outAmount

const events: Array<string> = []
for await (const frame of client.spot.stream({ query: { ...trade, intervalMs: 250, durationSeconds: 1 } })) {
  events.push(frame.event === "quote" ? `quote ${typeof frame.data.quote.outAmount}` : frame.event)
}

const refusal = await client.spot.quote({ query: { ...trade, pools: [outputMint] } }).then(
  () => null,
  (error: unknown) => (error instanceof FathomError ? { status: error.status, code: error.code } : null)
)

process.stdout.write(
  `${JSON.stringify({ out: `${out}`, whole: fromAtomic(quote.inAmount, 9), events, refusal, pool: quote.route[0]?.pool })}\n`
)
