import { createHash } from "node:crypto"
import { writeI64, writeU64 } from "../../programs/layout/bytes.ts"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import { CLOCK_SYSVAR, inventBytes, SYSVAR_OWNER } from "./addresses.ts"
import { type Deed, type Ledger, makeLedger, type Transaction } from "./Ledger.ts"
import { type NewAccount, rentExempt } from "./tokens.ts"

/** Simulated milliseconds between two slots. */
export const SLOT_MS = 400

/** Slots of an epoch. */
export const SLOTS_PER_EPOCH = 432_000

/** Blocks that a node keeps: two minutes of them. Older ones are removed, a few at a time. */
export const BLOCKS_KEPT = 300

/** Most blocks removed when a new one is finished, so that a reader of a long past can keep up. */
const MOST_REMOVED = 5

/** A finished slot with its transactions. */
export interface KeptBlock {
  readonly slot: number
  /** The previous block's slot. It is more than one slot back when slots were skipped. */
  readonly parent: number
  /** The next slot. It has already begun when this block is finished. */
  readonly next: number
  readonly height: number
  readonly unixTimestamp: number
  readonly blockhash: string
  readonly parentBlockhash: string
  readonly transactions: ReadonlyArray<Transaction>
}

/** A newly finished block, with the accounts it wrote, each once and with its last state. */
export interface Block extends KeptBlock {
  readonly accounts: ReadonlyArray<OnChainAccount>
}

/** The state of the simulated chain. Plain memory, changed by one caller, one slot at a time. */
export interface Bank {
  /** The account in the slot being built. */
  readonly get: (address: Address) => OnChainAccount | undefined
  /** Like `get`; throws a RangeError when the account does not exist. */
  readonly must: (address: Address) => OnChainAccount
  /** Replaces an account in the slot being built. */
  readonly put: (account: NewAccount) => void
  /** Removes an account in the slot being built. */
  readonly remove: (address: Address) => void
  /** Accounts owned by the program. */
  readonly ownedBy: (owner: Address) => Iterable<OnChainAccount>
  /** All accounts. */
  readonly accounts: () => Iterable<OnChainAccount>
  /** Accounts that changed since the previous call, with their state before; `undefined` for new ones. */
  readonly takeJournal: () => ReadonlyMap<Address, OnChainAccount | undefined>
  /** Builds one slot. The changes of `build` and then of the clock become visible together, as a block. */
  readonly produce: (build: () => ReadonlyArray<Deed>) => Block
  /** Skips this many slots after the current one. */
  readonly skip: (slots: number) => void
  /** Sets the number of blocks to keep from now on. */
  readonly keep: (blocks: number) => void
  /** The newest block that a client has read; before the first read, the slot before the chain. */
  readonly readUpTo: () => number
  /** Notes that a client has read this block. */
  readonly noteRead: (slot: number) => void
  /** Removes the blocks before this slot. */
  readonly forgetBefore: (slot: number) => void
  /** A finished block, while it is kept. */
  readonly block: (slot: number) => KeptBlock | undefined
  /** Every kept block, oldest first. */
  readonly blocks: () => Iterable<KeptBlock>
  /** The newest finished block. */
  readonly newest: () => Block
  /** The clock of the slot being built; between slots, of the newest one. */
  readonly clock: () => ChainClock
  /** Start of a slot, in milliseconds since the Unix epoch. */
  readonly unixMsOf: (slot: number) => number
  readonly ledger: Ledger
  /** Identifies the chain: it differs by seed and start. Base58 of 32 bytes. */
  readonly genesisHash: string
}

const clockAccount = (clock: ChainClock, epochStart: number): NewAccount => {
  const data = new Uint8Array(40)
  writeU64(data, 0, BigInt(clock.slot))
  writeI64(data, 8, BigInt(epochStart))
  writeU64(data, 16, BigInt(clock.epoch))
  writeU64(data, 24, BigInt(clock.epoch + 1))
  writeI64(data, 32, BigInt(clock.unixTimestamp))
  return { address: CLOCK_SYSVAR, owner: SYSVAR_OWNER, lamports: rentExempt(40), data }
}

/** A chain at `startSlot` and `startUnixMs` whose only account is its clock. */
export const makeBank = (options: {
  readonly seed: string
  readonly startSlot: number
  readonly startUnixMs: number
  /** Slot length from this slot on, so that block times follow the clock when slots come faster or slower. */
  readonly live?: { readonly slot: number; readonly slotMs: number } | undefined
}): Bank => {
  const { live, seed, startSlot, startUnixMs } = options
  const accounts = new Map<Address, OnChainAccount>()
  const owners = new Map<Address, Map<Address, OnChainAccount>>()
  const written = new Map<Address, OnChainAccount>()
  const kept = new Map<number, KeptBlock>()
  const ledger = makeLedger(seed)
  let journal = new Map<Address, OnChainAccount | undefined>()
  let slot = startSlot
  let skipped = 0
  let most = BLOCKS_KEPT
  let readUpTo = startSlot - 1
  let height = Math.floor(startSlot * 0.92)

  const unixMsOf = (at: number): number => {
    const usual = live === undefined ? at : Math.min(at, live.slot)
    return startUnixMs + (usual - startSlot) * SLOT_MS + (at - usual) * (live?.slotMs ?? SLOT_MS)
  }
  const timeOf = (at: number): number => Math.floor(unixMsOf(at) / 1000)
  const clock = (): ChainClock => ({ slot, epoch: Math.floor(slot / SLOTS_PER_EPOCH), unixTimestamp: timeOf(slot) })

  const blockhashOf = (at: number): string => toBase58(inventBytes(seed, `block ${at}`))

  const put = (account: NewAccount): void => {
    const stamped: OnChainAccount = { ...account, slot }
    const before = accounts.get(account.address)
    if (!journal.has(account.address)) {
      journal.set(account.address, before)
    }
    if (before !== undefined && before.owner !== account.owner) {
      owners.get(before.owner)?.delete(account.address)
    }
    const owned = owners.get(account.owner) ?? new Map<Address, OnChainAccount>()
    owners.set(account.owner, owned)
    owned.set(account.address, stamped)
    accounts.set(account.address, stamped)
    written.set(account.address, stamped)
  }

  const remove = (address: Address): void => {
    const before = must(address)
    if (!journal.has(address)) {
      journal.set(address, before)
    }
    owners.get(before.owner)?.delete(address)
    accounts.delete(address)
    written.delete(address)
  }

  const must = (address: Address): OnChainAccount => {
    const account = accounts.get(address)
    if (account === undefined) {
      throw new RangeError(`the simulated chain has no account ${address}`)
    }
    return account
  }

  const forget = ({ slot: at, transactions }: KeptBlock): void => {
    kept.delete(at)
    ledger.forget(transactions)
  }

  const close = (parent: number, deeds: ReadonlyArray<Deed>): Block => {
    const now = clock()
    const next = slot + 1 + skipped
    skipped = 0
    put(clockAccount(now, timeOf(now.epoch * SLOTS_PER_EPOCH)))
    const block: KeptBlock = {
      slot,
      parent,
      next,
      height,
      unixTimestamp: now.unixTimestamp,
      blockhash: blockhashOf(slot),
      parentBlockhash: blockhashOf(parent),
      transactions: ledger.record(slot, now.unixTimestamp, deeds)
    }
    const accounts = [...written.values()]
    written.clear()
    kept.set(slot, block)
    const surplus = Math.min(MOST_REMOVED, kept.size - most)
    Array.from(kept.values().take(Math.max(0, surplus))).forEach(forget)
    return { ...block, accounts }
  }

  let newest = close(startSlot - 1, [])

  const produce = (build: () => ReadonlyArray<Deed>): Block => {
    const parent = slot
    slot = newest.next
    height += 1
    newest = close(parent, build())
    return newest
  }

  return {
    get: (address) => accounts.get(address),
    must,
    put,
    remove,
    ownedBy: (owner) => owners.get(owner)?.values() ?? [],
    accounts: () => accounts.values(),
    takeJournal: () => {
      const taken = journal
      journal = new Map()
      return taken
    },
    produce,
    skip: (slots) => {
      skipped += slots
    },
    keep: (blocks) => {
      most = blocks
    },
    readUpTo: () => readUpTo,
    noteRead: (at) => {
      readUpTo = Math.max(readUpTo, at)
    },
    forgetBefore: (at) => Array.from(kept.values().filter((block) => block.slot < at)).forEach(forget),
    block: (at) => kept.get(at),
    blocks: () => kept.values(),
    newest: () => newest,
    clock,
    unixMsOf,
    ledger,
    genesisHash: toBase58(inventBytes(seed, `genesis ${startUnixMs}`))
  }
}

/** A digest of every account: equal states, and only they, have equal digests. */
export const digestOf = (bank: Bank): string => {
  const hash = createHash("sha256")
  const sorted = [...bank.accounts()].toSorted((a, b) => (a.address < b.address ? -1 : 1))
  for (const { address, owner, lamports, slot, data } of sorted) {
    hash.update(`${address} ${owner} ${lamports} ${slot} ${data.length} `).update(data)
  }
  return hash.digest("hex")
}
