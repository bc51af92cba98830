/** Mints and burns in a block, summed by mint. */
import type { Mint } from "../../domain/Address.ts"
import type { SupplyChange } from "../../api/schemas/SupplyChange.ts"
import type { Transaction } from "./transaction.ts"

/** Sums the changes of supply over the transactions that are added. */
export const makeSupplyChanges = () => {
  const sums = new Map<Mint, bigint>()
  return {
    /** Adds the mints and burns of every instruction, outer and inner. A failed transaction changed nothing. */
    add: ({ error, instructions }: Pick<Transaction, "error" | "instructions">): void => {
      for (const { transfers } of error === null ? instructions : []) {
        for (const transfer of transfers) {
          if (transfer.kind === "mint" || transfer.kind === "burn") {
            const change = transfer.kind === "mint" ? transfer.amount : -transfer.amount
            sums.set(transfer.mint, (sums.get(transfer.mint) ?? 0n) + change)
          }
        }
      }
    },
    /** The mints whose supply changed, in the order of their first change. */
    all: (): ReadonlyArray<SupplyChange> =>
      Array.from(sums, ([mint, change]) => ({ mint, change })).filter(({ change }) => change !== 0n)
  }
}
