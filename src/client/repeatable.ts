/** Which calls may be sent twice. */

/** What sending a POST again would do: nothing but read, nothing under the same key, or who knows. */
export type Repetition = "reads" | "with-key" | "never"

/** Every POST of the contract by its operation id; a test holds this table to the contract. */
export const posts: Readonly<Record<string, Repetition>> = {
  "spot.exitCheck": "reads",
  "routing.route": "reads",
  "tokens.prices": "reads",
  "wallets.summary": "reads",
  "tracker.track": "with-key",
  "alerts.create": "with-key",
  "closed.spotOrders": "never",
  "closed.perpsOrdersPost": "never",
  "closed.perpsRebalancePost": "never"
}

/** The header that makes a POST the same request when it is sent again. */
export const IDEMPOTENCY_KEY = "idempotency-key"

/** A call as the table knows it. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** Whether the request carries an idempotency key. */
  readonly isKeyed: boolean
}

/** Whether sending the request once more changes nothing that sending it once has not. Methods other than POST are so by nature. */
export const isRepeatable = ({ id, isKeyed, method }: Operation): boolean =>
  method !== "POST" || posts[id] === "reads" || (posts[id] === "with-key" && isKeyed)
