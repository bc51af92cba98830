import { Duration } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Program } from "../../programs/Program.ts"
import type { FoundPool } from "../foundPool.ts"

/** Time after which the reserves of pools that were left out are read again. */
const LEFT_OUT_FOR = Duration.minutes(10)
/** Pools of all mints, about 200 bytes each. */
const MOST = 100_000

interface LeftOut {
  /** By the clock that never goes back. */
  readonly untilMs: number
  readonly pools: ReadonlyMap<Address, Program>
}

const NONE: ReadonlyMap<Address, Program> = new Map()

/**
 * Pools of mints that have more than are kept, without those that are kept: neither they nor their reserves are read again until
 * they are due. The mint that was noted first is dropped first.
 */
export class LeftOutPools {
  readonly #mints = new Map<Mint, LeftOut>()
  readonly #nowMs: () => number
  #size = 0

  /** `nowMs` is a clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The pools that were left out; none once they are due. */
  of(mint: Mint): ReadonlyMap<Address, Program> {
    const known = this.#mints.get(mint)
    if (known !== undefined && this.#nowMs() >= known.untilMs) {
      this.delete(mint)
    }
    return this.#mints.get(mint)?.pools ?? NONE
  }

  /** Replaces the pools that are left out of a mint. Those of a mint that has some are due when they were. */
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
