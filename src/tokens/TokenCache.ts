import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { ChainEvent } from "../solana/accounts/ChainFeed.ts"
import { readMetaplex, type TokenMetadata } from "./metadata.ts"
import { type MintFacts, readMintAccount } from "./mintAccount.ts"

/** When an account was told, and as of which slot. */
export interface Observation {
  readonly slot: number
  /** Milliseconds since the Unix epoch; null when the source does not say. */
  readonly observedAtMs: number | null
}

/** What the chain has said of a mint. */
export type TokenState = { readonly observation: Observation } &
  /** Facts are null where a recording names the mint and leaves it out. */
  (
    | { readonly _tag: "Token"; readonly facts: MintFacts | null; readonly metadata: TokenMetadata | null }
    /** There is no account, or it is no mint. */
    | { readonly _tag: "NoToken" }
    | { readonly _tag: "Malformed"; readonly detail: string }
  )

interface Entry {
  readonly mint: Mint
  state: TokenState | null
  /** Where Metaplex keeps its name, once that was asked for. */
  metadataAt: Address | null
  metaplex: TokenMetadata | null
}

const stateOf = (account: OnChainAccount | null, observation: Observation): TokenState => {
  if (account?.lamports === 0n) {
    // No account of a chain is without lamports: this one stands in for a mint that a recording leaves out.
    return { _tag: "Token", facts: null, metadata: null, observation }
  }
  const reading = account === null ? { _tag: "NotAMint" as const } : readMintAccount(account)
  switch (reading._tag) {
    case "Mint":
      return { _tag: "Token", facts: reading, metadata: reading.metadata, observation }
    case "Malformed":
      return { _tag: "Malformed", detail: reading.detail, observation }
    case "NotAMint":
      return { _tag: "NoToken", observation }
  }
}

/** The mints in memory, decoded: a bounded number, of which the longest unused goes first. */
export class TokenCache {
  readonly #capacity: number
  // In order of use: who is used is put last.
  readonly #entries = new Map<Mint, Entry>()
  readonly #byMetadata = new Map<Address, Entry>()
  #unnamed: Array<Mint> = []

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity)
  }

  /** Every mint that is kept, told or not. */
  mints(): ReadonlyArray<Mint> {
    return Array.from(this.#entries.keys())
  }

  /** What the chain has said of the mint; null before it has said anything. Counts as a use. */
  read(mint: Mint): TokenState | null {
    const entry = this.#entries.get(mint)
    if (entry === undefined) {
      return null
    }
    this.#entries.delete(mint)
    this.#entries.set(mint, entry)
    const { metaplex, state } = entry
    return state?._tag === "Token" && state.metadata === null ? { ...state, metadata: metaplex } : state
  }

  /** Keeps the mint; false when it is kept already. */
  add(mint: Mint): boolean {
    if (this.#entries.has(mint)) {
      return false
    }
    this.#entries.set(mint, { mint, state: null, metadataAt: null, metaplex: null })
    return true
  }

  /** Lets the longest unused go until no more than the capacity are left; gives the accounts nobody needs any more. */
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

  /** Takes what the chain said. Accounts that are not of a kept mint are left alone. */
  apply(event: ChainEvent, observedAtMs: number | null): void {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    for (const [address, account] of accounts) {
      const entry = this.#entries.get(address)
      if (entry !== undefined) {
        this.#tell(entry, account, { slot: account?.slot ?? slot, observedAtMs })
      }
      const named = this.#byMetadata.get(address)
      if (named !== undefined) {
        named.metaplex = account === null ? null : readMetaplex(account, named.mint)
      }
    }
  }

  /** Mints that have turned out not to carry their name since the last call. */
  takeUnnamed(): ReadonlyArray<Mint> {
    const unnamed = this.#unnamed
    this.#unnamed = []
    return unnamed
  }

  /** Says where the mint's name is kept; false when the mint is not kept any more. */
  nameAt(mint: Mint, address: Address): boolean {
    const entry = this.#entries.get(mint)
    if (entry === undefined) {
      return false
    }
    entry.metadataAt = address
    this.#byMetadata.set(address, entry)
    return true
  }

  #tell(entry: Entry, account: OnChainAccount | null, observation: Observation): void {
    entry.state = stateOf(account, observation)
    if (entry.state._tag === "Token" && entry.state.metadata === null && entry.metadataAt === null) {
      this.#unnamed.push(entry.mint)
    }
  }
}
