/** Filters of trade queries, and the places in their cursors. */
import type { LiquidityEventsQuery, TokenTradesQuery } from "../../api/Trades.ts"
import { fractionOf } from "../../domain/rational.ts"
import { NANOS_PER_USD } from "../../domain/units.ts"
import type { TradeFilter, TradePlace } from "../../market/model/TradesRequest.ts"
import { addressOf } from "../../domain/Address.ts"
import type { LotOrigin } from "../../wallets/lotSales.ts"
import type { LotRowPlace } from "../../wallets/walletLots.ts"
import type { PositionPlace } from "../../wallets/positionPages.ts"
import type { WalletPlace } from "../../wallets/walletTrades.ts"
import type { OrderKey } from "../middleware/cursor.ts"

const WHOLE = /^(?:0|[1-9][0-9]{0,15})$/u

const toMs = (second: number | undefined): number | null => (second === undefined ? null : second * 1000)

/**
 * Nano-dollars of decimal text, rounded up. A whole number of nano-dollars reaches the text exactly when it reaches the
 * result.
 */
const nanosOf = (text: string): bigint => {
  const { denominator, numerator } = fractionOf(text)
  return (numerator * NANOS_PER_USD + denominator - 1n) / denominator
}

export const tradeFilter = ({ from, minUsd, pool, side, to, wallet }: typeof TokenTradesQuery.Type): TradeFilter => ({
  side: side ?? null,
  wallet: wallet ?? null,
  pool: pool ?? null,
  minUsdNanos: minUsd === undefined ? null : nanosOf(minUsd),
  fromMs: toMs(from),
  toMs: toMs(to)
})

export const liquidityFilter = ({ from, kind, pool, to }: typeof LiquidityEventsQuery.Type) => ({
  pool: pool ?? null,
  kind: kind ?? null,
  fromMs: toMs(from),
  toMs: toMs(to)
})

/** The place in a cursor's key; null when it is malformed. */
export const placeOfKey = ([slot = "", index = "", ...more]: OrderKey): TradePlace | null =>
  more.length === 0 && WHOLE.test(slot) && WHOLE.test(index) ? { slot: Number(slot), index: Number(index) } : null

/** The key of a place among trades. */
export const keyOfTrade = ({ index, slot }: TradePlace): OrderKey => [String(slot), String(index)]

/** The key of a place among the rows of a wallet. */
export const keyOfPlace = ({ index, mint, signature, slot }: WalletPlace): OrderKey => [
  String(slot),
  String(index),
  signature,
  mint
]

/** The place in such a key; null when it is malformed. */
export const walletPlaceOfKey = ([slot = "", index = "", signature = "", mint = "", ...more]: OrderKey) => {
  const place = placeOfKey([slot, index, ...more])
  const address = addressOf(mint)
  return place === null || address === undefined || signature === "" ? null : { ...place, signature, mint: address }
}

const FIGURE = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/u

/** The place among the positions of a wallet in a cursor's key; null when it is malformed. */
export const positionPlaceOfKey = ([value = "", mint = "", ...more]: OrderKey): PositionPlace | null => {
  const address = addressOf(mint)
  return address === undefined || more.length > 0 || (value !== "" && !FIGURE.test(value))
    ? null
    : { value: value === "" ? null : value, mint: address }
}

/** The holder after which a page begins in a cursor's key; null when it is malformed. */
export const holderOfKey = ([amount = "", owner = "", ...more]: OrderKey) => {
  const address = addressOf(owner)
  return address === undefined || more.length > 0 || !/^[1-9][0-9]{0,38}$/u.test(amount)
    ? null
    : { amount: BigInt(amount), owner: address }
}

/** The number of rows before a page in a cursor's key; null when it is malformed. */
export const offsetOfKey = ([offset = "", ...more]: OrderKey): number | null =>
  more.length === 0 && WHOLE.test(offset) ? Number(offset) : null

/** The key of a place among lots. */
export const keyOfLot = (place: LotRowPlace): OrderKey =>
  place.state === "sold"
    ? ["sold", String(place.slot), String(place.index), String(place.part)]
    : ["open", String(place.slot), String(place.index), place.mint, place.origin]

const ORIGINS: ReadonlyArray<LotOrigin> = ["bought", "inherited", "received", "unpriced"]

/** The place in such a key; null when it is malformed. */
export const lotPlaceOfKey = ([state, slot = "", index = "", last = "", named, ...more]: OrderKey) => {
  const place = placeOfKey([slot, index, ...more])
  if (place === null) {
    return null
  }
  if (state === "sold") {
    return named === undefined && WHOLE.test(last) ? ({ state, ...place, part: Number(last) } as const) : null
  }
  const [mint, origin] = [addressOf(last), ORIGINS.find((each) => each === named)]
  return state === "open" && mint !== undefined && origin !== undefined
    ? ({ state, ...place, mint, origin } as const)
    : null
}
