/** Changes of the authorities of a token, as the store keeps them for every process. Pure. */
import type { Mint } from "../domain/Address.ts"

/** At most this many changes of one token are kept: the newest ones. */
const MOST_KEPT = 1000
/** How long changes, and authorities that were not seen again, are kept: the longest window. */
export const AUTHORITIES_KEPT_MS = 86_400_000

/** Authorities in the mint account of a token at a slot. */
export interface AuthoritySighting {
  readonly mint: Mint
  readonly slot: number
  readonly mintAuthority: string | null
  readonly freezeAuthority: string | null
}

/** The newest sighting of a token, and the times of the changes before it. */
export interface AuthorityRecord extends AuthoritySighting {
  /** In milliseconds since the Unix epoch, the oldest first; each authority that changed counts. */
  readonly changesMs: ReadonlyArray<number>
  readonly seenAtMs: number
}

/**
 * The record after a sighting. A sighting at an earlier slot changes nothing. After a day without a sighting a new
 * record begins.
 */
export const afterSighting = (
  before: AuthorityRecord | null,
  sighting: AuthoritySighting,
  nowMs: number
): AuthorityRecord => {
  if (before === null || before.seenAtMs < nowMs - AUTHORITIES_KEPT_MS) {
    return { ...sighting, changesMs: [], seenAtMs: nowMs }
  }
  if (sighting.slot < before.slot) {
    return before
  }
  const changed = [
    ...(before.mintAuthority === sighting.mintAuthority ? [] : [nowMs]),
    ...(before.freezeAuthority === sighting.freezeAuthority ? [] : [nowMs])
  ]
  const kept = before.changesMs.filter((atMs) => atMs > nowMs - AUTHORITIES_KEPT_MS)
  return { ...sighting, changesMs: [...kept, ...changed].slice(-MOST_KEPT), seenAtMs: nowMs }
}
