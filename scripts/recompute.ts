/** Recomputes a running service's figures from raw blocks. Uses nothing of `src/`. */
import { parseArgs } from "node:util"
import { type MinuteBar, sided, withTrade } from "./recompute/bars.ts"
import { blocksOf, call, type RawTransaction, slotsBetween } from "./recompute/chain.ts"
import { legsOf } from "./recompute/legs.ts"

const help = `Usage: npm run recompute -- --rpc URL --api URL --key KEY [--minutes N] [--mints N] [--json]

Reads the blocks of the last N minutes (30) over JSON-RPC, rebuilds minute candles in SOL from the transfers into and out of
the vaults of each swap, and compares every closed candle of the N most traded mints (20) with the service: open, high,
low, close, volume, trades, purchases. Candles with trades against anything but SOL are compared by their counts. Exits
with 1 when a figure differs, and prints each that does.
`

interface ChartBar {
  readonly t: number
  readonly o: number
  readonly h: number
  readonly l: number
  readonly c: number
  readonly v: number
  readonly n: number | null
  readonly buys: number | null
}

interface Difference {
  readonly mint: string
  readonly minute: string
  readonly field: string
  readonly service: number | null
  readonly recomputed: number | null
}

const MINUTE = 60_000
/** Figures are doubles of exact integers: the last digits may differ by the order of one division. */
const TOLERANCE = 1e-12

const { values } = parseArgs({
  options: {
    rpc: { type: "string" },
    api: { type: "string" },
    key: { type: "string" },
    minutes: { type: "string", default: "30" },
    mints: { type: "string", default: "20" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const isClose = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b)))

const decimalsIn = ({ meta }: RawTransaction): ReadonlyArray<readonly [string, number]> =>
  [...meta.preTokenBalances, ...meta.postTokenBalances].map(({ mint, uiTokenAmount }) => [mint, uiTokenAmount.decimals])

/** Minute bars of every mint, oldest first, and the time from which on no block is missing. */
const rebuild = async (rpc: string, fromMs: number, toMs: number) => {
  const newest = (await call(rpc, "getSlot", [{ commitment: "confirmed" }])) as number
  const first = (await call(rpc, "getFirstAvailableBlock", [])) as number
  const from = Math.max(first, newest - Math.ceil((Date.now() - fromMs) / 400) - 1000)
  const decimals = new Map<string, number>()
  const bars = new Map<string, Map<number, MinuteBar>>()
  const counts = { blocks: 0, legs: 0 }
  const read = { slot: 0, wholeFromMs: Number.POSITIVE_INFINITY }
  for await (const { blockTime, parentSlot, slot, transactions } of blocksOf(
    rpc,
    await slotsBetween(rpc, from, newest)
  )) {
    const timeMs = blockTime * 1000
    if (parentSlot !== read.slot) {
      // The block before this one was not read: the minute of this one lacks a part.
      read.wholeFromMs = timeMs - (timeMs % MINUTE) + MINUTE
      bars.clear()
    }
    read.slot = slot
    if (timeMs < fromMs || timeMs >= toMs) {
      continue
    }
    counts.blocks++
    for (const transaction of transactions) {
      decimalsIn(transaction).forEach(([mint, digits]) => decimals.set(mint, digits))
      for (const leg of legsOf(transaction).map(sided)) {
        counts.legs++
        const minutes = bars.get(leg.mint) ?? new Map<number, MinuteBar>()
        const start = timeMs - (timeMs % MINUTE)
        minutes.set(start, withTrade(minutes.get(start), leg, { decimals: decimals.get(leg.mint) ?? 0, timeMs }))
        bars.set(leg.mint, minutes)
      }
    }
  }
  return { bars, counts, wholeFromMs: Math.max(fromMs, read.wholeFromMs) }
}

const chartOf = async (api: string, key: string, mint: string, fromMs: number, toMs: number) => {
  const query = `resolution=1m&denom=sol&from=${fromMs / 1000}&to=${toMs / 1000}&limit=1500`
  const response = await fetch(`${api}/api/v1/market/chart/${mint}?${query}`, {
    headers: { authorization: `Bearer ${key}` }
  })
  if (!response.ok) {
    throw new Error(`chart of ${mint}: ${response.status} ${await response.text()}`)
  }
  const { data } = (await response.json()) as { data: { bars: ReadonlyArray<ChartBar> } }
  return new Map(data.bars.map((bar) => [bar.t, bar]))
}

/** The differences of one minute: of counts always, of prices and volume where every trade was against SOL. */
const differences = (mint: string, bar: MinuteBar, given: ChartBar | undefined): ReadonlyArray<Difference> => {
  const fields: ReadonlyArray<readonly [string, number | null, number]> = [
    ["trades", given?.n ?? null, bar.trades],
    ["buys", given?.buys ?? null, bar.buys],
    ...(bar.isNative
      ? ([
          ["open", given?.o ?? null, bar.open],
          ["high", given?.h ?? null, bar.high],
          ["low", given?.l ?? null, bar.low],
          ["close", given?.c ?? null, bar.close],
          ["volume", given?.v ?? null, Number(bar.lamports) / 1e9]
        ] as const)
      : [])
  ]
  return fields.flatMap(([field, service, recomputed]) =>
    isClose(service, recomputed)
      ? []
      : [{ mint, minute: new Date(bar.startMs).toISOString(), field, service, recomputed }]
  )
}

const main = async (rpc: string, api: string, key: string): Promise<number> => {
  const toMs = Math.floor(Date.now() / MINUTE - 1) * MINUTE
  const fromMs = toMs - Number(values.minutes) * MINUTE
  const { bars, counts, wholeFromMs } = await rebuild(rpc, fromMs, toMs)
  const traded = Array.from(bars)
    .toSorted(([, a], [, b]) => b.size - a.size)
    .slice(0, Number(values.mints))
  const found: Array<Difference> = []
  const compared = { mints: traded.length, bars: 0, inSol: 0 }
  for (const [mint, minutes] of traded) {
    const chart = await chartOf(api, key, mint, wholeFromMs, toMs)
    for (const bar of Array.from(minutes.values()).filter(({ startMs }) => startMs >= wholeFromMs)) {
      compared.bars++
      compared.inSol += bar.isNative ? 1 : 0
      found.push(...differences(mint, bar, chart.get(bar.startMs)))
    }
    for (const t of Array.from(chart.keys()).filter((start) => !minutes.has(start))) {
      found.push({ mint, minute: new Date(t).toISOString(), field: "bar", service: 1, recomputed: null })
    }
  }
  const report = { ...counts, compared, different: found.length, differences: found.slice(0, 100) }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(report)}\n`
      : `${counts.blocks} blocks, ${counts.legs} swaps; ${compared.bars} candles of ${compared.mints} mints compared, ${compared.inSol} with prices: ${found.length} differences\n${found
          .slice(0, 20)
          .map((each) => `  ${JSON.stringify(each)}\n`)
          .join("")}`
  )
  return found.length === 0 && compared.bars > 0 ? 0 : 1
}

const { api, key, rpc } = values
if (values.help || rpc === undefined || api === undefined || key === undefined) {
  process.stdout.write(help)
  process.exitCode = values.help ? 0 : 2
} else {
  process.exitCode = await main(rpc, api, key)
}
