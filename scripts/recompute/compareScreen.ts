/** Comparison of a screen of tokens with the record. */
import { type Findings, numberOf, PERCENT_TOLERANCE, unitsOf } from "./differences.ts"
import { isStated, type Recomputed, reaches } from "./compare.ts"
import type { Service } from "./service.ts"
import { beginOf, type RawWindow, tokenWindows, WINDOWS, type WindowName } from "./windows.ts"

const NANO = 1_000_000_000n

/** The middle of the known volumes, in whole dollars. */
const middleVolume = (windows: ReadonlyArray<RawWindow>): bigint => {
  const volumes = windows.map(({ nanos }) => nanos).toSorted((a, b) => (a < b ? -1 : 1))
  return (volumes[Math.floor(volumes.length / 2)] ?? 0n) / NANO
}

/** Nano-dollars bought of a token in a window. */
const boughtOf = ({ now, record }: Recomputed, mint: string, window: WindowName): bigint => {
  const from = beginOf(WINDOWS[window].width, WINDOWS[window].bucket, now)
  return record.pools
    .filter((trade) => trade.mint === mint && trade.isBuy && trade.second >= from)
    .reduce((sum, { usdNanos }) => sum + (usdNanos ?? 0n), 0n)
}

/** Rows that a screen lists at most. */
const MOST_ROWS = 200

/** Tokens of a window with at least two trades, one of them a sale, and more than the middle volume: all and only these. */
export const compareScreen = async (service: Service, found: Recomputed, findings: Findings, window: WindowName) => {
  if (!reaches(found, window) || !(await isStated(service, found, window))) {
    return
  }
  const known = tokenWindows(found.record, window, found.now).filter(
    ({ mint, trades, unpriced }) => !found.record.unknown.has(mint) && unpriced < trades
  )
  const least = middleVolume(known)
  const isIn = ({ nanos, sells, trades }: RawWindow) => trades >= 2 && sells >= 1 && nanos >= least * NANO
  const wanted = known.filter(isIn).toSorted((a, b) => (a.nanos > b.nanos ? -1 : 1))
  const ranges = [
    { statistic: `trades.${window}`, min: "2" },
    { statistic: `sells.${window}`, min: "1" },
    { statistic: `volumeUsd.${window}`, min: String(least) }
  ]
  const sort = { statistic: `volumeUsd.${window}`, direction: "desc" }
  const shown = ["buys", "buyVolumeUsd", "sellVolumeUsd", "buySharePct", "traders"].map((name) => `${name}.${window}`)
  const rows = (await service.screen({ ranges, sort, show: shown })).filter(
    ({ token }) => !found.record.unknown.has(token.address)
  )
  findings.number("screens", window, "tokens", rows.length, Math.min(MOST_ROWS, wanted.length))
  rows.forEach(({ token, values }, place) => {
    const of = `screen ${window} ${token.address}`
    const own = known.find(({ mint }) => mint === token.address)
    const textOf = (name: string) => values[`${name}.${window}`]?.value ?? null
    findings.exact("screens", of, `place ${place + 1}`, unitsOf(textOf("volumeUsd"), 9), wanted[place]?.nanos ?? null)
    if (own === undefined) {
      findings.exact("screens", of, "token", "present", null)
      return
    }
    findings.number("screens", of, "trades", numberOf(textOf("trades")), own.trades)
    findings.number("screens", of, "buys", numberOf(textOf("buys")), own.buys)
    findings.number("screens", of, "sells", numberOf(textOf("sells")), own.sells)
    const share = (100 * own.buys) / own.trades
    findings.number("screens", of, "buySharePct", numberOf(textOf("buySharePct")), share, PERCENT_TOLERANCE)
    const paid = boughtOf(found, own.mint, window)
    findings.exact("screens", of, "buyVolumeUsd", unitsOf(textOf("buyVolumeUsd"), 9), paid)
    findings.exact("screens", of, "sellVolumeUsd", unitsOf(textOf("sellVolumeUsd"), 9), own.nanos - paid)
    if (!found.record.unexplained.has(own.mint)) {
      findings.number("screens", of, "traders", numberOf(textOf("traders")), own.traders)
    }
  })
}
