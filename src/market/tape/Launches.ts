import type { Address, Mint } from "../../domain/Address.ts"
import type { Launch } from "../../domain/market/Launch.ts"

/** What is known of how a token began. */
export interface LaunchRecord {
  readonly mint: Mint
  readonly launchpad: string
  /** Its curve, and its pool after the migration; null when unknown. */
  readonly pool: Address | null
  /** Null when it was created before anybody looked. */
  readonly createdAtMs: number | null
  readonly graduatedAtMs: number | null
}

/** The newest launches that were seen: a bounded number, the oldest news going first. */
export class Launches {
  private readonly most: number
  // In order of what happened last.
  private readonly records = new Map<Mint, LaunchRecord>()

  constructor(most: number) {
    this.most = most
  }

  /** Takes note of a launch or a migration. */
  add({ event, launchpad, mint, pool }: Launch, timeMs: number): void {
    const known = this.records.get(mint)
    const created = event === "created"
    this.records.delete(mint)
    this.records.set(mint, {
      mint,
      launchpad,
      pool: pool ?? known?.pool ?? null,
      createdAtMs: created ? timeMs : (known?.createdAtMs ?? null),
      graduatedAtMs: created ? (known?.graduatedAtMs ?? null) : timeMs
    })
    const [oldest] = this.records.keys()
    if (this.records.size > this.most && oldest !== undefined) {
      this.records.delete(oldest)
    }
  }

  /** What is known of a token; null when it was not seen to launch. */
  of(mint: Mint): LaunchRecord | null {
    return this.records.get(mint) ?? null
  }

  /** Every launch that is remembered, the oldest news first. */
  all(): Iterable<LaunchRecord> {
    return this.records.values()
  }
}
