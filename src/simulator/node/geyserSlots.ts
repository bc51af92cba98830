/** The updates of one slot, as a simulated Geyser streams them, possibly with faults. */
import { Duration } from "effect"
import { type Address, addressToBytes } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { GeyserDataFilter, GeyserRequest, GeyserUpdate } from "../../chain/geyser/geyserUpdates.ts"
import type { Block, KeptBlock } from "../chain/Bank.ts"
import { geyserBlockMeta, geyserTransaction } from "./geyserTransaction.ts"

/** What is wrong with a Geyser. */
export interface GeyserAilment {
  /** `catching up`: streams are refused with INTERNAL. `silent`: streams stay open but carry no updates. */
  readonly streams: "ok" | "catching up" | "silent"
  /** Delays the updates of new slots. */
  readonly lag: Duration.Duration
  /** Sends every update twice. */
  readonly duplicates: boolean
  /** Follows every account write with an older write in the same slot: the account's state before that slot. */
  readonly staleWrites: boolean
  /** Sends the updates of a slot in reverse order, the block meta first. */
  readonly reorder: boolean
  /** Leaves out the block meta in every slot divisible by this number; 0 never does. */
  readonly missingHeadEvery: number
  /** Leaves out one transaction in every slot divisible by this number; 0 never does. */
  readonly missingTransactionEvery: number
  /** Streams another block in every slot: without its last transaction, and with another blockhash. */
  readonly forks: boolean
  /** Starts streams at the newest slot, whatever slot was requested. */
  readonly ignoresFrom: boolean
  /** How many slots a stream can replay. */
  readonly replaySlots: number
}

/** A Geyser without faults. */
export const healthyGeyser: GeyserAilment = {
  streams: "ok",
  lag: Duration.zero,
  duplicates: false,
  staleWrites: false,
  reorder: false,
  missingHeadEvery: 0,
  missingTransactionEvery: 0,
  forks: false,
  ignoresFrom: false,
  replaySlots: 150
}

/** A write of an account. Versions count writes in the node's order. */
interface AccountWrite {
  readonly account: OnChainAccount
  readonly version: number
}

/** A slot with its account writes; null when they are unknown. */
export interface StreamedSlot extends KeptBlock {
  readonly writes: ReadonlyArray<AccountWrite> | null
}

/** Names of one kind of filter; null when there are none. */
export const namesOf = (filters: object | undefined): ReadonlyArray<string> | null => {
  const names = Object.keys(filters ?? {})
  return names.length === 0 ? null : names
}

const isEvery = (slot: number, divisor: number): boolean => divisor > 0 && slot % divisor === 0

const namesByAccount = new WeakMap<GeyserRequest, ReadonlyMap<string, ReadonlyArray<string>>>()

/** The accounts that a request follows, each with the names of the filters that list it. */
export const followedBy = (request: GeyserRequest): ReadonlyMap<string, ReadonlyArray<string>> => {
  const known = namesByAccount.get(request)
  if (known !== undefined) {
    return known
  }
  const names = new Map<string, Array<string>>()
  for (const [name, { account }] of Object.entries(request.accounts ?? {})) {
    for (const address of account) {
      names.set(address, [...(names.get(address) ?? []), name])
    }
  }
  namesByAccount.set(request, names)
  return names
}

const fitsData = (data: Uint8Array, { datasize, memcmp }: GeyserDataFilter): boolean =>
  (datasize === undefined || data.length === Number(datasize)) &&
  (memcmp === undefined ||
    (memcmp.bytes ?? []).every((byte, index) => data[Number(memcmp.offset ?? 0) + index] === byte))

/**
 * Returns the names of the filters that an account passes: those that list its address, or its owner together with
 * matching data.
 */
const passedBy = (request: GeyserRequest): ((account: OnChainAccount) => ReadonlyArray<string>) => {
  const followed = followedBy(request)
  const owned = Object.entries(request.accounts ?? {}).filter(([, { owner = [] }]) => owner.length > 0)
  return ({ address, data, owner }) => [
    ...(followed.get(address) ?? []),
    ...owned.flatMap(([name, filter]) =>
      filter.owner?.includes(owner) === true && (filter.filters ?? []).every((each) => fitsData(data, each)) ? name : []
    )
  ]
}

/** Versions of successive writes in a slot differ by this much. It leaves room for an older write in between. */
const WRITE_STEP = 2
const MOST_WRITES = 1_000_000

/** The update for an account write, with the names of the filters that it passed. */
export const accountUpdate = (
  filters: ReadonlyArray<string>,
  slot: number,
  { address, data, lamports, owner }: OnChainAccount,
  version: number
): GeyserUpdate => ({
  filters,
  account: {
    slot: String(slot),
    account: {
      pubkey: addressToBytes(address),
      lamports: String(lamports),
      owner: addressToBytes(owner),
      data,
      writeVersion: String(version)
    }
  }
})

const forkOf = (block: StreamedSlot): StreamedSlot => ({
  ...block,
  blockhash: `fork of ${block.blockhash}`,
  transactions: block.transactions.slice(0, -1)
})

/** The updates of a slot that a request wants, possibly with faults. */
export const updatesOf = (own: StreamedSlot, request: GeyserRequest, ailment: GeyserAilment): Array<GeyserUpdate> => {
  const block = ailment.forks ? forkOf(own) : own
  const slot = String(block.slot)
  const transactions = namesOf(request.transactions)
  const heads = namesOf(request.blocksMeta)
  const slots = namesOf(request.slots)
  const left = isEvery(block.slot, ailment.missingTransactionEvery) ? block.transactions.slice(1) : block.transactions
  const updates: Array<GeyserUpdate> = []
  const filtersOf = passedBy(request)
  for (const { account, version } of namesOf(request.accounts) === null ? [] : (block.writes ?? [])) {
    const filters = filtersOf(account)
    if (filters.length > 0) {
      updates.push(accountUpdate(filters, block.slot, account, version))
    }
  }
  if (transactions !== null) {
    for (const transaction of left) {
      updates.push({ filters: transactions, transaction: { slot, transaction: geyserTransaction(transaction) } })
    }
  }
  if (heads !== null && !isEvery(block.slot, ailment.missingHeadEvery)) {
    updates.push({ filters: heads, blockMeta: geyserBlockMeta(block) })
  }
  if (slots !== null) {
    updates.push({ filters: slots, slot: { slot, parent: String(block.parent), status: request.commitment ?? 0 } })
  }
  const ordered = ailment.reorder ? updates.toReversed() : updates
  return ailment.duplicates ? ordered.flatMap((update) => [update, update]) : ordered
}

/** Keeps the account writes of the newest slots, for streams that replay them. */
export class WriteHistory {
  readonly #slots = new Map<number, ReadonlyArray<AccountWrite>>()
  readonly #last = new Map<Address, OnChainAccount>()
  readonly #kept: () => number

  constructor(kept: () => number) {
    this.#kept = kept
  }

  /** The first slot with known writes. */
  get oldest(): number {
    const [first = Number.POSITIVE_INFINITY] = this.#slots.keys()
    return first
  }

  of(block: KeptBlock): StreamedSlot {
    return { ...block, writes: this.#slots.get(block.slot) ?? null }
  }

  add({ accounts, slot }: Block, staleWrites: boolean): void {
    const writes: Array<AccountWrite> = []
    for (const [index, account] of accounts.entries()) {
      const version = slot * MOST_WRITES + (index + 1) * WRITE_STEP
      const before = this.#last.get(account.address)
      writes.push({ account, version })
      if (staleWrites && before !== undefined) {
        writes.push({ account: before, version: version - 1 })
      }
      this.#last.set(account.address, account)
    }
    this.#slots.set(slot, writes)
    for (const known of this.#slots.keys()) {
      if (known < slot - this.#kept()) {
        this.#slots.delete(known)
      }
    }
  }
}
