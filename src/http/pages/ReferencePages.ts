/** `/llms.txt` and the pages of the reference in Markdown below `/docs/`. */
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { llmsText, type ReferenceDocument, referencePages } from "./reference.ts"

const markdown = (text: string) =>
  HttpServerResponse.text(text, {
    contentType: "text/markdown; charset=utf-8",
    headers: { "cache-control": "no-cache" }
  })

const documentOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  OpenApi.fromApi(api) as unknown as ReferenceDocument

/** Paths of the documents of a contract. */
export const pagesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<`/${string}`> => [
  "/llms.txt",
  ...referencePages(documentOf(api)).map(({ name }): `/${string}` => `/docs/${name}`)
]

const pageRoute = (path: `/${string}`, page: HttpServerResponse.HttpServerResponse): HttpRouter.Route<never, never> =>
  HttpRouter.route("GET", path, Effect.succeed(page))

/** Serves the documents of a contract, which are made once. */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const document = documentOf(api)
  const list = HttpServerResponse.text(llmsText(document), { contentType: "text/plain; charset=utf-8" })
  return HttpRouter.addAll([
    pageRoute("/llms.txt", list),
    ...referencePages(document).map(({ name, text }) => pageRoute(`/docs/${name}`, markdown(text)))
  ])
}
