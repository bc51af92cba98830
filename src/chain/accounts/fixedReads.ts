/** Accounts that are in memory, as a node would answer them. */
import { Effect } from "effect"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { ChainFeed, type DataSlice, type ProgramQuery, type Snapshot } from "../ChainFeed.ts"
import { makeOutbox } from "./outbox.ts"

/** Events that wait for a reader of accounts that never change. */
const BACKLOG = 4096

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

/** Accounts at one moment. */
export interface FixedAccounts {
  readonly accounts: ReadonlyMap<Address, OnChainAccount | null>
  readonly clock: ChainClock
  /** When the slot of the clock counts as heard, in milliseconds since the Unix epoch. */
  readonly heardAtMs: number
}

/** A chain that stands at one slot. Accounts that are not given do not exist, and nothing is ever written. */
export const fixedFeed = Effect.fnUntraced(function* ({
  accounts,
  clock,
  heardAtMs
}: FixedAccounts): Effect.fn.Return<ChainFeed["Service"]> {
  const watched = new Set<Address>()
  const { accountsOf, read, snapshotOf } = fixedReads(accounts, () => clock.slot)
  const outbox = yield* makeOutbox(BACKLOG, () => snapshotOf(watched))
  return ChainFeed.of({
    accountsOf,
    read,
    watch: (addresses) =>
      Effect.sync(() => {
        const added = Array.from(new Set(addresses)).filter((address) => !watched.has(address))
        if (added.length > 0) {
          added.forEach((address) => watched.add(address))
          outbox.offer({ _tag: "Snapshot", snapshot: snapshotOf(added) })
        }
      }),
    unwatch: (addresses) =>
      Effect.sync(() => {
        for (const address of addresses) {
          watched.delete(address)
        }
      }),
    events: outbox.events,
    freshness: () => ({ slot: clock.slot, heardAtMs, state: "recorded" }),
    clock: () => clock,
    // What is recorded cannot be rolled back.
    commitment: "finalized"
  })
})
