import type { Address } from "../../domain/Address.ts"

const CAPACITY = 10_000

/**
 * Remembers for a while that a mint has no account or no pool, or that a pool has no account. When full, it drops the
 * oldest entry.
 */
export class AbsentAddresses {
  readonly #untilMs = new Map<Address, number>()
  readonly #nowMs: () => number
  readonly #keptMs: number

  /** `nowMs` is a monotonic clock. */
  constructor(keptMs: number, nowMs: () => number) {
    this.#keptMs = keptMs
    this.#nowMs = nowMs
  }

  add(address: Address): void {
    this.#untilMs.delete(address)
    for (const oldest of this.#untilMs.size >= CAPACITY ? this.#untilMs.keys().take(1) : []) {
      this.#untilMs.delete(oldest)
    }
    this.#untilMs.set(address, this.#nowMs() + this.#keptMs)
  }

  has(address: Address): boolean {
    const untilMs = this.#untilMs.get(address)
    if (untilMs === undefined || this.#nowMs() < untilMs) {
      return untilMs !== undefined
    }
    this.#untilMs.delete(address)
    return false
  }

  delete(address: Address): void {
    this.#untilMs.delete(address)
  }
}
