/** Decides which visits of a share page count as clicks. */

const AGAIN_AFTER_MS = 30 * 60_000
const MOST_REMEMBERED = 50_000

const ROBOTS = /bot\b|crawl|spider|preview|facebookexternalhit|embedly|slurp|curl|wget|headless/iu

/** True for a visit by a person: not a declared robot, a prefetch or a HEAD. */
export const isVisit = (request: {
  readonly method: string
  readonly userAgent: string | undefined
  readonly purpose: string | undefined
}): boolean =>
  request.method === "GET" &&
  request.purpose === undefined &&
  request.userAgent !== undefined &&
  !ROBOTS.test(request.userAgent)

/** Remembers recent visits, up to a limit. The oldest are dropped first. */
export class ClickGate {
  readonly #most: number
  /** Oldest first. */
  readonly #countedAtMs = new Map<string, number>()

  constructor(most: number = MOST_REMEMBERED) {
    this.#most = most
  }

  /** True for the first visit, and for the first one after half an hour. Records a visit that counts. */
  admit(visitor: string, calloutId: string, nowMs: number): boolean {
    const key = `${visitor} ${calloutId}`
    const last = this.#countedAtMs.get(key)
    if (last !== undefined && nowMs < last + AGAIN_AFTER_MS) {
      return false
    }
    this.#countedAtMs.delete(key)
    const [oldest] = this.#countedAtMs.keys()
    if (oldest !== undefined && this.#countedAtMs.size >= this.#most) {
      this.#countedAtMs.delete(oldest)
    }
    this.#countedAtMs.set(key, nowMs)
    return true
  }
}
