/** Transfer fees of Token-2022 mints: units taken off a transfer and withheld in the receiving account. */
import { TOKEN_2022_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { TokenAccount } from "./tokenAccounts.ts"
import type { TokenPayment } from "./tokenTransfers.ts"
import type { Transaction } from "./transaction.ts"

const BASIS_POINTS = 10_000

const feeAt = (amount: bigint, basisPoints: number): bigint =>
  (amount * BigInt(basisPoints) + BigInt(BASIS_POINTS) - 1n) / BigInt(BASIS_POINTS)

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The lowest rate whose fees reach the total. */
const leastRate = (amounts: ReadonlyArray<bigint>, total: bigint): number => {
  let [low, high] = [0, BASIS_POINTS]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sumOf(amounts.map((amount) => feeAt(amount, middle))) >= total) {
      high = middle
    } else {
      low = middle + 1
    }
  }
  return low
}

/**
 * Splits a withheld total over its transfers. A single transfer has all of it. Several transfers have the fees of the
 * one rate that gives the total, rounded up as the token program does. When no rate gives it, each transfer was charged
 * the mint's highest fee, so the parts are equal. Null when equal parts do not add up either.
 */
export const splitFee = (amounts: ReadonlyArray<bigint>, total: bigint): ReadonlyArray<bigint> | null => {
  if (amounts.length === 1 || total === 0n) {
    return amounts.map(() => total)
  }
  const rate = leastRate(amounts, total)
  const fees = amounts.map((amount) => feeAt(amount, rate))
  if (sumOf(fees) === total) {
    return fees
  }
  const count = BigInt(amounts.length)
  return total % count === 0n ? amounts.map(() => total / count) : null
}

/** What the transaction withheld in an account: units that were sent to it but are not in its balance. */
const withheldIn = ({ instructions }: Transaction, { address, before, after }: TokenAccount) => {
  let expected = before
  const received: Array<TokenPayment> = []
  for (const { transfers } of instructions) {
    for (const transfer of transfers) {
      if (transfer.kind === "transfer") {
        expected += transfer.destination === address ? transfer.amount : 0n
        expected -= transfer.source === address ? transfer.amount : 0n
        if (transfer.destination === address && transfer.amount > 0n) {
          received.push(transfer)
        }
      } else if ((transfer.kind === "mint" || transfer.kind === "burn") && transfer.account === address) {
        expected += transfer.kind === "mint" ? transfer.amount : -transfer.amount
      }
    }
  }
  return { received, total: expected > after ? expected - after : 0n }
}

/** The fees of the transfers that one account received. */
const feesInto = (transaction: Transaction, account: TokenAccount): ReadonlyMap<TokenPayment, bigint> => {
  const { received, total } = withheldIn(transaction, account)
  const fees = splitFee(
    received.map(({ amount }) => amount),
    total
  )
  return new Map(received.map((transfer, i) => [transfer, fees?.[i] ?? 0n]))
}

/** The fee that a transfer was charged, in units of its mint. */
export const transferFeeOf = (transaction: Transaction, transfer: TokenPayment): bigint => {
  const account = transaction.tokenAccounts.get(transfer.destination)
  return account?.program === TOKEN_2022_PROGRAM ? (feesInto(transaction, account).get(transfer) ?? 0n) : 0n
}
