/** Reads of accounts that are in memory, as a node would answer them. */
import { Effect } from "effect"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { ChainFeed, DataSlice, ProgramQuery, Snapshot } from "../ChainFeed.ts"

const matches = ({ programId, dataSize, matches }: ProgramQuery, { owner, data }: OnChainAccount): boolean =>
  owner === programId &&
  (dataSize === undefined || data.length === dataSize) &&
  matches.every(
    ({ offset, bytes }) =>
      offset + bytes.length <= data.length && bytes.every((byte, index) => data[offset + index] === byte)
  )

/** Reads of these accounts. Accounts that are not among them do not exist. */
export const fixedReads = (
  accounts: ReadonlyMap<Address, OnChainAccount | null>,
  slot: () => number
): Pick<ChainFeed["Service"], "accountsOf" | "read"> & {
  readonly snapshotOf: (addresses: Iterable<Address>, slice?: DataSlice) => Snapshot
} => {
  const stateOf = (address: Address, slice?: DataSlice): OnChainAccount | null => {
    const account = accounts.get(address) ?? null
    return account === null || slice === undefined
      ? account
      : { ...account, data: account.data.subarray(slice.offset, slice.offset + slice.length) }
  }
  const snapshotOf = (addresses: Iterable<Address>, slice?: DataSlice): Snapshot => ({
    slot: slot(),
    accounts: new Map(Array.from(addresses, (address) => [address, stateOf(address, slice)]))
  })
  return {
    snapshotOf,
    accountsOf: (query) =>
      Effect.sync(() => {
        const found = Array.from(accounts.values()).filter((account) => account !== null && matches(query, account))
        return {
          slot: slot(),
          accounts: new Map(found.flatMap((each) => (each === null ? [] : [[each.address, each]])))
        }
      }),
    read: (addresses, slice) => Effect.sync(() => snapshotOf(addresses, slice))
  }
}
