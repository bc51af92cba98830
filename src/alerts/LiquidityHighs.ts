import type { Mint } from "../domain/Address.ts"
import { LONGEST_DROP_SECONDS } from "../domain/wallets/Alert.ts"

/** Values of one token within this time are one, the highest, in milliseconds. */
const STEP_MS = 5000

interface Sample {
  readonly atMs: number
  /** Millionths of a dollar. */
  readonly micro: bigint
}

/** The highest liquidity of tokens within the last hour, by the values that were seen. At most 720 of each token are kept. */
export class LiquidityHighs {
  // In the order of time; each is higher than all after it.
  readonly #samples = new Map<Mint, Array<Sample>>()

  /** Takes note of the value of now. */
  note(mint: Mint, micro: bigint, nowMs: number): void {
    const samples = (this.#samples.get(mint) ?? []).filter(({ atMs }) => atMs > nowMs - LONGEST_DROP_SECONDS * 1000)
    while ((samples.at(-1)?.micro ?? micro + 1n) <= micro) {
      samples.pop()
    }
    const last = samples.at(-1)
    if (last === undefined || nowMs - last.atMs >= STEP_MS) {
      samples.push({ atMs: nowMs, micro })
    }
    this.#samples.set(mint, samples)
  }

  /** The highest value of the last `seconds`; null where none was seen. */
  of(mint: Mint, seconds: number, nowMs: number): bigint | null {
    return this.#samples.get(mint)?.find(({ atMs }) => atMs > nowMs - seconds * 1000)?.micro ?? null
  }

  /** Forgets all tokens but these. */
  keep(mints: ReadonlySet<Mint>): void {
    for (const mint of this.#samples.keys()) {
      if (!mints.has(mint)) {
        this.#samples.delete(mint)
      }
    }
  }
}
