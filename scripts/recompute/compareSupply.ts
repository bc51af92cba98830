/** Candles of market values: the close of each bar times the supply at its end. */
import { barsOf } from "./bars.ts"
import type { Recomputed } from "./compare.ts"
import { type Findings, unitsOf } from "./differences.ts"
import type { Service } from "./service.ts"

const WIDTH = 15

/** Compares the bars of 15 seconds of a token whose chart has supplies of the time. The supply now is the one that the chart states. */
export const compareMarketValues = async (
  service: Service,
  { closedTo, from, now, record }: Recomputed,
  findings: Findings,
  mint: string
): Promise<void> => {
  const decimals = record.decimals.get(mint)
  const trades = record.unknown.has(mint) ? [] : record.pools.filter((trade) => trade.mint === mint)
  const bars = barsOf(trades, WIDTH).filter(
    ({ startMs }) => startMs / 1000 >= from && startMs / 1000 + WIDTH <= (closedTo ?? now)
  )
  const [first, last] = [bars[0], bars.at(-1)]
  if (first === undefined || last === undefined || decimals === undefined) {
    return
  }
  const query = {
    resolution: "15s",
    denom: "usd",
    from: first.startMs / 1000,
    to: last.startMs / 1000 + WIDTH
  } as const
  const given = await service.marketValues(mint, query)
  const supplyNow = unitsOf(given.supply?.value ?? null, decimals)
  if (given.supply?.applied !== "per_bar" || supplyNow === null) {
    return
  }
  const shown = new Map(given.bars.map((bar) => [bar.t, bar.c]))
  const changes = record.supply.filter((change) => change.mint === mint)
  for (const { startMs, usd } of bars) {
    const later = changes.filter(({ second }) => second >= startMs / 1000 + WIDTH)
    const units = later.reduce((left, { change }) => left - change, supplyNow)
    const value = usd === null ? null : usd.close * (Number(units) / 10 ** decimals)
    const of = `${mint} ${new Date(startMs).toISOString()}`
    findings.number("market values", of, "close", shown.get(startMs) ?? null, value)
  }
}
