/** A recording sent again and again, as a chain that goes on: slots, times, signatures and addresses change from round to round. */
import type { Address } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { writeI64, writeU64 } from "../../../src/programs/layout/bytes.ts"
import { CLOCK_SYSVAR } from "../../../src/simulator/chain/addresses.ts"
import type { Bank, Block } from "../../../src/simulator/chain/Bank.ts"
import { writeVarint5 } from "./frames.ts"
import { encodeUpdate, FIRST_SLOT, type RecordedWrite, type Recording, recordWrite } from "./recording.ts"

/** Variants of the recorded addresses. */
export interface Variants {
  /** Tokens of each recorded coin that may vary. */
  readonly tokens: number
  /** Wallets of each recorded retail wallet. */
  readonly wallets: number
}

/** A slot as it is sent. */
export interface ReplayedSlot {
  readonly slot: number
  /** Messages of transactions, as frames. */
  readonly frames: Buffer
  readonly transactions: number
  readonly swaps: number
  readonly writes: ReadonlyArray<RecordedWrite>
  /** Seconds since the Unix epoch. */
  readonly unixTimestamp: number
}

const NOTHING = Buffer.alloc(0)

/** Groups are in different variants in a slot, and in another one in the next. Within so many slots a group is in each once. */
const spread = (group: number, slot: number, variants: number): number => (slot + group * 7) % variants

/** The chain of a recording. */
export class Replay {
  readonly #recording: Recording
  readonly #variants: Variants
  readonly #accounts = new Map<Address, OnChainAccount>()
  #slot: number
  #next = 0
  #isMoving = false
  #unixTimestamp = 0

  constructor(recording: Recording, variants: Variants) {
    this.#recording = recording
    this.#variants = variants
    this.#slot = FIRST_SLOT + recording.slots.length + 1
  }

  /** The newest slot. */
  get slot(): number {
    return this.#slot
  }

  /** The recorded slots are sent from now on: until then slots are empty. */
  begin(): void {
    this.#isMoving = true
  }

  /** Makes the next slot, at this time in seconds since the Unix epoch. */
  advance(unixTimestamp: number): ReplayedSlot {
    this.#slot += 1
    this.#unixTimestamp = unixTimestamp
    const slot = this.#slot
    const clock = this.#clockWrite()
    const recorded = this.#isMoving ? this.#recording.slots[this.#next % this.#recording.slots.length] : undefined
    if (recorded === undefined) {
      this.#keep([clock])
      return { slot, frames: NOTHING, transactions: 0, swaps: 0, writes: [clock], unixTimestamp }
    }
    const round = Math.floor(this.#next / this.#recording.slots.length)
    const isFirst = this.#next % this.#recording.slots.length === 0
    this.#next += 1
    // A round begins with every account as it was before the first recorded slot.
    const writes = [...(isFirst ? this.#recording.before : []), ...recorded.writes, clock]
    this.#keep(writes)
    const frames = Buffer.from(recorded.frames)
    const { coinGroups, renaming } = this.#recording
    const { tokens, wallets } = this.#variants
    const variantOf = (group: number) => spread(group, slot, group < coinGroups ? tokens : wallets)
    for (const { changes, end, start } of recorded.messages) {
      renaming.apply(frames, start, changes, variantOf, round)
      writeVarint5(frames, slot, end - 5)
    }
    return { slot, frames, transactions: recorded.messages.length, swaps: recorded.swaps, writes, unixTimestamp }
  }

  /** The chain as a node serves it: the newest slot, without transactions, and the accounts as they were last written. */
  bank(): Bank {
    const { bank } = this.#recording
    const current = (account: OnChainAccount) => this.#accounts.get(account.address) ?? account
    const newest = (): Block => ({
      ...bank.newest(),
      slot: this.#slot,
      parent: this.#slot - 1,
      next: this.#slot + 1,
      unixTimestamp: this.#unixTimestamp,
      transactions: [],
      accounts: []
    })
    return {
      ...bank,
      get: (address) => this.#accounts.get(address) ?? bank.get(address),
      must: (address) => this.#accounts.get(address) ?? bank.must(address),
      ownedBy: (owner) => Array.from(bank.ownedBy(owner), current),
      accounts: () => Array.from(bank.accounts(), current),
      block: (slot) => (slot === this.#slot ? newest() : undefined),
      blocks: () => [newest()],
      newest,
      clock: () => ({ ...bank.clock(), slot: this.#slot, unixTimestamp: this.#unixTimestamp })
    }
  }

  #keep(writes: ReadonlyArray<RecordedWrite>): void {
    for (const { account } of writes) {
      this.#accounts.set(account.address, account)
    }
  }

  #clockWrite(): RecordedWrite {
    const before = this.#recording.bank.must(CLOCK_SYSVAR)
    const data = Uint8Array.from(before.data)
    writeU64(data, 0, BigInt(this.#slot))
    writeI64(data, 32, BigInt(this.#unixTimestamp))
    return recordWrite({ ...before, data, slot: this.#slot }, 1)
  }
}

/** The head of a slot, for the names of filters. */
export const headOf = (filters: ReadonlyArray<string>, { slot, transactions, unixTimestamp }: ReplayedSlot): Buffer =>
  encodeUpdate({
    filters,
    blockMeta: {
      slot: String(slot),
      parentSlot: String(slot - 1),
      blockhash: `hash${slot}`,
      parentBlockhash: `hash${slot - 1}`,
      blockTime: { timestamp: String(unixTimestamp) },
      executedTransactionCount: String(transactions)
    }
  })

/** The end of a slot at a commitment, for the names of filters. */
export const endOf = (filters: ReadonlyArray<string>, { slot }: ReplayedSlot, commitment: number): Buffer =>
  encodeUpdate({ filters, slot: { slot: String(slot), parent: String(slot - 1), status: commitment } })
