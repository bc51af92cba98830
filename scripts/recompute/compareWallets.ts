/** Compares recomputed positions with the answers of a service. */
import type { RawPosition } from "./book.ts"

type Text = string | null

interface Sums {
  readonly realized: Text
  readonly unrealized: Text
  readonly total: Text
}

interface ServicePosition extends Sums {
  readonly mint: string
  readonly costUsd: Text
  readonly proceedsUsd: Text
  readonly valueUsd: Text
  readonly markUsd: Text
  readonly avgCostUsd: Text
  readonly decimals: number | null
  readonly holding: Text
  readonly quantities: Readonly<Record<"known" | "inherited" | "received" | "unpriced", string>>
  readonly known: Sums & { readonly cost: Text; readonly avgCostUsd: Text }
  readonly buys: number
  readonly sells: number
}

/** `data` of `/wallets/{wallet}/positions`. */
export interface ServicePositions {
  readonly positions: ReadonlyArray<ServicePosition>
  readonly summary: {
    readonly wallet: Sums
    readonly known: Sums & { readonly cost: Text; readonly volumeShare: Text; readonly unpricedTrades: number }
  } | null
}

/** `data` of `/wallets/{wallet}/pnl/history`. */
export interface ServiceHistory {
  readonly days: ReadonlyArray<{
    readonly realized: Text
    readonly knownRealized: Text
    readonly costUsd: Text
    readonly proceedsUsd: Text
    readonly trades: number
  }>
}

/** A figure of the service that is not the recomputed one. */
export interface WalletDifference {
  readonly wallet: string
  readonly mint: string | null
  readonly field: string
  readonly service: string | null
  readonly recomputed: string | null
}

/** A figure: the name, the service's text, and the recomputed one. Equal texts; with `isRounded` doubles to 13 digits and a nano-dollar. */
interface Figure {
  readonly field: string
  readonly service: Text
  readonly recomputed: Text
  readonly isRounded?: boolean
}

const NANOS = 1_000_000_000n

/** Nano-dollars as the exact decimal text of dollars. */
export const usd = (nanos: bigint | null): Text => {
  if (nanos === null) {
    return null
  }
  const [sign, size] = nanos < 0n ? ["-", -nanos] : ["", nanos]
  const fraction = (size % NANOS).toString().padStart(9, "0").replace(/0+$/u, "")
  return `${sign}${size / NANOS}${fraction === "" ? "" : `.${fraction}`}`
}

const units = (amount: bigint): string => amount.toString()
const sum = (parts: ReadonlyArray<bigint | null>): bigint | null =>
  parts.reduce((all, part) => (all === null || part === null ? null : all + part), 0n)
const sumOf = (parts: ReadonlyArray<bigint>): bigint => parts.reduce((all, part) => all + part, 0n)

const isClose = (a: Text, b: Text): boolean => {
  const [x, y] = [Number(a), Number(b)]
  return a !== null && b !== null && Math.abs(x - y) <= 1e-9 + 1e-13 * Math.max(Math.abs(x), Math.abs(y))
}

const isEqual = ({ isRounded = false, recomputed, service }: Figure): boolean =>
  service === recomputed || (isRounded && isClose(service, recomputed))

/** Nano-dollars of a decimal text with at most nine digits behind the point. */
export const nanosOf = (text: string): bigint => {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".")
  const nanos = BigInt(whole) * NANOS + BigInt(fraction.padEnd(9, "0"))
  return text.startsWith("-") ? -nanos : nanos
}

/** The value of units at the service's mark, which is no figure of the blocks: to the digits of the mark. */
const valueAt = (amount: bigint, { decimals, markUsd }: ServicePosition): Text =>
  amount === 0n ? "0" : markUsd === null ? null : String((Number(amount) * Number(markUsd)) / 10 ** (decimals ?? 0))

const perToken = (cost: bigint, amount: bigint, decimals: number | null): Text =>
  amount === 0n || decimals === null ? null : String((Number(cost) * 10 ** decimals) / Number(amount) / 1e9)

/** Unrealized profit and the total by the service's own value, exact to the unit. */
const openFigures = (value: bigint | null, cost: bigint | null, realized: bigint | null) => {
  const unrealized = value === null || cost === null ? null : value - cost
  return { unrealized, total: sum([realized, unrealized]) }
}

/** The value of the known units: their unrealized profit by the service and their recomputed cost. */
const knownValueOf = ({ known }: ServicePosition, { lots }: RawPosition): bigint | null =>
  known.unrealized === null ? null : nanosOf(known.unrealized) + lots.cost

const figuresOf = (given: ServicePosition, position: RawPosition): ReadonlyArray<Figure> => {
  const { bought, holding, knownBought, knownRealized, lots, proceeds, realized } = position
  const isKnown = holding === lots.known
  const value = given.valueUsd === null ? null : nanosOf(given.valueUsd)
  const open = openFigures(value, isKnown ? lots.cost : null, realized)
  const knownOpen = openFigures(knownValueOf(given, position), lots.cost, knownRealized)
  const average = perToken(lots.cost, lots.known, given.decimals)
  return [
    { field: "holding", service: given.holding, recomputed: units(holding) },
    { field: "quantities.known", service: given.quantities.known, recomputed: units(lots.known) },
    { field: "quantities.inherited", service: given.quantities.inherited, recomputed: units(lots.inherited) },
    { field: "quantities.received", service: given.quantities.received, recomputed: units(lots.received) },
    { field: "quantities.unpriced", service: given.quantities.unpriced, recomputed: units(lots.unpriced) },
    { field: "costUsd", service: given.costUsd, recomputed: usd(bought) },
    { field: "proceedsUsd", service: given.proceedsUsd, recomputed: usd(proceeds) },
    { field: "realized", service: given.realized, recomputed: usd(realized) },
    { field: "valueUsd", service: given.valueUsd, recomputed: valueAt(holding, given), isRounded: true },
    { field: "unrealized", service: given.unrealized, recomputed: usd(open.unrealized) },
    { field: "total", service: given.total, recomputed: usd(open.total) },
    { field: "avgCostUsd", service: given.avgCostUsd, recomputed: isKnown ? average : null, isRounded: true },
    { field: "known.realized", service: given.known.realized, recomputed: usd(knownRealized) },
    {
      field: "known.value",
      service: usd(knownValueOf(given, position)),
      recomputed: valueAt(lots.known, given),
      isRounded: true
    },
    { field: "known.total", service: given.known.total, recomputed: usd(knownOpen.total) },
    { field: "known.cost", service: given.known.cost, recomputed: usd(knownBought) },
    { field: "known.avgCostUsd", service: given.known.avgCostUsd, recomputed: average, isRounded: true },
    { field: "buys", service: String(given.buys), recomputed: String(position.buys) },
    { field: "sells", service: String(given.sells), recomputed: String(position.sells) }
  ]
}

/** Figures of the whole wallet: sums over its positions, unrealized ones by the service's own values. */
const walletFigures = (
  { positions: given, summary }: ServicePositions,
  positions: ReadonlyArray<RawPosition>
): ReadonlyArray<Figure> => {
  if (summary === null) {
    return [{ field: "summary", service: null, recomputed: "present" }]
  }
  const nanos = (texts: ReadonlyArray<Text>) => sum(texts.map((text) => (text === null ? null : nanosOf(text))))
  const realized = sum(positions.map((position) => position.realized))
  const unrealized = nanos(given.map((each) => each.unrealized))
  const knownRealized = sumOf(positions.map((position) => position.knownRealized))
  const known = given.flatMap(({ known: { unrealized: each } }) => (each === null ? [] : [nanosOf(each)]))
  const [volume, knownVolume] = [
    sumOf(positions.map((position) => position.volume)),
    sumOf(positions.map((position) => position.knownVolume))
  ]
  const unpriced = positions.reduce((all, { unpricedTrades }) => all + unpricedTrades, 0)
  return [
    { field: "wallet.realized", service: summary.wallet.realized, recomputed: usd(realized) },
    { field: "wallet.unrealized", service: summary.wallet.unrealized, recomputed: usd(unrealized) },
    { field: "wallet.total", service: summary.wallet.total, recomputed: usd(sum([realized, unrealized])) },
    { field: "known.realized", service: summary.known.realized, recomputed: usd(knownRealized) },
    {
      field: "known.unrealized",
      service: summary.known.unrealized,
      recomputed: known.length === 0 ? null : usd(sumOf(known))
    },
    {
      field: "known.cost",
      service: summary.known.cost,
      recomputed: usd(sumOf(positions.map((position) => position.knownBought)))
    },
    {
      field: "known.volumeShare",
      service: summary.known.volumeShare,
      recomputed: volume === 0n ? null : String(Number(knownVolume) / Number(volume)),
      isRounded: true
    },
    { field: "known.unpricedTrades", service: String(summary.known.unpricedTrades), recomputed: String(unpriced) }
  ]
}

/** The days of the history together. */
const historyFigures = ({ days }: ServiceHistory, positions: ReadonlyArray<RawPosition>): ReadonlyArray<Figure> => {
  const all = (pick: (day: ServiceHistory["days"][number]) => Text) =>
    usd(sum(days.map((day) => pick(day)).map((text) => (text === null ? null : nanosOf(text)))))
  const trades = positions.reduce((count, { buys, sells }) => count + buys + sells, 0)
  return [
    {
      field: "history.realized",
      service: all(({ realized }) => realized),
      recomputed: usd(sum(positions.map(({ realized }) => realized)))
    },
    {
      field: "history.knownRealized",
      service: all(({ knownRealized }) => knownRealized),
      recomputed: usd(sumOf(positions.map(({ knownRealized }) => knownRealized)))
    },
    {
      field: "history.costUsd",
      service: all(({ costUsd }) => costUsd),
      recomputed: usd(sum(positions.map(({ bought }) => bought)))
    },
    {
      field: "history.proceedsUsd",
      service: all(({ proceedsUsd }) => proceedsUsd),
      recomputed: usd(sum(positions.map(({ proceeds }) => proceeds)))
    },
    {
      field: "history.trades",
      service: String(days.reduce((count, day) => count + day.trades, 0)),
      recomputed: String(trades)
    }
  ]
}

/** The comparison of one wallet. */
export interface WalletComparison {
  readonly figures: number
  readonly differences: ReadonlyArray<WalletDifference>
}

const named = (mint: string | null, figures: ReadonlyArray<Figure>) => figures.map((figure) => ({ mint, figure }))

/** Compares every figure of a wallet: of each position, of the wallet, and of its days. */
export const compareWallet = (
  wallet: string,
  recomputed: ReadonlyMap<string, RawPosition>,
  given: ServicePositions,
  history: ServiceHistory
): WalletComparison => {
  const positions = Array.from(recomputed.values())
  const ofMint = (mint: string) => {
    const [service, position] = [given.positions.find((each) => each.mint === mint), recomputed.get(mint)]
    return service === undefined || position === undefined
      ? [
          {
            field: "position",
            service: service?.holding ?? null,
            recomputed: position === undefined ? null : "present"
          }
        ]
      : figuresOf(service, position)
  }
  const mints = new Set([...recomputed.keys(), ...given.positions.map(({ mint }) => mint)])
  const all = [
    ...Array.from(mints).flatMap((mint) => named(mint, ofMint(mint))),
    ...named(null, walletFigures(given, positions)),
    ...named(null, historyFigures(history, positions))
  ]
  return {
    figures: all.length,
    differences: all
      .filter(({ figure }) => !isEqual(figure))
      .map(({ figure: { field, recomputed: own, service }, mint }) => ({
        wallet,
        mint,
        field,
        service,
        recomputed: own
      }))
  }
}

/**
 * Compares the order of positions by their cost over several pages, greatest first and unknown ones last, with the recomputed
 * costs.
 */
export const compareOrder = (
  wallet: string,
  positions: ReadonlyMap<string, RawPosition>,
  given: ReadonlyArray<{ readonly mint: string }>
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const costOf = (mint: string): bigint => positions.get(mint)?.bought ?? -1n
  const own = Array.from(positions.keys()).toSorted((a, b) => {
    const [x, y] = [costOf(a), costOf(b)]
    return x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1
  })
  const differences = Array.from({ length: Math.max(own.length, given.length) }, (_, place): WalletDifference => {
    const [service, recomputed] = [given[place]?.mint ?? null, own[place] ?? null]
    return { wallet, mint: service, field: `place ${place + 1} by cost`, service, recomputed }
  })
  return {
    figures: differences.length,
    differences: differences.filter(({ recomputed, service }) => recomputed !== service)
  }
}
