import { Duration } from "effect"

const MOST_DOUBLINGS = 5

/** The deadline of calls when there is another node to go to. Doubles each time a node is left for being too slow. */
export class Patience {
  readonly #first: Duration.Duration
  #doublings = 0

  constructor(first: Duration.Duration) {
    this.#first = first
  }

  get limit(): Duration.Duration {
    return Duration.times(this.#first, 2 ** this.#doublings)
  }

  /** Lengthens the deadline, because a node was left for being too slow. */
  lengthen(): void {
    this.#doublings = Math.min(this.#doublings + 1, MOST_DOUBLINGS)
  }

  /** Resets the deadline, because a node answered in time. */
  reset(): void {
    this.#doublings = 0
  }
}
