/** `/llms.txt` and the pages of the reference in Markdown below `/docs/`. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { contractDocument, liveDocument } from "./ApiDocument.ts"
import { type LiveDocument, liveReference } from "./liveReference.ts"
import { llmsText, type ReferenceDocument, referencePages } from "./reference.ts"

/** One served document. */
export interface ServedDocument {
  readonly path: `/${string}`
  readonly about: string
  /** Media type without the character set, which is UTF-8. */
  readonly mediaType: string
  readonly text: string
}

const served = (): ReadonlyArray<ServedDocument> => {
  const contract = contractDocument() as ReferenceDocument
  const [all, ...groups] = referencePages(contract)
  const markdown = [...(all === undefined ? [] : [all]), liveReference(liveDocument() as LiveDocument), ...groups]
  const list = { path: "/llms.txt", about: "Every document of the service.", mediaType: "text/plain" } as const
  return [
    { ...list, text: llmsText(contract, markdown) },
    ...markdown.map(({ about, name, text }) => ({
      path: `/docs/${name}` as const,
      about,
      mediaType: "text/markdown",
      text
    }))
  ]
}

let made: ReadonlyArray<ServedDocument> | undefined

/** The documents, `/llms.txt` first. They are made once. */
export const documents = (): ReadonlyArray<ServedDocument> => (made ??= served())

/** Paths of the documents. */
export const pages = (): ReadonlyArray<`/${string}`> => documents().map(({ path }) => path)

/** Serves the documents. */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.suspend(() =>
  HttpRouter.addAll(
    documents().map(({ mediaType, path, text }) => {
      const options = {
        contentType: `${mediaType}; charset=utf-8`,
        ...(mediaType === "text/markdown" && { headers: { "cache-control": "no-cache" } })
      }
      return HttpRouter.route("GET", path, Effect.succeed(HttpServerResponse.text(text, options)))
    })
  )
)
