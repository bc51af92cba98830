/** Which calls may be sent more than once. */

/** How a POST may be repeated: freely because it only reads, with an idempotency key, or never. */
export type Repetition = "reads" | "with-key" | "never"

/** Every POST of the contract by operation id. A test compares this table with the contract. */
export const posts: Readonly<Record<string, Repetition>> = {
  "accountKeys.create": "never",
  "accountKeys.rotate": "never",
  "accountKeys.disable": "never",
  "accountKeys.enable": "never",
  "sessions.open": "never",
  "spot.exitCheck": "reads",
  "spot.quotes": "reads",
  "routing.route": "reads",
  "tokens.prices": "reads",
  "priceHistory.atMany": "reads",
  "tokenBatch.read": "reads",
  "screen.tokens": "reads",
  "wallets.summary": "reads",
  "tracker.track": "with-key",
  "tracker.trackBatch": "with-key",
  "tracker.createGroup": "with-key",
  "alerts.create": "with-key",
  "replayFills.post": "never",
  "closed.spotOrders": "never",
  "closed.perpsOrdersPost": "never",
  "closed.perpsRebalancePost": "never"
}

/** The header that marks repetitions of a POST. */
export const IDEMPOTENCY_KEY = "idempotency-key"

export interface Operation {
  readonly id: string
  readonly method: string
  /** True when the request carries an idempotency key. */
  readonly isKeyed: boolean
}

/** True when sending the request again has no further effect. Methods other than POST are idempotent. */
export const isRepeatable = ({ id, isKeyed, method }: Operation): boolean =>
  method !== "POST" || posts[id] === "reads" || (posts[id] === "with-key" && isKeyed)
