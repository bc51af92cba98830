import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import type { ChainEvent, Snapshot } from "./ChainFeed.ts"

/** A followed account whose state has to be read before its writes can be told. */
interface Unread {
  /** The newest write that has been heard meanwhile. */
  early: AccountState | undefined
  /** Whether an answer has come that waits for its slot to end. */
  answered: boolean
}

/** What became of a write: kept, or dropped as a repetition, as older than what is known, or as nobody's. */
export type Fate = "kept" | "repeated" | "older" | "unknown"

const sameAccount = (a: OnChainAccount | null, b: OnChainAccount | null): boolean =>
  a === null || b === null
    ? a === b
    : a.lamports === b.lamports && a.owner === b.owner && Buffer.compare(a.data, b.data) === 0

/** Whether `next` says more than `known`. Of two states of one slot the one heard later counts. */
const isNews = (known: AccountState | undefined, next: AccountState): boolean =>
  known === undefined ||
  next.slot > known.slot ||
  (next.slot === known.slot && !sameAccount(known.account, next.account))

/** The state of the highest slot; of equals the last. */
const newest = (...states: ReadonlyArray<AccountState | undefined>): AccountState | undefined =>
  states.reduce((best, state) => (state !== undefined && state.slot >= (best?.slot ?? 0) ? state : best), undefined)

/**
 * Holds what a node says of followed accounts until the slot it says it of has ended, so that writes of one slot leave
 * together, and a snapshot leaves with every write of its slot in it. No account ever goes back in time.
 */
export class SlotBuffer {
  /** The newest state of each account that has been told; what a gap left behind stays as a floor. */
  readonly #told = new Map<Address, AccountState>()
  readonly #unread = new Map<Address, Unread>()
  /** Accounts whose reader may know less than the chain has said. */
  readonly #behind = new Set<Address>()
  readonly #open = new Map<number, Map<Address, AccountState>>()
  #answers: Array<{ readonly slot: number; readonly states: ReadonlyMap<Address, AccountState> }> = []
  #size = 0
  readonly #isPrivate: (address: Address) => boolean

  /** Accounts that are private are kept and never told. */
  constructor(isPrivate: (address: Address) => boolean) {
    this.#isPrivate = isPrivate
  }

  /** Writes that wait for their slot to end. */
  get size(): number {
    return this.#size
  }

  /** Whether a reader may hold a state that the chain has left behind. */
  get isBehind(): boolean {
    return this.#behind.size > 0
  }

  /** The newest state that has been told, or would have been. */
  state(address: Address): AccountState | undefined {
    return this.#told.get(address)
  }

  /** Expects the account's state: once from an answer, from then on from writes. */
  follow(address: Address): void {
    if (!this.#unread.has(address) && !this.#told.has(address)) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  forget(address: Address): void {
    this.#told.delete(address)
    this.#unread.delete(address)
    this.#behind.delete(address)
  }

  /** The account has to be read again. `missed` says that the chain has told more than the reader knows. */
  doubt(address: Address, { missed }: { readonly missed: boolean }): void {
    const unread = this.#unread.get(address)
    if (unread === undefined && !this.#told.has(address)) {
      return
    }
    this.#unread.set(address, { early: unread?.early, answered: false })
    if (missed && this.#told.has(address)) {
      this.#behind.add(address)
    }
  }

  /** The connection was lost: whatever waits may be half of a slot, and every account has to be read again. */
  doubtAll(): void {
    this.#open.clear()
    this.#answers = []
    this.#size = 0
    for (const address of this.#told.keys()) {
      this.#behind.add(address)
    }
    for (const address of new Set([...this.#told.keys(), ...this.#unread.keys()])) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  /** Accounts that have to be read. The value goes back into `answer`. */
  unread(): ReadonlyMap<Address, object> {
    return new Map(Array.from(this.#unread).filter(([, { answered }]) => !answered))
  }

  /** Takes a write. */
  write(address: Address, state: AccountState): Fate {
    const told = this.#told.get(address)
    if (told === undefined && !this.#unread.has(address)) {
      return "unknown"
    }
    if (!isNews(told, state)) {
      return told !== undefined && sameAccount(told.account, state.account) ? "repeated" : "older"
    }
    const writes = this.#open.get(state.slot) ?? new Map<Address, AccountState>()
    this.#open.set(state.slot, writes)
    this.#size += writes.has(address) ? 0 : 1
    writes.set(address, state)
    return "kept"
  }

  /** Takes what was read for accounts that `asked` named. One doubted meanwhile stays unread. */
  answer(asked: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>): void {
    let slot = 0
    for (const [address, state] of states) {
      const unread = this.#unread.get(address)
      if (unread !== undefined && unread === asked.get(address)) {
        unread.answered = true
      }
      slot = Math.max(slot, state.slot)
    }
    this.#answers.push({ slot, states })
  }

  /** What may be told once every slot up to and including this one has ended. */
  end(slot: number): ReadonlyArray<ChainEvent> {
    const ended = Array.from(this.#open.keys()).filter((open) => open <= slot)
    const writes = ended.toSorted((a, b) => a - b).flatMap((open) => this.#settle(open))
    const answers = this.#answers.filter((answer) => answer.slot <= slot)
    this.#answers = this.#answers.filter((answer) => answer.slot > slot)
    return [...writes, ...answers.flatMap(({ states }) => this.#conclude(states))]
  }

  /** The newest told state of every account. */
  everything(): Snapshot {
    return this.#snapshot(this.#told)
  }

  #settle(slot: number): ReadonlyArray<ChainEvent> {
    const writes = this.#open.get(slot) ?? new Map<Address, AccountState>()
    this.#open.delete(slot)
    this.#size -= writes.size
    const accounts = new Map<Address, OnChainAccount | null>()
    for (const [address, state] of writes) {
      const unread = this.#unread.get(address)
      const told = this.#told.get(address)
      if (unread !== undefined) {
        unread.early = newest(unread.early, state)
      } else if (told !== undefined && isNews(told, state)) {
        this.#told.set(address, state)
        if (!this.#isPrivate(address)) {
          accounts.set(address, state.account)
        }
      }
    }
    return accounts.size === 0 ? [] : [{ _tag: "Writes", slot, accounts }]
  }

  #conclude(states: ReadonlyMap<Address, AccountState>): ReadonlyArray<ChainEvent> {
    const concluded = new Map<Address, AccountState>()
    for (const [address, read] of states) {
      const unread = this.#unread.get(address)
      const state = newest(this.#told.get(address), read, unread?.early)
      if (unread?.answered === true && state !== undefined) {
        this.#unread.delete(address)
        this.#behind.delete(address)
        this.#told.set(address, state)
        concluded.set(address, state)
      }
    }
    const snapshot = this.#snapshot(concluded)
    return snapshot.accounts.size === 0 ? [] : [{ _tag: "Snapshot", snapshot }]
  }

  #snapshot(states: ReadonlyMap<Address, AccountState>): Snapshot {
    let slot = 0
    const accounts = new Map<Address, OnChainAccount | null>()
    for (const [address, state] of states) {
      if (!this.#isPrivate(address)) {
        slot = Math.max(slot, state.slot)
        accounts.set(address, state.account)
      }
    }
    return { slot, accounts }
  }
}
