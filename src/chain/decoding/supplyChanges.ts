/** Mints and burns in a block, summed by mint. */
import type { Mint } from "../../domain/Address.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import type { Transaction } from "./transaction.ts"

const NONE: ReadonlyArray<SupplyChange> = []

/** The mints and burns of every instruction, outer and inner. A failed transaction changed nothing. */
export const supplyChangesOf = ({
  error,
  instructions
}: Pick<Transaction, "error" | "instructions">): ReadonlyArray<SupplyChange> => {
  const changes: Array<SupplyChange> = []
  for (const { transfers } of error === null ? instructions : []) {
    for (const transfer of transfers) {
      if (transfer.kind === "mint" || transfer.kind === "burn") {
        const { amount, kind, mint } = transfer
        changes.push({ mint, change: kind === "mint" ? amount : -amount })
      }
    }
  }
  return changes.length === 0 ? NONE : changes
}

/** Sums the changes of supply that are added, in the order of the block. */
export const makeSupplyChanges = () => {
  const sums = new Map<Mint, bigint>()
  return {
    add: (changes: ReadonlyArray<SupplyChange>): void => {
      for (const { change, mint } of changes) {
        sums.set(mint, (sums.get(mint) ?? 0n) + change)
      }
    },
    /** The mints whose supply changed, in the order of their first change. */
    all: (): ReadonlyArray<SupplyChange> =>
      Array.from(sums, ([mint, change]) => ({ mint, change })).filter(({ change }) => change !== 0n)
  }
}
