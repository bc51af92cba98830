const HOUR_MS = 3_600_000

/** Limits the processor time of the last hour. Times are milliseconds of a clock that never goes back. */
export class ProofBudget {
  readonly #limitMs: number
  readonly #spent: Array<{ readonly atMs: number; readonly cpuMs: number }> = []
  #totalMs = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Processor time since the start, in milliseconds. */
  get totalMs(): number {
    return this.#totalMs
  }

  /** Records used processor time. */
  spend(atMs: number, cpuMs: number): void {
    this.#totalMs += cpuMs
    this.#spent.push({ atMs, cpuMs })
  }

  /**
   * Milliseconds until work may start: 0 while less than the limit was used in the last hour. Work that has started may
   * exceed the limit.
   */
  waitMs(nowMs: number): number {
    const recent = this.#spent.filter(({ atMs }) => nowMs - atMs < HOUR_MS)
    this.#spent.splice(0, this.#spent.length - recent.length)
    let used = recent.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
    for (const { atMs, cpuMs } of recent) {
      if (used < this.#limitMs) {
        return 0
      }
      used -= cpuMs
      if (used < this.#limitMs) {
        return Math.max(1, atMs + HOUR_MS - nowMs)
      }
    }
    return used < this.#limitMs ? 0 : HOUR_MS
  }
}
