/** Limits processor time per second. Times are milliseconds of a monotonic clock. Work that has started may exceed it. */
export class ExecutionBudget {
  readonly #limitMs: number
  #left: number
  #atMs: number
  #totalMs = 0

  constructor(limitMs: number, nowMs: number) {
    this.#limitMs = limitMs
    this.#left = limitMs
    this.#atMs = nowMs
  }

  /** Processor time since the start, in milliseconds. */
  get totalMs(): number {
    return this.#totalMs
  }

  spend(cpuMs: number): void {
    this.#totalMs += cpuMs
    this.#left -= cpuMs
  }

  /** Milliseconds until work may start: 0 while some of the last second's time is left. */
  waitMs(nowMs: number): number {
    this.#left = Math.min(this.#limitMs, this.#left + ((nowMs - this.#atMs) * this.#limitMs) / 1000)
    this.#atMs = nowMs
    return this.#left > 0 ? 0 : Math.ceil((-this.#left * 1000) / this.#limitMs) + 1
  }
}
