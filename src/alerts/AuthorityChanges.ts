import type { Mint } from "../domain/Address.ts"
import type { TokenState } from "../tokens/TokenCache.ts"

/** Changes of one token that are remembered, the newest, and for how long: that of the longest window. */
const MOST_KEPT = 1000
const KEPT_MS = 86_400_000

interface Authorities {
  readonly slot: number
  readonly mint: string | null
  readonly freeze: string | null
  /** Times at which changes were seen, the oldest first. */
  readonly changes: ReadonlyArray<number>
}

/** Changes of the mint and the freeze authority of tokens, by their mint accounts as they were seen one after the other. */
export class AuthorityChanges {
  readonly #tokens = new Map<Mint, Authorities>()

  /** Takes note of a mint account. One of an earlier slot than before, as of another node, is passed over. */
  note(mint: Mint, state: TokenState | null, nowMs: number): void {
    if (state?._tag !== "Token" || state.facts === null) {
      return
    }
    const { freezeAuthority, mintAuthority } = state.facts
    const before = this.#tokens.get(mint)
    if (before !== undefined && state.observation.slot < before.slot) {
      return
    }
    const isKnown = before !== undefined
    const changed = [
      ...(isKnown && before.mint !== mintAuthority ? [nowMs] : []),
      ...(isKnown && before.freeze !== freezeAuthority ? [nowMs] : [])
    ]
    const kept = (before?.changes ?? []).filter((atMs) => atMs > nowMs - KEPT_MS)
    this.#tokens.set(mint, {
      slot: state.observation.slot,
      mint: mintAuthority,
      freeze: freezeAuthority,
      changes: [...kept, ...changed].slice(-MOST_KEPT)
    })
  }

  /** Changes that were seen in the last `seconds`; null before the first look at the account. */
  of(mint: Mint, seconds: number, nowMs: number): number | null {
    return this.#tokens.get(mint)?.changes.filter((atMs) => atMs > nowMs - seconds * 1000).length ?? null
  }

  /** Forgets all tokens but these. */
  keep(mints: ReadonlySet<Mint>): void {
    for (const mint of this.#tokens.keys()) {
      if (!mints.has(mint)) {
        this.#tokens.delete(mint)
      }
    }
  }
}
