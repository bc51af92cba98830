/**
 * The rate at which one core applies decoded trades to candles, rolling windows, market rows and the sums of wallets; the
 * memory of a token; and the cost of a trade among 50,000 tokens against 1,000, once with tokens as unequal as on a market
 * and once with all alike, which no cache can help. `--hours 24 --rate 1000` feeds so many simulated hours at so many trades a
 * second instead, as fast as it goes, and prints the memory at the end. `--json` for one line.
 */
import { MarketState } from "../../src/market/memory/MarketState.ts"
import { flagNumber } from "../options.ts"
import { report } from "./report.ts"
import { openMarket, OPENING_MS } from "./tapeMarket.ts"

const BATCH = 2000
const WARM_UP = 400_000
const MEASURED = 800_000
const limits = { tokens: 60_000, bars: 800_000, trades: 1_000_000, traders: 1_000_000 }
const shape = { seed: 7, wallets: 50_000, habits: 10, pace: 1000 }

/** Rates and costs by the processor time of the one thread, so that a busy machine does not count. */
interface Run {
  readonly perSecond: number
  readonly nanosPerTrade: number
  readonly perSecondByTheClock: number
  readonly slowestBatchMs: number
  readonly candleBytesPerToken: number
  readonly windowBytesPerToken: number
  readonly bytesPerTrader: number
}

const run = (tokens: number, skew: number): Run => {
  const next = openMarket({ ...shape, tokens, skew })
  const tape = new MarketState(limits, "bench")
  const spent = { cpuMicros: 0, nanos: 0, slowest: 0 }
  for (let done = 0; done < WARM_UP + MEASURED; done += BATCH) {
    const batch = next(BATCH)
    const startedAt = process.hrtime.bigint()
    const usedBefore = process.threadCpuUsage()
    tape.apply(batch, OPENING_MS + 86_400_000)
    const { user, system } = process.threadCpuUsage(usedBefore)
    const nanos = Number(process.hrtime.bigint() - startedAt)
    if (done >= WARM_UP) {
      spent.cpuMicros += user + system
      spent.nanos += nanos
      spent.slowest = Math.max(spent.slowest, nanos)
    }
  }
  const { candles, windows, traders } = tape.usedBytes
  return {
    perSecond: Math.round((1e6 * MEASURED) / spent.cpuMicros),
    nanosPerTrade: Math.round((1e3 * spent.cpuMicros) / MEASURED),
    perSecondByTheClock: Math.round((1e9 * MEASURED) / spent.nanos),
    slowestBatchMs: Number((spent.slowest / 1e6).toFixed(1)),
    candleBytesPerToken: Math.round(candles / tape.tokens),
    windowBytesPerToken: Math.round(windows / tape.tokens),
    bytesPerTrader: Math.round(traders / tape.traders.size)
  }
}

const compare = (skew: number) => {
  const few = run(1000, skew)
  const many = run(50_000, skew)
  return { few, many, ratio: Number((many.nanosPerTrade / few.nanosPerTrade).toFixed(2)) }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

/** Feeds simulated hours of a market of 50,000 tokens. Processor figures cover the whole run. */
const feed = (hours: number, pace: number): void => {
  const next = openMarket({ ...shape, pace, tokens: 50_000, skew: 3 })
  const tape = new MarketState(limits, "bench")
  const spent = { cpuMicros: 0, slowest: 0 }
  const trades = hours * 3600 * pace
  for (let done = 0; done < trades; done += BATCH) {
    const batch = next(BATCH)
    const usedBefore = process.threadCpuUsage()
    tape.apply(batch, OPENING_MS + hours * 7_200_000)
    const { user, system } = process.threadCpuUsage(usedBefore)
    spent.cpuMicros += user + system
    spent.slowest = Math.max(spent.slowest, user + system)
  }
  const used = Object.entries(tape.usedBytes).map(([part, bytes]) => [part, megabytes(bytes)])
  const { arrayBuffers, rss } = process.memoryUsage()
  report("ingest", {
    trades,
    hours,
    rate: pace,
    tokens: tape.tokens,
    traders: tape.traders.size,
    perSecond: Math.round((1e6 * trades) / spent.cpuMicros),
    slowestBatchMs: Number((spent.slowest / 1e3).toFixed(1)),
    windowHours: Number(((tape.now - tape.heldFrom + 1) / 3600).toFixed(2)),
    usedMegabytes: Object.fromEntries(used),
    arrayMegabytes: megabytes(arrayBuffers),
    residentMegabytes: megabytes(rss)
  })
}

const measure = (): void => {
  // The first run also compiles; it is measured again in its place.
  run(1000, 3)
  const market = compare(3)
  const uniform = compare(1)
  report("ingest", {
    trades: MEASURED,
    tokens: { few: 1000, many: 50_000 },
    perSecond: market.few.perSecond,
    ratio: market.ratio,
    market,
    uniform
  })
}

if (process.argv.includes("--hours")) {
  feed(flagNumber("hours", 24), flagNumber("rate", 1000))
} else {
  measure()
}
