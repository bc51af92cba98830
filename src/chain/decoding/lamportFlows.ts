/** Lamports that a wallet paid or received in some top-level instructions, without rent and transfers to itself. */
import { type Address, SOL } from "../../domain/Address.ts"
import { tipAccounts } from "../../programs/aggregators.ts"
import type { TradingGroup } from "./walletSwaps.ts"
import type { TokenTransfer } from "./tokenTransfers.ts"
import type { Transaction } from "./transaction.ts"

type Group = Pick<TradingGroup, "fromOuter" | "toOuter" | "wallet">

export interface Lamports {
  readonly paid: bigint
  readonly received: bigint
}

/** Token accounts that exchanged tokens with the wallet, and their owners: they may also trade lamports with it. */
const counterparties = ({ instructions, tokenAccounts }: Transaction, group: Group): ReadonlySet<Address> => {
  const others = new Set<Address>()
  const add = (account: Address) => {
    others.add(account)
    const owner = tokenAccounts.get(account)?.owner ?? null
    if (owner !== null) {
      others.add(owner)
    }
  }
  for (const { outer, transfers } of instructions) {
    if (outer < group.fromOuter || outer > group.toOuter) {
      continue
    }
    for (const transfer of transfers) {
      if (transfer.kind === "transfer") {
        if (tokenAccounts.get(transfer.destination)?.owner === group.wallet) {
          add(transfer.source)
        }
        if (tokenAccounts.get(transfer.source)?.owner === group.wallet) {
          add(transfer.destination)
        }
      }
    }
  }
  others.delete(group.wallet)
  return others
}

/** The wrapped SOL of each account, kept up to date transfer by transfer. */
class WrappedBalances {
  readonly #held = new Map<Address, bigint>()
  readonly #transaction: Transaction

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  isWrapped(account: Address): boolean {
    return this.#transaction.tokenAccounts.get(account)?.mint === SOL
  }

  at(account: Address): bigint {
    return this.#held.get(account) ?? this.#transaction.tokenAccounts.get(account)?.before ?? 0n
  }

  apply(transfer: TokenTransfer): void {
    if (transfer.kind === "transfer" || (transfer.kind === "lamports" && !transfer.created)) {
      this.#add(transfer.source, -transfer.amount)
      this.#add(transfer.destination, transfer.amount)
    } else if (transfer.kind === "close") {
      this.#held.set(transfer.account, 0n)
    }
  }

  #add(account: Address, amount: bigint): void {
    if (this.isWrapped(account)) {
      this.#held.set(account, this.at(account) + amount)
    }
  }
}

/** The wrapped SOL that left an account as lamports when it was closed; zero for an account of another mint. */
export const unwrappedBy = (transaction: Transaction, closed: TokenTransfer): bigint => {
  const wrapped = new WrappedBalances(transaction)
  for (const { transfers } of transaction.instructions) {
    for (const transfer of transfers) {
      if (transfer === closed) {
        return transfer.kind === "close" && wrapped.isWrapped(transfer.account) ? wrapped.at(transfer.account) : 0n
      }
      wrapped.apply(transfer)
    }
  }
  return 0n
}

/** A router's payment of at most this part of the largest payment counts as its fee: a twentieth. */
const GREATEST_PART = 20n

interface Payment {
  readonly amount: bigint
  /** True when the accounts show that these lamports were traded for tokens. */
  readonly forTokens: boolean
  /** True when the router itself made the payment, and not one of its pools. */
  readonly byRouter: boolean
}

/** The sum of the payments without a router's own small fees; zero when less than half of it was for tokens. */
const tradedLamports = (payments: ReadonlyArray<Payment>): bigint => {
  const greatest = payments.reduce((most, { amount }) => (amount > most ? amount : most), 0n)
  const own = payments.filter(({ amount, byRouter }) => !byRouter || amount * GREATEST_PART > greatest)
  const sum = own.reduce((total, { amount }) => total + amount, 0n)
  const forTokens = own.reduce((total, payment) => total + (payment.forTokens ? payment.amount : 0n), 0n)
  return forTokens * 2n >= sum ? sum : 0n
}

/**
 * The lamports that the wallet gave or got for tokens. Inside an aggregator every payment counts, except the
 * aggregator's own fees. Elsewhere at least half of the lamports must have gone to, or come from, accounts that
 * exchanged tokens with the wallet or that hold wrapped SOL of others: a fee for a claim is not a price. Tips never
 * count.
 */
export const lamportFlowOf = (transaction: Transaction, group: Group, isAggregator: boolean): Lamports => {
  const { instructions, tokenAccounts } = transaction
  const wrapped = new WrappedBalances(transaction)
  const others = counterparties(transaction, group)
  const paid: Array<Payment> = []
  const received: Array<Payment> = []
  const isOwn = (account: Address) => account === group.wallet || tokenAccounts.get(account)?.owner === group.wallet
  const isSide = (account: Address) => isAggregator || others.has(account) || wrapped.isWrapped(account)
  for (const { outer, height, transfers } of instructions) {
    const isInside = outer >= group.fromOuter && outer <= group.toOuter
    const byRouter = isAggregator && height === 2
    for (const transfer of transfers) {
      if (isInside && transfer.kind === "lamports" && !transfer.created) {
        const { source, destination, amount } = transfer
        if (source === group.wallet && !isOwn(destination) && !tipAccounts.has(destination)) {
          paid.push({ amount, byRouter, forTokens: isSide(destination) })
        } else if (destination === group.wallet && !isOwn(source)) {
          received.push({ amount, byRouter: false, forTokens: isSide(source) })
        }
      }
      if (isInside && transfer.kind === "close" && transfer.destination === group.wallet && !isOwn(transfer.account)) {
        const amount = wrapped.isWrapped(transfer.account) ? wrapped.at(transfer.account) : 0n
        received.push({ amount, byRouter: false, forTokens: true })
      }
      wrapped.apply(transfer)
    }
  }
  return { paid: tradedLamports(paid), received: tradedLamports(received) }
}
