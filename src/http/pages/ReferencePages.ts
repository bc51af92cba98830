/** `/llms.txt` and the pages of the reference in Markdown below `/docs/`. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { contractDocument, liveDocument } from "./ApiDocument.ts"
import { type LiveDocument, liveReference } from "./liveReference.ts"
import { llmsText, type ReferenceDocument, referencePages } from "./reference.ts"

const markdown = (text: string) =>
  HttpServerResponse.text(text, {
    contentType: "text/markdown; charset=utf-8",
    headers: { "cache-control": "no-cache" }
  })

const document = () => contractDocument() as ReferenceDocument

const allPages = () => [...referencePages(document()), liveReference(liveDocument() as LiveDocument)]

/** Paths of the documents. */
export const pages = (): ReadonlyArray<`/${string}`> => [
  "/llms.txt",
  ...allPages().map(({ name }): `/${string}` => `/docs/${name}`)
]

const pageRoute = (path: `/${string}`, page: HttpServerResponse.HttpServerResponse): HttpRouter.Route<never, never> =>
  HttpRouter.route("GET", path, Effect.succeed(page))

/** Serves the documents, which are made once. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.suspend(() => {
  const list = HttpServerResponse.text(llmsText(document()), { contentType: "text/plain; charset=utf-8" })
  return HttpRouter.addAll([
    pageRoute("/llms.txt", list),
    ...allPages().map(({ name, text }) => pageRoute(`/docs/${name}`, markdown(text)))
  ])
})
