import type { Mint } from "../domain/Address.ts"
import type { TokenState } from "../tokens/TokenCache.ts"
import type { AuthoritySighting } from "./authorityRecord.ts"

/** Time after which unchanged authorities are stored again, so that the store keeps them. */
const STORED_AGAIN_MS = 3_600_000

interface Stored extends AuthoritySighting {
  readonly storedAtMs: number
}

interface Change {
  readonly atMs: number
  /** The same time by a clock of this process that never goes back. */
  readonly monotonicMs: number
}

/** The time by both clocks, in milliseconds. */
export interface ClockReading {
  /** Since the Unix epoch. */
  readonly nowMs: number
  /** By a clock that never goes back. */
  readonly monotonicMs: number
}

const sightingOf = (mint: Mint, state: TokenState | null): AuthoritySighting | null => {
  if (state?._tag !== "Token" || state.facts === null) {
    return null
  }
  const { freezeAuthority, mintAuthority } = state.facts
  return { mint, slot: state.observation.slot, mintAuthority, freezeAuthority }
}

/**
 * Changes of the mint and freeze authorities of tokens. Each process stores what it sees, and counts from the store. So
 * all processes have the same number, and a restart loses none.
 */
export class AuthorityChanges {
  /** The last sightings of this process that are in the store. */
  readonly #stored = new Map<Mint, Stored>()
  readonly #changes = new Map<Mint, ReadonlyArray<Change>>()

  /** Sightings of the tokens that are not in the store yet. */
  unstored(
    mints: ReadonlySet<Mint>,
    read: (mint: Mint) => TokenState | null,
    monotonicMs: number
  ): ReadonlyArray<AuthoritySighting> {
    return Array.from(mints).flatMap((mint) => {
      const now = sightingOf(mint, read(mint))
      const before = this.#stored.get(mint)
      const isStored =
        before !== undefined &&
        before.mintAuthority === now?.mintAuthority &&
        before.freezeAuthority === now.freezeAuthority &&
        monotonicMs - before.storedAtMs < STORED_AGAIN_MS
      return now === null || isStored ? [] : [now]
    })
  }

  /** Records that the store has these sightings. */
  stored(sightings: ReadonlyArray<AuthoritySighting>, monotonicMs: number): void {
    sightings.forEach((sighting) => this.#stored.set(sighting.mint, { ...sighting, storedAtMs: monotonicMs }))
  }

  /** Takes the times of changes from the store, for every token that has some. */
  changed(changes: ReadonlyMap<Mint, ReadonlyArray<number>>, { monotonicMs, nowMs }: ClockReading): void {
    const before = new Map(this.#changes)
    this.#changes.clear()
    for (const [mint, times] of changes) {
      const known = new Map(before.get(mint)?.map((change) => [change.atMs, change]))
      this.#changes.set(
        mint,
        times.map((atMs) => known.get(atMs) ?? { atMs, monotonicMs: monotonicMs - Math.max(0, nowMs - atMs) })
      )
    }
  }

  /** Changes that were seen in the last `seconds`; null until this process has seen the account. */
  of(mint: Mint, seconds: number, nowMonotonicMs: number): number | null {
    if (!this.#stored.has(mint)) {
      return null
    }
    const isWithin = ({ monotonicMs }: Change) => monotonicMs > nowMonotonicMs - seconds * 1000
    return this.#changes.get(mint)?.filter(isWithin).length ?? 0
  }

  /** Forgets all other tokens. */
  keep(mints: ReadonlySet<Mint>): void {
    for (const mint of this.#stored.keys()) {
      if (!mints.has(mint)) {
        this.#stored.delete(mint)
      }
    }
  }
}
