/** Time of the engine from a request to a quote object, with eight candidate pools. `--json` for one line. */
import { Effect } from "effect"
import { bestDirect } from "../../src/quotes/bestDirect.ts"
import { SOL } from "../../src/domain/Address.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { percentile, report } from "./report.ts"
import { TOKEN, warmMarket, warmPools } from "./warmPools.ts"

const WARM_UP = 30_000
const SAMPLES = 100_000
const clock = { slot: 1, epoch: 1, unixTimestamp: 1 }
const amountOf = (i: number) => 1_000_000_000n + BigInt((i * 7919) % 100_000) * 1_000_000n

const micros = (samples: Float64Array, p: number) => Number(percentile(samples, p)?.toFixed(2))

const sample = (work: (i: number) => void): Float64Array => {
  const samples = new Float64Array(SAMPLES)
  for (let i = 0; i < WARM_UP; i++) {
    work(i)
  }
  for (let i = 0; i < SAMPLES; i++) {
    const startedAt = process.hrtime.bigint()
    work(i)
    samples[i] = Number(process.hrtime.bigint() - startedAt) / 1000
  }
  return samples
}

const measure = Effect.gen(function* () {
  const engine = yield* QuoteEngine
  const context = yield* Effect.context()
  const run = Effect.runSyncWith(context)
  const quote = sample((i) =>
    run(engine.quote({ inputMint: TOKEN, outputMint: SOL, amount: amountOf(i), slippageBps: 50, outputDecimals: 9 }))
  )
  const choice = sample((i) => bestDirect(warmPools, { inputMint: TOKEN, amount: amountOf(i) }, clock))
  const timer = sample(() => undefined)
  report("engine", {
    pools: warmPools.length,
    samples: SAMPLES,
    quoteMicros: { p50: micros(quote, 0.5), p90: micros(quote, 0.9), p99: micros(quote, 0.99) },
    choiceMicros: { p50: micros(choice, 0.5), p99: micros(choice, 0.99) },
    emptyMicros: { p50: micros(timer, 0.5) }
  })
})

await Effect.runPromise(measure.pipe(Effect.provide(warmMarket)))
