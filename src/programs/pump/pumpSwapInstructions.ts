/** PumpSwap. Layout: pump-public-docs, idl/pump_amm.json and docs/instructions/{PUMP_SWAP_TRADE_V2,MULTI_HOP_SWAP}.md. */
import { pumpSwap } from "./pumpSwap.ts"
import { readU64 } from "../math/bytes.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { type Hop, hopsAt, type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 0, vaultA: 7, vaultB: 8 }]
const single = taggedHops(
  new Map([
    [tagOf("66063d1201daebea"), swap],
    [tagOf("33e685a4017f83ad"), swap],
    [tagOf("c62e1552b4d9e870"), swap],
    [tagOf("b817ee6167c5d33d"), swap],
    [tagOf("5df6823ce7e940b2"), swap],
    [tagOf("c2ab1c46684d5b2f"), swap]
  ])
)

const MULTI_HOP_SWAP = tagOf("2b644913e9f66f94")
const FIXED_ACCOUNTS = 16
const ACCOUNTS_A_HOP = 5

/** Five accounts a hop: both mints, the pool or curve, and its two token accounts. */
const multiHops = (accounts: ReadonlyArray<Address>): ReadonlyArray<Hop> => {
  const count = Math.max(0, Math.floor((accounts.length - FIXED_ACCOUNTS) / ACCOUNTS_A_HOP))
  const starts = Array.from({ length: count }, (_, hop) => FIXED_ACCOUNTS + ACCOUNTS_A_HOP * hop)
  const hops = hopsAt(
    accounts,
    starts.map((at) => ({ pool: at + 2, vaultA: at + 3, vaultB: at + 4 }))
  )
  const [trader] = accounts
  // A curve among the hops may trade in lamports, where a pool would move wrapped ones.
  return hops.map((hop, i) =>
    trader !== undefined && accounts[(starts[i] ?? 0) + 1] === SOL
      ? { ...hop, native: { trader, feeRecipient: null } }
      : hop
  )
}

const BUY_EVENT = tagOf("67f4521f2cf57777")
const SELL_EVENT = tagOf("3e2f370aa503dc2a")
/** Up to what the trader paid or received. */
const EVENT_LENGTH = 112

/** Swaps of PumpSwap. Its protocol and creator fees go beside the pool or wait inside it, by instruction, so that only the event tells the price. */
export const pumpSwapSwaps: SwapDecoder = {
  dex: pumpSwap.dex,
  programId: pumpSwap.programId,
  hops: (data, accounts) => (tagAt(data, 0) === MULTI_HOP_SWAP ? multiHops(accounts) : single(data, accounts)),
  selfCall: (event, body) => {
    if (body.length < EVENT_LENGTH) {
      return null
    }
    const base = readU64(body, 8)
    const quoteWithoutOtherFees = readU64(body, 96)
    if (event === BUY_EVENT) {
      return { amountIn: quoteWithoutOtherFees, amountOut: base, traderLamports: null }
    }
    return event === SELL_EVENT ? { amountIn: base, amountOut: quoteWithoutOtherFees, traderLamports: null } : null
  },
  reportDecides: true
}
