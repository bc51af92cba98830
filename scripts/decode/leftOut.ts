/**
 * Lists the movements of a transaction that are in no trade, each with its reason. For checking a decoded transaction
 * by hand.
 */
import type { Address } from "../../src/domain/Address.ts"
import type { DecodedTrades } from "../../src/chain/decoding/decodeTrades.ts"
import { poolSwapsOf } from "../../src/chain/decoding/poolSwaps.ts"
import { swapCallsOf } from "../../src/chain/decoding/swapCalls.ts"
import type { Transaction } from "../../src/chain/decoding/transaction.ts"
import { exchangeOf, type NoExchange } from "../../src/chain/decoding/exchanges.ts"

/** Why something is in no trade. */
export type LeftOutReason =
  | NoExchange
  /** The transaction failed: nothing took effect. */
  | "failed"
  /** A swap of a known program with an unknown side. */
  | "unresolved-swap"
  /** Lamports moved without an instruction, and no event states how many. */
  | "unknown-lamports"
  /**
   * The pools that a wallet traded with ended with what they began with, or the wallet's accounts do not show an
   * exchange.
   */
  | "no-net-change"

/** A swap, or a signer's movements in a top-level instruction, that is not a trade. */
export interface LeftOut {
  readonly outer: number
  readonly inner: number | null
  readonly program: Address
  /** Null for a swap of a pool. */
  readonly wallet: Address | null
  readonly reason: LeftOutReason
}

const unresolvedSwaps = (transaction: Transaction): ReadonlyArray<LeftOut> => {
  const resolved = new Set(poolSwapsOf(transaction).swaps.map(({ at }) => at))
  return swapCallsOf(transaction).flatMap(({ at, program }) => {
    const instruction = transaction.instructions[at]
    return instruction === undefined || resolved.has(at)
      ? []
      : [
          {
            outer: instruction.outer,
            inner: instruction.inner,
            program: program.programId,
            wallet: null,
            reason: "unresolved-swap" as const
          }
        ]
  })
}

/** Why a wallet that traded with pools has no net trade in a top-level instruction. */
const legReason = (transaction: Transaction, legs: ReadonlyArray<number>): LeftOutReason => {
  const { swaps } = poolSwapsOf(transaction)
  const isUnknown = legs.some((leg) => swaps[leg]?.native?.lamports === null)
  return isUnknown ? "unknown-lamports" : "no-net-change"
}

/**
 * Everything that moved and is in no trade, by top-level instruction. Instructions that moved no tokens are not listed.
 */
export const leftOutOf = (transaction: Transaction, { legs, nets }: DecodedTrades): ReadonlyArray<LeftOut> => {
  const tops = transaction.instructions.filter(({ inner }) => inner === null)
  if (transaction.error !== null) {
    return tops.map(({ outer, program }) => ({ outer, inner: null, program, wallet: null, reason: "failed" }))
  }
  const signers = transaction.keys.slice(0, transaction.signers)
  const left: Array<LeftOut> = [...unresolvedSwaps(transaction)]
  for (const { outer, program } of tops) {
    const moved = transaction.instructions.some(
      (each) => each.outer === outer && each.transfers.some(({ kind }) => kind === "transfer")
    )
    const wallets = new Set([
      ...(moved ? signers : []),
      ...legs.filter((leg) => leg.outer === outer).map(({ wallet }) => wallet)
    ])
    for (const wallet of wallets) {
      const own = legs.filter((leg) => leg.outer === outer && leg.wallet === wallet).map(({ index }) => index)
      const isTraded = nets.some((net) => net.wallet === wallet && net.outer === outer) || isInNet(nets, own)
      const isFee = nets.some((net) => net.wallet === wallet && net.fees.some((fee) => fee.outer === outer))
      if (isTraded || isFee) {
        continue
      }
      const group = { wallet, custody: null, fromOuter: outer, toOuter: outer, legs: own }
      const exchange = own.length > 0 ? legReason(transaction, own) : exchangeOf(transaction, group)
      left.push({
        outer,
        inner: null,
        program,
        wallet,
        reason: typeof exchange === "string" ? exchange : "no-net-change"
      })
    }
  }
  return left
}

/**
 * True when one net trade has all these legs, such as the trade of an order's owner whose order was filled over several
 * instructions.
 */
const isInNet = (nets: DecodedTrades["nets"], own: ReadonlyArray<number>): boolean =>
  own.length > 0 && nets.some(({ legs }) => own.every((leg) => legs.includes(leg)))
