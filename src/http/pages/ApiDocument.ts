/** The OpenAPI document of the contract, as it is committed: with its examples. */
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"

/** `src` and a package's `dist` hold it in the same place. */
const file = new URL("../../api/openapi.json", import.meta.url)

let read: unknown

/** The document, read once. */
export const contractDocument = (): unknown => (read ??= JSON.parse(readFileSync(file, "utf8")))

const document = Effect.runSync(Effect.cached(Effect.sync(() => HttpServerResponse.jsonUnsafe(contractDocument()))))

/** Serves the document at `/openapi.json`. It is read once, for the first request. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = HttpRouter.addAll([
  HttpRouter.route("GET", "/openapi.json", document)
])
