const HOUR_MS = 3_600_000

/** Processor time of the last hour against a bound. Times are milliseconds of a clock that does not step back. */
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

  /** Notes processor time that was used. */
  spend(atMs: number, cpuMs: number): void {
    this.#totalMs += cpuMs
    this.#spent.push({ atMs, cpuMs })
  }

  /** Time until work may begin: 0 while less than the bound was used in the last hour. Work that has begun may exceed it. */
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
