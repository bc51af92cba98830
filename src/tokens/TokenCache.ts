import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { ChainEvent } from "../chain/ChainFeed.ts"
import { readMetaplex, type TokenMetadata } from "./metadata.ts"
import { type MintFacts, readMintAccount } from "./mintAccount.ts"

/** Time and slot at which an account was observed. */
export interface Observation {
  readonly slot: number
  /** Milliseconds since the Unix epoch; null when the source has none. */
  readonly observedAtMs: number | null
}

/** State of a mint on the chain. */
export type TokenState = { readonly observation: Observation } &
  /** Facts are null where a recording omits the mint account. */
  (
    | {
        readonly _tag: "Token"
        readonly facts: MintFacts | null
        readonly metadata: TokenMetadata | null
        /** True once it is known whether the token has metadata. */
        readonly isMetadataRead?: boolean
        /** The supply has been the same since this slot. When left out, since the slot of the observation. */
        readonly supplySlot?: number
      }
    /** The account is missing or is not a mint. */
    | { readonly _tag: "NoToken" }
    | { readonly _tag: "Malformed"; readonly detail: string }
  )

interface CacheEntry {
  readonly mint: Mint
  state: TokenState | null
  /** Address of its Metaplex metadata, once watched. */
  metadataAt: Address | null
  /** Undefined until its account was read. */
  metaplex: TokenMetadata | null | undefined
}

const stateOf = (account: OnChainAccount | null, observation: Observation): TokenState => {
  if (account?.lamports === 0n) {
    // Accounts on the chain have lamports. An account without them stands for a mint that a recording omits.
    return { _tag: "Token", facts: null, metadata: null, observation }
  }
  const reading = account === null ? { _tag: "NotAMint" as const } : readMintAccount(account)
  switch (reading._tag) {
    case "Mint":
      return {
        _tag: "Token",
        facts: reading,
        metadata: reading.metadata,
        isMetadataRead: reading.metadata !== null,
        observation
      }
    case "Malformed":
      return { _tag: "Malformed", detail: reading.detail, observation }
    case "NotAMint":
      return { _tag: "NoToken", observation }
  }
}

/** The state, with the slot since which the supply has been the same. */
const sinceSupply = (state: TokenState, before: TokenState | null): TokenState => {
  if (state._tag !== "Token" || state.facts === null) {
    return state
  }
  const isSame = before?._tag === "Token" && before.facts?.supply === state.facts.supply
  const { slot } = state.observation
  return { ...state, supplySlot: isSame ? Math.min(before.supplySlot ?? slot, slot) : slot }
}

/** At most this many mints without an account are remembered. */
const ABSENT_CAPACITY = 10_000

/** LRU cache of decoded mints with their Metaplex metadata, and a negative cache of mints without an account. */
export class TokenCache {
  readonly #capacity: number
  // Least recently used first.
  readonly #entries = new Map<Mint, CacheEntry>()
  readonly #byMetadata = new Map<Address, CacheEntry>()
  // Oldest first.
  readonly #absent = new Map<Mint, { readonly state: TokenState; readonly untilMs: number }>()
  readonly #nowMs: () => number
  readonly #absentForMs: number
  #unnamed: Array<Mint> = []
  #dropped: Array<Address> = []

  /** Mints without an account are remembered for `absentForMs` of a clock that never goes back. */
  constructor(capacity: number, absentForMs: number, nowMs: () => number) {
    this.#capacity = Math.max(1, capacity)
    this.#absentForMs = absentForMs
    this.#nowMs = nowMs
  }

  /** Every cached mint, loaded or not. */
  mints(): ReadonlyArray<Mint> {
    return Array.from(this.#entries.keys())
  }

  /** State of the mint; null before it is loaded. Counts as a use. */
  read(mint: Mint): TokenState | null {
    const entry = this.#entries.get(mint)
    if (entry === undefined) {
      return this.#absentState(mint)
    }
    this.#entries.delete(mint)
    this.#entries.set(mint, entry)
    const { metaplex, state } = entry
    return state?._tag === "Token" && state.metadata === null
      ? { ...state, metadata: metaplex ?? null, isMetadataRead: metaplex !== undefined }
      : state
  }

  /** Every loaded mint with its metadata; null without any. Does not count as a use. */
  *named(): Iterable<readonly [Mint, TokenMetadata | null]> {
    for (const { metaplex, mint, state } of this.#entries.values()) {
      if (state?._tag === "Token") {
        yield [mint, state.metadata ?? metaplex ?? null]
      }
    }
  }

  /** Adds the mint; false when it is already cached or remembered as absent. */
  add(mint: Mint): boolean {
    if (this.#entries.has(mint) || this.#absentState(mint) !== null) {
      return false
    }
    this.#entries.set(mint, { mint, state: null, metadataAt: null, metaplex: undefined })
    return true
  }

  /** Evicts mints beyond the capacity and returns the accounts that no longer need to be watched. */
  shrink(): ReadonlyArray<Address> {
    const left: Array<Address> = []
    for (const { metadataAt, mint } of this.#entries.values()) {
      if (this.#entries.size <= this.#capacity) {
        break
      }
      this.#entries.delete(mint)
      left.push(mint)
      if (metadataAt !== null) {
        this.#byMetadata.delete(metadataAt)
        left.push(metadataAt)
      }
    }
    return left
  }

  /** Applies account updates. Accounts of other mints are ignored. */
  apply(event: ChainEvent, observedAtMs: number | null): void {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    for (const [address, account] of accounts) {
      const entry = this.#entries.get(address)
      if (entry !== undefined) {
        this.#update(entry, account, { slot: account?.slot ?? slot, observedAtMs })
      }
      const named = this.#byMetadata.get(address)
      if (named !== undefined) {
        named.metaplex = account === null ? null : readMetaplex(account, named.mint)
      }
    }
  }

  /** Mints that were found to have no metadata of their own since the previous call. */
  takeUnnamed(): ReadonlyArray<Mint> {
    const unnamed = this.#unnamed
    this.#unnamed = []
    return unnamed
  }

  /** Accounts that no longer need to be watched because their mint does not exist, since the previous call. */
  takeDropped(): ReadonlyArray<Address> {
    const dropped = this.#dropped
    this.#dropped = []
    return dropped
  }

  /** Sets the metadata address of the mint; false when the mint is no longer cached. */
  nameAt(mint: Mint, address: Address): boolean {
    const entry = this.#entries.get(mint)
    if (entry === undefined) {
      return false
    }
    entry.metadataAt = address
    this.#byMetadata.set(address, entry)
    return true
  }

  #update(entry: CacheEntry, account: OnChainAccount | null, observation: Observation): void {
    entry.state = sinceSupply(stateOf(account, observation), entry.state)
    if (entry.state._tag === "NoToken") {
      return this.#drop(entry, entry.state)
    }
    if (entry.state._tag === "Token" && entry.state.metadata === null && entry.metadataAt === null) {
      this.#unnamed.push(entry.mint)
    }
  }

  #absentState(mint: Mint): TokenState | null {
    const known = this.#absent.get(mint)
    if (known !== undefined && this.#nowMs() >= known.untilMs) {
      this.#absent.delete(mint)
      return null
    }
    return known?.state ?? null
  }

  #drop({ metadataAt, mint }: CacheEntry, state: TokenState): void {
    this.#entries.delete(mint)
    this.#dropped.push(mint)
    if (metadataAt !== null) {
      this.#byMetadata.delete(metadataAt)
      this.#dropped.push(metadataAt)
    }
    for (const oldest of this.#absent.size >= ABSENT_CAPACITY ? this.#absent.keys().take(1) : []) {
      this.#absent.delete(oldest)
    }
    this.#absent.set(mint, { state, untilMs: this.#nowMs() + this.#absentForMs })
  }
}
