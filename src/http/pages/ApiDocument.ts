/** Serves the committed documents of the contract: OpenAPI with its examples, and AsyncAPI. */
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"

/** `src` and a package's `dist` have the folder in the same place. */
const folder = new URL("../../api/", import.meta.url)

const reading = (name: string): (() => unknown) => {
  let read: unknown
  return () => (read ??= JSON.parse(readFileSync(new URL(name, folder), "utf8")))
}

/** The OpenAPI document, read once. */
export const contractDocument = reading("openapi.json")

/** The AsyncAPI document, read once. */
export const liveDocument = reading("asyncapi.json")

/** Paths of the documents. */
export const pages = ["/openapi.json", "/asyncapi.json"] as const

const responseOf = (document: () => unknown) =>
  Effect.runSync(Effect.cached(Effect.sync(() => HttpServerResponse.jsonUnsafe(document()))))

/** Each document is read once, for its first request. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = HttpRouter.addAll([
  HttpRouter.route("GET", "/openapi.json", responseOf(contractDocument)),
  HttpRouter.route("GET", "/asyncapi.json", responseOf(liveDocument))
])
