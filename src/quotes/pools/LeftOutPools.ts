import { Duration } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Program } from "../../programs/interface/Program.ts"
import type { FoundPool } from "./foundPool.ts"

/** Reserves of left-out pools are read again after this time. */
const LEFT_OUT_FOR = Duration.minutes(10)
/** How many left-out pools are kept for all mints together, at about 200 bytes each. */
const MOST = 100_000

interface LeftOut {
  /** By the monotonic clock. */
  readonly untilMs: number
  readonly pools: ReadonlyMap<Address, Program>
}

const NONE: ReadonlyMap<Address, Program> = new Map()

/**
 * Pools that were left out because their mint has too many. Neither these pools nor their reserves are read again
 * until they are due. When full, it drops the mint that was recorded first.
 */
export class LeftOutPools {
  readonly #mints = new Map<Mint, LeftOut>()
  readonly #nowMs: () => number
  #size = 0

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The left-out pools of a mint; empty once they are due. */
  of(mint: Mint): ReadonlyMap<Address, Program> {
    const known = this.#mints.get(mint)
    if (known !== undefined && this.#nowMs() >= known.untilMs) {
      this.delete(mint)
    }
    return this.#mints.get(mint)?.pools ?? NONE
  }

  /**
   * Replaces the left-out pools of a mint. If the mint already has some, the time at which they are due stays the
   * same.
   */
  note(mint: Mint, found: ReadonlyArray<FoundPool>): void {
    const untilMs = this.#mints.get(mint)?.untilMs ?? this.#nowMs() + Duration.toMillis(LEFT_OUT_FOR)
    this.delete(mint)
    if (found.length > 0) {
      this.#mints.set(mint, { untilMs, pools: new Map(found.map(({ address, program }) => [address, program])) })
      this.#size += found.length
    }
    for (const oldest of this.#mints.keys()) {
      if (this.#size <= MOST) {
        break
      }
      this.delete(oldest)
    }
  }

  delete(mint: Mint): void {
    this.#size -= this.#mints.get(mint)?.pools.size ?? 0
    this.#mints.delete(mint)
  }
}
