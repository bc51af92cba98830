import type { Mint } from "../domain/Address.ts"
import { decidingMeasure, type Measure, measureKey, type Reading } from "./Reading.ts"

const keyOf = (mint: Mint, measure: Measure): string => `${mint} ${measureKey(decidingMeasure(measure))}`

/** Since when values have been unknown, by looks at intervals. A process that starts knows only what it has seen. */
export class UnknownSpans {
  /** By mint and measure: the beginning in milliseconds since the Unix epoch, null while the value is known. */
  #since = new Map<string, number | null>()

  /** Replaces what was seen by what these readings show. */
  note(readings: Iterable<readonly [mint: Mint, measure: Measure, reading: Reading]>, nowMs: number): void {
    const since = new Map<string, number | null>()
    for (const [mint, measure, reading] of readings) {
      const key = keyOf(mint, measure)
      const isKnown = reading.state === "ok" || reading.state === "watching"
      const beganMs = reading.state === "stale" ? Math.min(reading.observedAtMs, nowMs) : nowMs
      since.set(key, isKnown ? null : (this.#since.get(key) ?? beganMs))
    }
    this.#since = since
  }

  /** Another chain follows: nothing was looked at there. */
  startAnew(): void {
    this.#since = new Map()
  }

  /** Null while the value is known; undefined when it was not looked at. */
  sinceMs(mint: Mint, measure: Measure): number | null | undefined {
    return this.#since.get(keyOf(mint, measure))
  }
}
