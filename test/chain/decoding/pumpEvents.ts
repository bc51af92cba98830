/** Trades of Pump.fun's two programs, with their events. */
import { Address } from "../../../src/domain/Address.ts"
import { bytesOf, type Holding, little, named, POOL, TOKEN, TRADER, transfer } from "./transactions.ts"

export const CURVE = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
export const PUMP_SWAP = Address.make("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")
export const TRADE_EVENT = "bddb7fd34ee661ee"

export const zeros = (bytes: number) => new Uint8Array(bytes)

interface TradeEvent {
  readonly sol: bigint
  readonly tokens: bigint
  readonly isBuy: boolean
  /** Absent in events of early 2024. */
  readonly fees?: readonly [protocol: bigint, creator: bigint]
  readonly cashback?: bigint
  readonly quoteAmount?: bigint
  readonly shareholders?: number
}

/** The event in the layout of the interface description. */
export const tradeEvent = ({
  sol,
  tokens,
  isBuy,
  fees,
  cashback,
  quoteAmount,
  shareholders = 0
}: TradeEvent): Uint8Array => {
  const start = bytesOf(zeros(32), little(sol, 8), little(tokens, 8), isBuy ? "01" : "00", zeros(40), zeros(32))
  if (fees === undefined) {
    return start
  }
  const withFees = bytesOf(start, zeros(40), little(fees[0], 8), zeros(40), little(fees[1], 8), zeros(33))
  if (quoteAmount === undefined && cashback === undefined) {
    return withFees
  }
  const name = Buffer.from("buy_v3")
  return bytesOf(
    withFees,
    little(BigInt(name.length), 4),
    name,
    "00",
    zeros(8),
    little(cashback ?? 0n, 8),
    zeros(16),
    little(BigInt(shareholders), 4),
    zeros(34 * shareholders),
    zeros(32),
    little(quoteAmount ?? 0n, 8),
    zeros(40)
  )
}

export const COMPLETE_EVENT = "5f72619cd42e9808"
export const POST_COMPLETE_EVENT = "6fb06d8b316cd5fb"

/** The part of a completing purchase beyond the curve. Its layout: user, mint, curve, quote mint, time, then amounts. */
export const postCompleteEvent = (
  base: bigint,
  quote: bigint,
  [protocol, creator]: readonly [bigint, bigint]
): Uint8Array =>
  bytesOf(
    zeros(128 + 8),
    little(base, 8),
    little(quote, 8),
    little(95n, 8),
    little(protocol, 8),
    little(30n, 8),
    little(creator, 8),
    zeros(40)
  )

export const tokenHoldings = (delta: bigint): ReadonlyArray<Holding> => [
  { address: named("curve token"), mint: TOKEN, owner: POOL, decimals: 6, before: 900n, after: 900n - delta },
  { address: named("trader token"), mint: TOKEN, owner: TRADER, decimals: 6, before: 100n, after: 100n + delta }
]

export const bought = transfer(named("curve token"), named("trader token"), POOL, 50n)
export const sold = transfer(named("trader token"), named("curve token"), TRADER, 50n)
