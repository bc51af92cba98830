import { Context, Effect, Layer, type Scope } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { DOCUMENTS_CID } from "../chain/metadata.ts"
import { makeAiling } from "../node/ailing.ts"
import { listen } from "../node/loopback.ts"

/** What is wrong with the source. `hostile` answers with text and links that must not be shown as they are. */
export interface DocumentAilment {
  readonly answers: "ok" | "404" | "500" | "malformed" | "page" | "long" | "frozen" | "hostile" | "redirect"
}

const healthy: DocumentAilment = { answers: "ok" }

/** An IPFS gateway on the loopback interface that serves the metadata documents of simulated mints. */
export class DocumentSource extends Context.Service<
  DocumentSource,
  {
    readonly url: string
    /** Changes the given faults and leaves the others. */
    setAilment(change: Partial<DocumentAilment>): Effect.Effect<void>
    /** How many requests have arrived. */
    readonly requests: () => number
  }
>()("fathom/simulator/venues/DocumentSource") {
  /** The gateway lives until the layer's scope closes. */
  static readonly layer: Layer.Layer<DocumentSource, HttpServerError.ServeError> = Layer.effect(
    DocumentSource,
    Effect.suspend(() => make())
  )
}

const PATH = new RegExp(`^/${DOCUMENTS_CID}/(?<mint>[1-9A-HJ-NP-Za-km-z]{32,44})\\.json$`, "u")

const documentOf = (mint: string) => ({
  description: `A token of the simulated market, at ${mint}.`,
  image: `ipfs://${DOCUMENTS_CID}/${mint}.png`,
  external_url: `https://${mint.toLowerCase()}.invalid`,
  extensions: { twitter: `https://x.invalid/${mint}`, telegram: `https://t.invalid/${mint}` }
})

const hostile = {
  name: "\u202eEVIL\u0000 coin\u0007",
  symbol: "S".repeat(5000),
  description: `${"d".repeat(1999)}\u{1f600}<script>alert(1)</script>`,
  image: "javascript:alert(1)",
  website: "http://plain.invalid/",
  twitter: "https://user:password@x.invalid/",
  telegram: { toString: "https://t.invalid/" },
  extensions: ["https://d.invalid/"],
  links: { discord: `https://d.invalid/${"x".repeat(2000)}` }
}

const answerOf = (mint: string | undefined, answers: DocumentAilment["answers"]) => {
  const json = { contentType: "application/json" }
  switch (answers) {
    case "500":
      return HttpServerResponse.text("Internal Server Error\n", { status: 500 })
    case "malformed":
      return HttpServerResponse.text('{"name":', json)
    case "page":
      return HttpServerResponse.text("<html></html>", { contentType: "text/html" })
    case "long":
      return HttpServerResponse.text(JSON.stringify({ name: "x".repeat(1_000_000) }), json)
    case "hostile":
      return HttpServerResponse.jsonUnsafe(hostile)
    case "redirect":
      return HttpServerResponse.redirect("https://127.0.0.1/")
    default:
      return mint === undefined || answers === "404"
        ? HttpServerResponse.text("Not Found\n", { status: 404 })
        : HttpServerResponse.jsonUnsafe(documentOf(mint))
  }
}

const make = Effect.fnUntraced(function* (): Effect.fn.Return<
  DocumentSource["Service"],
  HttpServerError.ServeError,
  Scope.Scope
> {
  const faults = makeAiling(healthy, healthy)
  let requests = 0
  const app = Effect.gen(function* () {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    requests++
    const { answers } = faults.current()
    return answers === "frozen" ? yield* Effect.never : answerOf(PATH.exec(url)?.groups?.["mint"], answers)
  })
  return DocumentSource.of({ url: yield* listen(app), setAilment: faults.set, requests: () => requests })
})
