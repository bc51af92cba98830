/**
 * Jupiter Perpetuals has no book. Prices come from an oracle, and sizes from the accounts of its pool. Opening a
 * position costs the base fee, a price impact fee and, by the hour, a borrow rate on either side: longs borrow the
 * token, shorts USDC. Resting orders pay the base fee too.
 */
import { Clock, Effect } from "effect"
import type { Address } from "../domain/Address.ts"
import { tenTo } from "../domain/decimal.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import { custodies, type OraclePrice, readCustody, readOraclePrice } from "../programs/jupiter/perpetuals.ts"
import { ONE, SCALE } from "./exact.ts"
import type { Funding } from "./fundingRates.ts"
import { hasRate, hourlyBorrowRate, isExact, openable } from "./jupiterCosts.ts"
import { NoMarket, type Venue, VenueUnreadable } from "./Venue.ts"

/** Reads accounts from a node; null for accounts that do not exist. */
export type ReadAccounts = (
  addresses: ReadonlyArray<Address>
) => Effect.Effect<ReadonlyMap<Address, OnChainAccount | null>, VenueUnreadable>

/** How many millionths a basis point has. */
const MILLIONTHS = 1_000_000n
const RATE = 1_000_000_000n

/** The tokens of the pool that have positions. */
const tokens = ["SOL", "ETH", "BTC"] as const

const custodyOf = (symbol: string): Address | undefined => {
  const token = tokens.find((each) => each === symbol)
  return token && custodies[token]
}

const malformed = (detail: string) => new VenueUnreadable({ why: "malformed", detail })

/** Dollars of one coin in units of 10^-30; null for a zero price, or one with more digits. */
const dollarsOf = ({ expo, price }: OraclePrice): bigint | null =>
  price > 0n && expo >= -SCALE && expo <= 9 ? price * tenTo(SCALE + expo) : null

const borrowing = (long: bigint, short: bigint): Funding => ({
  rate: { numerator: long, denominator: RATE },
  shortRate: { numerator: short, denominator: RATE },
  rateHours: 1,
  intervalHours: 1
})

/** Reads through a node. */
export const jupiter = (accounts: ReadAccounts): Venue => {
  const unreadable = new Set<string>()

  const custodiesOf = Effect.fnUntraced(function* (symbol: string, address: Address) {
    const found = yield* accounts([address, custodies.USDC])
    const [token, dollars] = [address, custodies.USDC].map((one) => {
      const account = found.get(one) ?? null
      return account === null ? null : readCustody(account)
    })
    const isReadable = token != null && dollars != null && isExact(token.impact) && hasRate(token) && hasRate(dollars)
    unreadable[isReadable ? "delete" : "add"](symbol)
    return isReadable ? { token, dollars } : yield* malformed(`the custody of ${symbol} has an unknown form`)
  })

  const priceIn = Effect.fnUntraced(function* (oracle: Address) {
    const account = (yield* accounts([oracle])).get(oracle) ?? null
    const read = account === null ? null : readOraclePrice(account)
    const price = read === null ? null : dollarsOf(read)
    return read === null || price === null
      ? yield* malformed("the price feed has an unknown form")
      : { price, asOfMs: read.timestamp * 1000 }
  })

  const read = Effect.fnUntraced(function* (symbol: string) {
    const address = custodyOf(symbol)
    if (address === undefined) {
      return yield* new NoMarket({ symbol })
    }
    const { dollars, token } = yield* custodiesOf(symbol, address)
    if (!token.canIncrease) {
      return yield* new NoMarket({ symbol })
    }
    const { asOfMs, price } = yield* priceIn(token.dovesAgOracle)
    const { long, short } = openable(token, dollars, price)
    const nowSecond = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const base = token.increasePositionBps
    return {
      bids: [{ price, size: short }],
      asks: [{ price, size: long }],
      asOfMs,
      lots: {
        step: 1n,
        least: null,
        most: (token.maxPositionSizeUsd * ONE * (ONE / 1_000_000n)) / price,
        leastValue: null
      },
      funding: borrowing(hourlyBorrowRate(token), hourlyBorrowRate(dollars)),
      fees: { taker: base * MILLIONTHS, maker: base * MILLIONTHS },
      openFee: { baseBps: base, scalar: token.tradeImpactFeeScalar, buffer: token.impact, nowSecond }
    }
  })

  /** The tokens of the pool whose positions can be opened. */
  const markets = Effect.gen(function* () {
    const found = yield* accounts(tokens.map((symbol) => custodies[symbol]))
    const pool = tokens.map((symbol) => {
      const account = found.get(custodies[symbol]) ?? null
      return { symbol, custody: account === null ? null : readCustody(account) }
    })
    const readAtMs = yield* Clock.currentTimeMillis
    return {
      readAtMs,
      names: pool.flatMap(({ custody, symbol }) => (custody?.canIncrease === true ? [symbol] : [])),
      unreadable: pool.filter(({ custody }) => custody === null).length
    }
  })

  return { key: "jupiter", fees: null, maxAgeMs: 60_000, unreadable: () => unreadable.size, read, markets }
}
