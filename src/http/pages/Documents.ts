import { Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar } from "effect/http-api"
import { changelog } from "./changelog.ts"
import { signPath } from "./shareStyle.ts"

/** Paths that answer GET outside the contract. */
export const pages = ["/docs", "/openapi.json", "/changelog"] as const

/** The API reference, which loads nothing from other origins, and the changelog of the contract. */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  Layer.mergeAll(
    HttpApiScalar.layer(api, { path: "/docs", scalar: { withDefaultFonts: false, favicon: signPath } }),
    HttpRouter.add(
      "GET",
      "/changelog",
      HttpServerResponse.text(changelog, { contentType: "text/markdown; charset=utf-8" })
    )
  )
