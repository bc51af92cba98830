const HOUR_MS = 3_600_000

/** Limits how much processor time is used per hour. Times are milliseconds of a monotonic clock. */
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

  spend(atMs: number, cpuMs: number): void {
    this.#totalMs += cpuMs
    this.#spent.push({ atMs, cpuMs })
  }

  /**
   * Milliseconds until work may start: 0 while the last hour used less than the limit. Work that has started may
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
