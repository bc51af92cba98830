import type { AlertCondition } from "../api/schemas/Alert.ts"
import type { Observation } from "./evaluate.ts"

/** A metric of a token that an alert may watch. */
export type Measure = Pick<AlertCondition, "metric" | "windowSeconds" | "source">

/** Current value of a metric. Stale values are not given. */
export type Reading =
  | { readonly state: "ok"; readonly seen: Observation }
  /** For trades of wallets, which have no value between trades: blocks are being read. */
  | { readonly state: "watching"; readonly observedAtMs: number }
  | { readonly state: "stale"; readonly observedAtMs: number }
  | { readonly state: "unavailable" }

/** No value. */
export const UNAVAILABLE: Reading = { state: "unavailable" }
