import type { Mint } from "../domain/Address.ts"

const CAPACITY = 10_000

/** Negative cache: mints without an account or without a pool, for a while. The oldest is dropped first. */
export class AbsentMints {
  readonly #untilMs = new Map<Mint, number>()
  readonly #nowMs: () => number
  readonly #keptMs: number

  /** `nowMs` is a clock that never goes back. */
  constructor(keptMs: number, nowMs: () => number) {
    this.#keptMs = keptMs
    this.#nowMs = nowMs
  }

  add(mint: Mint): void {
    this.#untilMs.delete(mint)
    for (const oldest of this.#untilMs.size >= CAPACITY ? this.#untilMs.keys().take(1) : []) {
      this.#untilMs.delete(oldest)
    }
    this.#untilMs.set(mint, this.#nowMs() + this.#keptMs)
  }

  has(mint: Mint): boolean {
    const untilMs = this.#untilMs.get(mint)
    if (untilMs === undefined || this.#nowMs() < untilMs) {
      return untilMs !== undefined
    }
    this.#untilMs.delete(mint)
    return false
  }

  delete(mint: Mint): void {
    this.#untilMs.delete(mint)
  }
}
