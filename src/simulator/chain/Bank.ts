import { createHash } from "node:crypto"
import { writeI64, writeU64 } from "../../programs/layout/bytes.ts"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { toBase58 } from "../../domain/base58.ts"
import { CLOCK_SYSVAR, inventBytes, SYSVAR_OWNER } from "./addresses.ts"
import { type Deed, type Ledger, makeLedger, type Transaction } from "./Ledger.ts"
import { type NewAccount, rentExempt } from "./tokens.ts"

/** Simulated milliseconds from one slot to the next. */
export const SLOT_MS = 400

export const SLOTS_PER_EPOCH = 432_000

/** How many blocks a node keeps: two minutes. Older blocks are removed, a few at a time. */
export const BLOCKS_KEPT = 300

/** How many old blocks one new block may remove. It must be few, so that a reader of a long past can keep up. */
const MOST_REMOVED = 5

/** A finished slot with its transactions. */
export interface KeptBlock {
  readonly slot: number
  /** Slot of the previous block. It is more than one slot back when slots were skipped. */
  readonly parent: number
  /** The slot after this block. It has already begun when the block is finished. */
  readonly next: number
  readonly height: number
  readonly unixTimestamp: number
  readonly blockhash: string
  readonly parentBlockhash: string
  readonly transactions: ReadonlyArray<Transaction>
}

/** A newly finished block, with the last state of every account that it changed. */
export interface Block extends KeptBlock {
  readonly accounts: ReadonlyArray<OnChainAccount>
  /** True when no later block builds on this block. */
  readonly isDropped: boolean
}

/** The state after a block: all accounts, or those that the block changed and closed. */
export interface BankState extends Pick<KeptBlock, "slot" | "parent" | "next" | "height"> {
  readonly accounts: ReadonlyArray<OnChainAccount>
  readonly closed: ReadonlyArray<Address>
}

/** The state of the simulated chain, in plain memory. One caller changes it, one slot at a time. */
export interface Bank {
  /** The account in the slot being built. */
  readonly get: (address: Address) => OnChainAccount | undefined
  /** Like `get`; throws a RangeError when the account does not exist. */
  readonly must: (address: Address) => OnChainAccount
  /** Replaces or creates an account in the slot being built. */
  readonly put: (account: NewAccount) => void
  /** Removes an account in the slot being built. */
  readonly remove: (address: Address) => void
  /** Accounts that this program owns. */
  readonly ownedBy: (owner: Address) => Iterable<OnChainAccount>
  readonly accounts: () => Iterable<OnChainAccount>
  /** Accounts that changed since the previous call, with their previous state; `undefined` for new accounts. */
  readonly takeJournal: () => ReadonlyMap<Address, OnChainAccount | undefined>
  /** Builds one slot. The changes of `build`, and then of the clock, become visible together as a block. */
  readonly produce: (build: () => ReadonlyArray<Deed>) => Block
  /**
   * Builds a block on a fork that loses. The block is seen and not kept: afterwards every account is as before, and
   * its slot counts as skipped.
   */
  readonly fork: (build: () => ReadonlyArray<Deed>) => Block
  /** Makes a block of changes that were made elsewhere. It has no transactions. */
  readonly restore: (state: BankState) => Block
  /** Skips this many slots after the current one. */
  readonly skip: (slots: number) => void
  /** Sets the number of blocks to keep from now on. */
  readonly keep: (blocks: number) => void
  /** Slot of the newest block that a client has read. Before the first read, the slot before the chain begins. */
  readonly readUpTo: () => number
  /** Records that a client has read this block. */
  readonly noteRead: (slot: number) => void
  /** Removes the blocks before this slot. */
  readonly forgetBefore: (slot: number) => void
  /** The block of a slot; undefined unless it is kept. */
  readonly block: (slot: number) => KeptBlock | undefined
  /** Every kept block, oldest first. */
  readonly blocks: () => Iterable<KeptBlock>
  /** The newest finished block. */
  readonly newest: () => Block
  /** The clock of the slot being built. Between slots, the clock of the newest slot. */
  readonly clock: () => ChainClock
  /** When a slot starts, in milliseconds since the Unix epoch. */
  readonly unixMsOf: (slot: number) => number
  readonly ledger: Ledger
  /** Identifies the chain by its seed and start. Base58 of 32 bytes. */
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

/** Makes a chain at `startSlot` and `startUnixMs`. Its only account is its clock. */
export const makeBank = (options: {
  readonly seed: string
  readonly startSlot: number
  readonly startUnixMs: number
  /**
   * From which slot on slots have another length. It keeps block times on the clock when slots come faster or slower.
   */
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

  const place = (account: OnChainAccount): void => {
    const before = accounts.get(account.address)
    if (before !== undefined && before.owner !== account.owner) {
      owners.get(before.owner)?.delete(account.address)
    }
    const owned = owners.get(account.owner) ?? new Map<Address, OnChainAccount>()
    owners.set(account.owner, owned)
    owned.set(account.address, account)
    accounts.set(account.address, account)
  }

  const put = (account: NewAccount): void => {
    const stamped: OnChainAccount = { ...account, slot }
    if (!journal.has(account.address)) {
      journal.set(account.address, accounts.get(account.address))
    }
    place(stamped)
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
    return { ...block, accounts, isDropped: false }
  }

  let newest = close(startSlot - 1, [])

  const produce = (build: () => ReadonlyArray<Deed>): Block => {
    const parent = slot
    slot = newest.next
    height += 1
    newest = close(parent, build())
    return newest
  }

  const restore: Bank["restore"] = (state) => {
    slot = state.slot
    height = state.height
    skipped = state.next - slot - 1
    state.closed.forEach(remove)
    for (const account of state.accounts) {
      place(account)
      written.set(account.address, account)
    }
    newest = close(state.parent, [])
    journal = new Map()
    return newest
  }

  const fork: Bank["fork"] = (build) => {
    const [parent, before, tip, pending] = [slot, new Map(accounts), newest, skipped]
    slot = tip.next
    height += 1
    const block = close(parent, build())
    height -= 1
    forget(block)
    const touched = new Set([...block.accounts.map(({ address }) => address), ...journal.keys(), CLOCK_SYSVAR])
    for (const address of touched) {
      const account = before.get(address)
      if (account !== undefined) {
        place(account)
      } else if (accounts.has(address)) {
        remove(address)
      }
    }
    written.clear()
    journal = new Map()
    slot = parent
    skipped = pending
    newest = { ...tip, next: tip.next + 1 }
    return { ...block, isDropped: true }
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
    fork,
    restore,
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

/** A digest of all accounts. Two states have the same digest exactly when they are equal. */
export const digestOf = (bank: Bank): string => {
  const hash = createHash("sha256")
  const sorted = [...bank.accounts()].toSorted((a, b) => (a.address < b.address ? -1 : 1))
  for (const { address, owner, lamports, slot, data } of sorted) {
    hash.update(`${address} ${owner} ${lamports} ${slot} ${data.length} `).update(data)
  }
  return hash.digest("hex")
}
