/** Changes of token holdings of a block, summed by mint and owner. */
import type { Address, Mint } from "../../domain/Address.ts"
import { isMoney } from "../sides.ts"
import type { Transaction } from "../transaction.ts"

/**
 * Gains and losses of the owners of tokens in a block. The changes of a mint are one text, so that those of thousands of
 * owners pass between threads as one value, and only those of mints that are followed are read.
 */
export interface BlockHoldings {
  /** In the order of their first change. SOL and dollars are left out. */
  readonly mints: ReadonlyArray<Mint>
  /** For each mint, in the form that `readHoldings` reads. */
  readonly changes: ReadonlyArray<string>
}

/** Sums the changes of holdings of transactions that are added one by one. */
export const makeHoldings = () => {
  const sums = new Map<Mint, Map<Address, bigint>>()
  const add = (mint: Mint, owner: Address, delta: bigint): void => {
    const owners = sums.get(mint) ?? new Map<Address, bigint>()
    sums.set(mint, owners)
    owners.set(owner, (owners.get(owner) ?? 0n) + delta)
  }
  return {
    /** Adds the balances of a transaction. An account that changed its owner leaves one and comes to the other. */
    add: ({ tokenAccounts }: Pick<Transaction, "tokenAccounts">): void => {
      for (const { after, before, mint, owner, ownerAfter } of tokenAccounts.values()) {
        if (owner === null || isMoney(mint)) {
          continue
        }
        if (ownerAfter !== undefined) {
          add(mint, owner, -before)
          add(mint, ownerAfter, after)
        } else if (before !== after) {
          add(mint, owner, after - before)
        }
      }
    },
    /** The mints of which an owner holds another amount than before. */
    all: (): BlockHoldings => {
      const mints: Array<Mint> = []
      const changes: Array<string> = []
      for (const [mint, owners] of sums) {
        const list = Array.from(owners).filter(([, delta]) => delta !== 0n)
        if (list.length > 0) {
          mints.push(mint)
          changes.push(list.map(([owner, delta]) => `${owner} ${delta}`).join(","))
        }
      }
      return { mints, changes }
    }
  }
}

/** Visits each owner of the changes of one mint, with what it gained; less than zero for a loss. */
export const readHoldings = (changes: string, visit: (owner: Address, delta: bigint) => void): void => {
  for (const change of changes.split(",")) {
    const space = change.indexOf(" ")
    // Written by `makeHoldings`, from addresses.
    visit(change.slice(0, space) as Address, BigInt(change.slice(space + 1)))
  }
}
