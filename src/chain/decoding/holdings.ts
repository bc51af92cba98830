/** Changes of token holdings in a block, summed by mint and owner. */
import type { Address, Mint } from "../../domain/Address.ts"
import { isMoney } from "../../domain/stables.ts"
import type { Transaction } from "./transaction.ts"

/**
 * What owners of tokens gained and lost in a block. The changes of a mint are one text. So the changes of thousands of
 * owners pass between threads as one value, and only the mints that are followed are ever parsed.
 */
export interface BlockHoldings {
  /** In the order of their first change. Without SOL and dollars. */
  readonly mints: ReadonlyArray<Mint>
  /** One text for each mint. `readHoldings` reads it. */
  readonly changes: ReadonlyArray<string>
}

/** What one owner of a token gained in a transaction; negative for a loss. */
export interface HoldingChange {
  readonly mint: Mint
  readonly owner: Address
  readonly delta: bigint
}

/** The changes of a transaction. An account with a new owner moves from the old owner to the new one. */
export const holdingChangesOf = ({
  tokenAccounts
}: Pick<Transaction, "tokenAccounts">): ReadonlyArray<HoldingChange> => {
  const changes: Array<HoldingChange> = []
  for (const { after, before, mint, owner, ownerAfter } of tokenAccounts.values()) {
    if (owner === null || isMoney(mint)) {
      continue
    }
    if (ownerAfter !== undefined) {
      changes.push({ mint, owner, delta: -before }, { mint, owner: ownerAfter, delta: after })
    } else if (before !== after) {
      changes.push({ mint, owner, delta: after - before })
    }
  }
  return changes
}

/** Sums the changes of holdings that are added, in the order of the block. */
export const makeHoldings = () => {
  const sums = new Map<Mint, Map<Address, bigint>>()
  return {
    add: (changes: ReadonlyArray<HoldingChange>): void => {
      for (const { delta, mint, owner } of changes) {
        let owners = sums.get(mint)
        if (owners === undefined) {
          owners = new Map()
          sums.set(mint, owners)
        }
        const sum = owners.get(owner)
        owners.set(owner, sum === undefined ? delta : sum + delta)
      }
    },
    /** The changes of every mint in which some owner holds a different amount than before. */
    all: (): BlockHoldings => {
      const mints: Array<Mint> = []
      const changes: Array<string> = []
      for (const [mint, owners] of sums) {
        let list = ""
        for (const [owner, delta] of owners) {
          if (delta !== 0n) {
            list += list === "" ? `${owner} ${delta}` : `,${owner} ${delta}`
          }
        }
        if (list !== "") {
          mints.push(mint)
          changes.push(list)
        }
      }
      return { mints, changes }
    }
  }
}

/** Visits each owner of one mint with its gain, which is negative for a loss. */
export const readHoldings = (changes: string, visit: (owner: Address, delta: bigint) => void): void => {
  for (const change of changes.split(",")) {
    const space = change.indexOf(" ")
    // Written by `makeHoldings`, from addresses.
    visit(change.slice(0, space) as Address, BigInt(change.slice(space + 1)))
  }
}
