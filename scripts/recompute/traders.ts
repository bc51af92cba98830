/** The wallets of a token by what they traded, with their results at average cost. */
import type { Valued } from "./record.ts"
import type { LeaderSort } from "./service.ts"
import { beginOf } from "./windows.ts"

/** Windows of a ranking, with the buckets that they begin with. */
const RANKED = { "1h": { width: 3600, bucket: 60 }, "24h": { width: 86_400, bucket: 7200 } } as const

/** Name of a ranking's window. */
export type RankedWindow = keyof typeof RANKED | "all"

/** The first second of a ranking that ends with a second; minus infinity for everything. */
export const rankedFrom = (window: RankedWindow, now: number): number =>
  window === "all" ? Number.NEGATIVE_INFINITY : beginOf(RANKED[window].width, RANKED[window].bucket, now)

/** One wallet of a ranking. Amounts in whole units; null where a part is unknown. */
export interface RawTrader {
  readonly wallet: string
  readonly buys: number
  readonly sells: number
  readonly bought: bigint
  readonly sold: bigint
  readonly boughtNanos: bigint | null
  readonly soldNanos: bigint | null
  /** The known part of both. */
  readonly volume: bigint
  readonly lastSecond: number
  readonly realizedNanos: bigint | null
  readonly realizedLamports: bigint | null
}

interface Sale {
  readonly trade: Valued
  readonly cost: bigint | null
  readonly gain: bigint | null
}

interface Position {
  readonly units: bigint
  /** Null once a part is unknown, until nothing is held. */
  readonly nanos: bigint | null
  readonly lamports: bigint | null
}

const EMPTY: Position = { units: 0n, nanos: 0n, lamports: 0n }

const plus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a + b)

const minus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a - b)

/** Every sale of a wallet with its average cost, rounded down; the rest of the cost stays with the rest of the units. */
const salesOf = (trades: ReadonlyArray<Valued>): ReadonlyArray<Sale> => {
  const sales: Array<Sale> = []
  let held = EMPTY
  for (const trade of trades) {
    const { amount, isBuy, lamports, usdNanos } = trade
    if (isBuy) {
      held = { units: held.units + amount, nanos: plus(held.nanos, usdNanos), lamports: plus(held.lamports, lamports) }
      continue
    }
    if (amount > held.units || held.units === 0n) {
      sales.push({ trade, cost: null, gain: null })
      held = amount > held.units ? EMPTY : held
      continue
    }
    const { units } = held
    const part = (of: bigint | null) => (of === null ? null : (of * amount) / units)
    const [cost, paid] = [part(held.nanos), part(held.lamports)]
    sales.push({ trade, cost, gain: minus(lamports, paid) })
    held =
      amount === units
        ? EMPTY
        : { units: units - amount, nanos: minus(held.nanos, cost), lamports: minus(held.lamports, paid) }
  }
  return sales
}

const total = (values: ReadonlyArray<bigint | null>): bigint | null =>
  values.reduce<bigint | null>((sum, value) => plus(sum, value), 0n)

const known = (trades: ReadonlyArray<Valued>): bigint =>
  trades.reduce((sum, { usdNanos }) => sum + (usdNanos ?? 0n), 0n)

const units = (trades: ReadonlyArray<Valued>): bigint => trades.reduce((sum, { amount }) => sum + amount, 0n)

const traderOf = (wallet: string, all: ReadonlyArray<Valued>, from: number): RawTrader => {
  const own = all.filter(({ second }) => second >= from)
  const [buys, sells] = [own.filter(({ isBuy }) => isBuy), own.filter(({ isBuy }) => !isBuy)]
  const sales = salesOf(all).filter(({ trade }) => trade.second >= from)
  const soldNanos = total(sells.map(({ usdNanos }) => usdNanos))
  return {
    wallet,
    buys: buys.length,
    sells: sells.length,
    bought: units(buys),
    sold: units(sells),
    boughtNanos: total(buys.map(({ usdNanos }) => usdNanos)),
    soldNanos,
    volume: known(own),
    lastSecond: all.at(-1)?.second ?? 0,
    realizedNanos: minus(soldNanos, total(sales.map(({ cost }) => cost))),
    realizedLamports: total(sales.map(({ gain }) => gain))
  }
}

/** The ranking of a token's wallets by the dollars that they traded, then by address. */
export const tradersOf = (
  trades: ReadonlyArray<Valued>,
  window: RankedWindow,
  now: number
): ReadonlyArray<RawTrader> => {
  const from = rankedFrom(window, now)
  return Array.from(Map.groupBy(trades, ({ wallet }) => wallet))
    .map(([wallet, own]) => traderOf(wallet, own, from))
    .filter(({ lastSecond }) => lastSecond >= from)
    .toSorted((a, b) => (a.volume === b.volume ? (a.wallet < b.wallet ? -1 : 1) : a.volume > b.volume ? -1 : 1))
}

/** One wallet over all tokens. */
export interface RawLeader {
  readonly wallet: string
  readonly buys: number
  readonly sells: number
  readonly tokens: number
  readonly volume: bigint
  /** Of the tokens whose sales all have a known result. */
  readonly realizedNanos: bigint
  /** Proceeds of the tokens whose sales all have a known result. */
  readonly knownSoldNanos: bigint
  /** Proceeds of all tokens; null while the proceeds of a sale are unknown. */
  readonly soldNanos: bigint | null
  readonly knownTokens: number
  readonly unknownTokens: number
  readonly wins: number
  readonly lastSecond: number
}

const leaderOf = (wallet: string, tokens: ReadonlyArray<RawTrader>): RawLeader => {
  const sold = tokens.filter(({ sells }) => sells > 0)
  const known = sold.filter(({ realizedNanos }) => realizedNanos !== null)
  const results = known.flatMap(({ realizedNanos }) => realizedNanos ?? [])
  return {
    wallet,
    buys: tokens.reduce((sum, { buys }) => sum + buys, 0),
    sells: tokens.reduce((sum, { sells }) => sum + sells, 0),
    tokens: tokens.length,
    volume: tokens.reduce((sum, { volume }) => sum + volume, 0n),
    realizedNanos: results.reduce((sum, result) => sum + result, 0n),
    knownSoldNanos: known.reduce((sum, { soldNanos }) => sum + (soldNanos ?? 0n), 0n),
    soldNanos: total(sold.map(({ soldNanos }) => soldNanos)),
    knownTokens: results.length,
    unknownTokens: sold.length - results.length,
    wins: results.filter((result) => result > 0n).length,
    lastSecond: Math.max(...tokens.map(({ lastSecond }) => lastSecond))
  }
}

const VALUES: Readonly<Record<LeaderSort, (leader: RawLeader) => bigint>> = {
  realized: ({ realizedNanos }) => realizedNanos,
  trades: ({ buys, sells }) => BigInt(buys + sells),
  volume: ({ volume }) => volume
}

/** Every wallet that traded in a window, over all tokens. */
export const walletTotals = (
  trades: ReadonlyArray<Valued>,
  window: RankedWindow,
  now: number
): ReadonlyArray<RawLeader> => {
  const rows = Array.from(Map.groupBy(trades, ({ mint }) => mint).values()).flatMap((own) =>
    tradersOf(own, window, now)
  )
  return Array.from(
    Map.groupBy(rows, ({ wallet }) => wallet),
    ([wallet, own]) => leaderOf(wallet, own)
  )
}

/** The wallets of a ranking, the highest value first, then by address. A ranking by profit has only wallets with a known profit. */
export const leadersOf = (wallets: ReadonlyArray<RawLeader>, sort: LeaderSort): ReadonlyArray<RawLeader> => {
  const valueOf = VALUES[sort]
  return wallets
    .filter(({ knownTokens }) => sort !== "realized" || knownTokens > 0)
    .toSorted((a, b) => {
      const [x, y] = [valueOf(a), valueOf(b)]
      return x === y ? (a.wallet < b.wallet ? -1 : 1) : x > y ? -1 : 1
    })
}
