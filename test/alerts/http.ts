/** The alerts of a service on a real socket, over a tape that a test writes. */
import { Effect, Layer } from "effect"
import { type AlertStore } from "../../src/alerts/AlertStore.ts"
import { mintOf } from "../market/tape/tape.ts"
import { call, keyOf, running, type World } from "../support/http.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alerting, type Mints } from "./world.ts"

const both = ["alerts.read", "alerts.write"] as const

/** Keys of two accounts: with one scope each, with none, and keys that are not admitted. */
export const keys = [
  keyOf("a", { scopes: both }),
  keyOf("b", { scopes: both, accountId: "other" }),
  keyOf("r", { scopes: ["alerts.read"] }),
  keyOf("w", { scopes: ["alerts.write"] }),
  keyOf("m", { scopes: ["md.read"] }),
  keyOf("d", { scopes: both, disabledAtMs: 0 }),
  keyOf("i", { scopes: both, ipPolicy: ["10.0.0.0/8"] }),
  keyOf("f", { scopes: both, accountId: "full" }),
  keyOf("q", { scopes: both, accountId: "spent" })
]

/** The service, its tape and its evaluator. */
export const serving = <E>({
  mints,
  store = MemoryAlerts.layer,
  world = {}
}: {
  readonly store?: Layer.Layer<AlertStore, E>
  readonly mints?: Mints
  readonly world?: World
} = {}) =>
  Layer.unwrap(
    Effect.map(Layer.build(alerting(store, mints === undefined ? {} : { mints })), (context) => {
      const built = Layer.succeedContext(context)
      return Layer.merge(running({ keys, alerts: built, ...world }), built)
    })
  )

/** An alert at ten dollars on the first token. */
export const wanted = {
  mint: mintOf(1),
  condition: { metric: "price_usd", operator: "crosses_above", threshold: "10" }
}

/** Sends a body, as JSON unless it is text. */
export const send = (
  method: "POST" | "PATCH",
  path: string,
  body: unknown,
  { headers = {}, key = "a" }: { readonly key?: string; readonly headers?: Record<string, string> } = {}
) =>
  call(`/api/v1/alerts${path}`, {
    method,
    key,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

/** Creates an alert; returns its id. */
export const make = (body: unknown = wanted, key = "a") =>
  Effect.map(send("POST", "", body, { key }), (answer) => String(answer.json("data.id")))

/** Reads below `/alerts`. */
export const read = (path: string, key = "a") => call(`/api/v1/alerts${path}`, { key })

/** Removes an alert. */
export const remove = (id: string, key = "a") => call(`/api/v1/alerts/${id}`, { key, method: "DELETE" })

/** Every value at a dotted path of the items of a list. */
export const itemsOf = (text: string): ReadonlyArray<Record<string, unknown>> => JSON.parse(text).data
