/** Pump.fun's bonding curve, which trades in lamports or in a quote token. Layout: pump-public-docs, idl/pump.json and docs/instructions. */
import { pumpCurve } from "./curve.ts"
import { readU32, readU64 } from "../math/bytes.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { type Hop, type SwapDecoder, type SwapReport, tagAt, tagOf } from "../SwapDecoder.ts"

/** Where the accounts of an instruction are. */
interface CurveLayout {
  readonly curve: number
  readonly baseVault: number
  readonly user: number
  readonly feeRecipient: number | null
  /** Null for the first instructions, which only know lamports. */
  readonly quote: { readonly mint: number; readonly vault: number } | null
}

const lamportsOnly: CurveLayout = { curve: 3, baseVault: 4, user: 6, feeRecipient: 1, quote: null }
const second: CurveLayout = { curve: 10, baseVault: 11, user: 13, feeRecipient: 6, quote: { mint: 2, vault: 12 } }
const third: CurveLayout = { curve: 5, baseVault: 6, user: 8, feeRecipient: null, quote: { mint: 2, vault: 7 } }

const layouts: ReadonlyMap<bigint, CurveLayout> = new Map([
  [tagOf("66063d1201daebea"), lamportsOnly],
  [tagOf("33e685a4017f83ad"), lamportsOnly],
  [tagOf("38fc74089edfcd5f"), lamportsOnly],
  [tagOf("b817ee6167c5d33d"), second],
  [tagOf("5df6823ce7e940b2"), second],
  [tagOf("c2ab1c46684d5b2f"), second],
  [tagOf("07051dc4f5176550"), third],
  [tagOf("1c92de7726c469d5"), third],
  [tagOf("e1f7501ed5b38488"), third]
])

const hopOf = (layout: CurveLayout, accounts: ReadonlyArray<Address>): Hop | null => {
  const pool = accounts[layout.curve]
  const baseVault = accounts[layout.baseVault]
  const trader = accounts[layout.user]
  if (pool === undefined || baseVault === undefined || trader === undefined) {
    return null
  }
  if (layout.quote === null || accounts[layout.quote.mint] === SOL) {
    const feeRecipient = layout.feeRecipient === null ? null : (accounts[layout.feeRecipient] ?? null)
    return { pool, vaults: [baseVault, pool], native: { trader, feeRecipient } }
  }
  const quoteVault = accounts[layout.quote.vault]
  return quoteVault === undefined ? null : { pool, vaults: [baseVault, quoteVault] }
}

const TRADE_EVENT = tagOf("bddb7fd34ee661ee")
/** Before fees were told. */
const SHORTEST_EVENT = 97
/** Up to the creator fee. */
const WITH_FEES = 217
const INSTRUCTION_NAME_AT = 250
const SHAREHOLDER_LENGTH = 34

/** The cashback and the quote amount, behind a name and a list of any length; null in events from before they were told. */
const tailOf = (body: Uint8Array): { readonly cashback: bigint; readonly quoteAmount: bigint } | null => {
  if (body.length < INSTRUCTION_NAME_AT + 4) {
    return null
  }
  const afterName = INSTRUCTION_NAME_AT + 4 + readU32(body, INSTRUCTION_NAME_AT)
  const shareholdersAt = afterName + 33
  if (body.length < shareholdersAt + 4) {
    return null
  }
  const quoteAmountAt = shareholdersAt + 4 + SHAREHOLDER_LENGTH * readU32(body, shareholdersAt) + 32
  return body.length < quoteAmountAt + 8
    ? null
    : { cashback: readU64(body, afterName + 9), quoteAmount: readU64(body, quoteAmountAt) }
}

const reportOf = (body: Uint8Array): SwapReport | null => {
  if (body.length < SHORTEST_EVENT) {
    return null
  }
  const lamports = readU64(body, 32)
  const tokens = readU64(body, 40)
  const isBuy = body[48] === 1
  const tail = tailOf(body)
  const quote = lamports === 0n && tail !== null ? tail.quoteAmount : lamports
  const fees =
    body.length < WITH_FEES ? null : readU64(body, 161) + readU64(body, 209) + (tail === null ? 0n : tail.cashback)
  const traderLamports = fees === null ? null : isBuy ? lamports + fees : lamports - fees
  return isBuy
    ? { amountIn: quote, amountOut: tokens, traderLamports }
    : { amountIn: tokens, amountOut: quote, traderLamports }
}

/** Trades on Pump.fun's curves. Lamports move without an instruction, so that the event is the only one to tell. */
export const pumpCurveSwaps: SwapDecoder = {
  dex: pumpCurve.dex,
  programId: pumpCurve.programId,
  hops: (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    const hop = layout === undefined ? null : hopOf(layout, accounts)
    return hop === null ? [] : [hop]
  },
  selfCall: (event, body) => (event === TRADE_EVENT ? reportOf(body) : null),
  logged: (payload) => (tagAt(payload, 0) === TRADE_EVENT ? reportOf(payload.subarray(8)) : null),
  reportDecides: true
}
