import { assert, it } from "@effect/vitest"
import { metadataReading } from "../../src/tokens/metadataReading.ts"
import { DOCUMENTS_OFF } from "../../src/tokens/documents/DocumentReader.ts"
import { mintOf } from "../market/tape/tape.ts"

const documents = { documentOf: () => DOCUMENTS_OFF, knownOf: () => null }
const ref = { address: mintOf(1), chain: "solana", symbol: null, name: null, decimals: null, imageUrl: null } as const

const read = (isMetadataRead: boolean) =>
  metadataReading(
    { _tag: "Token", facts: null, metadata: null, isMetadataRead, observation: { slot: 1, observedAtMs: 1 } },
    ref,
    documents,
    { nowMs: 5, requester: null }
  )

it("a document waits until the account with its URI was read, and does not exist without a URI", () => {
  assert.deepInclude(read(false).data.document, { state: "waiting", reason: "waiting" })
  assert.strictEqual(read(false).knowledge.status, "unavailable")
  assert.deepInclude(read(true).data.document, { state: "none", reason: "no_uri" })
  assert.strictEqual(read(true).knowledge.status, "known")
})
