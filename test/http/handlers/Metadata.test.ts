import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Dns } from "effect/net"
import { TokenMetadataAnswer } from "../../../src/api/Tokens.ts"
import type { Mint } from "../../../src/domain/Address.ts"
import * as SourceMonitorLive from "../../../src/operations/SourceMonitor.ts"
import { uriOf } from "../../../src/simulator/chain/metadata.ts"
import { DocumentSource } from "../../../src/simulator/venues/DocumentSource.ts"
import * as FetchDocuments from "../../../src/tokens/documents/fetchDocuments.ts"
import * as PublicWeb from "../../../src/operations/publicWeb.ts"
import { answered, assertInvalid, assertRefused, facts, keys } from "./tokenCalls.ts"
import { at } from "../../quotes/toyChain.ts"
import { type Answer, call, running } from "../../support/http.ts"
import { eventually, makeTokenWorld, NOTHING, PLAIN, tokensOver } from "../../support/tokens.ts"
import { extendedMint, extension, metadataOf } from "../../tokens/mints.ts"

const [GOOD, PRIVATE, LATE, ...FAULTY] = Array.from({ length: 10 }, (_, place) => at(30 + place))

const world = makeTokenWorld()
const named = (mint: Mint, uri: string) =>
  extendedMint(mint, [extension(19, metadataOf(mint, "Otter\u202e", "OTTER", uri))])
for (const mint of [GOOD, LATE, ...FAULTY]) {
  world.chain.put(named(mint ?? NOTHING, uriOf(mint ?? NOTHING)))
}
world.chain.put(named(PRIVATE ?? NOTHING, "https://169.254.169.254/latest/meta-data/"))

const source = DocumentSource.layer.pipe(Layer.orDie)
const documents = Layer.unwrap(Effect.map(DocumentSource, ({ url }) => FetchDocuments.layer({ ipfs: url }))).pipe(
  Layer.provide([PublicWeb.layer(), NodeHttpClient.layerUndici]),
  Layer.provide(Dns.layerStatic({})),
  Layer.orDie
)
const settings = (TOKEN_METADATA: string) => ConfigProvider.layer(ConfigProvider.fromUnknown({ TOKEN_METADATA }))

const metadata = (mint: string | undefined, chain = "solana") => call(`/api/v1/tokens/${chain}/${mint}/metadata`)
const isEnded = (answer: Answer) => answered(answer) && answer.json("data.document.state") !== "waiting"

const service = (mode: string) => {
  const tokens = tokensOver(world).pipe(Layer.provide(documents), Layer.provide([source, settings(mode)]))
  return running({ keys, tokens }).pipe(Layer.provideMerge([source, SourceMonitorLive.layer]))
}

layer(service("on"))("GET /api/v1/tokens/{chain}/{address}/metadata", (it) => {
  it.effect("answers at once, and has the document once it was read", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000_000)
      const { requests } = yield* DocumentSource
      const first = yield* eventually(metadata(GOOD), answered)
      assert.strictEqual(first.status, 200, first.text)
      assert.deepInclude(first.json("data.document"), {
        state: "waiting",
        reason: "waiting",
        description: null,
        links: null
      })
      assert.deepInclude(first.json("meta"), {
        methodVersion: "public-metadata-v1",
        status: "partial",
        coverage: { complete: false, reason: "backfill_running" }
      })

      const answer = yield* eventually(metadata(GOOD), isEnded)
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenMetadataAnswer))(answer.text)
      assert.deepInclude(answer.json("data"), {
        source: "token-2022",
        updateAuthority: null,
        isMutable: false,
        uri: uriOf(GOOD ?? NOTHING),
        fields: []
      })
      assert.deepInclude(answer.json("data.token"), { name: "Otter", symbol: "OTTER" })
      assert.deepInclude(answer.json("data.document"), {
        state: "read",
        reason: null,
        description: `A token of the simulated market, at ${GOOD}.`,
        fetchedAtMs: 1_000_000,
        expiresAtMs: 1_000_000 + 86_400_000
      })
      assert.strictEqual(answer.json("data.document.links.twitter"), `https://x.invalid/${GOOD}`)
      assert.deepInclude(answer.json("meta"), { status: "known", observedAtMs: 1_000_000 })

      const before = requests()
      yield* metadata(GOOD)
      yield* facts(GOOD ?? "")
      assert.strictEqual(requests(), before)
      const { stateOf } = yield* SourceMonitorLive.SourceMonitor
      assert.deepInclude(stateOf("token_metadata", 1_000_000), { status: "known", observedAtMs: 1_000_000 })
    })
  )

  it.effect.each([
    ["404", "malformed"],
    ["500", "unreachable"],
    ["malformed", "malformed"],
    ["page", "malformed"],
    ["long", "malformed"],
    ["redirect", "refused"]
  ] as const)("remembers the failure of an answer %s", ([answers, reason]) =>
    Effect.gen(function* () {
      const gateway = yield* DocumentSource
      const mint = FAULTY[["404", "500", "malformed", "page", "long", "redirect"].indexOf(answers)]
      yield* gateway.setAilment({ answers })
      const answer = yield* eventually(metadata(mint), isEnded)
      assert.deepInclude(answer.json("data.document"), {
        state: "failed",
        reason,
        name: null,
        links: null,
        fetchedAtMs: null
      })
      assert.deepInclude(answer.json("meta"), {
        status: "partial",
        coverage: { complete: false, reason: "source_gap" }
      })
      const before = gateway.requests()
      yield* metadata(mint)
      assert.strictEqual(gateway.requests(), before)
      yield* gateway.setAilment({ answers: "ok" })
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* metadata(mint)).json("data.document.state"), "failed")
      const later = yield* eventually(metadata(mint), (each) => each.json("data.document.state") === "read")
      assert.strictEqual(later.json("meta.status"), "known")
    })
  )

  it.effect("refuses an address that is not public without a request", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(metadata(PRIVATE), isEnded)
      assert.deepInclude(answer.json("data.document"), { state: "failed", reason: "refused" })
      assert.strictEqual(answer.json("data.uri"), "https://169.254.169.254/latest/meta-data/")
    })
  )

  it.effect("cleans hostile text", () =>
    Effect.gen(function* () {
      const gateway = yield* DocumentSource
      yield* gateway.setAilment({ answers: "hostile" })
      const answer = yield* eventually(metadata(LATE), isEnded)
      yield* gateway.setAilment({ answers: "ok" })
      const document = answer.json("data.document") as Record<string, unknown>
      assert.deepInclude(document, { state: "read", name: "EVIL  coin", symbol: "S".repeat(32), imageUrl: null })
      assert.strictEqual(document["description"], "d".repeat(1999))
      assert.deepStrictEqual(document["links"], { website: null, twitter: null, telegram: null, discord: null })
    })
  )

  it.effect("keeps a document that cannot be read again, as stale", () =>
    Effect.gen(function* () {
      const gateway = yield* DocumentSource
      yield* gateway.setAilment({ answers: "500" })
      yield* TestClock.adjust("24 hours")
      const answer = yield* eventually(metadata(GOOD), (each) => each.json("data.document.reason") !== null)
      yield* gateway.setAilment({ answers: "ok" })
      assert.deepInclude(answer.json("data.document"), { state: "read", reason: "unreachable" })
      assert.isString(answer.json("data.document.description"))
      assert.deepInclude(answer.json("meta"), {
        status: "stale",
        coverage: { complete: false, reason: "source_stale" }
      })
    })
  )

  it.effect("has no document for a token without a URI", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(metadata(PLAIN), (each) => each.json("meta.status") === "known")
      assert.deepInclude(answer.json("data"), { source: null, uri: null, fields: null, isMutable: null })
      assert.deepInclude(answer.json("data.document"), { state: "none", reason: "no_uri" })
    })
  )

  it.effect("refuses an address that cannot be a token", () =>
    Effect.gen(function* () {
      assertRefused(yield* eventually(metadata(NOTHING), answered), 404, "token_not_found")
      assertInvalid(yield* metadata("x"), "path", "address", "format")
      assertRefused(yield* metadata(GOOD, "ethereum"), 400, "unsupported_chain")
    })
  )
})

layer(service("off"))("documents that are off", (it) => {
  it.effect("are not read", () =>
    Effect.gen(function* () {
      const answer = yield* eventually(metadata(GOOD), answered)
      assert.deepInclude(answer.json("data.document"), { state: "off", reason: "off", description: null })
      assert.deepInclude(answer.json("meta"), {
        status: "partial",
        coverage: { complete: false, reason: "not_captured" }
      })
      const { requests } = yield* DocumentSource
      assert.strictEqual(requests(), 0)
      const { stateOf } = yield* SourceMonitorLive.SourceMonitor
      assert.isNull(stateOf("token_metadata", 0))
    })
  )
})
