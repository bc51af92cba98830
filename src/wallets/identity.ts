/** The publishable identity of a wallet, from the records of all sources. */
import type { Address } from "../domain/Address.ts"
import {
  type CachedName,
  type Classification,
  type IdentityRecord,
  type PlatformEvidence,
  REVIEWED_BPS,
  type WalletIdentity
} from "../api/schemas/WalletIdentity.ts"

type Reviewed = IdentityRecord["classifications"][number]

/** A second-level name under `.sol`: no subdomain, and no characters that can be confused with others. */
const TOP_LEVEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.sol$/u

/** The publishable domain of a wallet; null unless it is directly under `.sol` and verified as owned by the wallet. */
export const ownedDomain = (wallet: Address, name: CachedName | null, nowMs: number): string | null =>
  name !== null &&
  name.owner === wallet &&
  !name.isTokenized &&
  name.verifiedAtMs <= nowMs &&
  TOP_LEVEL.test(name.domain)
    ? name.domain
    : null

/**
 * True when the record is reviewed, current and of sufficient confidence. An exchange holds funds of others and must
 * have a name.
 */
const isShown = ({ confidence, kind, name, reviewedAtMs, validUntilMs }: Reviewed, nowMs: number): boolean =>
  confidence >= REVIEWED_BPS &&
  reviewedAtMs <= nowMs &&
  (validUntilMs === null || nowMs < validUntilMs) &&
  (kind !== "exchange" || name !== null)

const classificationOf = ({ validUntilMs: _validUntilMs, ...shown }: Reviewed): Classification => shown

/** The best item of each key. */
const bestBy = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string,
  isBetter: (item: A, than: A) => boolean
): ReadonlyArray<A> => {
  const best = new Map<string, A>()
  for (const item of items) {
    const other = best.get(keyOf(item))
    if (other === undefined || isBetter(item, other)) {
      best.set(keyOf(item), item)
    }
  }
  return Array.from(best.values())
}

const evidenceOf = (records: ReadonlyArray<IdentityRecord>, nowMs: number): ReadonlyArray<PlatformEvidence> =>
  bestBy(
    records.flatMap(({ platforms }) => platforms.filter(({ observedAtMs }) => observedAtMs <= nowMs)),
    ({ tag }) => tag,
    (a, b) => a.confidence > b.confidence || (a.confidence === b.confidence && a.observedAtMs > b.observedAtMs)
  )

const classificationsOf = (records: ReadonlyArray<IdentityRecord>, nowMs: number): ReadonlyArray<Classification> =>
  bestBy(
    records.flatMap(({ classifications }) =>
      classifications.filter((each) => isShown(each, nowMs)).map(classificationOf)
    ),
    ({ kind, name }) => JSON.stringify([kind, name]),
    (a, b) => a.reviewedAtMs > b.reviewedAtMs
  )

/** The identity of a wallet from its records; null when nothing is publishable at `nowMs`. */
export const identityOf = (
  wallet: Address,
  records: ReadonlyArray<IdentityRecord>,
  nowMs: number
): WalletIdentity | null => {
  const labels = Array.from(new Set(records.flatMap((record) => record.labels)))
  const display = records.find((record) => record.display !== null)?.display ?? null
  const platformEvidence = evidenceOf(records, nowMs)
  const classifications = classificationsOf(records, nowMs)
  const [domain = null] = records.flatMap(({ sns }) => ownedDomain(wallet, sns, nowMs) ?? [])
  const isEmpty =
    display === null && domain === null && labels.length + platformEvidence.length + classifications.length === 0
  return isEmpty
    ? null
    : {
        labels,
        display,
        tags: platformEvidence.map(({ tag }) => tag),
        platformEvidence,
        classifications,
        sns: domain === null ? null : { domain }
      }
}
