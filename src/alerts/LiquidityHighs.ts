import type { Mint } from "../domain/Address.ts"
import { LONGEST_DROP_SECONDS } from "../api/schemas/Alert.ts"

/** Of the values of a token within this many milliseconds, only the highest is kept. */
const STEP_MS = 5000

interface Sample {
  readonly monotonicMs: number
  /** Millionths of a dollar. */
  readonly micro: bigint
}

interface Samples {
  /** The time of the first value since the last pause that was too long. */
  readonly sinceMs: number
  readonly lastMs: number
  /** In the order of time. Each is higher than all later ones. */
  readonly highest: ReadonlyArray<Sample>
}

/**
 * The highest value that was seen. Unless `isWhole`, part of the window was not seen, and the liquidity may have been
 * higher then.
 */
export interface High {
  readonly micro: bigint
  readonly isWhole: boolean
}

/**
 * The highest liquidity of tokens within the last hour, from the values that this process has seen. At most 720 values
 * of each token are kept. Times are milliseconds of a clock that never goes back.
 */
export class LiquidityHighs {
  readonly #samples = new Map<Mint, Samples>()
  readonly #longestPauseMs: number

  /** After a longer pause between two values, a window is whole only once it has passed anew. */
  constructor(longestPauseMs: number) {
    this.#longestPauseMs = longestPauseMs
  }

  /** Records the current value. */
  note(mint: Mint, micro: bigint, monotonicMs: number): void {
    const before = this.#samples.get(mint)
    const highest = before?.highest ?? []
    const kept = highest.filter(
      (sample) => sample.monotonicMs > monotonicMs - LONGEST_DROP_SECONDS * 1000 && sample.micro > micro
    )
    const last = kept.at(-1)
    const isNext = last === undefined || monotonicMs - last.monotonicMs >= STEP_MS
    this.#samples.set(mint, {
      sinceMs: before !== undefined && this.#isUnbroken(before, monotonicMs) ? before.sinceMs : monotonicMs,
      lastMs: monotonicMs,
      highest: isNext ? [...kept, { monotonicMs, micro }] : kept
    })
  }

  /** The highest value of the last `seconds`; null when none was seen. */
  of(mint: Mint, seconds: number, monotonicMs: number): High | null {
    const samples = this.#samples.get(mint)
    const fromMs = monotonicMs - seconds * 1000
    const highest = samples?.highest.find((sample) => sample.monotonicMs > fromMs)
    return samples === undefined || highest === undefined
      ? null
      : { micro: highest.micro, isWhole: samples.sinceMs <= fromMs && this.#isUnbroken(samples, monotonicMs) }
  }

  /** Forgets all other tokens. */
  keep(mints: ReadonlySet<Mint>): void {
    for (const mint of this.#samples.keys()) {
      if (!mints.has(mint)) {
        this.#samples.delete(mint)
      }
    }
  }

  #isUnbroken({ lastMs }: Samples, monotonicMs: number): boolean {
    return monotonicMs - lastMs <= this.#longestPauseMs
  }
}
