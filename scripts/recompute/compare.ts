/** Comparisons of a service's answers with the record. Each adds to the findings. */
import { barsOf, type RawBar } from "./bars.ts"
import { type Findings, numberOf, PERCENT_TOLERANCE, unitsOf } from "./differences.ts"
import type { PoolTrade, TradeRecord } from "./record.ts"
import type { LeaderSort, Service, WireBar, WireLeader, WireMovement } from "./service.ts"
import { leadersOf, type RawLeader, rankedFrom, type RankedWindow, tradersOf, walletTotals } from "./traders.ts"
import { beginOf, marketWindow, type RawWindow, tokenWindows, WINDOWS, type WindowName } from "./windows.ts"

/** Everything that is compared with: the trades, and the second that every window ends with. */
export interface Recomputed {
  readonly record: TradeRecord
  /** The newest second that was read. */
  readonly now: number
  /** The first second from which nothing is missing. */
  readonly from: number
  /** The second up to which bars are closed; all of them unless given. */
  readonly closedTo?: number
  /** True when the record begins no later than the service's. */
  readonly isWhole: boolean
}

/** Seconds of each width of bars that is compared. */
export const RESOLUTIONS: Readonly<Record<string, number>> = { "1s": 1, "1m": 60, "5m": 300, "1h": 3600 }

const NANO = 1e9

const compareBar = (findings: Findings, of: string, denom: "sol" | "usd", bar: RawBar, given: WireBar | undefined) => {
  const prices = denom === "usd" ? bar.usd : bar.sol
  const [volume, bought] = denom === "usd" ? [bar.nanos, bar.buyNanos] : [bar.lamports, bar.buyLamports]
  if (given?.isWhole === false) {
    // The service says that it lacks blocks of the bar.
    return
  }
  const check = (field: string, service: number | null | undefined, recomputed: number | null) =>
    findings.number("bars", of, field, service ?? null, recomputed)
  check("open", given?.o, prices?.open ?? null)
  if (prices === null) {
    return
  }
  check("high", given?.h, prices.high)
  check("low", given?.l, prices.low)
  check("close", given?.c, prices.close)
  check("volume", given?.v, Number(volume) / NANO)
  check("bought", given?.buyVolume, Number(bought) / NANO)
  check("trades", given?.n, bar.trades)
  check("buys", given?.buys, bar.buys)
  if (given?.traders !== null) {
    check("traders", given?.traders, bar.traders)
  }
}

/** The trades whose candles do not depend on prices that the chain does not record. */
const comparable = ({ record }: Recomputed, mint: string): ReadonlyArray<PoolTrade> =>
  record.unknown.has(mint) ? [] : record.pools.filter((trade) => trade.mint === mint)

/** Candles of a token at every compared width in both denominations, of all its pools or of one. */
export const compareBars = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  mint: string,
  pool?: string
) => {
  const trades = comparable(found, mint).filter((trade) => pool === undefined || trade.pool === pool)
  for (const [resolution, width] of Object.entries(RESOLUTIONS)) {
    const from = Math.ceil(found.from / width) * width
    const until = found.closedTo ?? Number.POSITIVE_INFINITY
    const bars = barsOf(trades, width).filter(({ startMs }) => {
      const start = startMs / 1000
      return start >= from && start + width <= until
    })
    const [first, last] = [bars[0], bars.at(-1)]
    if (first === undefined || last === undefined) {
      continue
    }
    const to = last.startMs / 1000 + width
    for (const denom of ["usd", "sol"] as const) {
      const query = { resolution, denom, from, to, ...(pool === undefined ? {} : { pool }) }
      const given = new Map((await service.bars(mint, query)).map((bar) => [bar.t, bar]))
      const name = (t: number) => `${pool ?? mint} ${resolution} ${denom} ${new Date(t).toISOString()}`
      // Every block was read, so only the bars at the beginning of the service's record may be cut.
      const whole = bars.findIndex(({ startMs }) => given.get(startMs)?.isWhole !== false)
      bars.slice(whole < 0 ? 0 : whole).forEach(({ startMs }) => {
        findings.exact("bars", name(startMs), "isWhole", String(given.get(startMs)?.isWhole ?? true), "true")
      })
      bars.forEach((bar) => compareBar(findings, name(bar.startMs), denom, bar, given.get(bar.startMs)))
      const known = new Set(bars.map(({ startMs }) => startMs))
      Array.from(given.keys())
        .filter((t) => !known.has(t) && t >= first.startMs)
        .forEach((t) => findings.exact("bars", name(t), "bar", "present", null))
    }
  }
}

/** True when every trade of a window is in the record. */
export const reaches = ({ from, isWhole, now }: Recomputed, window: WindowName): boolean =>
  isWhole || beginOf(WINDOWS[window].width, WINDOWS[window].bucket, now) >= from

/**
 * True when the service has to state a window: every trade of it is in the record, or the service states its total. Of a window
 * that began long before its record it states nothing.
 */
export const isStated = async (service: Service, found: Recomputed, window: WindowName): Promise<boolean> =>
  reaches({ ...found, isWhole: false }, window) || (await service.overview(window)).activity.trades.value !== null

const changeFrom = (start: number | null, last: number | null): number | null =>
  start === null || last === null ? null : (100 * (last - start)) / start

const changeOf = ({ last, launch, start }: RawWindow): number | null => changeFrom(start ?? launch, last)

const volumeOf = ({ nanos, trades, unpriced }: RawWindow): bigint | null => (unpriced === trades ? null : nanos)

/** The value that a ranking goes by; larger ones first. */
const ranks: Readonly<Record<string, (window: RawWindow) => number | null>> = {
  gainers: (window) => ((changeOf(window) ?? 0) > 0 ? changeOf(window) : null),
  losers: (window) => ((changeOf(window) ?? 0) < 0 ? -(changeOf(window) ?? 0) : null),
  volume: (window) => (volumeOf(window) === null ? null : Number(window.nanos)),
  trades: ({ trades }) => trades,
  traders: ({ traders }) => traders
}

const compareRow = (findings: Findings, found: Recomputed, of: string, row: WireMovement, window: RawWindow) => {
  findings.number("windows", of, "trades", numberOf(row.trades.value), window.trades)
  findings.exact("windows", of, "volumeUsd", unitsOf(row.volumeUsd.value, 9), volumeOf(window))
  if (window.last !== null) {
    findings.number("windows", of, "priceUsd", numberOf(row.priceUsd.value), window.last)
  }
  if (window.start === null && window.launch !== null) {
    findings.exact("windows", of, "changeSince", row.changeSince, "launch")
  }
  if (window.start !== null || window.launch !== null || found.isWhole) {
    findings.number("windows", of, "changePct", numberOf(row.changePct.value), changeOf(window), PERCENT_TOLERANCE)
  }
  if (!found.record.unexplained.has(window.mint)) {
    findings.number("windows", of, "traders", numberOf(row.traders.value), window.traders)
  }
}

/** Names of the rankings. */
export const rankNames: ReadonlyArray<string> = Object.keys(ranks)

/** A ranking of a window: its tokens, their order and their figures. */
export const compareMovement = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  window: WindowName,
  rank: string
) => {
  const valueOf = ranks[rank]
  if (valueOf === undefined || !reaches(found, window)) {
    return
  }
  const isKnown = (mint: string) => !found.record.unknown.has(mint)
  const rows = (await service.movement(window, rank)).filter(({ token }) => isKnown(token.address))
  const windows = new Map(tokenWindows(found.record, window, found.now).map((each) => [each.mint, each]))
  const shown = new Set(rows.map(({ token }) => token.address))
  const isWholeRanking = await isStated(service, found, window)
  const values = Array.from(windows.values())
    .filter(({ mint }) => isKnown(mint) && (isWholeRanking || shown.has(mint)))
    .flatMap((each) => valueOf(each) ?? [])
    .toSorted((a, b) => b - a)
  rows.forEach((row, place) => {
    const of = `${rank} ${window} ${row.token.address}`
    const own = windows.get(row.token.address)
    const value = own === undefined ? null : valueOf(own)
    findings.number("ranks", of, `place ${place + 1}`, value, values[place] ?? null, PERCENT_TOLERANCE)
    if (own !== undefined) {
      compareRow(findings, found, of, row, own)
    }
  })
  findings.number("ranks", `${rank} ${window}`, "tokens", rows.length, values.length)
}

/** Estimates of distinct wallets are compared with this tolerance; a few more or less always count as equal. */
const ESTIMATE = 0.1
const FEW = 3

const compareEstimate = (findings: Findings, of: string, service: number | null, exact: number) => {
  const isNear = service !== null && Math.abs(service - exact) <= Math.max(FEW, ESTIMATE * exact)
  findings.number("totals", of, "traders", isNear ? exact : service, exact)
}

const changePct = (before: number, after: number): number | null =>
  before === 0 ? null : (100 * (after - before)) / before

/** The totals of the market in a window. */
export const compareOverview = async (service: Service, found: Recomputed, findings: Findings, window: WindowName) => {
  if (!reaches(found, window) || !(await isStated(service, found, window))) {
    return
  }
  const { activity, breadth, change, launches } = await service.overview(window)
  const { after, before, now } = marketWindow(found.record, "all", window, found.now)
  const of = `overview ${window}`
  const count = (field: string, service: string | null, recomputed: number | null, least = 0) =>
    findings.number("totals", of, field, numberOf(service), recomputed, least)
  count("trades", activity.trades.value, now.buys + now.sells)
  count("buys", activity.buys.value, now.buys)
  count("sells", activity.sells.value, now.sells)
  if (found.record.unknown.size === 0) {
    findings.exact("totals", of, "volumeUsd", unitsOf(activity.volumeUsd.value, 9), now.buyNanos + now.sellNanos)
    findings.exact("totals", of, "buyVolumeUsd", unitsOf(activity.buyVolumeUsd.value, 9), now.buyNanos)
    findings.exact("totals", of, "sellVolumeUsd", unitsOf(activity.sellVolumeUsd.value, 9), now.sellNanos)
  }
  compareEstimate(findings, of, numberOf(activity.traders.value), now.traders)
  count("tokensCreated", launches.tokensCreated.value, now.created)
  count("migrations", launches.migrations.value, now.migrated)
  const isCompared = found.isWhole || found.now - 2 * WINDOWS[window].width >= found.from
  if (isCompared && change.tradesChangePct.value !== null) {
    const [earlier, later] = [before.buys + before.sells, after.buys + after.sells]
    count("tradesChangePct", change.tradesChangePct.value, changePct(earlier, later), PERCENT_TOLERANCE)
  }
  const changes = tokenWindows(found.record, window, found.now).map(({ last, start }) => changeFrom(start, last))
  if (found.isWhole && found.record.unknown.size === 0) {
    count("advancing", breadth.advancing.value, changes.filter((each) => each !== null && each > 0).length)
    count("declining", breadth.declining.value, changes.filter((each) => each !== null && each < 0).length)
    count("unchanged", breadth.unchanged.value, changes.filter((each) => each === 0).length)
  }
}

/** Every venue and launchpad that the record has swaps of, in one window. */
export const compareLighthouse = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  window: WindowName,
  keys: ReadonlyArray<string>
) => {
  if (!reaches(found, window) || !(await isStated(service, found, window))) {
    return
  }
  const markets = await service.lighthouse()
  for (const key of keys) {
    const stats = markets.find((market) => market.key === key)?.stats[window]
    const { now } = marketWindow(found.record, key, window, found.now)
    const of = `lighthouse ${key} ${window}`
    findings.number("totals", of, "buys", stats?.trades.buys ?? 0, now.buys)
    findings.number("totals", of, "sells", stats?.trades.sells ?? 0, now.sells)
    const isPriced = now.unpriced < now.buys + now.sells
    if (found.record.unknown.size === 0 && isPriced) {
      const [all, bought] = [Number(now.buyNanos + now.sellNanos) / NANO, Number(now.buyNanos) / NANO]
      findings.number("totals", of, "volumeUsd", stats?.volumeUsd.total ?? 0, all)
      findings.number("totals", of, "buyVolumeUsd", stats?.volumeUsd.buys ?? 0, bought)
    }
    compareEstimate(findings, of, stats?.traders.total ?? 0, now.traders)
  }
}

/** The ranking of a token's wallets. Results at cost need the record from its beginning. */
export const compareTraders = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  mint: string,
  window: RankedWindow
) => {
  const { record } = found
  const decimals = record.decimals.get(mint)
  const isReached = found.isWhole || (window !== "all" && rankedFrom(window, found.now) >= found.from)
  if (!isReached || record.unknown.has(mint) || record.unexplained.has(mint) || decimals === undefined) {
    return
  }
  const rows = await service.topTraders(mint, window)
  const wanted = tradersOf(
    record.wallets.filter((trade) => trade.mint === mint),
    window,
    found.now
  )
  findings.number("traders", `${mint} ${window}`, "wallets", rows.length, wanted.length)
  wanted.forEach((trader, place) => {
    const row = rows.find(({ wallet }) => wallet === trader.wallet)
    const of = `${mint} ${window} ${trader.wallet}`
    const check = (field: string, service: bigint | string | null, recomputed: bigint | string | null) =>
      findings.exact("traders", of, field, service, recomputed)
    check("place", rows[place]?.wallet ?? null, trader.wallet)
    if (row === undefined) {
      return
    }
    check("buys", String(row.buys), String(trader.buys))
    check("sells", String(row.sells), String(trader.sells))
    check("bought", unitsOf(row.boughtTokens, decimals), trader.bought)
    check("sold", unitsOf(row.soldTokens, decimals), trader.sold)
    check("boughtUsd", unitsOf(row.boughtUsd, 9), trader.boughtNanos)
    check("soldUsd", unitsOf(row.soldUsd, 9), trader.soldNanos)
    check("lastTradeAtMs", String(row.lastTradeAtMs), String(trader.lastSecond * 1000))
    if (found.isWhole) {
      check("realizedUsd", unitsOf(row.realizedPnl.value.usd, 9), trader.realizedNanos)
      check("realizedSol", unitsOf(row.realizedPnl.value.native, 9), trader.realizedLamports)
    }
  })
}

/** The first wallets over all tokens in one order. Results at cost need the record from its beginning. */
export const compareLeaders = async (
  service: Service,
  found: Recomputed,
  findings: Findings,
  window: RankedWindow,
  sort: LeaderSort
) => {
  const { record } = found
  if (!found.isWhole || record.unknown.size > 0 || record.unexplained.size > 0) {
    return
  }
  const all = walletTotals(record.wallets, window, found.now)
  const { rows, wallets } = await service.leaders(window, sort)
  const wanted = leadersOf(all, sort)
  findings.number("leaders", `${window} ${sort}`, "wallets", wallets, all.length)
  findings.number("leaders", `${window} ${sort}`, "rows", rows.length, Math.min(MOST_LEADERS, wanted.length))
  rows.forEach((row, place) => {
    compareLeader(findings, `${window} ${sort} ${row.wallet}`, row, wanted[place])
  })
}

/** Rows of a ranking that are read. */
const MOST_LEADERS = 100

const shareOf = (part: bigint, whole: bigint | null): number | null =>
  whole === null || whole === 0n ? null : (100 * Number(part)) / Number(whole)

const compareLeader = (findings: Findings, of: string, row: WireLeader, leader: RawLeader | undefined): void => {
  const check = (field: string, service: bigint | string | null, recomputed: bigint | string | null) =>
    findings.exact("leaders", of, field, service, recomputed)
  check("place", row.wallet, leader?.wallet ?? null)
  if (leader?.wallet !== row.wallet) {
    return
  }
  const { costUsd, knownSharePct, knownTokens, knownUsd, roiPct, unknownTokens, wins } = row.realized
  const isKnown = leader.knownTokens > 0
  const cost = leader.knownSoldNanos - leader.realizedNanos
  check("buys", String(row.buys), String(leader.buys))
  check("sells", String(row.sells), String(leader.sells))
  check("tokens", String(row.tokens), String(leader.tokens))
  check("knownVolumeUsd", unitsOf(row.knownVolumeUsd, 9), leader.volume)
  check("knownUsd", unitsOf(knownUsd, 9), isKnown ? leader.realizedNanos : null)
  check("costUsd", unitsOf(costUsd, 9), isKnown ? cost : null)
  findings.number("leaders", of, "roiPct", numberOf(roiPct), isKnown ? shareOf(leader.realizedNanos, cost) : null)
  const share = shareOf(leader.knownSoldNanos, leader.soldNanos)
  findings.number("leaders", of, "knownSharePct", numberOf(knownSharePct), share)
  check("knownTokens", String(knownTokens), String(leader.knownTokens))
  check("unknownTokens", String(unknownTokens), String(leader.unknownTokens))
  check("wins", String(wins), String(leader.wins))
  check("lastTradeAtMs", String(row.lastTradeAtMs), String(leader.lastSecond * 1000))
}
