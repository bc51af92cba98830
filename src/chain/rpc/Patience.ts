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

  /**
   * A node answered after this long. The deadline becomes the first one again only if that would have been long enough:
   * nodes that are all slower would otherwise be left in turn.
   */
  answered(took: Duration.Duration): void {
    if (Duration.isLessThanOrEqualTo(took, this.#first)) {
      this.#doublings = 0
    }
  }
}
